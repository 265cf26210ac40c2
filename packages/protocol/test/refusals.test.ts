import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, keccak256 } from "@anulo/crypto";
import { lenientSize, varintBelow } from "../src/codec/wire.ts";
import {
  BadAddress,
  BadBytes,
  bytes as bytesOfLength,
  decode,
  dynamicFees2021,
  encode,
  encodeBase58,
  encodedObjects,
  epee,
  formatAddress,
  fromHex,
  type IntegerType,
  networks,
  type PortableEntry,
  PortableObjects,
  parseAddress,
  Reader,
  readRecord,
  u8,
  u32,
  varint,
  varint64,
  Writer,
  writeExtra,
  writePortable,
} from "../src/index.ts";

test("writers refuse values that have no bytes", () => {
  assert.deepEqual([...encode(u8, 255), ...encode(u8, 0)], [255, 0]);
  for (const value of [256, -1, 1.5]) assert.throws(() => encode(u8, value), RangeError);
  assert.deepEqual([...encode(u32, 2 ** 32 - 1)], [255, 255, 255, 255]);
  assert.deepEqual([...encode(u32, 0x01020304)], [4, 3, 2, 1]);
  for (const value of [2 ** 32, -1, 0.5]) assert.throws(() => encode(u32, value), RangeError);
  for (const length of [2, 4])
    assert.throws(() => encode(bytesOfLength(3), new Uint8Array(length)), RangeError);
  for (const value of [1.5, 2 ** 53, Number.NaN, -1]) assert.throws(() => encode(varint, value), RangeError);
  assert.throws(() => encode(varintBelow(5), 5), RangeError);
  assert.equal(encode(varintBelow(5), 4)[0], 4);
  assert.throws(() => decode(varintBelow(5), Uint8Array.of(5)), /number not below 5/);
});

test("varints of more than seven bytes are as short as they may be, also where they are only skipped", () => {
  const bad = [
    "ffffffffffffff00",
    "ffffffffffffffff00",
    "ffffffffffffffffff00",
    "ffffffffffffffffff02",
    "8000",
  ];
  for (const hex of bad) {
    assert.throws(() => decode(varint64, fromHex(hex)), BadBytes, hex);
    assert.throws(() => new Reader(fromHex(hex)).skipVarint(), BadBytes, hex);
  }
  for (const hex of ["ffffffffffffff01", "ffffffffffffffffff01", "80808080808080808001", "7f", "ff7f"]) {
    const reader = new Reader(fromHex(`${hex}55`));
    reader.skipVarint();
    assert.equal(reader.readByte(), 0x55, hex);
  }
  assert.equal(decode(varint64, fromHex("ffffffffffffffffff01")), 2n ** 64n - 1n);
  assert.equal(decode(varint, fromHex("ffffffffffffff0f")), Number.MAX_SAFE_INTEGER);
  assert.throws(() => decode(varint, fromHex("8080808080808010")), /number too large/);
});

test("a size that may be cut off is still no larger than a file may be", () => {
  assert.equal(decode(lenientSize, fromHex("ff")), 127);
  assert.equal(decode(lenientSize, fromHex("8001")), 128);
  assert.equal(decode(lenientSize, new Uint8Array()), 0);
  assert.throws(() => decode(lenientSize, fromHex("8000")), /shortest form/);
  assert.equal(decode(lenientSize, fromHex("00")), 0);
  assert.equal(decode(lenientSize, fromHex("ffffffffffffff01")), 2 ** 50 - 1);
  assert.throws(() => decode(lenientSize, fromHex("ffffffffffffffff01")), /size too large/);
});

test("long values are written by reference and come out whole, wherever they stand", () => {
  for (const length of [0, 1, 255, 256, 257, 16_383, 16_384, 16_385, 1_100_000]) {
    const writer = new Writer(4);
    const expected: number[] = [];
    for (let i = 0; i < 3; i++) {
      writer.writeByte(i);
      writer.writeBytes(new Uint8Array(length).fill(7 + i));
      writer.writeInt64(-2n - BigInt(i));
      expected.push(i, length, 7 + i);
    }
    assert.equal(writer.length, 3 * (1 + length + 8));
    const reader = new Reader(writer.finish());
    const found: number[] = [];
    for (let i = 0; i < 3; i++) {
      const first = reader.readByte();
      const value = reader.readBytes(length);
      found.push(first, value.length, length === 0 ? 7 + i : value[0]!);
      assert.ok(value.every((byte) => byte === 7 + i));
      const number = reader.readBytes(8);
      assert.equal(new DataView(number.buffer, number.byteOffset).getBigInt64(0, true), -2n - BigInt(i));
    }
    assert.deepEqual(found, expected);
    assert.equal(reader.remaining, 0);
  }
});

test("integers of portable storage have the range of their type", () => {
  const write = (type: IntegerType, value: bigint) =>
    writePortable(new Map([["a", { type, value } as PortableEntry]]));
  for (const bits of [8n, 16n, 32n, 64n]) {
    const [signed, unsigned] = [`int${bits}`, `uint${bits}`] as IntegerType[];
    for (const [type, least, most] of [
      [signed!, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n],
      [unsigned!, 0n, 2n ** bits - 1n],
    ] as const) {
      write(type, least);
      write(type, most);
      assert.throws(() => write(type, least - 1n), RangeError);
      assert.throws(() => write(type, most + 1n), RangeError);
    }
  }
});

test("names have 1 to 254 characters of a byte, arrays less than 2^30 elements", () => {
  const named = (name: string) => writePortable(new Map([[name, { type: "bool", value: true } as const]]));
  assert.equal(named("a".repeat(254))[10], 254);
  named("\xff\0");
  for (const name of ["", "a".repeat(255), "\u0100", "a€"]) assert.throws(() => named(name), RangeError);
  const array = (count: number) => writePortable(new Map([["a", encodedObjects(count, new Uint8Array())]]));
  array(2 ** 30 - 1);
  assert.throws(() => array(2 ** 30), RangeError);
});

const shape = epee.record({
  number: epee.u8,
  signed: epee.i64,
  large: epee.u64,
  flag: epee.bool,
  text: epee.text,
  blob: epee.blob,
  key: epee.fixedBytes(2),
  keys: epee.packedBytes(2),
  list: epee.list(epee.u16, 2),
  inner: epee.optionalField(epee.record({ a: epee.u32 })),
});

test("what is missing in JSON has its default", () => {
  const nothing = shape.fromJson({});
  assert.deepEqual(nothing, {
    number: 0,
    signed: 0n,
    large: 0n,
    flag: false,
    text: "",
    blob: new Uint8Array(),
    key: new Uint8Array(2),
    keys: [],
    list: [],
    inner: undefined,
  });
  assert.deepEqual(
    shape.fromJson({ number: 255, signed: -5n, flag: true, text: "a", blob: "01", key: "0203" }),
    {
      ...nothing,
      number: 255,
      signed: -5n,
      flag: true,
      text: "a",
      blob: Uint8Array.of(1),
      key: Uint8Array.of(2, 3),
    },
  );
  assert.deepEqual(shape.fromJson({ keys: ["0102"], list: [1, 2n], inner: { a: 7 } }), {
    ...nothing,
    keys: [Uint8Array.of(1, 2)],
    list: [1, 2],
    inner: { a: 7 },
  });
});

test("JSON of another type than a field's is refused", () => {
  const wrong = [
    ...[
      { number: 256 },
      { number: -1 },
      { number: 1.5 },
      { number: "1" },
      { number: true },
      { number: null },
    ],
    ...[
      { signed: 2n ** 63n },
      { large: -1n },
      { large: 2n ** 64n },
      { flag: 1 },
      { flag: "true" },
      { text: 1 },
    ],
    ...[{ blob: 1 }, { key: "01" }, { key: "010203" }, { keys: "0102" }, { keys: ["01"] }, { list: 1 }],
    ...[
      { list: [1, 2, 3] },
      { list: [65_536] },
      { inner: 1 },
      { inner: [] },
      { inner: null },
      { inner: "a" },
    ],
  ];
  for (const json of wrong)
    assert.throws(
      () => shape.fromJson(json as never),
      /./,
      JSON.stringify(json, (_, each) => String(each)),
    );
  for (const json of [null, 5, "a", [], undefined]) assert.throws(() => shape.fromJson(json), BadBytes);
});

test("a field of portable storage of another type is refused, booleans count as 0 and 1", () => {
  const read = (name: string, entry: PortableEntry) =>
    readRecord(shape, writePortable(new Map([[name, entry]])));
  assert.equal(read("number", { type: "bool", value: true }).number, 1);
  assert.equal(read("number", { type: "bool", value: false }).number, 0);
  assert.equal(read("flag", { type: "int64", value: 1n }).flag, true);
  assert.equal(read("flag", { type: "uint8", value: 0n }).flag, false);
  const wrong: [string, PortableEntry][] = [
    ["flag", { type: "uint8", value: 2n }],
    ["flag", { type: "int8", value: -1n }],
    ["flag", { type: "string", value: new Uint8Array() }],
    ["number", { type: "double", value: 1 }],
    ["number", { type: "uint16", value: 256n }],
    ["text", { type: "uint8", value: 1n }],
    ["blob", { type: "string", values: [] }],
    ["key", { type: "string", value: new Uint8Array(3) }],
    ["keys", { type: "string", value: new Uint8Array(3) }],
    ["list", { type: "uint16", value: 1n }],
    ["list", { type: "uint16", values: [1n, 2n, 3n] }],
    ["inner", { type: "uint8", value: 1n }],
    ["inner", { type: "object", values: [] }],
  ];
  for (const [name, entry] of wrong)
    assert.throws(() => read(name, entry), BadBytes, `${name} ${entry.type}`);
  assert.deepEqual(read("list", { type: "uint16", values: [1n, 2n] }).list, [1, 2]);
  assert.equal(read("list", { type: "uint16", values: [] }).list.length, 0);
});

test("padding of an extra has 1 to 255 bytes with its tag", () => {
  assert.equal(writeExtra([{ type: "padding", size: 1 }]).length, 1);
  assert.equal(writeExtra([{ type: "padding", size: 255 }]).length, 255);
  for (const size of [0, 256]) assert.throws(() => writeExtra([{ type: "padding", size }]), RangeError);
});

test("an address has a known prefix, two keys, and a payment id where it is integrated", () => {
  const key = parseAddress(
    "49hyd11a1bgDmgGmSxMiTqGwD6njnGpT877qjbV8N2uaJXafMZwqJh8ALz4VWz1TRuSgsioiNgiow6i7ETAboAc8TLWVAan",
  ).spendPublic;
  const text = (prefix: number, ...parts: Uint8Array[]) => {
    const content = concatBytes(Uint8Array.of(prefix), ...parts);
    return encodeBase58(concatBytes(content, keccak256(content).subarray(0, 4)));
  };
  const { standard, integrated } = networks.mainnet.addressPrefixes;
  const keys = { spendPublic: key, viewPublic: key };
  assert.equal(text(standard, key, key), formatAddress({ kind: "standard", ...keys }, "mainnet"));
  const id = new Uint8Array(8);
  assert.equal(
    text(integrated, key, key, id),
    formatAddress({ kind: "integrated", paymentId: id, ...keys }, "mainnet"),
  );
  const refused = (address: string, reason: RegExp) =>
    assert.throws(
      () => parseAddress(address),
      (error) => error instanceof BadAddress && reason.test(error.message),
    );
  refused(text(7, key, key), /unknown address prefix/);
  refused(text(standard, key, key, id), /wrong length/);
  refused(text(integrated, key, key), /wrong length/);
  refused(text(integrated, key, key, new Uint8Array(9)), /wrong length/);
  refused(encodeBase58(new Uint8Array(4)), /too short for an address/);
  refused(encodeBase58(new Uint8Array(5)), /checksum does not match/);
  refused("1".repeat(201), /too long for an address/);
  assert.throws(
    () => parseAddress("1".repeat(200)),
    (error) => !/too long/.test(String(error)),
  );
});

test("the fastest fee is four times the fast one, or more where blocks have grown", () => {
  const reward = 600_000_000_000n;
  const fees = (shortTermMedian: number, longTermMedian: number) =>
    dynamicFees2021({ reward, shortTermMedian, longTermMedian });
  // Steep, by hand: 4·fast·M·300000 / (32·3000·S), where fast is 16·R·3000 / (300000·M), M the smaller median.
  assert.deepEqual(fees(300_000, 300_000), [20_000n, 80_000n, 320_000n, 4_000_000n]);
  assert.deepEqual(fees(6_000_000, 300_000), [20_000n, 80_000n, 320_000n, 1_300_000n]);
  assert.deepEqual(fees(300_000, 3_000_000), [20_000n, 80_000n, 320_000n, 4_000_000n]);
});

test("objects that are kept as bytes are written as a list of them is", () => {
  const entries = [1n, 2n, 300n].map(
    (n) => new Map<string, PortableEntry>([["n", { type: "uint64", value: n }]]),
  );
  for (const count of [0, 1, 3]) {
    const objects = new PortableObjects();
    for (const entry of entries.slice(0, count)) objects.add(entry);
    const values = entries.slice(0, count);
    const written = writePortable(new Map([["list", objects.finish()]]));
    assert.deepEqual(written, writePortable(new Map([["list", { type: "object", values }]])));
  }
});
