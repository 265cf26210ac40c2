/** What is true of the kernels alone: an outside oracle, which backend is chosen, and that secrets leave no trace. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import type { Backend } from "../src/backend.ts";
import { concatBytes, elementAt } from "../src/bytes.ts";
import { createBackend } from "../src/engine.ts";
import { createWasmBackend } from "../src/wasm/backend.ts";
import { hasFusedMultiplyAdd, type Kernel, type KernelName, loadKernel } from "../src/wasm/kernel.ts";

const names: readonly KernelName[] = hasFusedMultiplyAdd() ? ["fma", "fallback"] : ["fallback"];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function integer(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

for (const name of names) {
  describe(`the ${name} kernel`, () => {
    const kernel = loadKernel(name);
    const backend = createWasmBackend(name, kernel);
    test("multiplies the base point as noble-curves does, every lane its own scalar", () =>
      againstNoble(backend));
    test("keeps no secret in its memory after a call", () => checkTraces(backend, kernel));
    test("answers a batch that makes its memory grow", () => checkGrowth(backend));
  });
}

function randomScalars(backend: Backend, n: number): Uint8Array {
  return concatBytes(...Array.from({ length: n }, () => backend.scalar.reduce64(randomBytes(64))));
}

function againstNoble(backend: Backend): void {
  const scalars = randomScalars(backend, 33);
  const points = backend.scalarMultBase(scalars);
  const secret = elementAt(scalars, 0);
  const { derivations, valid } = backend.deriveBatch(secret, points);
  for (let i = 0; i < 33; i++) {
    const point = ed25519.Point.BASE.multiply(integer(elementAt(scalars, i)));
    assert.equal(hex(elementAt(points, i)), point.toHex());
    assert.equal(hex(elementAt(derivations, i)), point.multiply(integer(secret)).multiply(8n).toHex());
    assert.equal(valid[i], 1);
  }
}

/** Every call that takes or gives a secret, on secrets that are then looked for, eight bytes at a time. */
function checkTraces(backend: Backend, kernel: Kernel): void {
  const [a, b, c] = [1, 2, 3].map(() => randomScalars(backend, 1)) as [Uint8Array, Uint8Array, Uint8Array];
  const point = backend.scalarMultBase(a);
  const indices = Uint32Array.of(7);
  const calls: readonly (() => unknown)[] = [
    () => backend.keccak256(a),
    () => backend.hashToScalar(a),
    () => backend.keccakAbsorb(new Uint8Array(200), concatBytes(a, b, c, a, new Uint8Array(8))),
    () => backend.scalar.mulSub(a, b, c),
    () => backend.scalar.invert(a),
    () => backend.scalar.reduce64(concatBytes(a, b)),
    () => backend.vector.innerProduct(concatBytes(a, b), concatBytes(b, c)),
    () => backend.vector.invert(concatBytes(a, b)),
    () => backend.scalarMultBase(concatBytes(a, b, c)),
    () => backend.scalarMult(a, point),
    () => backend.shareSecret({ secret: a, nonces: b, points: point })!.derivations,
    () => backend.scalarMultHashed(a, point),
    () => backend.commitTwice(a, point),
    () => backend.multiexp({ scalars: concatBytes(a, b), points: concatBytes(point, point) }),
    () => backend.deriveBatch(a, point).derivations,
    () =>
      backend.matchViewTags(concatBytes(a, b, c), {
        publicKeys: point,
        counts: Uint32Array.of(1),
        indices,
        tags: Uint32Array.of(256),
      }).derivations,
    () => backend.viewTags(a, indices),
    () => backend.derivationScalars(a, indices),
    () => backend.outputSpendKeys(point, a, indices).points,
    () =>
      backend.subaddressSpendKeys({ viewSecret: a, spendPublic: point, major: 1, fromMinor: 1, count: 3 }),
  ];
  for (const call of calls) {
    const result = call();
    const secrets = result instanceof Uint8Array && result.length >= 32 ? [a, b, c, result] : [a, b, c];
    const memory = Buffer.from(kernel.memory.buffer);
    for (const secret of secrets) {
      for (let i = 0; i + 8 <= secret.length; i += 8) {
        assert.equal(memory.indexOf(secret.subarray(i, i + 8)), -1, `${call} leaves a trace`);
      }
    }
  }
}

function checkGrowth(backend: Backend): void {
  const key = backend.scalarMultBase(randomScalars(backend, 1));
  const count = 5001;
  const keys = concatBytes(...Array.from({ length: count }, () => key));
  const { derivations, valid } = backend.deriveBatch(randomScalars(backend, 1), keys);
  assert.equal(derivations.length, 32 * count);
  for (let i = 1; i < count; i++) {
    assert.deepEqual(elementAt(derivations, i), elementAt(derivations, 0), `derivation ${i}`);
  }
  assert.ok(valid.every((flag) => flag === 1));
}

test("a call of more than 64 MiB is refused and the next one works", () => {
  const backend = createBackend("fallback");
  assert.throws(() => backend.keccak256(new Uint8Array(64 * 2 ** 20 + 1)), RangeError);
  assert.equal(
    hex(backend.keccak256(new Uint8Array())),
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
  );
});

test("a backend is chosen by name, and an unknown name is refused", () => {
  assert.equal(createBackend("reference").name, "reference");
  assert.equal(createBackend("fallback").name, "fallback");
  assert.equal(createBackend().name, hasFusedMultiplyAdd() ? "fma" : "fallback");
  assert.throws(() => createBackend("quantum"), RangeError);
});
