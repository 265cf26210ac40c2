/**
 * Portable storage, built byte by byte so that it may say what no honest writer would.
 * Source: contrib/epee/include/storages/portable_storage_base.h.
 */
const SIGNATURE = Buffer.from("011101010101020101", "hex");

export const tags = { uint64: 5, uint32: 6, uint16: 7, uint8: 8, string: 10, bool: 11, object: 12 } as const;
const ARRAY_FLAG = 0x80;

/** A count or length: its lowest two bits state how many bytes it has. */
function sizeBytes(value: number): Buffer {
  if (value < 1 << 6) return Buffer.from([value << 2]);
  if (value < 1 << 14) {
    const two = Buffer.alloc(2);
    two.writeUInt16LE((value << 2) | 1);
    return two;
  }
  const four = Buffer.alloc(4);
  four.writeUInt32LE(value * 4 + 2);
  return four;
}

function entry(name: string, tag: number, value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name, "latin1"), Buffer.from([tag]), value]);
}

export const stringEntry = (name: string, value: Uint8Array) =>
  entry(name, tags.string, Buffer.concat([sizeBytes(value.length), value]));

export function uint64Entry(name: string, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return entry(name, tags.uint64, bytes);
}

export function uint32Entry(name: string, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return entry(name, tags.uint32, bytes);
}

export function uint16Entry(name: string, value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return entry(name, tags.uint16, bytes);
}

export const uint8Entry = (name: string, value: number) => entry(name, tags.uint8, Buffer.from([value]));

export const boolEntry = (name: string, value: boolean) =>
  entry(name, tags.bool, Buffer.from([value ? 1 : 0]));

/** `count` elements of one type, whose bytes follow one another. */
export const arrayEntry = (
  name: string,
  tag: number,
  { count, bytes }: { count: number; bytes: Uint8Array },
) => entry(name, tag | ARRAY_FLAG, Buffer.concat([sizeBytes(count), bytes]));

export const stringsEntry = (name: string, values: readonly Uint8Array[]) =>
  arrayEntry(name, tags.string, {
    count: values.length,
    bytes: Buffer.concat(values.flatMap((value) => [sizeBytes(value.length), value])),
  });

/** The fields of an object: how many they are, then each. */
export const fields = (...entries: readonly Uint8Array[]) =>
  Buffer.concat([sizeBytes(entries.length), ...entries]);

export const objectEntry = (name: string, ...entries: readonly Uint8Array[]) =>
  entry(name, tags.object, fields(...entries));

/** A whole message. */
export const message = (...entries: readonly Uint8Array[]) => Buffer.concat([SIGNATURE, fields(...entries)]);
