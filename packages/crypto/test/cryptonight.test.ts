import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { chacha8, chacha20 } from "../src/chacha.ts";
import { blake256 } from "../src/hash/blake256.ts";
import { cnSlowHash } from "../src/hash/cryptonight.ts";
import { programOfHeight } from "../src/hash/cryptonight-r.ts";
import { groestl256 } from "../src/hash/groestl256.ts";
import { jh256 } from "../src/hash/jh256.ts";
import { skein256 } from "../src/hash/skein256.ts";

const vectors = "/usr/share/monero/testdata/hash";
const missing = !existsSync(vectors) && !process.env.CI && "the Debian package monero-tests is not installed";
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

type Vector = { expected: string; input: Uint8Array; height: number | undefined };

/** Lines of "hash input" or "hash input height", the first two hexadecimal; an empty input is written x. */
function readVectors(file: string): Vector[] {
  const lines = readFileSync(`${vectors}/${file}`, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [expected, input, height] = line.split(" ");
    assert.ok(expected && input, `${file}: ${line}`);
    return {
      expected,
      input: Buffer.from(input === "x" ? "" : input, "hex"),
      height: height === undefined ? undefined : Number(height),
    };
  });
}

const finals = { blake: blake256, groestl: groestl256, jh: jh256, skein: skein256 };
for (const [name, hash] of Object.entries(finals)) {
  test(`${name} agrees with every line of the Debian vectors`, { skip: missing }, () => {
    const lines = readVectors(`tests-extra-${name}.txt`);
    assert.equal(lines.length, 321);
    for (const { expected, input } of lines) assert.equal(hex(hash(input)), expected);
  });
}

const slow = [
  { variant: 0, file: "tests-slow.txt", count: 4 },
  { variant: 1, file: "tests-slow-1.txt", count: 5 },
  { variant: 2, file: "tests-slow-2.txt", count: 10 },
  { variant: 4, file: "tests-slow-4.txt", count: 10 },
] as const;
for (const { variant, file, count } of slow) {
  test(`CryptoNight variant ${variant} agrees with every line of the Debian vectors`, {
    skip: missing,
  }, () => {
    const lines = readVectors(file);
    assert.equal(lines.length, count);
    for (const { expected, input, height } of lines) {
      const options = height === undefined ? { variant } : { variant, height };
      assert.equal(hex(cnSlowHash(input, options)), expected);
    }
  });
}

test("CryptoNight-R hashes one height after another and back", { skip: missing }, () => {
  const [first, second] = readVectors("tests-slow-4.txt");
  for (const { expected, input, height } of [first!, second!, first!])
    assert.equal(hex(cnSlowHash(input, { variant: 4, height: height! })), expected);
});

test("every program of CryptoNight-R has 60 to 70 instructions and uses the last register", () => {
  for (let height = 1_788_000; height < 1_788_300; height++) {
    const program = programOfHeight(height);
    assert.ok(program.length >= 60 && program.length <= 70, `height ${height}: ${program.length}`);
    assert.ok(
      program.some(({ source }) => source === 8),
      `height ${height}`,
    );
  }
});

test("CryptoNight refuses options that make no sense", () => {
  assert.throws(() => cnSlowHash(new Uint8Array(32), { prehashed: true }), RangeError);
  assert.throws(() => cnSlowHash(new Uint8Array(42), { variant: 1 }), RangeError);
  assert.throws(() => cnSlowHash(new Uint8Array(43), { variant: 4 }), RangeError);
  assert.throws(() => cnSlowHash(new Uint8Array(43), { variant: 4, height: -1 }), RangeError);
  assert.throws(() => cnSlowHash(new Uint8Array(43), { variant: 3 as 4, height: 1 }), RangeError);
});

test("ChaCha agrees with the published key stream of the zero key", () => {
  // Source: draft-strombergson-chacha-test-vectors, TC1, 256-bit key, 8 and 20 rounds.
  const zeros = new Uint8Array(64);
  const stream = (cipher: typeof chacha8): string =>
    hex(cipher(zeros, new Uint8Array(32), new Uint8Array(8)));
  assert.ok(stream(chacha8).startsWith("3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"));
  assert.ok(stream(chacha20).startsWith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"));
});

test("ChaCha refuses keys and nonces of a wrong size", () => {
  assert.throws(() => chacha8(new Uint8Array(1), new Uint8Array(31), new Uint8Array(8)), RangeError);
  assert.throws(() => chacha20(new Uint8Array(1), new Uint8Array(32), new Uint8Array(12)), RangeError);
  for (const cipher of [chacha8, chacha20])
    assert.throws(() => cipher(new Uint8Array(1), new Uint8Array(33), new Uint8Array(8)), /has 32 bytes/);
});
