import { crc32 } from "node:zlib";

/** Bytes a checksum adds to a row. */
export const CHECKSUM_BYTES = 4;

/**
 * Rows up to this many bytes are checked here rather than by the library: a call of it takes 0.2 µs before it begins,
 * enough for 120 bytes.
 */
const SHORT_ROW = 256;

/** The CRC-32 of any message followed by its own checksum, little-endian. */
const RESIDUE = 0x2144df1c;

/**
 * CRC-32 of a row: of its table's seed, its key and its value. So a row that appears under another key, or in another
 * table, is detected like one whose bytes changed.
 */
export function rowChecksum(seed: number, key: Uint8Array, value: Uint8Array): number {
  return crc32(value, crc32(key, seed));
}

/** Whether `row`, a value followed by its checksum (4 bytes, little-endian), is what was stored under this key. */
export function isRowIntact(seed: number, key: Uint8Array, row: Uint8Array): boolean {
  const { length } = row;
  if (length < CHECKSUM_BYTES) return false;
  if (length > SHORT_ROW) {
    // The binding's own memory is longer than the row that it reports.
    const whole = row.byteLength === length ? row : new Uint8Array(row.buffer, row.byteOffset, length);
    return crc32(whole, crc32(key, seed)) === RESIDUE;
  }
  return shortCrc32(row, length, shortCrc32(key, key.length, seed)) === RESIDUE;
}

/** Eight tables of CRC-32 with the polynomial 0xEDB88320, so that eight bytes are processed in one step. */
const steps = createSteps();

function createSteps(): Int32Array {
  const tables = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ ((rest & 1) * 0xedb88320);
    tables[byte] = rest;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256]!;
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!;
  }
  return tables;
}

/** CRC-32 of the first `length` bytes, continued from `seed`. */
function shortCrc32(bytes: Uint8Array, length: number, seed: number): number {
  let crc = ~seed;
  let at = 0;
  for (; at + 8 <= length; at += 8) {
    const first =
      crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      steps[0x700 + (first & 0xff)]! ^
      steps[0x600 + ((first >>> 8) & 0xff)]! ^
      steps[0x500 + ((first >>> 16) & 0xff)]! ^
      steps[0x400 + (first >>> 24)]! ^
      steps[0x300 + bytes[at + 4]!]! ^
      steps[0x200 + bytes[at + 5]!]! ^
      steps[0x100 + bytes[at + 6]!]! ^
      steps[bytes[at + 7]!]!;
  }
  for (; at < length; at++) crc = (crc >>> 8) ^ steps[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

/** The seed of a table, by its name. */
export function checksumSeed(table: string): number {
  return crc32(table);
}
