/** Every call of the kernels begins with an empty arena, and writes only where room was made for its result. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Backend, BulletproofPlusParts } from "../src/backend.ts";
import { concatBytes } from "../src/bytes.ts";
import { createWasmBackend } from "../src/wasm/backend.ts";
import {
  hasFusedMultiplyAdd,
  type Kernel,
  type KernelName,
  loadKernel,
  type Pointer,
} from "../src/wasm/kernel.ts";

const names: readonly KernelName[] = hasFusedMultiplyAdd() ? ["fma", "fallback"] : ["fallback"];

const GAP = 64;
const GAP_BYTE = 0xa5;

/** A kernel whose pieces of memory have bytes between them that nothing may write to. */
function watch(kernel: Kernel) {
  let begun = 0;
  let tookBefore = false;
  let hasGaps = true;
  let gaps: Pointer[] = [];
  const checkGaps = () => {
    const memory = new Uint8Array(kernel.memory.buffer);
    for (const at of gaps)
      assert.ok(
        memory.subarray(at, at + GAP).every((byte) => byte === GAP_BYTE),
        "written beyond a piece of memory",
      );
    gaps = [];
  };
  const wiping = (wipe: () => void) => () => {
    checkGaps();
    wipe();
  };
  const watched: Kernel = {
    ...kernel,
    arenaReset() {
      begun++;
      gaps = [];
      kernel.arenaReset();
    },
    alloc(bytes) {
      tookBefore ||= begun === 0;
      const at = kernel.alloc(bytes + (hasGaps ? GAP : 0));
      if (!hasGaps) return at;
      new Uint8Array(kernel.memory.buffer).fill(GAP_BYTE, at + bytes, at + bytes + GAP);
      gaps.push(at + bytes);
      return at;
    },
    wipe: wiping(kernel.wipe),
    wipeScalars: wiping(kernel.wipeScalars),
    wipeHash: wiping(kernel.wipeHash),
  };
  /** Runs a call; how often it began anew, which must be before it took any memory. */
  const count = (call: () => unknown, withGaps: boolean): number => {
    [begun, tookBefore, hasGaps, gaps] = [0, false, withGaps, []];
    call();
    checkGaps();
    assert.equal(tookBefore, false, `${call} takes memory before it begins`);
    return begun;
  };
  return { watched, count };
}

const one = Uint8Array.of(1, ...new Uint8Array(31));
const two = Uint8Array.of(2, ...new Uint8Array(31));
const scalars = concatBytes(one, two, two);
const indices = Uint32Array.of(0, 300, 2 ** 32 - 1);

function callsOf(backend: Backend): readonly (() => unknown)[] {
  const G = backend.scalarMultBase(one);
  const H = backend.scalarMultBase(two);
  const points = concatBytes(G, H, G);
  const { scalar, vector } = backend;
  const ring = { message: one, keys: points, commitments: points, pseudoOut: G, keyImage: H, D: G };
  const rounds = concatBytes(...Array.from({ length: 6 }, () => G));
  const parts = { A: G, A1: G, B: G, r1: one, s1: one, d1: one, L: rounds, R: rounds };
  const proof: BulletproofPlusParts = { commitments: G, ...parts };
  const terms = { a: scalars, A: points, b: scalars, B: points };
  return [
    () => backend.keccak256(points),
    () => backend.hashToScalar(points),
    () => backend.keccakAbsorb(new Uint8Array(200), new Uint8Array(272)),
    () => scalar.reduce32(G),
    () => scalar.reduce64(concatBytes(G, H)),
    ...[scalar.add, scalar.sub, scalar.mul].map((each) => () => each(one, two)),
    ...[scalar.mulAdd, scalar.mulSub].map((each) => () => each(one, two, one)),
    () => scalar.invert(two),
    () => scalar.isCanonical(two),
    ...[vector.add, vector.sub, vector.mul, vector.innerProduct].map((each) => () => each(scalars, scalars)),
    () => vector.scale(scalars, two),
    () => vector.scaleAdd(scalars, two, scalars),
    () => vector.powers(two, 5),
    () => vector.invert(scalars),
    () => backend.isPoint(G),
    () => backend.areInMainSubgroup(points),
    () => backend.pointAdd(G, H),
    () => backend.pointSub(G, H),
    () => backend.pointNegate(G),
    () => backend.mulBy8(G),
    () => backend.pointSum(points),
    () => backend.scalarMult(scalars, points),
    () => backend.shareSecret({ secret: one, nonces: scalars, points }),
    () => backend.scalarMultHashed(scalars, points),
    () => backend.commitTwice(scalars, points),
    () => backend.scalarMultBase(scalars),
    () => backend.doubleScalarMultVartime(terms),
    () => backend.twinScalarMultVartime({ a: one, A: concatBytes(G, H), b: two, B: concatBytes(H, G) }),
    () => backend.foldVartime({ a: one, A: points, b: two, B: points }),
    () => backend.commitVartime(BigUint64Array.of(1n, 2n, 3n), 1),
    () => backend.hashToPoint(points),
    () => backend.deriveBatch(one, points),
    () =>
      backend.matchViewTags(scalars, {
        publicKeys: G,
        counts: Uint32Array.of(3),
        indices,
        tags: Uint32Array.of(256, 256, 256),
      }),
    () => backend.viewTags(points, indices),
    () => backend.derivationScalars(points, indices),
    () => backend.outputSpendKeys(points, points, indices),
    () => backend.subaddressSpendKeys({ viewSecret: one, spendPublic: G, major: 1, fromMinor: 0, count: 3 }),
    () => backend.verifyClsag(ring, scalars, one),
    () => backend.clsagChallengesVartime(ring, { s: scalars, first: 1, challenge: one, count: 3 }),
    () => backend.verifyBulletproofsPlus([proof, proof], concatBytes(one, two)),
  ];
}

/** Their lists of scalars follow one another without a gap. */
function joinedCallsOf(backend: Backend): readonly (() => unknown)[] {
  const points = concatBytes(
    backend.scalarMultBase(one),
    backend.scalarMultBase(two),
    backend.scalarMultBase(one),
  );
  const generators = { family: "bulletproof_plus", scalars } as const;
  return [
    () => backend.multiexp({ scalars, points }),
    () => backend.multiexpVartime({ scalars, points, generators }),
    () => backend.generators("bulletproof", 4),
  ];
}

/** Calls with secrets of which nobody else has the bytes; points are public. */
function secretCallsOf(backend: Backend) {
  const [a, b, c] = [0x51, 0x52, 0x53].map((byte) => new Uint8Array(32).fill(byte, 0, 31)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const secrets = concatBytes(a, b);
  const G = backend.scalarMultBase(one);
  const points = concatBytes(G, backend.scalarMultBase(two));
  const own = Uint32Array.of(0, 1);
  const { scalar, vector } = backend;
  const calls: readonly (() => unknown)[] = [
    () => backend.keccak256(secrets),
    () => backend.hashToScalar(secrets),
    () => backend.keccakAbsorb(new Uint8Array(200).fill(0x51), new Uint8Array(136).fill(0x52)),
    () => scalar.reduce32(a),
    () => scalar.reduce64(secrets),
    ...[scalar.add, scalar.sub, scalar.mul].map((each) => () => each(a, b)),
    ...[scalar.mulAdd, scalar.mulSub].map((each) => () => each(a, b, c)),
    () => scalar.invert(a),
    () => scalar.isCanonical(a),
    ...[vector.add, vector.sub, vector.mul, vector.innerProduct].map((each) => () => each(secrets, secrets)),
    () => vector.scale(secrets, c),
    () => vector.scaleAdd(secrets, c, secrets),
    () => vector.powers(a, 3),
    () => vector.invert(secrets),
    () => backend.scalarMult(secrets, points),
    () => backend.shareSecret({ secret: a, nonces: concatBytes(b, c), points }),
    () => backend.scalarMultHashed(secrets, points),
    () => backend.commitTwice(secrets, points),
    () => backend.scalarMultBase(secrets),
    () => backend.multiexp({ scalars: secrets, points }),
    () => backend.deriveBatch(a, points),
    () => backend.viewTags(secrets, own),
    () => backend.derivationScalars(secrets, own),
    () => backend.subaddressSpendKeys({ viewSecret: a, spendPublic: G, major: 1, fromMinor: 0, count: 2 }),
    () =>
      backend.matchViewTags(secrets, {
        publicKeys: G,
        counts: Uint32Array.of(2),
        indices: own,
        tags: Uint32Array.of(256, 256),
      }),
  ];
  const forms = [a, b, c].flatMap((each) => [each, signedDigits(each, 4), signedDigits(each, 5)]);
  return { calls, secrets: forms.map((each) => each.subarray(0, 16)) };
}

/** The digits by which tables are read, a byte each, least first: those of a secret tell it. */
function signedDigits(secret: Uint8Array, bits: number): Uint8Array {
  let rest = BigInt(`0x${Buffer.from(secret).reverse().toString("hex")}`);
  const [base, half] = [1n << BigInt(bits), 1n << BigInt(bits - 1)];
  return Uint8Array.from({ length: 40 }, () => {
    const digit = ((rest + half) & (base - 1n)) - half;
    rest = (rest - digit) >> BigInt(bits);
    return Number(digit & 255n);
  });
}

/** Results of a call that are secret, too. */
function bytesOf(result: unknown): Uint8Array[] {
  if (result instanceof Uint8Array) return result.length < 32 ? [] : [result.subarray(0, 32)];
  if (typeof result !== "object" || result === null || Array.isArray(result)) return [];
  return Object.values(result).flatMap(bytesOf);
}

for (const name of names) {
  describe(`the memory of the ${name} kernel`, () => {
    const { watched, count } = watch(loadKernel(name));
    const backend = createWasmBackend(name, watched);

    test("is taken anew by each call, and written to where room was made", () => {
      for (const call of callsOf(backend)) assert.equal(count(call, true), 1, String(call));
      for (const call of joinedCallsOf(backend)) assert.equal(count(call, false), 1, String(call));
    });

    test("keeps neither secrets nor what comes of them", () => {
      const { calls, secrets } = secretCallsOf(backend);
      const memory = () => Buffer.from(watched.memory.buffer);
      for (const call of calls) {
        const found = bytesOf(call()).filter((each) => new Set(each).size > 8);
        for (const secret of [...secrets, ...found])
          assert.ok(
            !memory().includes(Buffer.from(secret)),
            `${call} leaves ${Buffer.from(secret).toString("hex")}`,
          );
      }
    });

    test("does not grow with the number of calls", () => {
      const calls = [...callsOf(backend), ...joinedCallsOf(backend)];
      for (const call of calls) count(call, false);
      const size = watched.memory.buffer.byteLength;
      for (let i = 0; i < 20; i++) for (const call of calls) count(call, false);
      assert.equal(watched.memory.buffer.byteLength, size);
    });
  });
}

describe("what a call may ask of a kernel", () => {
  const backend = createWasmBackend("fallback");
  const G = backend.scalarMultBase(one);
  const repeated = (bytes: Uint8Array, count: number) => concatBytes(...Array<Uint8Array>(count).fill(bytes));

  test("is 64 MiB of memory at most", () => {
    assert.equal(backend.keccak256(new Uint8Array(64 * 2 ** 20 - 32)).length, 32);
    assert.equal(backend.keccak256(new Uint8Array(64 * 2 ** 20)).length, 32);
  });

  test("is a ring of 2048 members, walked within its bounds", () => {
    const ringOf = (count: number) => {
      const keys = repeated(G, count);
      return { message: one, keys, commitments: keys, pseudoOut: G, keyImage: G, D: G };
    };
    const walk = (members: number, first: number, count: number) => () =>
      backend.clsagChallengesVartime(ringOf(members), {
        s: repeated(one, members),
        first,
        challenge: one,
        count,
      });
    assert.equal(walk(2048, 0, 1)()?.length, 32);
    assert.equal(walk(3, 2, 3)()?.length, 96);
    assert.equal(walk(3, 0, 0)()?.length, 0);
    for (const [members, first, count] of [
      [2049, 0, 1],
      [3, 3, 1],
      [3, -1, 1],
      [3, 0, 4],
      [3, 0, -1],
    ] as const)
      assert.throws(walk(members, first, count), RangeError, `${members} ${first} ${count}`);
    assert.equal(backend.verifyClsag(ringOf(0), new Uint8Array(), one), false);
    assert.throws(() => backend.verifyClsag(ringOf(2049), repeated(one, 2049), one), RangeError);
  });

  test("is 2048 generators and 65,536 other terms", () => {
    const generators = (count: number) => ({ family: "bulletproof" as const, scalars: repeated(one, count) });
    const nothing = { scalars: new Uint8Array(), points: new Uint8Array() };
    assert.ok(backend.multiexpVartime({ ...nothing, generators: generators(2048) }));
    assert.throws(() => backend.multiexpVartime({ ...nothing, generators: generators(2049) }), RangeError);
    assert.equal(backend.generators("bulletproof", 2048).length, 2048 * 32);
    for (const count of [2049, -1, 1.5])
      assert.throws(() => backend.generators("bulletproof", count), RangeError);
    const terms = (count: number) => ({ scalars: new Uint8Array(32 * count), points: repeated(G, count) });
    assert.ok(backend.multiexpVartime(terms(65_536)));
    assert.throws(() => backend.multiexpVartime(terms(65_537)), RangeError);
  });

  test("is a batch of 16,384 proofs, each of 1 to 16 outputs", () => {
    const parts = { A: G, A1: G, B: G, r1: one, s1: one, d1: one };
    const proofOf = (outputs: number, rounds: number) => ({
      ...parts,
      commitments: repeated(G, outputs),
      L: repeated(G, rounds),
      R: repeated(G, rounds),
    });
    const malformed = proofOf(1, 5);
    const many = (count: number) =>
      backend.verifyBulletproofsPlus(Array(count).fill(malformed), repeated(one, count));
    assert.equal(many(16_384), false);
    assert.throws(() => many(16_385), RangeError);
    for (const [outputs, rounds] of [
      [0, 6],
      [17, 11],
      [16, 10],
      [1, 6],
    ] as const)
      assert.equal(backend.verifyBulletproofsPlus([proofOf(outputs, rounds)], one), false);
    assert.equal(backend.verifyBulletproofsPlus([], new Uint8Array()), true);
  });

  test("is lists of one length", () => {
    const [ones, twice] = [repeated(one, 2), repeated(G, 2)];
    const { vector } = backend;
    const own = Uint32Array.of(0, 1);
    const many = { publicKeys: G, counts: Uint32Array.of(2), indices: own, tags: own };
    const none = { scalars: one, points: G };
    const calls: readonly (() => unknown)[] = [
      ...[vector.add, vector.sub, vector.mul, vector.innerProduct].map((each) => () => each(ones, one)),
      () => vector.scaleAdd(ones, one, one),
      () => backend.scalarMult(ones, G),
      () => backend.shareSecret({ secret: one, nonces: ones, points: G }),
      () => backend.scalarMultHashed(ones, G),
      () => backend.commitTwice(ones, G),
      () => backend.doubleScalarMultVartime({ a: ones, A: G, b: ones, B: twice }),
      () => backend.doubleScalarMultVartime({ a: ones, A: twice, b: one, B: twice }),
      () => backend.doubleScalarMultVartime({ a: ones, A: twice, b: ones, B: G }),
      () => backend.twinScalarMultVartime({ a: one, A: twice, b: one, B: G }),
      () => backend.foldVartime({ a: one, A: twice, b: one, B: G }),
      () => backend.multiexp({ scalars: ones, points: G }),
      () => backend.multiexpVartime({ ...none, points: twice }),
      () => backend.viewTags(twice, Uint32Array.of(0)),
      () => backend.derivationScalars(G, own),
      () => backend.outputSpendKeys(G, twice, own),
      () => backend.outputSpendKeys(twice, twice, Uint32Array.of(0)),
      () => backend.matchViewTags(one, { ...many, counts: Uint32Array.of(1, 1) }),
      () => backend.matchViewTags(one, { ...many, indices: Uint32Array.of(0) }),
      () => backend.matchViewTags(one, { ...many, tags: Uint32Array.of(0) }),
    ];
    for (const call of calls) assert.throws(call, RangeError, String(call));
  });

  test("is subaddresses with indices of 32 bits", () => {
    const ask = (major: number, fromMinor: number, count: number) => () =>
      backend.subaddressSpendKeys({ viewSecret: one, spendPublic: G, major, fromMinor, count });
    assert.equal(ask(2 ** 32 - 1, 2 ** 32 - 1, 1)()?.length, 32);
    assert.equal(ask(0, 0, 0)()?.length, 0);
    assert.deepEqual(ask(0, 0, 1)(), G);
    assert.notDeepEqual(ask(1, 0, 1)(), G);
    assert.notDeepEqual(ask(0, 1, 1)(), G);
    for (const [major, minor, count] of [
      [2 ** 32, 0, 1],
      [0, 2 ** 32, 0],
      [0, 2 ** 32 - 1, 2],
      [-1, 0, 1],
      [0, 0.5, 1],
    ] as const)
      assert.throws(ask(major, minor, count), RangeError, `${major} ${minor} ${count}`);
  });
});
