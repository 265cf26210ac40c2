import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ClsagSigning,
  type ClsagVerification,
  commit,
  hashToScalar,
  IDENTITY,
  InvalidPoint,
  isInMainSubgroup,
  keyImageOf,
  pointAdd,
  publicKeyOf,
  randomScalar,
  scAdd,
  scSub,
  signClsag,
  verifyClsag,
} from "../src/index.ts";
import { onEachBackend } from "./backends.ts";
import { bytes, flipBit, hex, NO_POINT, plusOrder, recordedTransactions, TORSION } from "./fixtures.ts";

type RecordedInput = (typeof recordedTransactions)[number]["inputs"][number];

function verificationOf(message: string, input: RecordedInput): ClsagVerification {
  return {
    message: bytes(message),
    ring: input.ring.map(({ key, commitment }) => ({ key: bytes(key), commitment: bytes(commitment) })),
    pseudoOut: bytes(input.pseudoOut),
    keyImage: bytes(input.keyImage),
    proof: { s: input.s.map(bytes), c1: bytes(input.c1), D: bytes(input.D) },
  };
}

const recorded = recordedTransactions.flatMap(({ message, inputs }) =>
  inputs.map((input) => verificationOf(message, input)),
);
const valid = recorded[0]!;

/** What an input needs, with a ring of `size` in which member `realIndex` is ours. */
function createSigning(size: number, realIndex: number): ClsagSigning {
  const amount = 12_345_678_901n;
  const [secretKey, mask, pseudoMask] = [randomScalar(), randomScalar(), randomScalar()];
  const ring = Array.from({ length: size }, () => ({
    key: publicKeyOf(randomScalar()),
    commitment: commit(randomScalar(), amount),
  }));
  ring[realIndex] = { key: publicKeyOf(secretKey), commitment: commit(mask, amount) };
  return {
    message: hashToScalar(secretKey),
    ring,
    pseudoOut: commit(pseudoMask, amount),
    secretKey,
    secretMask: scSub(mask, pseudoMask),
    realIndex,
  };
}

function replaceAt<T>(list: readonly T[], index: number, change: (item: T) => T): T[] {
  return list.map((item, i) => (i === index ? change(item) : item));
}

const member = valid.ring[3]!;
const { s } = valid.proof;

/** Every way to be wrong: name, and the statement changed. */
const forgeries: [string, ClsagVerification][] = [
  ["another message", { ...valid, message: flipBit(valid.message, 0) }],
  ["another pseudo output", { ...valid, pseudoOut: member.commitment }],
  ["a pseudo output that is no point", { ...valid, pseudoOut: NO_POINT }],
  ["another key image", { ...valid, keyImage: member.key }],
  ["the identity as key image", { ...valid, keyImage: IDENTITY }],
  ["a key image that is no point", { ...valid, keyImage: NO_POINT }],
  ["a key image with a small-order part", { ...valid, keyImage: pointAdd(valid.keyImage, TORSION) }],
  ["another D", { ...valid, proof: { ...valid.proof, D: member.key } }],
  ["the identity as D", { ...valid, proof: { ...valid.proof, D: IDENTITY } }],
  ["a D of small order", { ...valid, proof: { ...valid.proof, D: TORSION } }],
  [
    "a D with a small-order part",
    { ...valid, proof: { ...valid.proof, D: pointAdd(valid.proof.D, TORSION) } },
  ],
  ["a D that is no point", { ...valid, proof: { ...valid.proof, D: NO_POINT } }],
  ["another first challenge", { ...valid, proof: { ...valid.proof, c1: flipBit(valid.proof.c1, 0) } }],
  [
    "the first challenge plus the order",
    { ...valid, proof: { ...valid.proof, c1: plusOrder(valid.proof.c1) } },
  ],
  ["another response", { ...valid, proof: { ...valid.proof, s: replaceAt(s, 15, (x) => flipBit(x, 9)) } }],
  ["a response plus the order", { ...valid, proof: { ...valid.proof, s: replaceAt(s, 7, plusOrder) } }],
  ["a response too few", { ...valid, proof: { ...valid.proof, s: s.slice(1) } }],
  ["a response too many", { ...valid, proof: { ...valid.proof, s: [...s, s[0]!] } }],
  ["a short response", { ...valid, proof: { ...valid.proof, s: replaceAt(s, 7, (x) => x.slice(1)) } }],
  ["an empty ring", { ...valid, ring: [], proof: { ...valid.proof, s: [] } }],
  ["a ring member less", { ...valid, ring: valid.ring.slice(1) }],
  ["two ring members swapped", { ...valid, ring: [valid.ring[1]!, valid.ring[0]!, ...valid.ring.slice(2)] }],
  [
    "another ring key",
    { ...valid, ring: replaceAt(valid.ring, 2, () => ({ ...valid.ring[2]!, key: member.key })) },
  ],
  [
    "a ring key that is no point",
    { ...valid, ring: replaceAt(valid.ring, 2, () => ({ ...member, key: NO_POINT })) },
  ],
  [
    "a commitment that is no point",
    { ...valid, ring: replaceAt(valid.ring, 9, () => ({ ...member, commitment: NO_POINT })) },
  ],
];

onEachBackend("CLSAG", () => {
  test("accepts every recorded proof", () => {
    for (const verification of recorded) assert.equal(verifyClsag(verification), true);
  });

  test("recorded key images lie in the prime-order subgroup, and not with a small-order point added", () => {
    for (const { keyImage } of recorded) {
      assert.equal(isInMainSubgroup(keyImage), true);
      assert.equal(isInMainSubgroup(pointAdd(keyImage, TORSION)), false);
    }
  });

  for (const [name, forgery] of forgeries) {
    test(`refuses ${name}`, () => assert.equal(verifyClsag(forgery), false));
  }

  for (const [size, realIndex] of [
    [1, 0],
    [2, 0],
    [2, 1],
    [3, 1],
    [16, 11],
  ] as const) {
    test(`a proof by member ${realIndex} of ${size} is accepted and names the right key image`, () => {
      const signing = createSigning(size, realIndex);
      const { proof, keyImage } = signClsag(signing);
      assert.equal(verifyClsag({ ...signing, proof, keyImage }), true);
      assert.equal(hex(keyImage), hex(keyImageOf(signing.ring[realIndex]!.key, signing.secretKey)));
      assert.equal(verifyClsag({ ...signing, message: keyImage, proof, keyImage }), false);
    });
  }

  test("decoys with small-order parts are ring members like others", () => {
    const signing = createSigning(4, 2);
    const ring = signing.ring.map(({ key, commitment }, i) =>
      i === 2
        ? { key, commitment }
        : { key: pointAdd(key, TORSION), commitment: pointAdd(commitment, TORSION) },
    );
    const { proof, keyImage } = signClsag({ ...signing, ring });
    assert.equal(verifyClsag({ ...signing, ring, proof, keyImage }), true);
  });

  test("will not sign with secrets that do not open the ring member", () => {
    const signing = createSigning(3, 1);
    const wrongMask = scAdd(signing.secretMask, randomScalar());
    assert.throws(() => signClsag({ ...signing, secretKey: randomScalar() }), RangeError);
    assert.throws(() => signClsag({ ...signing, secretMask: wrongMask }), RangeError);
    assert.throws(() => signClsag({ ...signing, realIndex: 0 }), RangeError);
    assert.throws(() => signClsag({ ...signing, realIndex: 3 }), RangeError);
  });

  test("will not sign over a ring member that is no point", () => {
    const signing = createSigning(3, 1);
    const ring = [{ key: NO_POINT, commitment: signing.pseudoOut }, ...signing.ring.slice(1)];
    assert.throws(() => signClsag({ ...signing, ring }), InvalidPoint);
  });
});
