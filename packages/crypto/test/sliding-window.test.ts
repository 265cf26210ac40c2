import assert from "node:assert/strict";
import { test } from "node:test";
import { slidingWindowScalar } from "../src/ringct/sliding-window.ts";
import { scReduce32, scReduce64, scSub } from "../src/scalar.ts";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (scalar: Uint8Array) => Buffer.from(scalar).toString("hex");

/** As found on mainnet, with what they were read as: moneroinflation.com, report_scalars_df.pdf, table 4. */
const found = {
  cb2be144948166d0a9edb831ea586da0c376efa217871505ad77f6ff80f203f8:
    "b8ffd6a1aee47828808ab0d4c8524cb5c376efa217871505ad77f6ff80f20308",
  "343d3df8a1051c15a400649c423dc4ed58bef49c50caef6ca4a618b80dee22f4":
    "21113355bc682e6d7a9d5b3f2137a30259bef49c50caef6ca4a618b80dee2204",
  c14f75d612800ca2c1dcfa387a42c9cc086c005bc94b18d204dd61342418eba7:
    "4f473804b1d27ab2c789c80ab21d034a096c005bc94b18d204dd61342418eb07",
  "000102030405060708090a0b0c0d0e0f826c4f6e2329a31bc5bc320af0b2bcbb":
    "a124cfd387f461bf3719e03965ee6877826c4f6e2329a31bc5bc320af0b2bc0b",
};

test("unreduced scalars of mainnet are read as they were when they were mined", () => {
  for (const [stored, read] of Object.entries(found)) {
    assert.equal(hex(slidingWindowScalar(bytes(stored))), read);
    assert.notEqual(hex(scReduce32(bytes(stored))), read);
  }
});

test("below 2^255 a scalar is read as its remainder, at the end of the range as -1", () => {
  const half = new Uint8Array(32).fill(0xff);
  half[31] = 0x7f;
  assert.deepEqual(slidingWindowScalar(half), scReduce32(half));
  const one = new Uint8Array(32).fill(1, 0, 1);
  const minusOne = scSub(new Uint8Array(32), one);
  assert.deepEqual(slidingWindowScalar(new Uint8Array(32).fill(0xff)), minusOne);
  const highest = new Uint8Array(32).fill(0x80, 31);
  assert.deepEqual(slidingWindowScalar(highest), scReduce64(new Uint8Array(64).fill(0x80, 31, 32)));
});
