import { BadRequest } from "../errors.ts";
import { rawBytes } from "./scalars.ts";
import type { Schema } from "./schema.ts";

/** Items of fixed size, concatenated in one byte string, as portable storage stores lists of plain data. */
export function packed<Item>(options: {
  readonly kind: string;
  readonly itemBytes: number;
  readonly readItem: (bytes: Uint8Array) => Item;
  readonly writeItem: (item: Item, target: Uint8Array) => void;
}): Schema<Item[], readonly Item[], false> {
  const { kind, itemBytes, readItem, writeItem } = options;
  const toBytes = (items: readonly Item[]): Uint8Array => {
    const bytes = new Uint8Array(items.length * itemBytes);
    items.forEach((item, i) => {
      writeItem(item, bytes.subarray(i * itemBytes, (i + 1) * itemBytes));
    });
    return bytes;
  };
  const fromBytes = (bytes: Uint8Array): Item[] => {
    if (bytes.length % itemBytes !== 0) throw new BadRequest(`not a multiple of ${itemBytes} bytes`);
    return Array.from({ length: bytes.length / itemBytes }, (_, i) =>
      readItem(bytes.subarray(i * itemBytes, (i + 1) * itemBytes)),
    );
  };
  return {
    kind,
    omittable: false,
    presence: "contract",
    absent: () => [],
    absentInAnswer: true,
    read: (value, reading) => fromBytes(rawBytes.read(value, reading)),
    write: (items, dialect, indent) => rawBytes.write(toBytes(items), dialect, indent),
    readPortable: (entry, reading) => fromBytes(rawBytes.readPortable(entry, reading)),
    writePortable: (items) => rawBytes.writePortable(toBytes(items)),
    isEmpty: (items) => items.length === 0,
    describe: rawBytes.describe,
  };
}

/** Hashes of 32 bytes, packed. */
export const packedHashes = packed<Uint8Array>({
  kind: "packedHashes",
  itemBytes: 32,
  readItem: (bytes) => bytes.slice(),
  writeItem: (hash, target) => {
    if (hash.length !== 32) throw new RangeError("a hash has 32 bytes");
    target.set(hash);
  },
});

/** Unsigned 64-bit integers below 2^53, little-endian, packed. */
export const packedUints = packed<number>({
  kind: "packedUints",
  itemBytes: 8,
  readItem: readUint64,
  writeItem: (value, target) => writeUint64(BigInt(value), target, 0),
});

function readUint64(bytes: Uint8Array): number {
  const value = uint64At(bytes, 0);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new BadRequest("above 2^53-1");
  return Number(value);
}

/** Little-endian unsigned 64-bit integer at `at`. */
export function uint64At(bytes: Uint8Array, at: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(at, true);
}

/** Writes a little-endian unsigned 64-bit integer. */
export function writeUint64(value: bigint, target: Uint8Array, at: number): void {
  new DataView(target.buffer, target.byteOffset, target.length).setBigUint64(at, value, true);
}
