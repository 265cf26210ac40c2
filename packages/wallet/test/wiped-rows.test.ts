import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import {
  createMemoryEngine,
  openWalletStore,
  type Table,
  type WalletStore,
  WrongStoreKey,
} from "@anulo/store";
import { watchBytes } from "./watched-bytes.ts";

const notes: Table = { number: 1 };
const nonces: Table = { number: 2, isSecret: true };
const tables = [notes, nonces];
const name = (text: string) => new TextEncoder().encode(text);

test("a store of rows leaves neither its keys nor what was in the rows in memory", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-wiped-rows-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const engine = createMemoryEngine();
  const [wrappingKey, value] = [new Uint8Array(32).fill(7), new Uint8Array(48).fill(0x5e)];
  const secrets = [wrappingKey, value].map(toHex);
  const watched = watchBytes(t);
  const open = async (key = wrappingKey): Promise<WalletStore> => {
    const options = { engine, wallet: new Uint8Array(16).fill(1), tables, folder, wrappingKey: key };
    const opened = await openWalletStore(options);
    assert.ok(opened.kind !== "rolledBack");
    return opened.store;
  };
  /** What is read belongs to its reader, who wipes it. */
  const readAll = async (store: WalletStore) => {
    let count = 0;
    for (const table of tables)
      for await (const row of store.range(table)) {
        assert.equal(toHex(row.value), secrets[1]);
        new Uint8Array(row.value.buffer).fill(0);
        count++;
      }
    return count;
  };
  const first = await open();
  const puts = [
    { table: notes, key: name("a"), value },
    ...["b", "c", "d"].map((key) => ({ table: nonces, key: name(key), value })),
  ];
  await first.apply({ puts });
  await first.apply({
    puts: [{ table: nonces, key: name("b"), value }],
    deletes: [{ table: nonces, key: name("c") }],
  });
  assert.equal(await readAll(first), 3);
  await first.close();
  await assert.rejects(open(new Uint8Array(32).fill(8)), WrongStoreKey);
  const again = await open();
  assert.equal(await readAll(again), 3);
  await again.apply({ deletes: [{ table: nonces, key: name("d") }] });
  await again.close();
  watched.stop();
  for (const bytes of [wrappingKey, value]) bytes.fill(0);
  assert.ok(watched.random.size >= 5, "a data key, and one for each secret row");
  const ownKeys = [...watched.keys].filter((key) => key !== toHex(new Uint8Array(32).fill(8)));
  assert.deepEqual(watched.remaining([...ownKeys, ...watched.random, ...secrets]), {});
});
