/** Some packed records as one value of a store's row, with what is true of all of them. */
import type { Zone } from "./zones.ts";

/** Number of records (4 bytes), lowest and highest height, and latest unlock time (8 bytes each). */
const HEAD_BYTES = 28;
const LENGTH_BYTES = 4;

export function writeRecordRow(records: readonly Uint8Array[], zone: Readonly<Zone>): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES + LENGTH_BYTES * records.length);
  head.writeUInt32BE(records.length);
  head.writeDoubleBE(zone.lowest, 4);
  head.writeDoubleBE(zone.highest, 12);
  head.writeDoubleBE(zone.latestUnlock, 20);
  for (const [i, { length }] of records.entries()) head.writeUInt32BE(length, HEAD_BYTES + LENGTH_BYTES * i);
  return Buffer.concat([head, ...records]);
}

export type RecordRow = {
  readonly zone: Zone;
  readonly lengths: Uint32Array;
  /** The records, one after the other; not a copy. */
  readonly records: Uint8Array;
};

/** Throws `RangeError` if these are not the bytes of a row. */
export function readRecordRow(bytes: Uint8Array): RecordRow {
  if (bytes.length < HEAD_BYTES) throw new RangeError("a row of records that was cut off");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint32(0);
  const from = HEAD_BYTES + LENGTH_BYTES * count;
  if (count === 0 || from > bytes.length) throw new RangeError(`a row of ${count} records`);
  const lengths = new Uint32Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) sum += lengths[i] = view.getUint32(HEAD_BYTES + LENGTH_BYTES * i);
  if (from + sum !== bytes.length) throw new RangeError("a row of records of another length");
  const zone = {
    lowest: view.getFloat64(4),
    highest: view.getFloat64(12),
    latestUnlock: view.getFloat64(20),
  };
  return { zone, lengths, records: bytes.subarray(from) };
}
