/** Every backend against the twin, function by function, on the values where implementations go wrong. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import type { Backend, BulletproofPlusParts, ClsagRing, TaggedOutputs } from "../src/backend.ts";
import { concatBytes, elementAt, elementsOf } from "../src/bytes.ts";
import { reference } from "../src/reference/backend.ts";
import { writeInteger } from "../src/reference/integers.ts";
import { backends } from "./backends.ts";
import { bytes, flipBit, hex, NO_POINT, recordedTransactions, TORSION } from "./fixtures.ts";

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const PRIME = 2n ** 255n - 19n;

/** Scalars at the borders of limbs, digits and the group order, then random ones. */
const scalars = [
  ...[
    0n,
    1n,
    2n,
    7n,
    8n,
    15n,
    16n,
    127n,
    128n,
    255n,
    2n ** 51n - 1n,
    2n ** 64n - 1n,
    2n ** 128n,
    2n ** 252n - 1n,
  ],
  ...[2n ** 252n, ORDER - 1n, ORDER, ORDER + 1n, 2n * ORDER - 1n, 7n * ORDER - 1n, 2n ** 255n - 1n],
  BigInt(`0x7${"8".repeat(63)}`),
  BigInt(`0x7${"f80".repeat(21)}`),
].map(writeInteger);
const randomScalars = Array.from({ length: 6 }, () => reference.scalar.reduce32(randomBytes(32)));
const factors = [...scalars, ...randomScalars];
const wideFactors = [
  ...factors,
  ...[8n * ORDER - 1n, 2n ** 255n, 15n * ORDER, 2n ** 256n - 1n].map(writeInteger),
];

const IDENTITY = writeInteger(1n);
const G = reference.scalarMultBase(IDENTITY);
const MINUS_ONE = writeInteger(PRIME - 1n); // the point of order 2
const points = [
  IDENTITY,
  G,
  reference.pointNegate(G)!,
  TORSION,
  MINUS_ONE,
  writeInteger(0n), // order 4
  reference.pointAdd(G, TORSION)!,
  ...randomScalars.map((scalar) => reference.scalarMultBase(scalar)),
];
const notPoints = [
  NO_POINT,
  writeInteger(PRIME), // y = 0 once more
  writeInteger(PRIME + 1n), // y = 1 once more
  writeInteger(2n ** 255n - 1n),
  writeInteger(1n | (1n << 255n)), // −0
  writeInteger((PRIME - 1n) | (1n << 255n)), // −0
  writeInteger(2n ** 256n - 1n),
];
const candidates = [...points, ...notPoints];

/** The result in a form to compare: hexadecimal for bytes, the name for an error. */
function outcome(compute: () => unknown): unknown {
  try {
    return describeValue(compute());
  } catch (error) {
    return `throws ${(error as Error).name}`;
  }
}

function describeValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return hex(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, describeValue(part)]));
}

/** Fails unless the engine and the twin answer alike for every argument list. */
function compare<const A extends readonly unknown[]>(
  engine: Backend,
  lists: Iterable<A>,
  call: (engine: Backend, ...list: A) => unknown,
): void {
  for (const list of lists) {
    const expected = outcome(() => call(reference, ...list));
    const actual = outcome(() => call(engine, ...list));
    assert.deepEqual(actual, expected, JSON.stringify(list.map(describeValue)).slice(0, 1000));
  }
}

function pairs<T, U>(left: readonly T[], right: readonly U[]): [T, U][] {
  return left.flatMap((a) => right.map((b): [T, U] => [a, b]));
}

function single<T>(items: readonly T[]): [T][] {
  return items.map((item) => [item]);
}

function scalarSuite(engine: Backend): void {
  const triples = wideFactors.map((a, i): [Uint8Array, Uint8Array, Uint8Array] => [
    a,
    wideFactors[(i + 5) % wideFactors.length]!,
    wideFactors[(i * 3 + 1) % wideFactors.length]!,
  ]);
  test("scalar arithmetic", () => {
    compare(engine, single(wideFactors), ({ scalar }, a) => scalar.reduce32(a));
    compare(engine, single(wideFactors), ({ scalar }, a) => scalar.invert(a));
    compare(engine, single(wideFactors), ({ scalar }, a) => scalar.isCanonical(a));
    compare(engine, pairs(wideFactors, wideFactors), ({ scalar }, a, b) =>
      scalar.reduce64(concatBytes(a, b)),
    );
    compare(engine, pairs(wideFactors, wideFactors), ({ scalar }, a, b) => scalar.add(a, b));
    compare(engine, pairs(wideFactors, wideFactors), ({ scalar }, a, b) => scalar.sub(a, b));
    compare(engine, pairs(wideFactors, wideFactors), ({ scalar }, a, b) => scalar.mul(a, b));
    compare(engine, triples, ({ scalar }, a, b, c) => scalar.mulAdd(a, b, c));
    compare(engine, triples, ({ scalar }, a, b, c) => scalar.mulSub(a, b, c));
  });
  test("vector arithmetic", () => {
    const all = concatBytes(...wideFactors);
    const reversed = concatBytes(...[...wideFactors].reverse());
    const nonzero = concatBytes(...factors.slice(1, 16), ...randomScalars);
    const none = new Uint8Array();
    const cases: [Uint8Array, Uint8Array][] = [
      [all, reversed],
      [none, none],
      [all, all.subarray(32)],
      [all.subarray(1), all.subarray(1)],
    ];
    compare(engine, cases, ({ vector }, a, b) => vector.add(a, b));
    compare(engine, cases, ({ vector }, a, b) => vector.sub(a, b));
    compare(engine, cases, ({ vector }, a, b) => vector.mul(a, b));
    compare(engine, cases, ({ vector }, a, b) => vector.innerProduct(a, b));
    compare(engine, cases, ({ vector }, a, b) => vector.scaleAdd(a, wideFactors[14]!, b));
    compare(engine, single(wideFactors), ({ vector }, x) => vector.scale(all, x));
    compare(engine, pairs(wideFactors, [0, 1, 2, 67]), ({ vector }, x, n) => vector.powers(x, n));
    compare(engine, single([nonzero, none, all, concatBytes(G, writeInteger(ORDER))]), ({ vector }, a) =>
      vector.invert(a),
    );
  });
}

function pointSuite(engine: Backend): void {
  test("points decoded, added, doubled and told apart", () => {
    compare(engine, single(candidates), (on, p) => on.isPoint(p));
    const inPairs = [...candidates, concatBytes(...candidates), concatBytes(...candidates.slice(1))];
    compare(engine, single([...inPairs, new Uint8Array(), G.subarray(1)]), (on, p) =>
      on.areInMainSubgroup(p),
    );
    compare(engine, single(candidates), (on, p) => on.mulBy8(p));
    compare(engine, single(candidates), (on, p) => on.pointNegate(p));
    compare(engine, pairs(candidates, candidates), (on, p, q) => on.pointAdd(p, q));
    compare(engine, pairs(candidates, candidates), (on, p, q) => on.pointSub(p, q));
    compare(
      engine,
      single([concatBytes(...points), new Uint8Array(), G, concatBytes(...candidates)]),
      (on, all) => on.pointSum(all),
    );
    compare(engine, single([G.subarray(1), new Uint8Array(33)]), (on, p) => on.isPoint(p));
  });
  test("scalar multiplication", () => {
    compare(engine, pairs(wideFactors, candidates.slice(0, 9)), (on, s, p) => on.scalarMult(s, p));
    const scalarLists = [factors.slice(0, 5), factors.slice(0, 4), []].map((list) => concatBytes(...list));
    const pointLists = [points.slice(0, 5), points.slice(1, 5), candidates.slice(0, 5), []];
    const lists = pairs(
      scalarLists,
      pointLists.map((list) => concatBytes(...list)),
    );
    compare(engine, lists, (on, s, p) => on.scalarMult(s, p));
    compare(engine, pairs(wideFactors, candidates.slice(0, 9)), (on, secret, points) =>
      on.shareSecret({ secret, nonces: wideFactors[points[0]! % wideFactors.length]!, points }),
    );
    compare(engine, lists, (on, nonces, points) =>
      on.shareSecret({ secret: factors.at(-1)!, nonces, points }),
    );
    compare(engine, pairs(wideFactors, candidates.slice(0, 9)), (on, s, data) =>
      on.scalarMultHashed(s, data),
    );
    compare(engine, lists, (on, s, data) => on.scalarMultHashed(s, data));
    compare(engine, pairs(wideFactors, candidates.slice(0, 9)), (on, s, data) => on.commitTwice(s, data));
    compare(engine, lists, (on, s, data) => on.commitTwice(s, data));
    compare(engine, single(wideFactors), (on, s) => on.scalarMultBase(s));
    compare(engine, single([concatBytes(...factors), new Uint8Array()]), (on, all) => on.scalarMultBase(all));
    const terms = factors.map((a, i) => ({
      a,
      A: points[i % points.length]!,
      b: factors[(i + 9) % factors.length]!,
      B: points[(i + 3) % points.length]!,
    }));
    const joined = {
      a: concatBytes(...terms.map(({ a }) => a)),
      A: concatBytes(...terms.map(({ A }) => A)),
      b: concatBytes(...terms.map(({ b }) => b)),
      B: concatBytes(...terms.map(({ B }) => B)),
    };
    const spoilt = { ...joined, B: concatBytes(joined.B.subarray(32), NO_POINT) };
    compare(engine, single([...terms, joined, spoilt]), (on, list) => on.doubleScalarMultVartime(list));
    const twins = terms.flatMap(({ a, A, b, B }, i) => {
      const next = terms[(i + 1) % terms.length]!;
      return [{ a, A: concatBytes(A, next.A), b, B: concatBytes(B, next.B) }];
    });
    const all = {
      a: joined.a,
      A: concatBytes(...twins.map(({ A }) => A)),
      b: joined.b,
      B: concatBytes(...twins.map(({ B }) => B)),
    };
    const spoiltTwins = [
      { ...all, A: concatBytes(all.A.subarray(32), NO_POINT) },
      { ...all, A: joined.A },
      { ...all, b: all.b.subarray(32) },
      { ...all, a: concatBytes(all.a.subarray(32), writeInteger(2n ** 255n)) },
      { a: new Uint8Array(), A: new Uint8Array(), b: new Uint8Array(), B: new Uint8Array() },
    ];
    compare(engine, single([...twins, all, ...spoiltTwins]), (on, list) => on.twinScalarMultVartime(list));
    const folds = [...terms, joined, spoilt].flatMap(({ A, B }) =>
      terms
        .slice(0, 12)
        .map(({ a, b }) => ({ a, A, b: A === joined.A ? b : wideFactors.at(-a[0]! % 30)!, B })),
    );
    compare(engine, single([...folds, { ...joined }]), (on, list) => on.foldVartime(list));
  });
  test("commitments to amounts that everybody sees", () => {
    const borders = Array.from({ length: 64 }, (_, bit) => 2n ** BigInt(bit)).flatMap((power) => [
      power - 1n,
      power,
    ]);
    const digits = [
      0x7777777777777777n,
      0x8888888888888888n,
      0x7878787878787878n,
      0x8787878787878787n,
      2n ** 64n - 1n,
    ];
    const random = Array.from({ length: 20 }, () => randomBytes(8).readBigUInt64LE());
    const amounts = BigUint64Array.from([...borders, ...digits, ...random]);
    const lists = [amounts, amounts.subarray(1), amounts.subarray(3, 4), amounts.subarray(0, 0)];
    compare(engine, pairs(lists, [0, 1] as const), (on, list, mask) => on.commitVartime(list, mask));
  });
  test("hashing to points", () => {
    const inputs = [...wideFactors, ...candidates];
    compare(engine, single([...inputs, concatBytes(...inputs), new Uint8Array()]), (on, data) =>
      on.hashToPoint(data),
    );
  });
  test("keccak-256 at every length around the block size", () => {
    const lengths = [0, 1, 31, 32, 33, 64, 127, 128, 134, 135, 136, 137, 271, 272, 273, 2000];
    const texts = lengths.map((length) => new Uint8Array(length).fill(length & 0xff));
    compare(engine, single(texts), (on, text) => on.keccak256(text));
    compare(engine, single(texts), (on, text) => on.hashToScalar(text));
  });
  test("whole blocks absorbed into a keccak state", () => {
    const blocks = [0, 1, 2, 5].map((count) => new Uint8Array(136 * count).fill(7 * count));
    compare(engine, single(blocks), (on, data) => {
      const state = new Uint8Array(200).fill(3);
      on.keccakAbsorb(state, data);
      return state;
    });
  });
}

function multiexpSuite(engine: Backend): void {
  for (const size of [0, 1, 2, 3, 15, 33, 130, 300]) {
    test(`multi-exponentiation of ${size} terms, for public and for secret scalars`, () => {
      const terms = {
        scalars: concatBytes(...Array.from({ length: size }, (_, i) => factors[(i * 5) % factors.length]!)),
        points: concatBytes(...Array.from({ length: size }, (_, i) => points[(i * 3) % points.length]!)),
      };
      compare(engine, single([terms]), (on, list) => on.multiexpVartime(list));
      compare(engine, single([terms]), (on, list) => on.multiexp(list));
    });
  }
  test("multi-exponentiation with generators, and with a point that does not decode", () => {
    for (const family of ["bulletproof", "bulletproof_plus"] as const) {
      const terms = {
        scalars: concatBytes(factors[30 % factors.length]!, factors[12]!),
        points: concatBytes(G, TORSION),
        generators: { family, scalars: concatBytes(...factors.slice(0, 21)) },
      };
      const spoilt = { ...terms, points: concatBytes(G, NO_POINT) };
      const uneven = { ...terms, points: G };
      const large = { ...terms, scalars: wideFactors.at(-1)!, points: G };
      for (const list of [terms, spoilt, uneven, large]) {
        compare(engine, [[list]], (on, given) => on.multiexpVartime(given));
        compare(engine, [[list]], (on, given) => on.multiexp(given));
      }
    }
  });
  test("range proof generators", () => {
    compare(engine, pairs(["bulletproof", "bulletproof_plus"] as const, [0, 1, 130]), (on, family, count) =>
      on.generators(family, count),
    );
    compare(engine, [[2049]], (on, count) => on.generators("bulletproof_plus", count));
  });
}

/** Up to four outputs of each key: of those with a tag some match one of `factors`, every fifth has none. */
function taggedOutputs(publicKeys: Uint8Array, indices: Uint32Array): TaggedOutputs {
  const each = elementsOf(publicKeys);
  const counts = Uint32Array.from(each, (_, key) => (3 * key + 4) % 5);
  const outputs = each.flatMap((key, i) =>
    Array.from({ length: counts[i]! }, (_, place) => {
      const index = indices[(i + place) % indices.length]!;
      const { derivations, valid } = reference.deriveBatch(factors[(i + place) % 3]!, key);
      const own = valid[0] === 1 ? derivations : IDENTITY;
      const [tag] = reference.viewTags(own, Uint32Array.of(index));
      return { index, tag: (i + place) % 5 === 4 ? 256 : tag! };
    }),
  );
  return {
    publicKeys,
    counts,
    indices: Uint32Array.from(outputs, ({ index }) => index),
    tags: Uint32Array.from(outputs, ({ tag }) => tag),
  };
}

function scanSuite(engine: Backend): void {
  const keys = concatBytes(...candidates);
  const indices = Uint32Array.from(
    candidates,
    (_, i) => [0, 1, 127, 128, 16_383, 16_384, 2 ** 32 - 1][i % 7]!,
  );
  test("derivations, an invalid key leaving its neighbours untouched", () => {
    compare(engine, single(wideFactors), (on, secret) => on.deriveBatch(secret, keys));
    compare(engine, [[G], [new Uint8Array()]], (on, one) => on.deriveBatch(randomScalars[0]!, one));
  });
  test("outputs that match one of many secrets, also those of an invalid key", () => {
    const ofAll = taggedOutputs(keys, indices);
    const ofTwo = taggedOutputs(concatBytes(points.at(-1)!, NO_POINT), indices);
    const secrets = concatBytes(...factors);
    for (const m of [0, 1, 2, 3, factors.length]) {
      const some = secrets.subarray(0, 32 * m);
      compare(engine, single([some]), (on, of) => on.matchViewTags(of, ofAll));
      compare(engine, single([some]), (on, of) =>
        on.matchViewTags(of, taggedOutputs(G.subarray(0, 0), indices)),
      );
    }
    // Tables of wider windows.
    for (const m of [100, 401, 1000]) {
      const some = concatBytes(...Array.from({ length: m }, (_, i) => factors[i % factors.length]!));
      compare(engine, single([some]), (on, of) => on.matchViewTags(of, ofTwo));
    }
    const uneven = { ...ofTwo, tags: ofTwo.tags.subarray(1) };
    compare(engine, single([secrets]), (on, of) => on.matchViewTags(of, uneven));
    compare(engine, single([concatBytes(...wideFactors)]), (on, of) => on.matchViewTags(of, ofTwo));
  });
  test("view tags, scalars and spend keys of outputs", () => {
    for (const n of [0, 1, 2, 7, candidates.length]) {
      const [some, at] = [keys.subarray(0, 32 * n), indices.subarray(0, n)];
      compare(engine, single([some]), (on, derivations) => on.viewTags(derivations, at));
      compare(engine, single([some]), (on, derivations) => on.derivationScalars(derivations, at));
      compare(engine, single([some]), (on, derivations) => on.outputSpendKeys(some, derivations, at));
    }
    compare(engine, single([keys]), (on, derivations) => on.viewTags(derivations, indices.subarray(1)));
  });
  test("subaddress spend keys", () => {
    const request = {
      viewSecret: randomScalars[1]!,
      spendPublic: points.at(-1)!,
      major: 0,
      fromMinor: 0,
      count: 5,
    };
    const requests = [
      request,
      { ...request, count: 0 },
      { ...request, major: 7, fromMinor: 1000 },
      { ...request, major: 2 ** 32 - 1, fromMinor: 2 ** 32 - 2, count: 2 },
      { ...request, fromMinor: 2 ** 32 - 1, count: 2 },
      { ...request, spendPublic: NO_POINT },
    ];
    compare(engine, single(requests), (on, given) => on.subaddressSpendKeys(given));
  });
}

function proofSuite(engine: Backend): void {
  const { message, inputs, proof, commitments } = recordedTransactions[0]!;
  const input = inputs[0]!;
  const ring: ClsagRing = {
    message: bytes(message),
    keys: concatBytes(...input.ring.map(({ key }) => bytes(key))),
    commitments: concatBytes(...input.ring.map(({ commitment }) => bytes(commitment))),
    pseudoOut: bytes(input.pseudoOut),
    keyImage: bytes(input.keyImage),
    D: bytes(input.D),
  };
  const s = concatBytes(...input.s.map(bytes));
  test("a walk round a ring", () => {
    const walks = [0, 5, 15].flatMap((first) =>
      [0, 1, 16].map((count) => ({ s, first, challenge: bytes(input.c1), count })),
    );
    compare(engine, single(walks), (on, walk) => on.clsagChallengesVartime(ring, walk));
    const spoilt = { ...ring, keys: concatBytes(ring.keys.subarray(32), NO_POINT) };
    compare(engine, single(walks.slice(0, 3)), (on, walk) => on.clsagChallengesVartime(spoilt, walk));
    const c16 = engine.clsagChallengesVartime(ring, walks[2]!)!;
    assert.equal(hex(elementAt(c16, 15)), input.c1);
  });
  test("rings with small-order parts", () => {
    const shifted = elementsOf(ring.keys).map((key) => reference.pointAdd(key, TORSION)!);
    const lifted = elementsOf(ring.commitments).map((point) => reference.pointAdd(point, MINUS_ONE)!);
    const odd = {
      ...ring,
      keys: concatBytes(...shifted),
      commitments: concatBytes(...lifted),
      keyImage: shifted[0]!,
    };
    const walk = { s, first: 3, challenge: randomScalars[2]!, count: 16 };
    compare(engine, single([odd]), (on, given) => on.clsagChallengesVartime(given, walk));
  });
  test("range proofs with other weights", () => {
    const parts: BulletproofPlusParts = {
      A: bytes(proof.A),
      A1: bytes(proof.A1),
      B: bytes(proof.B),
      r1: bytes(proof.r1),
      s1: bytes(proof.s1),
      d1: bytes(proof.d1),
      L: concatBytes(...proof.L.map(bytes)),
      R: concatBytes(...proof.R.map(bytes)),
      commitments: concatBytes(...commitments.map(bytes)),
    };
    const wrong = { ...parts, d1: flipBit(parts.d1, 3) };
    const weights = concatBytes(...randomScalars.slice(0, 2));
    compare(engine, [[[parts, parts]], [[parts, wrong]], [[wrong, wrong]]], (on, batch) =>
      on.verifyBulletproofsPlus(batch, weights),
    );
    compare(engine, [[[parts]]], (on, batch) => on.verifyBulletproofsPlus(batch, weights));
  });
}

for (const engine of backends.filter(({ name }) => name !== "reference")) {
  describe(`the ${engine.name} backend answers as the twin does`, () => {
    scalarSuite(engine);
    pointSuite(engine);
    multiexpSuite(engine);
    scanSuite(engine);
    proofSuite(engine);
  });
}
