import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  BadBytes,
  BadHex,
  byteString,
  bytes32,
  type Codec,
  compareBytes,
  decode,
  decodeInSteps,
  encode,
  fromHex,
  list,
  readList,
  struct,
  times,
  toHex,
  u8,
  u32,
  union,
  varint,
  varint64,
} from "../src/index.ts";

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

test("varints of 64 bits read as written, in the fewest bytes", () => {
  fc.assert(
    fc.property(uint64, (value) => {
      const written = encode(varint64, value);
      assert.equal(decode(varint64, written), value);
      assert.equal(written.length, Math.max(1, Math.ceil(value.toString(2).length / 7)));
    }),
  );
  for (const edge of [0n, 127n, 128n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
    assert.equal(decode(varint64, encode(varint64, edge)), edge);
  }
});

test("numbers read as written, and those a number cannot hold are refused", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => assert.equal(decode(varint, encode(varint, value)), value)),
  );
  assert.throws(() => decode(varint, encode(varint64, 2n ** 53n)), BadBytes);
});

test("varints that are long-winded, too large or cut off are refused", () => {
  for (const hex of [
    "8000",
    "ff00",
    "80808000",
    "ffffffffffffffffff02",
    "ffffffffffffffffffff01",
    "80",
    "ff",
    "",
  ]) {
    assert.throws(() => decode(varint64, fromHex(hex)), BadBytes, hex);
  }
  assert.throws(() => encode(varint64, 2n ** 64n), RangeError);
  assert.throws(() => encode(varint64, -1n), RangeError);
});

test("a count above the bytes left is refused at once", () => {
  let readItems = 0;
  const item: Codec<number> = {
    read: (reader) => {
      readItems++;
      return u8.read(reader);
    },
    write: u8.write,
  };
  assert.throws(() => decode(list(item), fromHex("ffffffff0f00")), BadBytes);
  assert.equal(readItems, 0);
  assert.throws(() => decode(byteString, fromHex("ffffffff0f00")), BadBytes);
});

test("a field may depend on the fields before it", () => {
  const codec = struct()
    .field("count", u8)
    .field("items", ({ count }) => times(count, u32));
  const bytes = encode(codec, { count: 2, items: [1, 0xffffffff] });
  assert.equal(toHex(bytes), "0201000000ffffffff");
  assert.deepEqual(decode(codec, bytes), { count: 2, items: [1, 0xffffffff] });
  assert.throws(() => encode(codec, { count: 1, items: [] }), RangeError);
});

test("a union reads the case its tag names and refuses unknown tags", () => {
  const codec = union({ small: [1, struct().field("n", u8)], key: [2, struct().field("key", bytes32)] });
  assert.deepEqual(decode(codec, fromHex("0107")), { type: "small", n: 7 });
  assert.equal(toHex(encode(codec, { type: "small", n: 7 })), "0107");
  assert.throws(() => decode(codec, fromHex("0307")), BadBytes);
});

test("hexadecimal text reads back, and other text is refused", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.deepEqual(fromHex(toHex(bytes)), bytes)));
  assert.deepEqual(fromHex("AbCd"), new Uint8Array([0xab, 0xcd]));
  for (const bad of ["a", "zz", "0x", "a ", "é0", "@0", "`0", "g0"])
    assert.throws(() => fromHex(bad), BadHex, bad);
  assert.throws(() => fromHex("00", 32), BadHex);
  for (let code = 0; code < 0x1_0000; code++) {
    const character = String.fromCharCode(code);
    for (const [text, value] of [
      [`${character}7`, 16 * Number.parseInt(character, 16) + 7],
      [`7${character}`, 7 * 16 + Number.parseInt(character, 16)],
    ] as const) {
      if (/[0-9a-fA-F]/.test(character)) assert.deepEqual(fromHex(text), Uint8Array.of(value));
      else assert.throws(() => fromHex(text), BadHex, `code unit ${code}`);
    }
  }
});

test("bytes are ordered from the first byte on", () => {
  assert.ok(compareBytes(fromHex("01ff"), fromHex("0200")) < 0);
  assert.ok(compareBytes(fromHex("0200"), fromHex("02")) > 0);
  assert.equal(compareBytes(fromHex("0200"), fromHex("0200")), 0);
});

test("a list read in steps is the same, with a pause after each element, and nothing behind it", () => {
  const steps = (bytes: Uint8Array) => decodeInSteps((reader) => readList(reader, u32), bytes);
  const finish = (bytes: Uint8Array) => {
    const walk = steps(bytes);
    for (let pauses = 0; ; pauses++) {
      const step = walk.next();
      if (step.done === true) return { values: step.value, pauses };
    }
  };
  for (const values of [[], [7], [1, 2, 4_000_000_000]]) {
    const written = encode(list(u32), values);
    assert.deepEqual(finish(written), { values, pauses: values.length });
    assert.throws(() => finish(Uint8Array.of(...written, 0)), BadBytes);
  }
  assert.throws(() => finish(Uint8Array.of(2, 1, 0, 0, 0)), BadBytes);
  // More elements than bytes are refused before any is read.
  assert.throws(() => steps(Uint8Array.of(9, 1, 0, 0, 0, 1, 0, 0, 0)).next(), /count 9/);
});
