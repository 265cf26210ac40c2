import assert from "node:assert/strict";
import { test } from "node:test";
import { BadBytes, decodeBase58, encodeBase58, fromHex, toHex } from "../src/index.ts";

/** Source: tests/unit_tests/base58.cpp (known pairs of block and text). */
const pairs = [
  ["00", "11"],
  ["39", "1z"],
  ["ff", "5Q"],
  ["0000", "111"],
  ["0100", "15R"],
  ["ffff", "LUv"],
  ["ffffff", "2UzHL"],
  ["ffffffff", "7YXq9G"],
  ["ffffffffff", "VtB5VXc"],
  ["ffffffffffff", "3CUsUpv9t"],
  ["ffffffffffffff", "Ahg1opVcGW"],
  ["ffffffffffffffff", "jpXCZedGfVQ"],
  ["0000000000000000", "11111111111"],
  ["0000000000000001", "11111111112"],
] as const;

test("blocks of every size are written and read", () => {
  for (const [hex, text] of pairs) {
    assert.equal(encodeBase58(fromHex(hex)), text);
    assert.equal(toHex(decodeBase58(text)), hex);
  }
});

test("any bytes come back", () => {
  for (let length = 0; length < 70; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 151 + length * 7) & 0xff);
    const text = encodeBase58(bytes);
    assert.deepEqual(decodeBase58(text), bytes);
  }
});

test("a block's letters are the digits of its number", () => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  for (let i = 0n; i < 500n; i++) {
    const value = BigInt.asUintN(64, i < 250n ? i * 0x9e3779b97f4a7c15n : -1n - i * 58n ** (i % 11n));
    let letters = "";
    for (let rest = value; letters.length < 11; rest /= 58n) letters = alphabet[Number(rest % 58n)] + letters;
    assert.equal(encodeBase58(fromHex(value.toString(16).padStart(16, "0"))), letters);
  }
});

test("letters that are none, impossible lengths and blocks too large are refused", () => {
  for (const text of ["1", "1111", "11111111", "0l", "IO", "5R", "LUw", "jpXCZedGfVR", "zzzzzzzzzzz", "1é"])
    assert.throws(() => decodeBase58(text), BadBytes, text);
});
