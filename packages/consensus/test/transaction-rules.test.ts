import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyInput, Transaction, TxOutput } from "@anulo/protocol";
import { checkSanity, type TransactionCandidate, UnsupportedEra, verifyTransaction } from "../src/index.ts";
import { fakeContext, fakeOutput } from "./fake-view.ts";
import { tagged } from "./forge.ts";
import { assertRefused } from "./refusals.ts";

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const offsets = (size: number, first = 5n) => [first, ...Array.from({ length: size - 1 }, () => 1n)];
const input = (keyImage: number, ringSize = 16, amount = 0n): KeyInput => ({
  type: "key",
  amount,
  keyOffsets: offsets(ringSize),
  keyImage: bytes(keyImage),
});
const untagged = (amount = 0n): TxOutput => ({ amount, target: { type: "key", key: bytes(1) } });

/** A version 1 transaction: its rules need no proofs to be made. */
function versionOne(inputs: KeyInput[], outputs: TxOutput[]): TransactionCandidate {
  const prefix = { version: 1, unlockTime: 0n, inputs, outputs, extra: bytes(0) };
  const signatures = inputs.map(({ keyOffsets }) => keyOffsets.map(() => new Uint8Array(64)));
  return { transaction: { prefix, signatures, ringct: undefined }, id: bytes(9), weight: 1000 };
}

/** A Bulletproofs+ transaction of the right shape, with proofs nobody made. */
function versionTwo(edit: { inputs?: KeyInput[]; outputs?: TxOutput[]; type?: 1 | 2 | 3 | 4 | 5 | 6 } = {}) {
  const inputs = edit.inputs ?? [input(7)];
  const outputs = edit.outputs ?? [tagged(bytes(1)), tagged(bytes(2))];
  const rounds = Array.from({ length: 6 + Math.ceil(Math.log2(Math.max(1, outputs.length))) }, () =>
    bytes(3),
  );
  const zero = bytes(0);
  const proof = { A: zero, A1: zero, B: zero, r1: zero, s1: zero, d1: zero, L: rounds, R: rounds };
  const clsags = inputs.map(({ keyOffsets }) => ({ s: keyOffsets.map(() => zero), c1: zero, D: zero }));
  const prunable = { rangeSigs: [], bulletproofs: [], bulletproofsPlus: [proof], clsags, mgs: [] };
  const transaction: Transaction = {
    prefix: { version: 2, unlockTime: 0n, inputs, outputs, extra: zero },
    signatures: [],
    ringct: {
      type: edit.type ?? 6,
      fee: 10n ** 10n,
      pseudoOuts: inputs.map(() => zero),
      ecdhInfo: outputs.map(() => ({ amount: new Uint8Array(8) })),
      outputCommitments: outputs.map(() => zero),
      prunable,
    },
  };
  return { transaction, id: bytes(9), weight: 2000 };
}

const verify = (candidate: TransactionCandidate, view: Parameters<typeof fakeContext>[0] = {}) =>
  verifyTransaction(candidate, fakeContext(view));

test("a good transaction leaves its keys, key images, balance, range proof and CLSAGs to check", () => {
  const { obligations, newestRingEnd } = verify(versionTwo({ inputs: [input(9), input(7)] }));
  assert.deepEqual(
    obligations.map(({ kind }) => kind),
    ["outputKeys", "keyImages", "balance", "rangeProof", "clsag", "clsag"],
  );
  assert.equal(newestRingEnd, 10);
  assert.ok(structuredClone(obligations));
});

test("ring sizes are those of the fork", () => {
  const sizes = (version: number): number[] => {
    const outputs = version >= 16 ? [tagged(bytes(1)), tagged(bytes(2))] : [untagged(5n)];
    const make = (size: number) =>
      version >= 16
        ? versionTwo({ inputs: [input(7, size)], outputs })
        : versionOne([input(7, size, 10n)], [untagged(5n)]);
    const isTaken = (size: number) => {
      try {
        verify(make(size), { hardForkVersion: version });
        return true;
      } catch (error) {
        return (error as { violation?: { code: string } }).violation?.code !== "RING_SIZE";
      }
    };
    return [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 15, 16, 17, 20].filter(isTaken);
  };
  const from = (least: number) =>
    [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 15, 16, 17, 20].filter((size) => size >= least);
  assert.deepEqual(sizes(1), from(1));
  assert.deepEqual(sizes(2), from(3));
  assert.deepEqual(sizes(6), from(5));
  assert.deepEqual(sizes(7), from(7));
  for (const version of [8, 9, 10, 14]) assert.deepEqual(sizes(version), [11]);
  assert.deepEqual(sizes(15), [11, 16]);
  assert.deepEqual(sizes(16), [16]);
});

test("rings may differ in size before hard fork 12", () => {
  const inputs = [input(9, 11, 10n), input(7, 12, 10n)];
  assertRefused(
    () => verify(versionOne(inputs, [untagged(5n)]), { hardForkVersion: 12 }),
    "RING_SIZES_DIFFER",
  );
  assertRefused(() => verify(versionOne(inputs, [untagged(5n)]), { hardForkVersion: 10 }), "RINGCT_REQUIRED");
});

test("an amount with too few outputs may go with small rings, beside one other input", () => {
  const rare = { outputCount: (amount: bigint) => (amount === 10n ? 15n : 16n) };
  const spend = (...inputs: KeyInput[]) => versionOne(inputs, [tagged(bytes(1), 5n)]);
  assert.equal(verify(spend(input(7, 1, 10n)), rare).obligations.at(-1)?.kind, "ringSignature");
  verify(spend(input(9, 1, 10n), input(7, 1, 20n)), rare);
  assertRefused(() => verify(spend(input(9, 1, 10n), input(8, 1, 20n), input(7, 1, 20n)), rare), "RING_SIZE");
  assertRefused(() => verify(spend(input(7, 1, 20n)), rare), "RING_SIZE");
  assertRefused(() => verify(spend(input(7, 16, 20n)), rare), "RINGCT_REQUIRED");
});

test("version 2 comes with hard fork 4 and is required from 6", () => {
  const one = versionOne([input(7, 5, 10n)], [untagged(5n)]);
  for (const hardForkVersion of [1, 2, 4, 5]) verify(one, { hardForkVersion });
  assertRefused(() => verify(one, { hardForkVersion: 6 }), "RINGCT_REQUIRED");
  const two = versionTwo({ outputs: [untagged()], type: 2 });
  assertRefused(() => verify(two, { hardForkVersion: 1 }), "TRANSACTION_VERSION");
  assertRefused(() => verify(two, { hardForkVersion: 3 }), "RINGCT_TYPE");
});

test("a ringct type is refused outside its forks and unsupported inside, save the newest", () => {
  const outcome = (type: 1 | 2 | 3 | 4 | 5 | 6, hardForkVersion: number) => {
    const outputs = hardForkVersion > 15 ? undefined : [untagged(), untagged()];
    const candidate = versionTwo({ type, ...(outputs ? { outputs } : {}) });
    try {
      verify(candidate, { hardForkVersion });
    } catch (error) {
      if (error instanceof UnsupportedEra) return "later";
      return (error as { violation: { code: string } }).violation.code === "RINGCT_TYPE" ? "no" : "yes";
    }
    return "yes";
  };
  const row = (type: 1 | 2 | 3 | 4 | 5 | 6) =>
    [4, 7, 8, 9, 10, 11, 13, 14, 15, 16].map((fork) => outcome(type, fork));
  const later = (count: number) => Array(count).fill("later");
  const no = (count: number) => Array(count).fill("no");
  assert.deepEqual(row(1), [...later(3), ...no(7)]);
  assert.deepEqual(row(2), [...later(3), ...no(7)]);
  assert.deepEqual(row(3), [...no(2), ...later(3), ...no(5)]);
  assert.deepEqual(row(4), [...no(4), ...later(3), ...no(3)]);
  assert.deepEqual(row(5), [...no(6), ...later(3), "no"]);
  assert.deepEqual(row(6), [...no(8), "yes", "yes"]);
});

test("inputs descend by key image from hard fork 7", () => {
  const ascending = [input(7, 5, 10n), input(9, 5, 10n)];
  verify(versionOne(ascending, [untagged(5n)]), { hardForkVersion: 5 });
  const hidden = (inputs: KeyInput[]) => versionTwo({ inputs });
  verify(hidden([input(9), input(7)]));
  assertRefused(() => verify(hidden([input(7), input(9)])), "INPUTS_NOT_SORTED");
  assertRefused(() => verify(hidden([input(7), input(7)])), "KEY_IMAGE_REPEATED");
});

test("a ring repeats no member from hard fork 6", () => {
  const twice: KeyInput = { ...input(7, 5, 10n), keyOffsets: [1n, 2n, 0n, 1n, 1n] };
  verify(versionOne([twice], [untagged(5n)]), { hardForkVersion: 5 });
  assertRefused(
    () => verify(versionOne([twice], [untagged(5n)]), { hardForkVersion: 6 }),
    "RING_MEMBER_REPEATED",
  );
  verify(versionTwo({ inputs: [{ ...input(7), keyOffsets: offsets(16, 0n) }] }));
});

test("ring members exist, are unlocked and ten blocks old", () => {
  const holding = (output: ReturnType<typeof fakeOutput> | undefined) => ({
    outputs: (_: bigint, indices: readonly bigint[]) => indices.map(() => output),
  });
  assertRefused(() => verify(versionTwo(), holding(undefined)), "RING_MEMBER_UNKNOWN");
  verify(versionTwo(), holding(fakeOutput({ unlockTime: 1000n })));
  assertRefused(() => verify(versionTwo(), holding(fakeOutput({ unlockTime: 1001n }))), "RING_MEMBER_LOCKED");
  verify(versionTwo(), holding(fakeOutput({ height: 990 })));
  assertRefused(() => verify(versionTwo(), holding(fakeOutput({ height: 991 }))), "RING_MEMBER_TOO_YOUNG");
  const old = versionOne([input(7, 11, 10n)], [untagged(5n)]);
  const few = { ...holding(fakeOutput({ height: 999 })), hardForkVersion: 11, outputCount: () => 3n };
  assert.equal(verify(old, few).newestRingEnd, 999);
});

test("only the last ring member's age counts, but any member's height is told", () => {
  const outputs = (_: bigint, indices: readonly bigint[]) =>
    indices.map((_index, i) => fakeOutput({ height: i === 3 ? 999 : 20 }));
  const { newestRingEnd, newestRingMember } = verify(versionTwo(), { outputs });
  assert.deepEqual({ newestRingEnd, newestRingMember }, { newestRingEnd: 20, newestRingMember: 999 });
});

test("a spent key image is refused", () => {
  assertRefused(() => verify(versionTwo(), { isKeyImageSpent: () => true }), "KEY_IMAGE_SPENT");
});

test("hidden amounts need two outputs from hard fork 12, and all of them tagged from 16", () => {
  assertRefused(() => verify(versionTwo({ outputs: [tagged(bytes(1))] })), "TOO_FEW_OUTPUTS");
  assertRefused(() => verify(versionTwo({ outputs: [untagged(), untagged()] })), "OUTPUT_TYPE");
  verify(versionTwo({ outputs: [untagged(), untagged()] }), { hardForkVersion: 15 });
  verify(versionTwo(), { hardForkVersion: 15 });
  assertRefused(
    () => verify(versionTwo({ outputs: [untagged(), tagged(bytes(1))] }), { hardForkVersion: 15 }),
    "OUTPUT_TYPE",
  );
  assertRefused(
    () => verify(versionTwo({ outputs: [tagged(bytes(1)), tagged(bytes(1), 5n)] })),
    "OUTPUT_AMOUNT_VISIBLE",
  );
});

test("a range proof covers sixteen outputs at most, with no round to spare", () => {
  const outputs = (count: number) => Array.from({ length: count }, () => tagged(bytes(1)));
  verify(versionTwo({ outputs: outputs(16) }));
  assertRefused(() => verify(versionTwo({ outputs: outputs(17) })), "RINGCT_SHAPE");
  const loose = versionTwo({ outputs: outputs(3) });
  verify(loose);
  loose.transaction.prefix.outputs = outputs(2);
  assertRefused(() => verify(loose), "COMMITMENT_COUNT");
});

test("visible amounts are one digit and zeros from hard fork 2, never 0, and leave a fee", () => {
  const pay = (...amounts: bigint[]) => versionOne([input(7, 5, 100n)], amounts.map(untagged));
  verify(pay(55n), { hardForkVersion: 1 });
  assertRefused(() => verify(pay(55n), { hardForkVersion: 2 }), "OUTPUT_NOT_DECOMPOSED");
  verify(pay(50n, 40n), { hardForkVersion: 2 });
  assertRefused(() => verify(pay(50n, 50n), { hardForkVersion: 2 }), "AMOUNTS_NOT_POSITIVE");
  assertRefused(() => verify(pay(50n, 0n), { hardForkVersion: 2 }), "OUTPUT_AMOUNT_ZERO");
  assertRefused(() => verify(pay(2n ** 64n - 1n, 1n), { hardForkVersion: 2 }), "AMOUNT_OVERFLOW");
});

test("a transaction has inputs, and none of them makes coins", () => {
  assertRefused(() => verify(versionOne([], [untagged(5n)])), "NO_INPUTS");
  const generation = versionTwo();
  generation.transaction.prefix.inputs = [{ type: "generation", height: 5 }];
  assertRefused(() => verify(generation), "INPUT_TYPE");
  const script = versionTwo();
  script.transaction.prefix.outputs[0] = { amount: 0n, target: { type: "scriptHash", hash: bytes(1) } };
  assertRefused(() => verify(script), "OUTPUT_TARGET");
});

test("a transaction weighs at most half of the smallest block", () => {
  verify({ ...versionTwo(), weight: 149_400 });
  assertRefused(() => verify({ ...versionTwo(), weight: 149_401 }), "WEIGHT_ABOVE_LIMIT");
});

test("the sanity check wants four fifths of the members different and half of them new", () => {
  const mature = 10_000n;
  const ring = (first: bigint) => ({ ...input(7), keyOffsets: offsets(16, first) });
  const sane = (...inputs: KeyInput[]) => checkSanity(versionTwo({ inputs }).transaction, mature);
  sane(ring(9000n));
  sane(ring(5993n));
  assertRefused(() => sane(ring(5992n)), "SANITY");
  sane(ring(9000n), ring(9010n));
  assertRefused(() => sane(ring(9000n), ring(9008n)), "SANITY");
  checkSanity(versionTwo({ inputs: [ring(0n)] }).transaction, 9_999n);
  sane(input(7, 10));
});
