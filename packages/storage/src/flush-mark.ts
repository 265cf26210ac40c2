import { readFileSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { META_BYTES, type MetaPage, parseMetaPage } from "./meta-pages.ts";

/**
 * Records which state of the file is completely on disk. LMDB does not use the second half of its two meta pages; a
 * mark is written there, to each page in turn, with its own checksum.
 */
export interface FlushMark {
  /** The newest mark has the highest number. */
  readonly sequence: number;
  /** The boot of the operating system in which it was written (16 bytes, zeros if unknown). */
  readonly bootId: Buffer;
  readonly meta: MetaPage;
}

const MAGIC = Buffer.from("anulo\0fm");
const at = { magic: 0, sequence: 8, bootId: 16, image: 32, checksum: 32 + META_BYTES } as const;
const MARK_BYTES = at.checksum + 4;

function placeOf(sequence: number, pageSize: number): number {
  return (sequence % 2) * pageSize + pageSize / 2;
}

/** Writes a mark; it is valid once the file has been flushed again. */
export function writeFlushMark(file: number, { sequence, bootId, meta }: FlushMark): void {
  const bytes = Buffer.alloc(MARK_BYTES);
  MAGIC.copy(bytes, at.magic);
  bytes.writeBigUInt64LE(BigInt(sequence), at.sequence);
  bootId.copy(bytes, at.bootId);
  meta.image.copy(bytes, at.image);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, at.checksum)), at.checksum);
  writeSync(file, bytes, 0, MARK_BYTES, placeOf(sequence, meta.pageSize));
}

function readMarkAt(file: number, offset: number): FlushMark | undefined {
  const bytes = Buffer.alloc(MARK_BYTES);
  if (readSync(file, bytes, 0, MARK_BYTES, offset) !== MARK_BYTES) return undefined;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, at.checksum)) !== bytes.readUInt32LE(at.checksum)) return undefined;
  return {
    sequence: Number(bytes.readBigUInt64LE(at.sequence)),
    bootId: bytes.subarray(at.bootId, at.image),
    meta: parseMetaPage(bytes.subarray(at.image, at.checksum)),
  };
}

/** The newest mark that is intact; undefined if there is none yet. */
export function readFlushMark(file: number, pageSize: number): FlushMark | undefined {
  const marks = [0, 1].map((sequence) => readMarkAt(file, placeOf(sequence, pageSize)));
  return marks.reduce((a, b) => (a === undefined || (b !== undefined && b.sequence > a.sequence) ? b : a));
}

/** The id of the current boot; zeros if the system does not provide it. */
export function currentBootId(): Buffer {
  try {
    const text = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    return Buffer.from(text.trim().replaceAll("-", ""), "hex");
  } catch {
    return Buffer.alloc(16);
  }
}

/** Whether data written with the mark is still in the memory of the operating system, flushed or not. */
export function isSameBoot(mark: FlushMark, bootId: Buffer): boolean {
  return bootId.length === 16 && bootId.some((byte) => byte !== 0) && bootId.equals(mark.bootId);
}
