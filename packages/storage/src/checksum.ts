import { crc32 } from "node:zlib";

/** Bytes a checksum adds to a row. */
export const CHECKSUM_BYTES = 4;

/** What CRC-32 makes of any message followed by its own checksum, little-endian. */
const RESIDUE = 0x2144df1c;

/**
 * CRC-32 of a row: of its table's seed, key and value. A row that turns up under another key, or in another
 * table, is as wrong as one whose bytes changed.
 */
export function rowChecksum(seed: number, key: Uint8Array, value: Uint8Array): number {
  return crc32(value, crc32(key, seed));
}

/** Whether `row`, a value followed by its checksum (4 bytes, little-endian), is what was stored under this key. */
export function isRowIntact(seed: number, key: Uint8Array, row: Uint8Array): boolean {
  return row.length >= CHECKSUM_BYTES && crc32(row, crc32(key, seed)) === RESIDUE;
}

/** The seed of a table, by its name. */
export function checksumSeed(table: string): number {
  return crc32(table);
}
