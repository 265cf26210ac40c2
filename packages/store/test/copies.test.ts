/** How many changes putting back a copy takes: a wallet of any size, with no change larger than the engine likes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMemoryEngine,
  type NewRow,
  openWalletStore,
  restoreWalletRows,
  type Table,
} from "../src/index.ts";
import { collect, temporaryFolder, walletId } from "./harness.ts";
import { storeOf } from "./wallet-suite.ts";

const MIB = 1024 * 1024;
const notes: Table = { number: 1 };
const wallet = walletId(1);

/** The store's own rows of a wallet without others. */
async function ownRows(): Promise<readonly NewRow[]> {
  const { folder, remove } = temporaryFolder();
  const engine = createMemoryEngine();
  const wrappingKey = new Uint8Array(32);
  const store = storeOf(await openWalletStore({ engine, wallet, tables: [notes], wrappingKey, folder }));
  const snapshot = (await engine.snapshot(wallet))!;
  const rows = (await collect(snapshot.pages)).flat();
  await snapshot.close();
  await store.close();
  remove();
  return rows;
}

/** Rows of each change while rows with values of these lengths are put back into an empty store. */
async function stepsOf(lengths: readonly number[]): Promise<number[]> {
  const own = await ownRows();
  const rows = lengths.map((length, i): NewRow => {
    const key = Buffer.alloc(4);
    key.writeUInt32BE(i);
    return { table: 1, key, value: new Uint8Array(length) };
  });
  const engine = createMemoryEngine();
  const steps: number[] = [];
  const counting: typeof engine = {
    ...engine,
    apply: async (of, change) => {
      steps.push(change.puts.filter(({ table }) => table === 1).length);
      return await engine.apply(of, change);
    },
  };
  await restoreWalletRows(counting, wallet, {
    mark: { epoch: 1, sequence: 5 },
    async *read() {
      yield own;
      for (let at = 0; at < rows.length; at += 300) yield rows.slice(at, at + 300);
    },
  });
  return steps;
}

test("a copy is put back in changes of 2000 rows or 2 MiB, the last with what opens it", async () => {
  assert.deepEqual(await stepsOf([]), [0]);
  assert.deepEqual(await stepsOf(Array(1999).fill(1)), [1999]);
  assert.deepEqual(await stepsOf(Array(4001).fill(1)), [2000, 2000, 1]);
  assert.deepEqual(await stepsOf([MIB, MIB, MIB - 1, MIB, 1, 5]), [2, 3, 1]);
  assert.deepEqual(await stepsOf([MIB - 1, MIB, 3 * MIB, 3 * MIB]), [3, 1, 0]);
});
