import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { checksumSeed, isRowIntact, rowChecksum } from "../src/checksum.ts";
import { DamagedDatabase } from "../src/damage.ts";
import {
  bool,
  bytes32,
  count64,
  type Field,
  list,
  oneOf,
  readRecord,
  record,
  rest,
  text,
  u8,
  u32,
  u64,
  u128,
  writeInto,
  writeRecord,
} from "../src/layout.ts";

/** Writes a value, and reads it back from the same bytes. */
function written<T>(field: Field<T>, value: T): Buffer {
  const bytes = writeRecord(field, value);
  assert.equal(bytes.length, field.size(value));
  if (field.fixedSize !== undefined) assert.equal(bytes.length, field.fixedSize);
  assert.deepEqual(readRecord(field, bytes), value);
  return bytes;
}

test("numbers are big-endian up to the last that fits, and come back exactly", () => {
  for (const value of [0, 1, 254, 255]) assert.equal(written(u8, value).toString("hex"), hex(value, 1));
  for (const value of [0, 1, 2 ** 31, 2 ** 32 - 1])
    assert.equal(written(u32, value).toString("hex"), hex(value, 4));
  const counts = [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52 + 3, Number.MAX_SAFE_INTEGER];
  for (const value of counts) assert.equal(written(count64, value).toString("hex"), hex(value, 8));
  const edges = [
    0n,
    1n,
    2n ** 32n - 1n,
    2n ** 32n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 64n - 1n,
  ];
  for (const value of edges) assert.equal(written(u64, value).toString("hex"), hex(value, 8));
  for (const value of [...edges, 2n ** 64n, 2n ** 64n + 5n, 2n ** 127n + 2n ** 53n + 1n, 2n ** 128n - 1n])
    assert.equal(written(u128, value).toString("hex"), hex(value, 16));
});

const hex = (value: number | bigint, bytes: number) =>
  BigInt(value)
    .toString(16)
    .padStart(2 * bytes, "0");

test("what no field can hold is refused", () => {
  for (const value of [-1, 0.5, 2 ** 53, Number.NaN])
    assert.throws(() => writeRecord(count64, value), RangeError);
  for (const length of [31, 33])
    assert.throws(() => writeRecord(bytes32, new Uint8Array(length)), RangeError);
  assert.throws(() => writeRecord(oneOf("a", "b"), "c" as "a"), RangeError);
});

test("choices, flags, bytes and texts come back", () => {
  const choice = oneOf("a", "b");
  assert.deepEqual([...written(choice, "a")], [0]);
  assert.deepEqual([...written(choice, "b")], [1]);
  assert.throws(() => readRecord(choice, Buffer.of(2)), DamagedDatabase);
  assert.deepEqual([...written(bool, true)], [1]);
  assert.deepEqual([...written(bool, false)], [0]);
  written(text, "größer");
  assert.deepEqual(written(list(u32), [1, 2, 3]).length, 12);
  written(list(u32), []);
  const key = new Uint8Array(32).map((_, i) => i);
  assert.deepEqual(new Uint8Array(written(bytes32, key)), key);
});

const shape = record({ small: u8, key: bytes32, tail: rest });

test("a record is its fields one after another, each with its place as far as that is fixed", () => {
  const value = { small: 7, key: new Uint8Array(32).fill(3), tail: Uint8Array.of(1, 2) };
  const bytes = written(shape, value);
  assert.equal(bytes.length, 35);
  assert.equal(shape.fixedSize, undefined);
  assert.equal(record({ a: u8, b: u32 }).fixedSize, 5);
  assert.deepEqual([shape.offsetOf("small"), shape.offsetOf("key"), shape.offsetOf("tail")], [0, 1, 33]);
  assert.deepEqual(shape.columns.key(bytes), value.key);
  const later = record({ tail: rest, after: u8 });
  assert.throws(() => later.offsetOf("after"), RangeError);
  assert.deepEqual(Object.keys(later.columns), ["tail"]);
});

test("a record of another length than its fields is damaged", () => {
  const fields = record({ a: u8, b: u32 });
  const bytes = writeRecord(fields, { a: 1, b: 2 });
  assert.throws(() => readRecord(fields, bytes.subarray(0, 4)), DamagedDatabase);
  assert.throws(() => readRecord(fields, Buffer.concat([bytes, Buffer.alloc(1)])), DamagedDatabase);
  assert.deepEqual(readRecord(fields, Buffer.concat([bytes, Buffer.alloc(3)]), 3), { a: 1, b: 2 });
  assert.throws(() => readRecord(fields, bytes, 1), DamagedDatabase);
  assert.throws(() => readRecord(list(u32), Buffer.alloc(7)), DamagedDatabase);
});

test("a value is written into memory that is there, or into new memory where that is too small", () => {
  const scratch = Buffer.alloc(6);
  const fits = writeInto(rest, Uint8Array.of(1, 2, 3, 4), { scratch, spare: 2 });
  assert.equal(fits.buffer, scratch.buffer);
  assert.equal(fits.byteOffset, scratch.byteOffset);
  assert.deepEqual([fits.length, ...fits.subarray(0, 4)], [6, 1, 2, 3, 4]);
  const longer = writeInto(rest, Uint8Array.of(1, 2, 3, 4, 5), { scratch, spare: 2 });
  assert.equal(longer.length, 7);
  assert.notEqual(longer.byteOffset, scratch.byteOffset);
  assert.equal(writeInto(u32, 9, { scratch }).length, 4);
});

/** A row as it is stored, with its checksum. */
function rowOf(seed: number, key: Uint8Array, value: Uint8Array): Buffer {
  const row = Buffer.alloc(value.length + 4);
  row.set(value);
  row.writeUInt32LE(rowChecksum(seed, key, value), value.length);
  return row;
}

test("a row of any length is intact under its own key in its own table, and no longer with a bit changed", () => {
  const [seed, other] = [checksumSeed("heights"), checksumSeed("blocks")];
  assert.equal(seed, crc32("heights"));
  for (let length = 0; length <= 300; length++) {
    const key = Uint8Array.from({ length: 1 + (length % 40) }, (_, i) => (i * 31 + length) & 0xff);
    const value = Uint8Array.from({ length }, (_, i) => (i * 197 + length * 11) & 0xff);
    const row = rowOf(seed, key, value);
    assert.equal(isRowIntact(seed, key, row), true, `${length} bytes`);
    assert.equal(isRowIntact(other, key, row), false);
    assert.equal(
      isRowIntact(
        seed,
        key.map((byte) => byte ^ 1),
        row,
      ),
      false,
    );
    for (const at of [0, length >> 1, row.length - 1]) {
      const changed = Buffer.from(row);
      changed[at]! ^= 1 << (length & 7);
      assert.equal(isRowIntact(seed, key, changed), false, `${length} bytes, changed at ${at}`);
    }
  }
  for (let length = 0; length < 4; length++)
    assert.equal(isRowIntact(seed, new Uint8Array(8), Buffer.alloc(length)), false);
});

test("of memory that is longer than the row it holds, the row alone counts", () => {
  const seed = checksumSeed("blocks");
  const key = Uint8Array.of(1);
  for (const length of [10, 1000]) {
    const row = rowOf(seed, key, new Uint8Array(length).fill(5));
    const memory = Buffer.concat([row, Buffer.alloc(20, 9)]);
    Object.defineProperty(memory, "length", { value: row.length });
    assert.equal(isRowIntact(seed, key, memory), true);
  }
});
