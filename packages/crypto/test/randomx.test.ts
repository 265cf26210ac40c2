import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createRandomXCache, itemFunctions, type RandomXCache } from "../src/randomx/cache.ts";
import { createMachine } from "../src/randomx/fixed.ts";
import { DATA } from "../src/randomx/memory.ts";
import { reciprocal } from "../src/randomx/reciprocal.ts";
import { randomxHash } from "../src/randomx/vm.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const ascii = (text: string): Uint8Array => Buffer.from(text);
const fromHex = (text: string): Uint8Array => Buffer.from(text, "hex");

const lorem = ascii("sed do eiusmod tempor incididunt ut labore et dolore magna aliqua");

let first: RandomXCache;
before(() => {
  first = createRandomXCache(ascii("test key 000"));
});

test("the cache of a key holds the published words", () => {
  const words = new BigUint64Array(first.memory.buffer, DATA);
  assert.equal(words[0], 0x191e0e1d23c02186n);
  assert.equal(words[1568413], 0xf1b62fe6210bf8b1n);
  assert.equal(words[33554431], 0x1f47f056d05cd99bn);
});

test("dataset items begin with the published words", () => {
  const machine = createMachine(first);
  const { items } = machine.slot;
  const { pair, block } = itemFunctions(first);
  const word = (number: number): bigint => {
    const view = new DataView(machine.bytes.buffer, items);
    pair(items, BigInt(number), BigInt(number + 7));
    const [one, two] = [view.getBigUint64(0, true), view.getBigUint64(64, true)];
    block(machine.slot.scratchpad, BigInt(number));
    const scratchpad = new DataView(machine.bytes.buffer, machine.slot.scratchpad);
    assert.equal(scratchpad.getBigUint64(0, true), one);
    assert.equal(scratchpad.getBigUint64(7 * 64, true), two);
    return one;
  };
  assert.equal(word(0), 0x680588a85ae222dbn);
  assert.equal(word(10_000_000), 0x7943a1f6186ffb72n);
  assert.equal(word(20_000_000), 0x9035244d718095e1n);
  assert.equal(word(30_000_000), 0x145a5091f7853099n);
  machine.release();
});

test("reciprocals are the published ones", () => {
  assert.equal(reciprocal(3), 12297829382473034410n);
  assert.equal(reciprocal(13), 11351842506898185609n);
  assert.equal(reciprocal(33), 17887751829051686415n);
  assert.equal(reciprocal(65537), 18446462603027742720n);
  assert.equal(reciprocal(15000001), 10316166306300415204n);
  assert.equal(reciprocal(3845182035), 10302264209224146340n);
  assert.equal(reciprocal(0xffffffff), 9223372039002259456n);
});

// Source of the hashes: tevador/RandomX, src/tests/tests.cpp.

test("hashes under the first published key", () => {
  const hashes = [
    [ascii("This is a test"), "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f"],
    [ascii("Lorem ipsum dolor sit amet"), "300a0adb47603dedb42228ccb2b211104f4da45af709cd7547cd049e9489c969"],
    [lorem, "c36d4ed4191e617309867ed66a443be4075014e2b061bcdaf9ce7b721d2b77a8"],
  ] as const;
  for (const [input, expected] of hashes) assert.equal(hex(randomxHash(first, input)), expected);
});

test("hashes under the second published key", () => {
  const cache = createRandomXCache(ascii("test key 001"));
  const blob = fromHex(
    "0b0b98bea7e805e0010a2126d287a2a0cc833d312cb786385a7c2f9de69d25537f584a9bc9977b00000000666fd8753bf61a8631f12984e3fd44f4014eca629276817b56f32e9b68bd82f416",
  );
  const ofLorem = "e9ff4503201c0c2cca26d285c93ae883f9b1d30c9eb240b820756f2d5a7905fc";
  const ofBlob = "c56414121acda1713c2f2a819d8ae38aed7c80c35c2a769298d34f03833cd5f1";
  assert.equal(hex(randomxHash(cache, lorem)), ofLorem);
  assert.equal(hex(randomxHash(cache, blob)), ofBlob);
});

test("the published hash in which ISUB_R meets its edge", () => {
  const cache = createRandomXCache(fromHex("7797373ea4633194640bf8d8c3b66724d6aa7bd2dc20e009df2f8f1710abe8"));
  const blob = fromHex(
    "1010e1eaf8cf067b37b5f0ee031ab23ed1755e090a3af4415830145853e2be3e1f6821fed84dae58d00e00da5214d6c1f2d0622e0abd51f9373d04e0b0f8e6d6514d90689721c4aac5a9bb0d",
  );
  const expected = "78af2a1864c42abce36d2e8983e13df99b2af0ce1362999af09fab004d4435a8";
  assert.equal(hex(randomxHash(cache, blob)), expected);
});

test("a key of more than 60 bytes and a blob that does not fit are refused", () => {
  assert.throws(() => createRandomXCache(new Uint8Array(61)), RangeError);
  assert.throws(() => randomxHash(first, new Uint8Array(2 * 1024 * 1024 + 1)), RangeError);
});
