import assert from "node:assert/strict";
import { before, test } from "node:test";
import { generateRingSignature, keyImageOf, publicKeyOf, scFromUint64 } from "@anulo/crypto";
import type { ConfidentialRingCt } from "@anulo/protocol";
import {
  type BulletproofObligation,
  chainContext,
  discharge,
  dischargeEach,
  type Obligation,
  verifyBlock,
} from "../src/index.ts";
import { versionTwo } from "./candidates.ts";
import { createMemoryChain } from "./memory-chain.ts";
import { provenBorromean, provenFullMlsag, provenMlsag } from "./old-proofs.ts";
import { readRegtestChain } from "./regtest-chain.ts";

/** Obligations of a few recorded transactions. */
let obligations: Obligation[] = [];

before(() => {
  const chain = createMemoryChain({ fixedDifficulty: 1n });
  for (const { block, transactions } of readRegtestChain()) {
    const verified = verifyBlock({ block, transactions }, chainContext(chain.view(), block.header.timestamp));
    chain.append(block, transactions, verified);
    obligations.push(...verified.obligations);
    if (obligations.length > 20) break;
  }
  obligations = obligations.slice(0, 20);
});

const kindsAt = (kind: Obligation["kind"]) =>
  [...obligations.entries()].filter(([, obligation]) => obligation.kind === kind).map(([index]) => index);

/** The obligations, one of them changed. */
function withFault(index: number): Obligation[] {
  const changed = structuredClone(obligations);
  const fault = changed[index]!;
  const zero = new Uint8Array(32);
  if (fault.kind === "rangeProof") fault.proof.r1 = zero;
  if (fault.kind === "clsag") fault.c1 = zero;
  if (fault.kind === "balance") fault.fee += 1n;
  if (fault.kind === "outputKeys") fault.keys[1] = zero.slice().fill(2, 0, 1);
  if (fault.kind === "keyImages") fault.keyImages[0] = zero.slice().fill(2, 0, 1);
  return changed;
}

test("proofs of recorded transactions hold, as they are and after crossing to a worker", () => {
  assert.equal(discharge(obligations), undefined);
  assert.equal(discharge(structuredClone(obligations)), undefined);
  assert.equal(discharge([]), undefined);
});

test("the obligation that fails is named, with its transaction and what it means", () => {
  const expected = {
    outputKeys: { code: "OUTPUT_KEY", output: 1 },
    keyImages: { code: "KEY_IMAGE_POINT", input: 0 },
    balance: { code: "BALANCE" },
    rangeProof: { code: "RANGE_PROOF" },
    clsag: { code: "CLSAG", input: 0 },
  } as const;
  for (const kind of Object.keys(expected) as (keyof typeof expected)[]) {
    const index = kindsAt(kind)[0]!;
    const failure = discharge(withFault(index));
    const transactionId = (obligations[index] as { transactionId: Uint8Array }).transactionId;
    assert.deepEqual(failure, { index, transactionId, violation: expected[kind] });
  }
});

test("a key image that is a point outside the subgroup is told from one that is none", () => {
  const orderTwo = new Uint8Array(32).fill(0xff);
  orderTwo[0] = 0xec;
  orderTwo[31] = 0x7f;
  const obligation = { kind: "keyImages" as const, transactionId: new Uint8Array(32), keyImages: [orderTwo] };
  assert.deepEqual(discharge([obligation])?.violation, { code: "KEY_IMAGE_DOMAIN", input: 0 });
});

test("commitments that are no points are told from those out of balance", () => {
  const index = kindsAt("balance")[0]!;
  const changed = structuredClone(obligations);
  const fault = changed[index] as Extract<Obligation, { kind: "balance" }>;
  fault.outputCommitments[1] = new Uint8Array(32).fill(2, 0, 1);
  assert.deepEqual(discharge(changed)?.violation, { code: "COMMITMENT_POINT", output: 1 });
});

test("of a batch of range proofs the first bad one is named, wherever it is", () => {
  const proofs = kindsAt("rangeProof");
  for (const index of [proofs[1]!, proofs.at(-1)!]) assert.equal(discharge(withFault(index))?.index, index);
});

test("of two faults the first in order is named, though range proofs are checked together", () => {
  const [range, clsag] = [kindsAt("rangeProof")[1]!, kindsAt("clsag")[0]!];
  const both = (a: number, b: number) =>
    withFault(a).map((obligation, i) => (i === b ? withFault(b)[b]! : obligation));
  assert.equal(discharge(both(range, clsag))?.index, Math.min(range, clsag));
  const later = kindsAt("clsag").find((index) => index > range)!;
  assert.equal(discharge(both(range, later))?.index, range);
});

// Work of unbounded size: proofs that strangers send must never exceed what one call of the kernel takes.
test("range proofs of any number are checked, and a bad one is named", () => {
  const valid = obligations[kindsAt("rangeProof")[0]!]!;
  assert.ok(valid.kind === "rangeProof");
  const malformed = { ...valid, proof: { ...valid.proof, L: valid.proof.L.slice(1) } };
  const many = Array.from({ length: 2 ** 14 }, () => valid);
  assert.equal(discharge([malformed, ...many])?.index, 0);
  const bad = badBulletproof();
  const oldMany = Array.from({ length: 2 ** 13 }, () => bad);
  assert.equal(discharge(oldMany)?.index, 0);
});

test("a batch cut into small ones is judged as the whole", () => {
  const proofs = kindsAt("rangeProof");
  for (const maxBatchTerms of [1, 40, 60]) {
    assert.equal(discharge(obligations, { maxBatchTerms }), undefined);
    for (const index of proofs) assert.equal(discharge(withFault(index), { maxBatchTerms })?.index, index);
  }
});

// A refusal of one sender's proof must never be laid at the door of another whose proof was checked with it.
test("of lists that are checked together each gets the answer it gets alone", () => {
  const [range, later] = [kindsAt("rangeProof")[0]!, kindsAt("rangeProof")[1]!];
  const both = withFault(range).map((obligation, i) => (i === later ? withFault(later)[later]! : obligation));
  const faults = [range, later, kindsAt("clsag")[0]!, kindsAt("balance").at(-1)!].map(withFault);
  const lists = [obligations, ...faults, obligations.slice(0, 4), both, [], obligations];
  const alone = lists.map((list) => discharge(list));
  assert.equal(alone.filter((failure) => failure !== undefined).length, 5);
  for (const maxBatchTerms of [1, 40, 1e4]) assert.deepEqual(dischargeEach(lists, { maxBatchTerms }), alone);
});

test("a ring signature is checked, and a wrong one named", () => {
  const [secretKey, other] = [scFromUint64(11n), scFromUint64(12n)];
  const keys = [publicKeyOf(other), publicKeyOf(secretKey)];
  const keyImage = keyImageOf(keys[1]!, secretKey);
  const message = new Uint8Array(32).fill(5);
  const signatures = generateRingSignature(
    { prefixHash: message, keyImage, publicKeys: keys },
    { secretKey, realIndex: 1 },
  );
  const transactionId = new Uint8Array(32);
  const obligation = {
    kind: "ringSignature",
    transactionId,
    input: 3,
    message,
    keys,
    keyImage,
    signatures,
  } as const;
  assert.equal(discharge([{ ...obligation }]), undefined);
  const wrong = discharge([{ ...obligation, message: transactionId }]);
  assert.deepEqual(wrong?.violation, { code: "RING_SIGNATURE", input: 3 });
});

test("proofs of earlier forks are checked, and bad ones named", () => {
  const mlsag = provenMlsag();
  const fullMlsag = provenFullMlsag();
  const borromean = provenBorromean(12_345n);
  const good: Obligation[] = [borromean, mlsag, fullMlsag];
  assert.equal(discharge(structuredClone(good)), undefined);
  const another = new Uint8Array(32).fill(5);
  const faults: [Obligation, object][] = [
    [{ ...borromean, commitment: another }, { code: "RANGE_PROOF" }],
    [
      { ...mlsag, message: another },
      { code: "MLSAG", input: 4 },
    ],
    [{ ...fullMlsag, fee: 8n }, { code: "FULL_MLSAG" }],
    [badBulletproof(), { code: "RANGE_PROOF" }],
  ];
  for (const [fault, violation] of faults) {
    const { transactionId } = mlsag;
    assert.deepEqual(discharge([...good, fault]), { index: 3, transactionId, violation });
  }
});

test("of two kinds of range proofs the first bad one is named", () => {
  const plus = structuredClone(obligations[kindsAt("rangeProof")[0]!]!);
  assert.ok(plus.kind === "rangeProof");
  plus.proof.r1 = new Uint8Array(32);
  assert.equal(discharge([plus, badBulletproof()])?.index, 0);
  assert.equal(discharge([badBulletproof(), plus])?.index, 0);
});

/** Of the right shape, but nobody made it. */
function badBulletproof(): BulletproofObligation {
  const { id, transaction } = versionTwo({ type: 3 });
  const { outputCommitments: commitments, prunable } = transaction.ringct as ConfidentialRingCt;
  return { kind: "bulletproof", transactionId: id, commitments, proof: prunable!.bulletproofs[0]! };
}

test("proof of work is refused as the mistake of who asks", () => {
  const blob = new Uint8Array(76);
  const pow = {
    kind: "powHash",
    blob,
    height: 5,
    majorVersion: 16,
    seedId: new Uint8Array(32),
    difficulty: 2n,
  } as const;
  assert.throws(() => discharge([pow]), TypeError);
});
