import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { P, SQRT_MINUS_ONE, squareRoot } from "../src/reference/field.ts";
import { fieldToPoint } from "../src/reference/hash-to-point.ts";
import { writeInteger } from "../src/reference/integers.ts";
import { keccak256, keccakPermute } from "../src/reference/keccak.ts";
import {
  add,
  basePoint,
  decodePoint,
  encodePoint,
  IDENTITY,
  isIdentity,
  multiexpVartime,
  multiplyVartime,
  negate,
} from "../src/reference/point.ts";
import { GROUP_ORDER, scalar } from "../src/reference/scalar.ts";
import { TORSION } from "./fixtures.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("keccak-256 of the empty string is the published value", () => {
  assert.equal(
    hex(keccak256(new Uint8Array())),
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
  );
});

test("the permutation under SHA-3's padding agrees with node:crypto at every length to 300 bytes", () => {
  for (let length = 0; length <= 300; length += 7) {
    const data = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 0xff);
    assert.equal(hex(sha3(data)), createHash("sha3-256").update(data).digest("hex"));
  }
});

function sha3(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((data.length + 1) / 136) * 136);
  padded.set(data);
  padded[data.length]! ^= 0x06;
  padded[padded.length - 1]! ^= 0x80;
  const state = new Uint8Array(200);
  for (let offset = 0; offset < padded.length; offset += 136) {
    for (let i = 0; i < 136; i++) state[i]! ^= padded[offset + i]!;
    keccakPermute(state);
  }
  return state.slice(0, 32);
}

test("the square root of -1 squares to -1 and 2 has no root", () => {
  assert.equal((SQRT_MINUS_ONE * SQRT_MINUS_ONE) % P, P - 1n);
  assert.equal(squareRoot(2n), undefined);
  assert.equal(squareRoot(0n), 0n);
});

test("the base point has the encoding of RFC 8032 and order l", () => {
  assert.equal(hex(encodePoint(basePoint())), `58${"66".repeat(31)}`);
  assert.ok(isIdentity(multiplyVartime(GROUP_ORDER, basePoint())));
  assert.ok(!isIdentity(multiplyVartime(GROUP_ORDER - 1n, basePoint())));
});

test("addition is a group law on a sample with points of small order", () => {
  const smallOrder = decodePoint(writeInteger(0n))!; // y = 0: order 4
  const sample = [
    IDENTITY,
    basePoint(),
    smallOrder,
    add(basePoint(), smallOrder),
    multiplyVartime(7n, basePoint()),
  ];
  for (const p of sample) {
    assert.ok(isIdentity(add(p, negate(p))));
    for (const q of sample) {
      assert.equal(hex(encodePoint(add(p, q))), hex(encodePoint(add(q, p))));
      for (const r of sample) {
        assert.equal(hex(encodePoint(add(add(p, q), r))), hex(encodePoint(add(p, add(q, r)))));
      }
    }
  }
});

test("decoding refuses every second encoding of a point", () => {
  assert.equal(decodePoint(writeInteger(P)), undefined, "y = p is 0 again");
  assert.equal(decodePoint(writeInteger(P + 1n)), undefined, "y = p + 1 is 1 again");
  assert.equal(decodePoint(writeInteger(1n | (1n << 255n))), undefined, "x = 0 has no sign");
  assert.equal(decodePoint(writeInteger((P - 1n) | (1n << 255n))), undefined, "x = 0 has no sign");
  assert.equal(decodePoint(writeInteger(2n)), undefined, "off the curve");
});

test("every point a field element maps to is on the curve", () => {
  for (const value of [0n, 1n, 2n, P - 1n, P, 2n ** 256n - 1n, 0x1234567890abcdefn]) {
    assert.ok(decodePoint(encodePoint(fieldToPoint(writeInteger(value)))));
  }
});

test("a multi-exponentiation is the sum of its terms", () => {
  for (const copies of [0, 1, 4, 10]) {
    const factors = Array.from({ length: copies }, () => [3n, GROUP_ORDER - 5n, 0n, 2n ** 256n - 1n]).flat();
    const terms = factors.map((k, i) => ({ k, point: multiplyVartime(BigInt(i + 2), basePoint()) }));
    const sum = terms.reduce((total, { k, point }) => add(total, multiplyVartime(k, point)), IDENTITY);
    assert.equal(hex(encodePoint(multiexpVartime(terms))), hex(encodePoint(sum)));
  }
});

test("the small-order point of the other suites has order 8", () => {
  const point = decodePoint(TORSION)!;
  assert.ok(isIdentity(multiplyVartime(8n, point)));
  assert.ok(!isIdentity(multiplyVartime(4n, point)));
});

test("a scalar times its inverse is 1", () => {
  const value = writeInteger(GROUP_ORDER - 12345n);
  assert.equal(hex(scalar.mul(value, scalar.invert(value))), hex(writeInteger(1n)));
});
