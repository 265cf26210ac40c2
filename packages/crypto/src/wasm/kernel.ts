/**
 * Loads the curve25519 kernels: one source compiled over two field back-ends, chosen by the features of the processor.
 */

import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import type { WasmMemory } from "../wasm-values.ts";

/** Address in the kernel's memory. */
export type Pointer = number;

/** What `assembly/kernel.ts` exports. Functions that decode points return 0 where one is invalid. */
export type Kernel = {
  readonly memory: WasmMemory;
  arenaReset(): void;
  alloc(bytes: number): Pointer;
  wipe(): void;
  wipeScalars(): void;
  wipeHash(): void;
  /** Whole blocks of 136 bytes into a state of 200 bytes. */
  absorb(state: Pointer, blocks: Pointer, length: number): number;
  keccak256(out: Pointer, data: Pointer, length: number): void;
  hashToScalar(out: Pointer, data: Pointer, length: number): void;
  scReduce32(out: Pointer, a: Pointer): void;
  scReduce64(out: Pointer, a: Pointer): void;
  scAdd(out: Pointer, a: Pointer, b: Pointer): void;
  scSub(out: Pointer, a: Pointer, b: Pointer): void;
  scMul(out: Pointer, a: Pointer, b: Pointer): void;
  scMulAdd(out: Pointer, a: Pointer, b: Pointer, c: Pointer): void;
  scMulSub(out: Pointer, a: Pointer, b: Pointer, c: Pointer): void;
  scInvert(out: Pointer, a: Pointer): void;
  scIsCanonical(a: Pointer): number;
  vectorAdd(out: Pointer, a: Pointer, b: Pointer, n: number): void;
  vectorSub(out: Pointer, a: Pointer, b: Pointer, n: number): void;
  vectorMul(out: Pointer, a: Pointer, b: Pointer, n: number): void;
  vectorScale(out: Pointer, a: Pointer, x: Pointer, n: number): void;
  vectorScaleAdd(out: Pointer, a: Pointer, x: Pointer, b: Pointer, n: number): void;
  powers(out: Pointer, x: Pointer, n: number): void;
  innerProduct(out: Pointer, a: Pointer, b: Pointer, n: number): void;
  invertBatch(out: Pointer, a: Pointer, n: number): number;
  isPoint(p: Pointer): number;
  areInMainSubgroup(verdicts: Pointer, points: Pointer, n: number): void;
  pointAdd(out: Pointer, p: Pointer, q: Pointer, negate: number): number;
  pointSum(out: Pointer, points: Pointer, n: number): number;
  multiplyBy8(out: Pointer, p: Pointer): number;
  scalarMultPoints(out: Pointer, scalars: Pointer, points: Pointer, n: number): number;
  shareSecret(out: Pointer, s: Pointer, t: Pointer, points: Pointer, n: number): number;
  commitTwice(out: Pointer, scalars: Pointer, data: Pointer, n: number): void;
  scalarMultHashed(out: Pointer, scalars: Pointer, data: Pointer, n: number): void;
  scalarMultBase(out: Pointer, scalars: Pointer, n: number): void;
  foldPoints(out: Pointer, a: Pointer, A: Pointer, b: Pointer, B: Pointer, n: number): number;
  doubleScalarMultBatch(out: Pointer, a: Pointer, A: Pointer, b: Pointer, B: Pointer, n: number): number;
  twinScalarMult(out: Pointer, a: Pointer, A: Pointer, b: Pointer, B: Pointer, n: number): number;
  commitAmounts(out: Pointer, amounts: Pointer, mask: number, n: number): void;
  hashToPoints(out: Pointer, data: Pointer, n: number): void;
  multiexp(out: Pointer, scalars: Pointer, points: Pointer, n: number, m: number, family: number): number;
  multiexpVartime(
    out: Pointer,
    scalars: Pointer,
    points: Pointer,
    n: number,
    m: number,
    family: number,
  ): number;
  generatorEncodings(out: Pointer, family: number, pairs: number): void;
  verifyClsag(ring: Pointer, s: Pointer, c1: Pointer): number;
  clsagChallenges(
    out: Pointer,
    ring: Pointer,
    s: Pointer,
    first: number,
    challenge: Pointer,
    count: number,
  ): number;
  verifyBulletproofsPlus(proofs: Pointer, count: number, weights: Pointer): number;
  deriveBatch(out: Pointer, valid: Pointer, secret: Pointer, keys: Pointer, n: number): void;
  matchForMany(
    matches: Pointer,
    secrets: Pointer,
    m: number,
    keys: Pointer,
    n: number,
    counts: Pointer,
    indices: Pointer,
    tags: Pointer,
  ): number;
  viewTags(out: Pointer, derivations: Pointer, indices: Pointer, n: number): void;
  derivationScalars(out: Pointer, derivations: Pointer, indices: Pointer, n: number): void;
  outputSpendKeys(
    out: Pointer,
    valid: Pointer,
    keys: Pointer,
    derivations: Pointer,
    indices: Pointer,
    n: number,
  ): void;
  subaddressSpendKeys(
    out: Pointer,
    viewSecret: Pointer,
    spendPublic: Pointer,
    major: number,
    from: number,
    n: number,
  ): number;
};

export type KernelName = "fma" | "fallback";

/**
 * (f64 a, f64 b, f64 c) → lane 0 of f64x2.relaxed_madd(a, b, c), the smallest module that holds the instruction.
 * Bytes: one type, one function, exported as "f", body `splat a, splat b, splat c, relaxed_madd, extract_lane 0`.
 */
const PROBE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7c, 0x7c, 0x7c, 1, 0x7c, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 0x66, 0, 0, 0x0a, 0x16, 1, 0x14, 0, 0x20, 0, 0xfd, 0x14, 0x20, 1, 0xfd, 0x14],
  ...[0x20, 2, 0xfd, 0x14, 0xfd, 0x87, 0x02, 0xfd, 0x21, 0, 0x0b],
);

/**
 * Whether relaxed_madd rounds once. Without FMA3 it rounds twice, which the arithmetic cannot bear:
 * (1 + 2^−30)(1 − 2^−30) − 1 = −2^−60, which is 0 when the product is rounded first.
 */
export function hasFusedMultiplyAdd(): boolean {
  allowRelaxedSimd();
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(PROBE));
    const madd = exports.f as (a: number, b: number, c: number) => number;
    return madd(1 + 2 ** -30, 1 - 2 ** -30, -1) === -(2 ** -60);
  } catch {
    return false; // the engine does not know the instruction
  }
}

/** V8 has relaxed SIMD on by default from 11.4 (Node 21); before that it is complete but behind a flag. */
function allowRelaxedSimd(): void {
  const [major = 0, minor = 0] = process.versions.v8.split(".").map(Number);
  if (major < 11 || (major === 11 && minor < 4)) setFlagsFromString("--experimental-wasm-relaxed-simd");
}

/** Spelt out, so that a bundler finds them. */
const kernelFiles: Readonly<Record<KernelName, URL>> = {
  fma: new URL("../../wasm/ed25519-fma.wasm", import.meta.url),
  fallback: new URL("../../wasm/ed25519-fallback.wasm", import.meta.url),
};

/** An instance of its own, with its own memory; compiled synchronously (about 40 KB). */
export function loadKernel(name: KernelName): Kernel {
  if (name === "fma") allowRelaxedSimd();
  const bytes = readFileSync(kernelFiles[name]);
  const abort = (): never => {
    throw new Error("the curve25519 kernel aborted");
  };
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { abort } }).exports as Kernel;
}
