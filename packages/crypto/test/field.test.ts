/** The two field back-ends against BigInt, on limbs at and beyond the borders their contracts name. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { hasFusedMultiplyAdd } from "../src/wasm/kernel.ts";

const P = 2n ** 255n - 19n;
const LANES = [0, 1] as const;

type Pointer = number;
type Binary = (out: Pointer, a: Pointer, b: Pointer) => void;
type Probe = {
  memory: WebAssembly.Memory;
  alloc(bytes: number): Pointer;
  mul: Binary;
  mulSum(out: Pointer, a: Pointer, b: Pointer, c: Pointer): void;
  mulDifference(out: Pointer, a: Pointer, b: Pointer, c: Pointer): void;
  sq(out: Pointer, a: Pointer): void;
  sqTimes(out: Pointer, a: Pointer, n: number): void;
  add: Binary;
  sub: Binary;
  carry(out: Pointer, a: Pointer): void;
  addCarry: Binary;
  subCarry: Binary;
  select(out: Pointer, a: Pointer, b: Pointer, bits: number): void;
  negIf(out: Pointer, a: Pointer, bits: number): void;
  gather: Binary;
  scatter(x: Pointer, y: Pointer, a: Pointer): void;
  gatherPair: Binary;
  gatherCross: Binary;
  swapLanes(out: Pointer, a: Pointer): void;
  fromBytes: Binary;
  toBytes(p: Pointer, q: Pointer, a: Pointer): void;
};

/** How a back-end writes an element: limb i of a lane weighs 2^weight(i) and is tight up to tight(i). */
type Layout = {
  name: "fma" | "fallback";
  limbs: number;
  weight(i: number): bigint;
  tight(i: number): number;
  read(view: DataView, element: Pointer, i: number, lane: number): number;
  write(view: DataView, element: Pointer, at: { i: number; lane: number }, value: number): void;
};

const fma: Layout = {
  name: "fma",
  limbs: 5,
  weight: (i) => BigInt(51 * i),
  tight: () => 2 ** 50 + 2 ** 12,
  read: (view, element, i, lane) => view.getFloat64(element + 16 * i + 8 * lane, true),
  write: (view, element, { i, lane }, value) => view.setFloat64(element + 16 * i + 8 * lane, value, true),
};

const fallback: Layout = {
  name: "fallback",
  limbs: 10,
  weight: (i) => BigInt(Math.ceil(25.5 * i)),
  tight: (i) => (i % 2 === 0 ? 2 ** 25 : 2 ** 24) + 2 ** 14,
  read: (view, element, i, lane) => view.getInt32(element + 8 * i + 4 * lane, true),
  write: (view, element, { i, lane }, value) => view.setInt32(element + 8 * i + 4 * lane, value, true),
};

function modulo(value: bigint): bigint {
  return ((value % P) + P) % P;
}

/** A stream of numbers in [0, 1) that is the same in every run: SplitMix64. */
function createStream(seed: bigint): () => number {
  let state = seed;
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
  };
}

function fieldSuite(layout: Layout): void {
  const file = new URL(`../wasm/field-${layout.name}.wasm`, import.meta.url);
  const abort = (): never => assert.fail("aborted");
  const probe = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), { env: { abort } })
    .exports as Probe;
  const [a, b, c, out] = [0, 1, 2, 3].map(() => probe.alloc(80)) as [Pointer, Pointer, Pointer, Pointer];
  const text = probe.alloc(64);
  const view = new DataView(probe.memory.buffer);
  const next = createStream(1n);

  /** Fills both lanes with limbs of at most `scale` × tight, half of them on the border. */
  function fill(element: Pointer, scale: number): void {
    for (const lane of LANES) {
      for (let i = 0; i < layout.limbs; i++) {
        const most = Math.floor(scale * layout.tight(i));
        const choice = next();
        const value = choice < 0.25 ? most : choice < 0.5 ? -most : Math.trunc((2 * next() - 1) * most);
        layout.write(view, element, { i, lane }, value);
      }
    }
  }

  function integerOf(element: Pointer, lane: number): bigint {
    let value = 0n;
    for (let i = 0; i < layout.limbs; i++) {
      value += BigInt(layout.read(view, element, i, lane)) << layout.weight(i);
    }
    return value;
  }

  function values(element: Pointer): [bigint, bigint] {
    return [integerOf(element, 0), integerOf(element, 1)];
  }

  function checkTight(element: Pointer): void {
    for (const lane of LANES) {
      for (let i = 0; i < layout.limbs; i++) {
        const limb = layout.read(view, element, i, lane);
        assert.ok(Math.abs(limb) <= layout.tight(i), `limb ${i} of lane ${lane} is ${limb}`);
      }
    }
  }

  /** Runs `compute` on many operands and compares each lane of `out`, mod p, with the expectation. */
  function check(
    scales: { a: number; b?: number; c?: number },
    compute: () => void,
    expected: (x: bigint, y: bigint, z: bigint) => bigint,
  ): void {
    for (let round = 0; round < 3000; round++) {
      fill(a, scales.a);
      fill(b, scales.b ?? 1);
      fill(c, scales.c ?? 1);
      const [x, y, z] = [values(a), values(b), values(c)];
      compute();
      for (const lane of LANES) {
        assert.equal(modulo(integerOf(out, lane)), modulo(expected(x[lane], y[lane], z[lane])));
      }
      checkTight(out);
    }
  }

  test("products of a tight operand and one of nearly four times that", () => {
    check(
      { a: 3.99 },
      () => probe.mul(out, a, b),
      (x, y) => x * y,
    );
  });
  test("products of sums and differences", () => {
    check(
      { a: 1 },
      () => probe.mulSum(out, a, b, c),
      (x, y, z) => (x + y) * z,
    );
    check(
      { a: 1 },
      () => probe.mulDifference(out, a, b, c),
      (x, y, z) => (x - y) * z,
    );
  });
  test("squares, alone and in sequence", () => {
    check(
      { a: 1 },
      () => probe.sq(out, a),
      (x) => x * x,
    );
    check(
      { a: 1 },
      () => probe.sqTimes(out, a, 3),
      (x) => x ** 8n,
    );
  });
  test("products in place", () => {
    for (const alias of [a, b]) {
      fill(a, 1);
      fill(b, 1);
      const [x, y] = [values(a), values(b)];
      probe.mul(alias, a, b);
      for (const lane of LANES) assert.equal(modulo(integerOf(alias, lane)), modulo(x[lane] * y[lane]));
    }
  });
  test("carries", () => {
    check(
      { a: 7 },
      () => probe.carry(out, a),
      (x) => x,
    );
    check(
      { a: 3, b: 3 },
      () => probe.addCarry(out, a, b),
      (x, y) => x + y,
    );
    check(
      { a: 3, b: 3 },
      () => probe.subCarry(out, a, b),
      (x, y) => x - y,
    );
  });
  test("selection and sign, lane by lane", () => {
    for (const bits of [0, 1, 2, 3]) {
      fill(a, 1);
      fill(b, 1);
      probe.select(out, a, b, bits);
      for (const lane of LANES) {
        assert.equal(integerOf(out, lane), integerOf((bits >> lane) & 1 ? a : b, lane));
      }
      probe.negIf(out, a, bits);
      for (const lane of LANES) {
        assert.equal(integerOf(out, lane), (bits >> lane) & 1 ? -integerOf(a, lane) : integerOf(a, lane));
      }
    }
  });
  test("lanes exchanged, taken apart and put together", () => {
    fill(a, 1);
    fill(b, 1);
    const [x, y] = [values(a), values(b)];
    probe.swapLanes(out, a);
    assert.deepEqual(values(out), [x[1], x[0]]);
    probe.gatherPair(out, a, b);
    assert.deepEqual(values(out), [x[0], y[1]]);
    probe.gatherCross(out, a, b);
    assert.deepEqual(values(out), [x[1], y[0]]);
    const [one, two] = [probe.alloc(40), probe.alloc(40)];
    probe.scatter(one, two, a);
    probe.gather(out, two, one);
    assert.deepEqual(values(out), [x[1], x[0]]);
  });
  test("bytes of every kind of value come back reduced", () => {
    const special = [0n, 1n, 18n, 19n, P - 1n, P, P + 1n, P + 18n, 2n ** 255n - 1n, 2n ** 254n];
    for (const [i, first] of special.entries()) {
      const second = special[(i + 3) % special.length]!;
      const bytes = new Uint8Array(probe.memory.buffer, text, 64);
      for (let k = 0; k < 32; k++) {
        bytes[k] = Number((first >> BigInt(8 * k)) & 255n);
        bytes[32 + k] = Number((second >> BigInt(8 * k)) & 255n);
      }
      probe.fromBytes(out, text, text + 32);
      checkTight(out);
      assert.deepEqual(readBytes(), [modulo(first), modulo(second)]);
    }
    for (let round = 0; round < 1000; round++) {
      fill(out, 2);
      const expected = values(out).map(modulo);
      assert.deepEqual(readBytes(), expected);
    }
  });

  /** `out` through toBytes, as integers. */
  function readBytes(): bigint[] {
    probe.toBytes(text, text + 32, out);
    const bytes = new Uint8Array(probe.memory.buffer, text, 64);
    return [bytes.subarray(0, 32), bytes.subarray(32)].map((half) =>
      half.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n),
    );
  }
}

describe("the fallback field", () => fieldSuite(fallback));
describe("the fused multiply-add field", {
  skip: !hasFusedMultiplyAdd() && "no fused multiply-add here",
}, () => {
  if (hasFusedMultiplyAdd()) fieldSuite(fma);
});
