import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import { fromHex, toHex } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes, KeySet } from "../src/outputs/key-set.ts";
import type { ScanContext } from "../src/scan/candidates.ts";
import { lookTogether } from "../src/scan/pool-look.ts";
import { NumberSet, PoolNumbers } from "../src/scan/pool-numbers.ts";
import { PoolScan } from "../src/scan/pool-scan.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import { createNode, ids, imageOf } from "./pool-node.ts";
import { seededRandom } from "./transfer-fixture.ts";

const keys = createKeys(seededRandom("pool scan"));
/** A wallet that nothing of the pool concerns. */
function createContext(): ScanContext {
  const table = new SubaddressTable({ accounts: 1, addresses: 1 });
  const rest = { cover: () => undefined, keyImages: new Map(), skipsCoinbase: false };
  return { keys, table, knownImages: new KeySet(new KeyHashes(randomFillSync)), ...rest };
}

async function look(daemon: Daemon, pool: PoolScan) {
  const [picture] = await lookTogether(daemon, [{ pool, own: [] }]);
  return picture!();
}

const bytesOf = (all: readonly string[]) => fromHex(all.join(""));

test("what spends an output that the blocks bring is found without asking the node again", async () => {
  const context = createContext();
  const pool = new PoolScan(context);
  const { daemon, asked } = createNode();
  const picture = await look(daemon, pool);
  assert.deepEqual([new Uint8Array(picture.ids), picture.finds], [bytesOf(ids), []]);
  context.knownImages.add(fromHex(imageOf(1))); // as a scan of blocks does for each output it finds
  const [find, ...others] = pool.withFound(picture).finds;
  assert.equal(toHex(find!.transaction.txHash), ids[1]);
  assert.equal(toHex(find!.transaction.inputs[0]!.keyImage), imageOf(1));
  assert.deepEqual(others, []);
  assert.deepEqual((await look(daemon, pool)).finds, [find], "and stays found");
  assert.deepEqual(asked.toSorted(), ids.toSorted(), "each was asked for once");
});

test("strangers are kept for one scan of blocks, and no longer than they wait", async () => {
  const context = createContext();
  const pool = new PoolScan(context);
  const { daemon, node } = createNode();
  pool.withFound(await look(daemon, pool));
  context.knownImages.add(fromHex(imageOf(0)));
  assert.deepEqual(pool.withFound(await look(daemon, pool)).finds, [], "it was there before the blocks");
  const other = new PoolScan(context);
  await look(daemon, other);
  context.knownImages.add(fromHex(imageOf(1)));
  node.waiting = [];
  assert.deepEqual(other.withFound(await look(daemon, other)), { ids: new Uint8Array(), finds: [] });
});

test("key images that came from elsewhere have all strangers asked for again, not those they concern", async () => {
  const context = createContext();
  const pool = new PoolScan(context);
  const { daemon, asked } = createNode();
  pool.withFound(await look(daemon, pool));
  context.knownImages.add(fromHex(imageOf(1)));
  pool.forgetStrangers();
  const { finds } = await look(daemon, pool);
  assert.deepEqual(
    finds.map(({ transaction }) => toHex(transaction.txHash)),
    [ids[1]],
  );
  assert.deepEqual(asked.toSorted(), [...ids, ...ids].toSorted());
});

test("what many wallets have seen is remembered once, as long as it waits and one of them is open", async () => {
  const numbers = new PoolNumbers();
  const { daemon, node, asked } = createNode();
  const pools = [createContext(), createContext()].map((context) => new PoolScan(context, numbers));
  const lookers = pools.map((pool) => ({ pool, own: [] }));
  for (const picture of await lookTogether(daemon, lookers)) assert.deepEqual(picture().finds, []);
  assert.deepEqual([asked.length, numbers.size], [ids.length, ids.length]);
  const late = new PoolScan(createContext(), numbers);
  await lookTogether(daemon, [...lookers, { pool: late, own: [] }]);
  assert.deepEqual(asked.toSorted(), [...ids, ...ids].toSorted(), "a further wallet has not seen them");
  node.waiting = ids.slice(1);
  await lookTogether(daemon, lookers);
  assert.ok(!late.wants(ids[0]!) && pools.every((pool) => pool.wants(ids[0]!)));
  assert.equal(numbers.size, ids.length, "one wallet has not looked since");
  late.close();
  assert.equal(numbers.size, ids.length - 1);
  node.waiting = ids;
  await lookTogether(daemon, lookers);
  assert.deepEqual(asked.slice(2 * ids.length), [ids[0]], "it came back");
  for (const pool of pools) pool.close();
  assert.equal(numbers.size, 0);
  await look(daemon, pools[0]!);
  assert.equal(numbers.size, 0, "a closed wallet remembers nothing more");
});

test("what a pool lacks is looked through once for all wallets, and again for another pool", () => {
  const numbers = new PoolNumbers();
  const [first, second] = [numbers.take("a"), numbers.take("b")];
  const present = new Set(["a"]);
  const absent = numbers.absentFrom(present);
  assert.deepEqual([...absent.values()], [second]);
  assert.equal(numbers.absentFrom(present), absent);
  assert.deepEqual([...numbers.absentFrom(new Set(["b"])).values()], [first]);
});

test("a set of numbers has what was added and not deleted", () => {
  const random = seededRandom("numbers");
  const [set, other] = [new NumberSet(), new NumberSet()];
  const [model, otherModel] = [new Set<number>(), new Set<number>()];
  for (let i = 0; i < 3000; i++) {
    const [kind, high, low] = random(3) as unknown as [number, number, number];
    const number = ((high & 3) << 8) | low;
    const [into, modelOf] = kind < 128 ? [set, model] : [other, otherModel];
    if (kind % 3 === 0) {
      into.delete(number);
      modelOf.delete(number);
    } else {
      into.add(number);
      modelOf.add(number);
    }
  }
  const ascending = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);
  const both = ascending([...model].filter((number) => otherModel.has(number)));
  assert.deepEqual([...set.values()], ascending(model));
  assert.deepEqual([...set.values(other)], both);
  assert.deepEqual([...NumberSet.shared([set, other]).values()], both);
  assert.deepEqual([...NumberSet.shared([]).values()], []);
  for (let number = 0; number < 1100; number++) assert.equal(set.has(number), model.has(number));
  set.clear();
  assert.deepEqual([...set.values()], []);
});
