import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConfidentialRingCt, fromHex, type KeyInput, type TxOutput } from "@anulo/protocol";
import { checkSanity, type TransactionCandidate, verifyTransaction } from "../src/index.ts";
import { bytes, input, offsets, type RingCtType, untagged, versionOne, versionTwo } from "./candidates.ts";
import { fakeContext, fakeOutput } from "./fake-view.ts";
import { tagged } from "./forge.ts";
import { assertRefused } from "./refusals.ts";

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
  const two = versionTwo({ inputs: [input(7, 3)], outputs: [untagged()], type: 2 });
  assertRefused(() => verify(two, { hardForkVersion: 1 }), "TRANSACTION_VERSION");
  assertRefused(() => verify(two, { hardForkVersion: 3 }), "TRANSACTION_VERSION_TOO_NEW");
  verify(two, { hardForkVersion: 4 });
});

/** Hard forks 1 to 16 that take a transaction, as far as `code` goes. */
function forksWithout(code: string, make: (hardForkVersion: number) => TransactionCandidate): number[] {
  const forks = Array.from({ length: 16 }, (_, i) => i + 1);
  return forks.filter((hardForkVersion) => {
    try {
      verify(make(hardForkVersion), { hardForkVersion });
      return true;
    } catch (error) {
      return (error as { violation?: { code: string } }).violation?.code !== code;
    }
  });
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

test("each ringct type has its forks, some of them shared with the next type", () => {
  const forks = (type: RingCtType) =>
    forksWithout("RINGCT_TYPE", (fork) =>
      versionTwo({ type, ...(fork > 15 ? {} : { outputs: [untagged(), untagged()] }) }),
    );
  assert.deepEqual(forks(1), range(1, 8));
  assert.deepEqual(forks(2), range(1, 8));
  assert.deepEqual(forks(3), [1, ...range(8, 10)]);
  assert.deepEqual(forks(4), [1, ...range(10, 13)]);
  assert.deepEqual(forks(5), [1, ...range(13, 15)]);
  assert.deepEqual(forks(6), [1, 15, 16]);
});

test("two MLSAG transactions were mined after their time, and stay", () => {
  const late = (id: string) => ({
    ...versionTwo({ type: 4, inputs: [input(7, 11)], outputs: [untagged(), untagged()] }),
    id: fromHex(id),
  });
  const mined = [
    "c5151944f0583097ba0c88cd0f43e7fabb3881278aa2f73b3b0a007c5d34e910",
    "6f2f117cde6fbcf8d4a6ef8974fcac744726574ac38cf25d3322c996b21edd4c",
  ];
  for (const id of mined) assert.equal(verify(late(id), { hardForkVersion: 14 }).obligations.length, 5);
  assertRefused(() => verify(late("00".repeat(32)), { hardForkVersion: 14 }), "RINGCT_TYPE");
});

test("each ringct type leaves its own proofs to check", () => {
  const kinds = (type: RingCtType, hardForkVersion: number, ringSize: number) => {
    const inputs = [input(9, ringSize), input(7, ringSize)];
    const { obligations } = verify(versionTwo({ type, inputs, outputs: [untagged(), untagged()] }), {
      hardForkVersion,
    });
    assert.ok(structuredClone(obligations));
    return obligations.slice(2).map(({ kind }) => kind);
  };
  assert.deepEqual(kinds(1, 4, 3), ["borromean", "borromean", "fullMlsag"]);
  assert.deepEqual(kinds(2, 8, 11), ["balance", "borromean", "borromean", "mlsag", "mlsag"]);
  assert.deepEqual(kinds(3, 8, 11), ["balance", "bulletproof", "mlsag", "mlsag"]);
  assert.deepEqual(kinds(4, 13, 11), ["balance", "bulletproof", "mlsag", "mlsag"]);
  assert.deepEqual(kinds(5, 13, 11), ["balance", "bulletproof", "clsag", "clsag"]);
  assert.deepEqual(kinds(6, 15, 16), ["balance", "rangeProof", "clsag", "clsag"]);
});

test("a spend has signatures, whatever it hides", () => {
  const bare = (outputs: TxOutput[]) => {
    const candidate = versionTwo({ inputs: [input(7, 3)], outputs });
    return { ...candidate, transaction: { ...candidate.transaction, ringct: { type: 0 as const } } };
  };
  assertRefused(() => verify(bare([]), { hardForkVersion: 4 }), "RINGCT_MISSING");
  assertRefused(() => verify(bare([untagged()]), { hardForkVersion: 4 }), "COMMITMENT_COUNT");
});

test("each part of a ringct transaction has its count", () => {
  const rounds = (count: number) => Array.from({ length: count }, () => bytes(3));
  type Parts = ConfidentialRingCt["prunable"] & object;
  /** A hard fork that accepts each type. */
  const forkOf: Readonly<Record<number, number>> = { 1: 7, 2: 7, 3: 8, 4: 10, 5: 13, 6: 16 };
  const without = (type: RingCtType, edit: (parts: Parts, ringct: ConfidentialRingCt) => void) => {
    const hardForkVersion = forkOf[type]!;
    const outputs = hardForkVersion < 16 ? [untagged(), untagged()] : undefined;
    const candidate = versionTwo({ type, ...(outputs !== undefined && { outputs }) });
    const ringct = candidate.transaction.ringct as ConfidentialRingCt;
    edit(ringct.prunable!, ringct);
    const violation = assertRefused(() => verify(candidate, { hardForkVersion }), "RINGCT_SHAPE");
    return (violation as { part: string }).part;
  };
  assert.equal(
    without(1, (parts) => void parts.rangeSigs.pop()),
    "rangeSigs",
  );
  assert.equal(
    without(1, (_, ringct) => void ringct.pseudoOuts.push(bytes(1))),
    "pseudoOuts",
  );
  assert.equal(
    without(2, (_, ringct) => void ringct.ecdhInfo.pop()),
    "ecdhInfo",
  );
  assert.equal(
    without(4, (parts) => void parts.mgs.pop()),
    "mgs",
  );
  assert.equal(
    without(5, (parts) => void parts.clsags.pop()),
    "clsags",
  );
  assert.equal(
    without(5, (parts) => void parts.bulletproofs.push(parts.bulletproofs[0]!)),
    "bulletproofs",
  );
  assert.equal(
    without(6, (parts) => void parts.bulletproofsPlus.pop()),
    "bulletproofsPlus",
  );
  for (const count of [6, 8]) {
    const edit = (parts: Parts) =>
      Object.assign(parts.bulletproofs[0]!, { L: rounds(count), R: rounds(count) });
    assert.equal(without(3, edit), "rounds");
  }
});

test("before hard fork 12 rings may differ in size, but one signature needs them all alike", () => {
  const outputs = [untagged(), untagged()];
  const spend = (type: RingCtType) => versionTwo({ type, outputs, inputs: [input(9, 3), input(7, 4)] });
  assertRefused(() => verify(spend(1), { hardForkVersion: 4 }), "SIGNATURE_COUNT");
  assertRefused(() => verify(spend(2), { hardForkVersion: 4 }), "SIGNATURE_COUNT");
});

test("signatures that are missing are counted against those required", () => {
  const visible = (signatures: Uint8Array[][]) => {
    const candidate = versionOne([input(7, 3, 10n)], [untagged(5n)]);
    candidate.transaction.signatures = signatures;
    return assertRefused(() => verify(candidate, { hardForkVersion: 2 }), "SIGNATURE_COUNT");
  };
  assert.deepEqual(visible([]), { code: "SIGNATURE_COUNT", signatures: 0, required: 1 });
  const two = [new Uint8Array(64), new Uint8Array(64)];
  assert.deepEqual(visible([two]), { code: "SIGNATURE_COUNT", signatures: 2, required: 3 });
  const hidden = (type: RingCtType, hardForkVersion: number, ringSize: number) => {
    const outputs = [untagged(), untagged()];
    const candidate = versionTwo({ type, outputs, inputs: [input(7, ringSize)] });
    const { prunable } = candidate.transaction.ringct as ConfidentialRingCt;
    for (const { s } of prunable!.clsags) s.pop();
    for (const { ss } of prunable!.mgs) ss.pop();
    return assertRefused(() => verify(candidate, { hardForkVersion }), "SIGNATURE_COUNT");
  };
  assert.deepEqual(hidden(1, 4, 3), { code: "SIGNATURE_COUNT", signatures: 2, required: 3 });
  assert.deepEqual(hidden(2, 4, 3), { code: "SIGNATURE_COUNT", signatures: 2, required: 3 });
  assert.deepEqual(hidden(5, 13, 11), { code: "SIGNATURE_COUNT", signatures: 10, required: 11 });
});

test("both sides of a range proof have the same rounds", () => {
  for (const side of ["L", "R"] as const) {
    const candidate = versionTwo();
    const { prunable } = candidate.transaction.ringct as ConfidentialRingCt;
    const [proof] = prunable!.bulletproofsPlus;
    proof![side] = proof![side].slice(1);
    assertRefused(() => verify(candidate), "RINGCT_SHAPE");
  }
});

test("a ring without members is refused in every fork", () => {
  const empty = (version: number) =>
    versionOne(
      [input(7, 0, 10n), input(5, 11, 10n)].map((one, i) => (i === 0 ? { ...one, keyOffsets: [] } : one)),
      [version > 15 ? tagged(bytes(1), 5n) : untagged(5n)],
    );
  assertRefused(() => verify(empty(1), { hardForkVersion: 1 }), "RING_EMPTY");
  assertRefused(() => verify(empty(5), { hardForkVersion: 5 }), "RING_EMPTY");
  assertRefused(() => verify(empty(16), { hardForkVersion: 16 }), "RING_SIZES_DIFFER");
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
  assertRefused(() => sane(input(7, 11)), "SANITY");
  // Of sixteen members the median lies between the eighth and the ninth.
  const around = (below: bigint, above: bigint) => ({
    ...input(7),
    keyOffsets: [...Array(7).fill(1n), below - 7n, above - below, ...Array(7).fill(1n)],
  });
  sane(around(5990n, 6010n));
  assertRefused(() => sane(around(5989n, 6010n)), "SANITY");
  // Of fifteen it is the eighth.
  const ofFifteen = (median: bigint) => ({
    ...input(7),
    keyOffsets: [...Array(7).fill(1n), median - 7n, ...Array(7).fill(1n)],
  });
  sane(ofFifteen(6000n));
  assertRefused(() => sane(ofFifteen(5999n)), "SANITY");
});
