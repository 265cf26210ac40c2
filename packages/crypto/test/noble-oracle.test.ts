import assert from "node:assert/strict";
import { test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import {
  isPoint,
  keccak256,
  keccak256InPieces,
  pointAdd,
  scalarMult,
  scalarMultBase,
  scReduce64,
} from "../src/index.ts";

/** An implementation by other hands, under the same inputs. */
const { Point } = ed25519;
const scalar = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => scReduce64(bytes));

function toInteger(littleEndian: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(littleEndian).reverse().toString("hex")}`);
}

test("keccak-256 equals noble's at every length around the block size", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.deepEqual(Buffer.from(keccak256(bytes)), Buffer.from(keccak_256(bytes)));
    }),
  );
});

test("keccak-256 of pieces of any lengths equals noble's of the whole", () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });
  fc.assert(
    fc.property(pieces, (parts) => {
      const hash = keccak256InPieces();
      for (const part of parts) hash.update(part);
      assert.deepEqual(Buffer.from(hash.digest()), Buffer.from(keccak_256(Buffer.concat(parts))));
    }),
  );
});

test("multiples of the base point and of other points, and sums, equal noble's", () => {
  fc.assert(
    fc.property(scalar, scalar, (a, b) => {
      const [A, B] = [Point.BASE.multiplyUnsafe(toInteger(a)), Point.BASE.multiplyUnsafe(toInteger(b))];
      assert.deepEqual(Buffer.from(scalarMultBase(a)), Buffer.from(A.toBytes()));
      const product = Buffer.from(A.multiplyUnsafe(toInteger(b)).toBytes());
      assert.deepEqual(Buffer.from(scalarMult(b, A.toBytes())), product);
      assert.deepEqual(Buffer.from(pointAdd(A.toBytes(), B.toBytes())), Buffer.from(A.add(B).toBytes()));
    }),
    { numRuns: 30 },
  );
});

test("32 random bytes are a point to both or to neither", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      assert.equal(isPoint(bytes), isPointToNoble(bytes));
    }),
  );
});

function isPointToNoble(bytes: Uint8Array): boolean {
  try {
    Point.fromBytes(bytes, false);
    return true;
  } catch {
    return false;
  }
}
