/** What the pool keeps of a transaction that was sent, and which ones it gives up for it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { absoluteOffsets, keyInputs, NULL_HASH, readIdentifiedTransaction, toHex } from "@anulo/protocol";
import type { PoolTransaction, RandomRows } from "@anulo/storage";
import { acceptBlock, popBlocks } from "../src/chain/chain.ts";
import type { ChainEvent } from "../src/chain/events.ts";
import { readBlockWithTransactions } from "../src/chain/incoming-block.ts";
import type { OpenChain } from "../src/chain/open-chain.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { admit, admitFromStranger, type Submission } from "../src/pool/admit.ts";
import { NEVER } from "../src/pool/entry.ts";
import { dropFromPool, dropStale } from "../src/pool/maintain.ts";
import { emptyChain, loadBlocks, mine, now } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";
import { bytesOf, putWaiting } from "./waiting-rows.ts";

const { blocks } = goldenState();
const first = blocks.findIndex(({ transactions }) => transactions.length > 0);
const [blob] = blocks[first]!.transactions as [Uint8Array];
const { id, transaction, weight } = readIdentifiedTransaction(blob);
const key = toHex(id);

let chain: OpenChain;
let parts: ChainParts;
const events: ChainEvent[] = [];

before(async () => {
  chain = await emptyChain();
  parts = chain.parts;
  await loadBlocks(parts, blocks.slice(0, first));
  chain.events.listen((event) => void events.push(event));
});

after(() => chain.close());

const dropAll = () =>
  dropFromPool(
    parts,
    parts.pool.entries().map((entry) => entry.key),
  );

beforeEach(async () => {
  await dropAll();
  events.length = 0;
});

/** Height of the newest block with a member of a ring of the transaction. */
function newestRingMember(): number {
  const { read } = parts.store;
  const heights = keyInputs(transaction.prefix).flatMap(({ amount, keyOffsets }) =>
    absoluteOffsets(keyOffsets).map((index) => read.outputHeight(amount, Number(index))!),
  );
  return Math.max(...heights);
}

const rowOf = () => parts.pool.get(key)!.row;
const numbered = (number: number) => toHex(bytesOf(number));

test("a transaction is kept with its fee, its newest ring member, and how it is to be relayed", async () => {
  assert.equal(await admit(parts, { blob, doNotRelay: false }), "added");
  const height = newestRingMember();
  assert.ok(height > 0);
  const { fee, ...row } = rowOf();
  assert.ok(transaction.ringct?.type !== 0 && fee === transaction.ringct?.fee);
  const expected: Omit<PoolTransaction, "fee"> = {
    weight,
    receiveTime: now(),
    lastRelayedTime: NEVER,
    maxUsedBlockHeight: height,
    maxUsedBlockHash: parts.store.read.blockInfo(height)!.hash,
    lastFailedHeight: 0,
    lastFailedHash: NULL_HASH,
    keptByBlock: false,
    relayed: false,
    doNotRelay: false,
    doubleSpendSeen: false,
    phase: "local",
    blob,
  };
  assert.deepEqual(row, expected);
  assert.deepEqual(events, [{ type: "transactionAdded", id }]);
});

test("what came from others was relayed already, and may wait for its time", async () => {
  for (const phase of ["forward", "stem", "fluff"] as const) {
    await admit(parts, { blob, doNotRelay: false, phase, relayAt: 777 });
    assert.deepEqual([rowOf().relayed, rowOf().phase, rowOf().lastRelayedTime], [true, phase, 777n]);
    await dropAll();
  }
  await admit(parts, { blob, doNotRelay: true });
  assert.deepEqual([rowOf().relayed, rowOf().doNotRelay], [false, true]);
});

test("a transaction is added once; one that goes on to all is no new one", async () => {
  const submission = { blob, doNotRelay: false };
  assert.equal(await admit(parts, submission), "added");
  assert.equal(await admit(parts, submission), "known");
  assert.equal(await admitFromStranger(parts, { ...submission, phase: "fluff" }), "promoted");
  assert.deepEqual(
    events.map(({ type }) => type),
    ["transactionAdded", "transactionsPublic"],
  );
});

test("a transaction of the chain is known, and returns to the pool with its block", async () => {
  const incoming = await readBlockWithTransactions(blocks[first]!.blob, blocks[first]!.transactions);
  assert.equal(await acceptBlock(parts, incoming), "added");
  events.length = 0;
  assert.equal(await admit(parts, { blob, doNotRelay: false }), "known");
  assert.deepEqual([parts.pool.size, events], [0, []]);
  await popBlocks(parts, 1);
  const { fee, maxUsedBlockHash, ...row } = rowOf();
  assert.ok(transaction.ringct?.type !== 0 && fee === transaction.ringct?.fee);
  assert.deepEqual(maxUsedBlockHash, parts.store.read.blockInfo(newestRingMember())!.hash);
  const expected: Omit<PoolTransaction, "fee" | "maxUsedBlockHash"> = {
    weight,
    receiveTime: now(),
    lastRelayedTime: NEVER,
    maxUsedBlockHeight: newestRingMember(),
    lastFailedHeight: 0,
    lastFailedHash: NULL_HASH,
    keptByBlock: true,
    relayed: true,
    doNotRelay: false,
    doubleSpendSeen: false,
    phase: "fluff",
    blob,
  };
  assert.deepEqual(row, expected);
});

test("one of a removed block stays without a block of its rings, where these are gone as well", async () => {
  const incoming = await readBlockWithTransactions(blocks[first]!.blob, blocks[first]!.transactions);
  await acceptBlock(parts, incoming);
  const height = newestRingMember();
  await popBlocks(parts, parts.store.read.height() - height);
  assert.deepEqual([rowOf().maxUsedBlockHeight, rowOf().maxUsedBlockHash], [0, NULL_HASH]);
  await dropAll();
  await loadBlocks(parts, blocks.slice(height - 1, first));
  assert.equal(parts.store.read.height(), first + 1);
});

/** A pool with other room, of the same transactions. */
const withRoomFor = (maxWeight: number): ChainParts => ({
  ...parts,
  pool: Object.create(parts.pool, { maxWeight: { value: maxWeight } }),
});

// Rows of 2000 bytes: number 0 came with a block, the others pay the more the higher their number is.
test("where the pool is too heavy as many of the cheapest leave as must, but none that came with a block", async () => {
  const left = async (maxWeight: number) => {
    await dropAll();
    const rows = [0, 1, 2, 3].map(
      (number) => [number, { fee: BigInt(number), keptByBlock: number === 0 }] as const,
    );
    putWaiting(parts, new Map(rows));
    await admit(withRoomFor(maxWeight), { blob, doNotRelay: false });
    assert.ok(parts.pool.get(key) !== undefined, "it pays the most");
    return [0, 1, 2, 3].filter((number) => parts.pool.get(numbered(number)) !== undefined);
  };
  const all = weight + 8000;
  assert.deepEqual(await left(all), [0, 1, 2, 3]);
  assert.deepEqual(await left(all - 1), [0, 2, 3]);
  assert.deepEqual(await left(all - 2000), [0, 2, 3]);
  assert.deepEqual(await left(all - 2001), [0, 3]);
  assert.deepEqual(await left(weight + 2000), [0]);
});

test("transactions that have waited three days leave, those of blocks after seven", async () => {
  const day = 86_400;
  const ages: [number, boolean][] = [
    [3 * day, false],
    [3 * day + 1, false],
    [3 * day + 1, true],
    [7 * day, true],
    [7 * day + 1, true],
  ];
  const rows = ages.map(([age, keptByBlock], i) => [i, { receiveTime: now() - age, keptByBlock }] as const);
  putWaiting(parts, new Map(rows));
  await dropStale(parts);
  const numbers = [0, 1, 2, 3, 4];
  const has = (number: number) => parts.pool.get(numbered(number)) !== undefined;
  assert.deepEqual(numbers.map(has), [true, false, true, true, false]);
  assert.deepEqual(
    numbers.map((number) => parts.pool.hasExpired(numbered(number))),
    [false, true, false, false, true],
  );
});

test("a hundred transactions are dropped at a time, and of those that are gone none", async () => {
  putWaiting(parts, new Map(Array.from({ length: 250 }, (_, i) => [i, {}])));
  const sizes: number[] = [];
  const { store } = parts;
  const write: typeof store.write = (change) => {
    const result = store.write(change);
    sizes.push(store.read.poolTransactions().length);
    return result;
  };
  const counted = { ...parts, store: { ...store, write } };
  const keys = Array.from({ length: 250 }, (_, i) => numbered(i));
  await dropFromPool(counted, keys);
  assert.deepEqual(sizes, [150, 50, 0]);
  await dropFromPool(counted, keys);
  assert.equal(sizes.length, 3);
});

/** What is brought into memory for a transaction, and whether it waits behind what others have read. */
async function readFor(submission: Partial<Submission>) {
  const orders: { rows: RandomRows; isStranger: boolean | undefined }[] = [];
  const { store } = parts;
  const prefetch: typeof store.prefetch = (rows, options) => {
    orders.push({ rows: rows(), isStranger: options?.isStranger });
    return undefined;
  };
  await admit({ ...parts, store: { ...store, prefetch } }, { blob, doNotRelay: false, ...submission });
  const [{ rows, isStranger }] = orders as [(typeof orders)[0]];
  return { isStranger, keyImages: rows.keyImages?.length ?? 0, outputs: rows.outputs?.length ?? 0 };
}

test("rows of the chain are read beforehand for what is judged by them, as whoever sends it may", async () => {
  const inputs = keyInputs(transaction.prefix);
  const all = { keyImages: inputs.length, outputs: 16 * inputs.length };
  const cases = [
    [{}, false],
    [{ isFromStranger: true }, true],
    [{ isRestricted: true }, true],
  ] as const;
  for (const [submission, isStranger] of cases) {
    await dropAll();
    assert.deepEqual(await readFor(submission), { isStranger, ...all });
  }
  assert.deepEqual(await readFor({}), { isStranger: false, keyImages: 0, outputs: 0 }, "it is known");
  await mine(parts, 1);
  assert.deepEqual(await readFor({}), { isStranger: false, keyImages: 0, outputs: 0 }, "it is in the chain");
});
