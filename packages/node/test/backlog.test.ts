import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChainView, type TransactionCandidate, weightLimits } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { PoolTransaction } from "@anulo/storage";
import { Backlog, publicEntries, type WaitingTransaction } from "../src/mining/backlog.ts";

const idOf = (number: number) => {
  const id = new Uint8Array(32);
  new DataView(id.buffer).setUint32(0, number);
  return id;
};

/** A chain of empty blocks; `topOf` changes its ids. */
function viewOf(
  height: number,
  spent: readonly Uint8Array[] = [],
  topOf = (at: number) => idOf(at),
): ChainView {
  const nothing = {
    alreadyGenerated: 0n,
    cumulativeDifficulty: 1n,
    fixedDifficulty: 1n,
    longTermWeightMedian: 1,
  };
  return {
    ...nothing,
    height,
    topId: topOf(height - 1),
    hardForkVersion: 16,
    recentTimestamps: () => [],
    recentCumulativeDifficulties: () => [],
    recentWeights: () => [100],
    blockId: topOf,
    hasTransaction: () => false,
    isKeyImageSpent: (image) => spent.some((each) => toHex(each) === toHex(image)),
    outputCount: () => 0n,
    outputs: () => [],
  };
}

/** A waiting transaction whose judgement fails: only those marked as fitting are chosen. */
function waiting(number: number, { weight = 1000, fee = 1000n, image = number } = {}): WaitingTransaction {
  return {
    id: idOf(number),
    key: toHex(idOf(number)),
    weight,
    fee,
    keyImages: () => [idOf(1_000_000 + image)],
    candidate: () => {
      const prefix = { version: 9, unlockTime: 0n, inputs: [], outputs: [], extra: new Uint8Array() };
      const transaction = { prefix, signatures: [], ringct: undefined };
      return { transaction, id: idOf(number), weight } as TransactionCandidate;
    },
    isProvenOn: () => false,
  };
}

function chooser(view: ChainView, transactions: readonly WaitingTransaction[]) {
  const backlog = new Backlog(
    () => 0,
    () => [],
  );
  for (const { key } of transactions) backlog.markFitting(key, view);
  const numbersOf = (on: ChainView, among = transactions) =>
    backlog.choose(on, among).map(({ id }) => Buffer.from(id).readUInt32BE(0));
  return { backlog, numbersOf };
}

test("what fits into a block comes in the order of the pool, without what does not fit the chain", () => {
  const view = viewOf(10);
  const transactions = [waiting(1, { fee: 1n }), waiting(2, { fee: 9n }), waiting(3)];
  const { numbersOf } = chooser(view, transactions);
  assert.deepEqual(numbersOf(view), [1, 2, 3]);
  assert.deepEqual(numbersOf(view, [...transactions, waiting(4)]), [1, 2, 3], "not judged, and unfit");
  assert.deepEqual(numbersOf(view, [waiting(3), waiting(3, { image: 3 })]), [3], "each key image once");
});

test("what was found to fit is looked at again only for its key images, while the chain grows", () => {
  const transactions = [waiting(1), waiting(2)];
  const { numbersOf } = chooser(viewOf(10), transactions);
  assert.deepEqual(numbersOf(viewOf(10)), [1, 2]);
  assert.deepEqual(numbersOf(viewOf(11)), [1, 2]);
  assert.deepEqual(numbersOf(viewOf(500)), [1, 2]);
  assert.deepEqual(numbersOf(viewOf(11, [idOf(1_000_001)])), [2]);
  assert.deepEqual(numbersOf(viewOf(9)), [], "a shorter chain");
  const other = (height: number) => viewOf(height, [], (at) => idOf(at + 7000));
  assert.deepEqual(numbersOf(other(10)), [], "another chain as long");
  assert.deepEqual(numbersOf(other(12)), [], "another that is longer");
});

test("of more than fit, those that pay most for their weight come first, and one more than a block and an eighth", () => {
  const view = viewOf(10);
  const room = weightLimits(view).effectiveMedian;
  assert.equal(room, 300_000);
  const weight = 37_500;
  const fees = [5n, 9n, 9n, 1n, 7n, 8n, 2n, 6n, 3n, 4n];
  const transactions = fees.map((fee, i) => waiting(i, { weight, fee: fee * 1000n }));
  const { numbersOf } = chooser(view, transactions);
  // Nine fit exactly into 337,500 bytes, so the tenth is chosen, too.
  assert.deepEqual(numbersOf(view), [1, 2, 5, 4, 7, 0, 9, 8, 6, 3]);
  const heavier = fees.map((fee, i) => waiting(i, { weight: weight + 1, fee: fee * 1000n }));
  assert.deepEqual(numbersOf(view, heavier), [1, 2, 5, 4, 7, 0, 9, 8, 6]);
  const nine = transactions.slice(0, 9);
  assert.deepEqual(numbersOf(view, nine), [0, 1, 2, 3, 4, 5, 6, 7, 8], "all of them fit");
});

test("thousands are ordered as a whole, equal ones as they came", () => {
  const view = viewOf(10);
  const transactions = Array.from({ length: 3000 }, (_, i) =>
    waiting(i, { weight: 113, fee: BigInt(100 + ((i * 7919) % 500)) }),
  );
  const { numbersOf } = chooser(view, transactions);
  const expected = transactions
    .map(({ fee }, i) => ({ fee, i }))
    .sort((a, b) => Number(b.fee - a.fee) || a.i - b.i)
    .map(({ i }) => i);
  const found = numbersOf(view);
  assert.ok(found.length > 2900);
  assert.deepEqual(found, expected.slice(0, found.length));
});

test("what came with a block is not taken for proven on this chain, where its rings may have other members", () => {
  const view = viewOf(10);
  const isProven = (keptByBlock: boolean) => {
    const row: PoolTransaction = {
      ...{ weight: 1000, fee: 1000n, receiveTime: 0, lastRelayedTime: 0n, phase: "fluff", keptByBlock },
      ...{ maxUsedBlockHeight: 5, maxUsedBlockHash: idOf(5), lastFailedHeight: 0, lastFailedHash: idOf(0) },
      ...{ relayed: true, doNotRelay: false, doubleSpendSeen: false, blob: new Uint8Array() },
    };
    return publicEntries([{ id: idOf(1), key: toHex(idOf(1)), row, keyImages: [] }])[0]!.isProvenOn(view);
  };
  assert.deepEqual([isProven(false), isProven(true)], [true, false]);
});

test("after 100,000 remembered all are judged again", () => {
  const view = viewOf(10);
  const { backlog, numbersOf } = chooser(view, [waiting(1)]);
  for (let i = 0; i < 99_999; i++) backlog.markFitting(`${i}`, view);
  assert.deepEqual(numbersOf(view), [1]);
  backlog.markFitting("one more", view);
  assert.deepEqual(numbersOf(view), []);
});
