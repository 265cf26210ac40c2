import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as op from "../src/randomx/opcodes.ts";
import { FLOAT_OPERATIONS, type FloatOperation, fromBits, roundedResult } from "../src/reference/rounding.ts";
import { createCode, emit, emitUnsigned, I32, V128, writeModule } from "../src/wasm/module-writer.ts";

const A = 0x9000;
const B = 0x9010;
const OUT = 0x9020;
type Call = (mode: number) => void;

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const view = new DataView(memory.buffer);

/** Functions that take a and b from memory, put the result there, and do one operation of the kernel between. */
function callers(): Record<FloatOperation, Call> {
  const bytes = readFileSync(new URL("../wasm/randomx.wasm", import.meta.url));
  const fixed = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports;
  const load = (code: ReturnType<typeof createCode>, at: number): void => {
    emit(code, op.I32_CONST, 0, ...op.V128_LOAD, 4);
    emitUnsigned(code, at);
  };
  const functions = FLOAT_OPERATIONS.map((name, i) => {
    const body = createCode();
    emit(body, op.I32_CONST, 0);
    load(body, A);
    if (name !== "squareRoot") load(body, B);
    emit(body, op.LOCAL_GET, 0, op.CALL, i, ...op.V128_STORE, 4);
    emitUnsigned(body, OUT);
    return { name, parameters: [I32], results: [], locals: [], body };
  });
  const imports = FLOAT_OPERATIONS.map((name) => ({
    module: "fixed",
    name,
    parameters: name === "squareRoot" ? [V128, I32] : [V128, V128, I32],
    results: [V128],
  }));
  const module = new WebAssembly.Module(writeModule({ hasSharedMemory: true, imports, functions }));
  return new WebAssembly.Instance(module, { env: { memory }, fixed }).exports as Record<FloatOperation, Call>;
}

/** Numbers on the edges of what each register can hold: 2^-1008 is what FSCAL_R makes of a zero. */
const EDGES = {
  additive: [0, 1, 2 ** -1008, 2 ** 31, 2 ** 31 - 1, 2 ** 32 - 2 ** -20, 2 ** 53, 3e14, 2 ** 62],
  multiplicative: [
    2 ** -255,
    2 ** -320,
    1,
    2 - 2 ** -52,
    2 ** 512,
    Number.MAX_VALUE,
    Number.POSITIVE_INFINITY,
  ],
  constant: [1, 1 + 2 ** -52, 2 ** 31, 2 ** 32 - 2 ** -20],
  divisor: [2 ** -255, 2 ** -255 * (2 - 2 ** -52), 1, 2 - 2 ** -52],
} as const;
type Register = keyof typeof EDGES;

/** Exponents, without bias, that random numbers of a register have: the lowest, and how many. */
const EXPONENTS: Record<Register, readonly [number, number]> = {
  additive: [-30, 100],
  multiplicative: [-320, 1343],
  constant: [0, 32],
  divisor: [-255, 256],
};

/** A number as a program meets it, now and then from an edge; many have short fractions, so that results are exact. */
function operand(register: Register): number {
  const random = randomBytes(12);
  const sign = register === "additive" && random[11]! & 1 ? -1 : 1;
  if (random[9]! < 16) return sign * EDGES[register][random[8]! % EDGES[register].length]!;
  const fraction = random.readBigUInt64LE() & (random[8]! & 1 ? 0xfffffffffffffn : 0xfffff00000000n);
  const [lowest, count] = EXPONENTS[register];
  const exponent = BigInt(1023 + lowest + (random.readUInt16LE(9) % count));
  return sign * fromBits((exponent << 52n) | fraction);
}

const OPERANDS: Record<FloatOperation, readonly [Register, Register]> = {
  add: ["additive", "additive"],
  multiply: ["multiplicative", "constant"],
  divide: ["multiplicative", "divisor"],
  squareRoot: ["multiplicative", "constant"],
};

/** A pair of operands; sums sometimes cancel. */
function operands(operation: FloatOperation): [number, number] {
  const [a, b] = OPERANDS[operation].map(operand) as [number, number];
  return operation === "add" && randomBytes(1)[0]! < 16 ? [a, -a] : [a, b];
}

const calls = callers();

// Source of the results: tevador/RandomX, src/tests/tests.cpp; modes 0 to 3 in order, lanes low and high.
const PUBLISHED: readonly [FloatOperation, readonly bigint[], readonly bigint[], readonly string[]][] = [
  [
    "add",
    [0xc1ce30b3c4223576n, 0x3ffd2c97cc4ef015n],
    [0x40b8f684057a59e1n, 0x402a26a86a60c8fbn],
    [
      "b932e048a730cec1fea6ea633bcc2d40",
      "b932e048a730cec1fda6ea633bcc2d40",
      "b832e048a730cec1fea6ea633bcc2d40",
      "b832e048a730cec1fda6ea633bcc2d40",
    ],
  ],
  [
    "multiply",
    [0x40fdfdabb6173d07n, 0x41dbc35cef248783n],
    [0x41c4561212ae2d50n, 0x40eba861aa31c7c0n],
    [
      "69697aff350fd3422f1589cdecfed742",
      "69697aff350fd3422e1589cdecfed742",
      "6a697aff350fd3422f1589cdecfed742",
      "69697aff350fd3422e1589cdecfed742",
    ],
  ],
  [
    "squareRoot",
    [0x40526a7e778d9824n, 0x41b6b21c11affea7n],
    [0n, 0n],
    [
      "e81f300b612a21408dbaa33f570ed340",
      "e81f300b612a21408cbaa33f570ed340",
      "e91f300b612a21408dbaa33f570ed340",
      "e81f300b612a21408cbaa33f570ed340",
    ],
  ],
];

test("the published results in every mode", () => {
  for (const [operation, a, b, results] of PUBLISHED) {
    for (const lane of [0, 1]) {
      view.setBigUint64(A + 8 * lane, a[lane]!, true);
      view.setBigUint64(B + 8 * lane, b[lane]!, true);
    }
    results.forEach((result, mode) => {
      calls[operation](mode);
      assert.equal(Buffer.from(memory.buffer, OUT, 16).toString("hex"), result);
    });
  }
});

const ROUNDS = { quick: 2_000, long: 1_000_000 }[process.env.ANULO_TESTS ?? ""] ?? 20_000;
const MODES = [0, 1, 2, 3] as const;
for (const operation of FLOAT_OPERATIONS) {
  test(`${operation} rounds exactly in every mode`, () => {
    for (let i = 0; i < ROUNDS; i += 2) {
      const lanes = [operands(operation), operands(operation)];
      lanes.forEach(([a, b], lane) => {
        view.setFloat64(A + 8 * lane, a, true);
        view.setFloat64(B + 8 * lane, b, true);
      });
      for (const mode of MODES) {
        calls[operation](mode);
        lanes.forEach(([a, b], lane) => {
          const got = view.getFloat64(OUT + 8 * lane, true);
          const want = roundedResult(operation, [a, b], mode);
          assert.ok(Object.is(got, want), `${a} ${operation} ${b}, mode ${mode}: ${got}, not ${want}`);
        });
      }
    }
  });
}
