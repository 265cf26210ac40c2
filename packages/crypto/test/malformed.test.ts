/** What proofs and keys that are no proofs or keys are answered, and the twin's verdicts in quick runs too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClsagRing } from "../src/backend.ts";
import { concatBytes, varint } from "../src/bytes.ts";
import { createBackend, useBackend } from "../src/engine.ts";
import {
  checkRingSignature,
  checkSignature,
  commit,
  G,
  generateRingSignature,
  generateTxProof,
  hashToScalar,
  IDENTITY,
  InvalidPoint,
  isInMainSubgroup,
  keyImageOf,
  publicKeyOf,
  scFromUint64,
  scIsZero,
  scMulSub,
  scSub,
  signClsag,
  signMessageHash,
  subaddressKeys,
  subaddressSecretKey,
  subaddressSpendPublicKey,
  verifyBorromean,
  verifyBulletproofs,
  verifyMlsagFull,
  verifyMlsagSimple,
} from "../src/index.ts";
import { reference } from "../src/reference/backend.ts";
import { randomScalars } from "../src/scalar.ts";
import { flipBit, hex, NO_POINT, plusOrder } from "./fixtures.ts";

const short = new Uint8Array(31);
const zero = new Uint8Array(32);
const [one, two] = [scFromUint64(1n), scFromUint64(2n)];

test("numbers are written in groups of seven bits, and only indices are", () => {
  for (const [value, bytes] of [
    [0, "00"],
    [127, "7f"],
    [128, "8001"],
    [16_384, "808001"],
    [Number.MAX_SAFE_INTEGER, "ffffffffffffff0f"],
  ] as const)
    assert.equal(hex(varint(value)), bytes);
  for (const value of [-1, 1.5, 2 ** 53, Number.NaN]) assert.throws(() => varint(value), RangeError);
});

test("subaddresses have indices of 32 bits, one by one as in a row", () => {
  const view = one;
  const keys = { viewSecret: view, spendPublic: G };
  const last = 2 ** 32 - 1;
  assert.equal(subaddressSecretKey(view, last, last).length, 32);
  for (const index of [-1, 2 ** 32, 0.5]) {
    assert.throws(() => subaddressSecretKey(view, index, 0), RangeError);
    assert.throws(() => subaddressSecretKey(view, 0, index), RangeError);
  }
  assert.deepEqual(subaddressSpendPublicKey(keys, 0, 0), G);
  assert.deepEqual(subaddressSpendPublicKey(keys, 1, 2), subaddressKeys(keys, 1, 2).spendPublic);
});

test("a ring signature of another shape holds for nobody", () => {
  const [real, other] = [scFromUint64(11n), scFromUint64(12n)];
  const publicKeys = [publicKeyOf(other), publicKeyOf(real)];
  const keyImage = keyImageOf(publicKeys[1]!, real);
  const statement = { prefixHash: two, keyImage, publicKeys };
  const signatures = generateRingSignature(statement, { secretKey: real, realIndex: 1 });
  assert.equal(checkRingSignature(statement, signatures), true);
  assert.throws(() => generateRingSignature(statement, { secretKey: real, realIndex: 2 }), RangeError);
  const bad: [typeof statement, Uint8Array[]][] = [
    [{ ...statement, prefixHash: short }, signatures],
    [{ ...statement, keyImage: short }, signatures],
    [{ ...statement, keyImage: NO_POINT }, signatures],
    [{ ...statement, publicKeys: [publicKeys[0]!, short] }, signatures],
    [{ ...statement, publicKeys: [NO_POINT, publicKeys[1]!] }, signatures],
    [statement, signatures.slice(1)],
    [statement, [...signatures, signatures[0]!]],
    [statement, [signatures[0]!, signatures[1]!.subarray(1)]],
    [
      statement,
      [concatBytes(plusOrder(signatures[0]!.slice(0, 32)), signatures[0]!.slice(32)), signatures[1]!],
    ],
    [
      statement,
      [concatBytes(signatures[0]!.slice(0, 32), plusOrder(signatures[0]!.slice(32))), signatures[1]!],
    ],
    [statement, [flipBit(signatures[0]!, 3), signatures[1]!]],
  ];
  for (const [claim, given] of bad) assert.equal(checkRingSignature(claim, given), false);
});

test("a signature whose commitment is nothing is none", () => {
  const secret = scFromUint64(9n);
  const publicKey = publicKeyOf(secret);
  assert.equal(checkSignature(two, publicKey, signMessageHash(two, publicKey, secret)), true);
  // r·G + c·P is the identity where r is minus c times the secret.
  const c = hashToScalar(two, publicKey, IDENTITY);
  const forged = concatBytes(c, scMulSub(c, secret, zero));
  assert.equal(checkSignature(two, publicKey, forged), false);
});

test("a proof of payment is made for points alone", () => {
  const claim = { version: 2 as const, prefixHash: two, R: G, A: G, B: undefined };
  assert.equal(generateTxProof(claim, one).D.length, 32);
  assert.throws(() => generateTxProof({ ...claim, A: NO_POINT }, one), InvalidPoint);
  assert.throws(() => generateTxProof({ ...claim, B: NO_POINT }, one), InvalidPoint);
  for (const part of ["prefixHash", "R"])
    assert.throws(() => generateTxProof({ ...claim, [part]: short }, one), RangeError, part);
});

test("range proofs of another shape are refused", () => {
  const bits = new Uint8Array(64 * 32);
  const proof = { s0: bits, s1: bits, ee: zero, Ci: bits };
  for (const change of [{ s0: short }, { s1: short }, { Ci: short }, { ee: short }, {}])
    assert.equal(verifyBorromean(G, { ...proof, ...change }), false);
  const rounds = (count: number) => Array.from({ length: count }, () => G);
  const points = { A: G, S: G, T1: G, T2: G, L: rounds(6), R: rounds(6) };
  const whole = { ...points, taux: one, mu: one, a: one, b: one, t: one };
  const refused = (change: object, commitments: Uint8Array[] = [G]) =>
    assert.equal(verifyBulletproofs([{ proof: { ...whole, ...change }, commitments }]), false);
  assert.equal(verifyBulletproofs([]), true);
  for (const change of [
    {},
    { A: short },
    { L: rounds(5) },
    { R: rounds(7) },
    { A: NO_POINT },
    { t: plusOrder(one) },
  ])
    refused(change);
  refused({}, []);
  refused({}, [NO_POINT]);
  refused({}, [short]);
  const most = { L: rounds(10), R: rounds(10) };
  refused(most, Array<Uint8Array>(16).fill(G));
  refused({ L: rounds(11), R: rounds(11) }, Array<Uint8Array>(17).fill(G));
});

test("MLSAGs of another shape are refused", () => {
  const member = { key: G, commitment: G };
  const row = [one, one];
  const simple = {
    message: two,
    ring: [member, member],
    pseudoOut: publicKeyOf(two),
    keyImage: G,
    proof: { ss: [row, row], cc: one },
  };
  const full = {
    message: two,
    rings: [[member, member]],
    outputCommitments: [publicKeyOf(two)],
    fee: 5n,
    keyImages: [G],
    proof: { ss: [row, row], cc: one },
  };
  const noPoint = { key: G, commitment: NO_POINT };
  for (const change of [
    {},
    { message: short },
    { pseudoOut: short },
    { pseudoOut: NO_POINT },
    { keyImage: short },
    { keyImage: IDENTITY },
    { keyImage: NO_POINT },
    { ring: [member] },
    { ring: [] },
    { ring: [member, { key: short, commitment: G }] },
    { ring: [member, { key: NO_POINT, commitment: G }] },
    { ring: [member, noPoint] },
    { proof: { ss: [row], cc: one } },
    { proof: { ss: [row, [one]], cc: one } },
    { proof: { ss: [row, row], cc: short } },
    { proof: { ss: [row, [one, plusOrder(one)]], cc: one } },
    { proof: { ss: [row, [one, short]], cc: one } },
  ])
    assert.equal(verifyMlsagSimple({ ...simple, ...change }), false, Object.keys(change).join());
  for (const change of [
    {},
    { rings: [] },
    { rings: [], keyImages: [] },
    { rings: [[member, member], [member]], keyImages: [G, G] },
    { keyImages: [] },
    { outputCommitments: [short] },
    { outputCommitments: [NO_POINT] },
    { rings: [[member, noPoint]] },
  ])
    assert.equal(verifyMlsagFull({ ...full, ...change }), false, Object.keys(change).join());
});

/** A CLSAG of two members, made by the kernel. */
function provenClsag(): { ring: ClsagRing; s: Uint8Array; c1: Uint8Array } {
  const [secretKey, mask, pseudoMask] = [11n, 12n, 13n].map(scFromUint64) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const members = [
    { key: publicKeyOf(two), commitment: commit(one, 5n) },
    { key: publicKeyOf(secretKey), commitment: commit(mask, 5n) },
  ];
  const pseudoOut = commit(pseudoMask, 5n);
  const message = hashToScalar(secretKey);
  const secretMask = scSub(mask, pseudoMask);
  const signing = { message, ring: members, pseudoOut, secretKey, secretMask, realIndex: 1 };
  const { proof, keyImage } = signClsag(signing);
  const keys = concatBytes(...members.map(({ key }) => key));
  const commitments = concatBytes(...members.map(({ commitment }) => commitment));
  const ring = { message, keys, commitments, pseudoOut, keyImage, D: proof.D };
  return { ring, s: concatBytes(...proof.s), c1: proof.c1 };
}

test("the twin judges a small ring as the kernel does", () => {
  const { ring, s, c1 } = provenClsag();
  const kernel = createBackend("fallback");
  const both = (claim: ClsagRing, responses: Uint8Array, first: Uint8Array): boolean => {
    const verdict = reference.verifyClsag(claim, responses, first);
    assert.equal(kernel.verifyClsag(claim, responses, first), verdict);
    return verdict;
  };
  assert.equal(both(ring, s, c1), true);
  const beyond = concatBytes(plusOrder(s.slice(0, 32)), s.slice(32));
  for (const [claim, responses, first] of [
    [ring, beyond, c1],
    [ring, s, plusOrder(c1)],
    [ring, flipBit(s, 40), c1],
    [ring, s, flipBit(c1, 0)],
    [{ ...ring, keyImage: IDENTITY }, s, c1],
    [{ ...ring, keyImage: NO_POINT }, s, c1],
    [{ ...ring, D: IDENTITY }, s, c1],
    [{ ...ring, D: NO_POINT }, s, c1],
    [{ ...ring, pseudoOut: G }, s, c1],
    [{ ...ring, keys: concatBytes(NO_POINT, ring.keys.slice(32)) }, s, c1],
    [{ ...ring, commitments: concatBytes(NO_POINT, ring.keys.slice(32)) }, s, c1],
  ] as const)
    assert.equal(both(claim, responses, first), false);
  for (const each of [kernel, reference])
    assert.throws(() => each.verifyClsag({ ...ring, commitments: G }, s, c1), RangeError);
});

test("the twin finds addresses and tags as the kernel does, and refuses unequal lists", () => {
  const kernel = createBackend("fallback");
  const indices = Uint32Array.of(0, 300);
  const points = concatBytes(G, publicKeyOf(two));
  for (const each of [kernel, reference]) {
    assert.throws(() => each.outputSpendKeys(G, points, indices), RangeError);
    assert.throws(() => each.viewTags(points, Uint32Array.of(1)), RangeError);
    assert.throws(() => each.foldVartime({ a: one, A: points, b: one, B: G }), RangeError);
    assert.throws(() => each.twinScalarMultVartime({ a: one, A: points, b: one, B: G }), RangeError);
  }
  assert.deepEqual(
    reference.outputSpendKeys(points, points, indices),
    kernel.outputSpendKeys(points, points, indices),
  );
  assert.deepEqual(reference.viewTags(points, indices), kernel.viewTags(points, indices));
});

test("a backend that is put in place is the one that computes", (t) => {
  t.after(() => useBackend(createBackend()));
  let asked = 0;
  useBackend({
    ...createBackend("fallback"),
    areInMainSubgroup: (points) => {
      asked++;
      return new Uint8Array(points.length / 32);
    },
  });
  assert.equal(isInMainSubgroup(G), false);
  assert.equal(asked, 1);
});

test("the bytes that random scalars are made of are not left in memory", () => {
  const given: Uint8Array[] = [];
  const random = (length: number) => {
    const bytes = new Uint8Array(length).fill(3);
    given.push(bytes);
    return bytes;
  };
  const scalars = randomScalars(3, random);
  assert.equal(scalars.length, 3);
  assert.ok(scalars.every((scalar) => scalar.some((byte) => byte !== 0)));
  assert.ok(given.length > 0);
  for (const bytes of given) assert.ok(bytes.every((byte) => byte === 0));
});

test("lists that do not end with a whole element are refused, by the reference as by the kernels", () => {
  const more = new Uint8Array(33).fill(1);
  for (const backend of [reference, createBackend("fallback")]) {
    const twice = { a: more, A: G, b: one, B: G };
    for (const call of [
      () => backend.scalarMultBase(more),
      () => backend.scalarMult(more, more),
      () => backend.commitTwice(more, more),
      () => backend.scalarMultHashed(more, more),
      () => backend.shareSecret({ secret: one, nonces: more, points: more }),
      () => backend.shareSecret({ secret: new Uint8Array(64).fill(1), nonces: one, points: G }),
      () => backend.doubleScalarMultVartime(twice),
      () => backend.multiexp({ scalars: more, points: more }),
      () => backend.vector.scale(more, one),
      () => backend.vector.invert(more),
    ])
      assert.throws(call, RangeError, `${backend.name} ${call}`);
  }
});

test("a scalar is zero where none of its bytes is another", () => {
  assert.equal(scIsZero(new Uint8Array(32)), true);
  for (let at = 0; at < 32; at++)
    for (const byte of [1, 2, 0x80, 0xff])
      assert.equal(scIsZero(new Uint8Array(32).fill(byte, at, at + 1)), false);
  assert.throws(() => scIsZero(new Uint8Array(31)), RangeError);
});
