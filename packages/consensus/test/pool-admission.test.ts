import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, type TransactionPrefix } from "@anulo/protocol";
import {
  admitTransaction,
  BadCheckpoints,
  BadKnownBlocks,
  baseFee,
  checkBlobSize,
  describeViolation,
  doubleSpendObligations,
  RuleViolation,
  readmitTransaction,
  sendTransactionFlags,
  verdictOf,
} from "../src/index.ts";
import { fakeContext } from "./fake-view.ts";
import { readRecordedLaboratory } from "./recorded-laboratory.ts";
import { assertRefused } from "./refusals.ts";
import { candidateOf } from "./regtest-chain.ts";

const good = candidateOf(fromHex(readRecordedLaboratory().transactions[0]!.blob));
const emptyPool = { isKeyImageInPool: () => false };
const refusalOf = (weight: number, view = {}) =>
  admitTransaction({ ...good, weight }, emptyPool, fakeContext(view)).refusal?.violation.code;

test("a blob of a megabyte is looked at, one byte more is not", () => {
  checkBlobSize(1_000_000);
  assertRefused(() => checkBlobSize(1_000_001), "BLOB_TOO_BIG");
  assert.deepEqual(verdictOf.BLOB_TOO_BIG.rpcFlags, ["too_big"]);
});

test("what a transaction pays is asked before its weight", () => {
  const free = { alreadyGenerated: 2n ** 64n - 1n, recentWeights: () => Array(100).fill(300_000_000) };
  assert.equal(refusalOf(599_400), "FEE_TOO_LOW");
  assert.equal(refusalOf(149_400, free), undefined);
  assert.equal(refusalOf(149_401, free), "WEIGHT_ABOVE_LIMIT");
});

test("a transaction that is locked, or carries more than 1,060 bytes, is not for the pool, whatever else it is", () => {
  const spent = { isKeyImageInPool: () => true };
  const codeOf = (change: Partial<TransactionPrefix>, weight = good.weight) => {
    const transaction = { ...good.transaction, prefix: { ...good.transaction.prefix, ...change } };
    const { refusal, obligations } = admitTransaction({ ...good, transaction, weight }, spent, fakeContext());
    assert.deepEqual(obligations, []);
    return refusal?.violation.code;
  };
  const [extra, longer] = [new Uint8Array(1060), new Uint8Array(1061)];
  assert.equal(codeOf({ extra }), "KEY_IMAGE_IN_POOL");
  assert.equal(codeOf({ extra, unlockTime: 1n }), "UNLOCK_TIME_SET");
  assert.equal(codeOf({ extra: longer, unlockTime: 1n }), "EXTRA_TOO_BIG");
  assert.equal(codeOf({ extra: longer, unlockTime: 1n }, 599_400), "FEE_TOO_LOW");
  for (const code of ["UNLOCK_TIME_SET", "EXTRA_TOO_BIG"] as const)
    assert.equal(verdictOf[code].peer, "keep");
});

test("the fee is measured by the smaller median, in the tail too", () => {
  const tail = { alreadyGenerated: 2n ** 64n - 1n };
  assert.equal(baseFee(fakeContext(tail)), 19_000n);
  const busy = { ...tail, recentWeights: () => Array(100).fill(3_000_000), longTermWeightMedian: 600_000 };
  assert.equal(baseFee(fakeContext(busy)), 4_750n);
  assert.equal(baseFee(fakeContext({ ...busy, hardForkVersion: 9 })), 400n);
  assert.equal(baseFee(fakeContext({ hardForkVersion: 3 })), 2_000_000_000n);
});

test("a transaction is taken with its fee, its obligations and its newest ring member", () => {
  const { refusal, fee, obligations, newestRingEnd } = admitTransaction(good, emptyPool, fakeContext());
  assert.deepEqual(
    { refusal, fee, newestRingEnd },
    { refusal: undefined, fee: 5_000_000_000n, newestRingEnd: 10 },
  );
  assert.equal(obligations.length, 5);
});

test("a refusal after the transaction was judged alone keeps the proofs that come before it", () => {
  const isSpent = () => true;
  const { refusal, obligations } = admitTransaction(
    good,
    emptyPool,
    fakeContext({ isKeyImageSpent: isSpent }),
  );
  assert.equal(refusal?.violation.code, "KEY_IMAGE_SPENT");
  assert.deepEqual(
    obligations.map(({ kind }) => kind),
    ["outputKeys", "keyImages", "balance", "rangeProof"],
  );
});

test("what is refused before anything was computed has no fee, no ring and no proof", () => {
  const overflow = { recentCumulativeDifficulties: () => [], isKeyImageSpent: () => true };
  const { fee, newestRingEnd, newestRingMember, obligations } = admitTransaction(
    { ...good, weight: 10 ** 9 },
    emptyPool,
    fakeContext(overflow),
  );
  assert.deepEqual(
    { fee, newestRingEnd, newestRingMember, obligations },
    { fee: 5_000_000_000n, newestRingEnd: 0, newestRingMember: 0, obligations: [] },
  );
});

test("what spends the same as another is judged as if the pool had nothing", () => {
  const found = doubleSpendObligations(good, fakeContext());
  assert.deepEqual(found, admitTransaction(good, emptyPool, fakeContext()).obligations);
  assert.equal(doubleSpendObligations({ ...good, weight: 10 ** 9 }, fakeContext()), undefined);
});

test("a bug in what is asked of the chain is no refusal", () => {
  const broken = fakeContext({
    isKeyImageSpent: () => {
      throw new TypeError("a bug");
    },
  });
  assert.throws(() => admitTransaction(good, emptyPool, broken), /a bug/);
  for (const keptByBlock of [true, false])
    assert.throws(() => readmitTransaction(good, broken, { keptByBlock }), /a bug/);
  const unreadable = fakeContext();
  Object.defineProperty(unreadable.chain, "hardForkVersion", { value: "none" });
  assert.throws(() => readmitTransaction(good, unreadable, { keptByBlock: true }), TypeError);
});

test("a transaction that does not return tells of no ring", () => {
  const refused = readmitTransaction({ ...good, weight: 149_401 }, fakeContext(), { keptByBlock: true });
  assert.equal(refused.refusal?.violation.code, "WEIGHT_ABOVE_LIMIT");
  assert.equal(refused.newestRingMember, 0);
});

test("every verdict lists known flags once", () => {
  for (const { rpcFlags } of Object.values(verdictOf)) {
    assert.equal(new Set(rpcFlags).size, rpcFlags.length);
    for (const flag of rpcFlags) assert.ok(sendTransactionFlags.includes(flag));
  }
});

test("a violation reads as its code and its data", () => {
  const text = describeViolation({ code: "FEE_TOO_LOW", fee: 5n, needed: 7n });
  assert.equal(text, "FEE_TOO_LOW (fee 5, needed 7)");
  assert.equal(describeViolation({ code: "NO_INPUTS" }), "NO_INPUTS");
});

test("errors are told apart by name", () => {
  assert.equal(new RuleViolation({ code: "NO_INPUTS" }).name, "RuleViolation");
  assert.equal(new BadCheckpoints("reason").name, "BadCheckpoints");
  assert.equal(new BadKnownBlocks("reason").name, "BadKnownBlocks");
});
