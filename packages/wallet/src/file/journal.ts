/**
 * An encrypted append-only file: records of bytes, each encrypted separately and on disk before `append` resolves.
 *
 * magic (8) · salt (32) · mark (12) · record … record: length (4, little-endian) · its CRC-32 (4) · sealed bytes · tag
 * (16)
 *
 * Each file begins with a key of its own, derived from the owner's secret and the salt. When the file is opened and
 * appended to, a new key is used, derived from the previous key and a salt stored between the records: no key and nonce
 * are used twice even if an older copy of the file is restored and appended to. The nonce is the record's number, so a
 * record can't be moved, repeated or left out. The mark (number of bytes, 8, and their CRC-32) is the size of the file
 * that is certainly on disk: all of it when the file is closed, otherwise all before the newest write. Up to the mark
 * everything must be unchanged. After it comes the last write, of which a loss of power may leave any part, and which
 * was acknowledged only if it is complete: opening drops it from the first incomplete record on. Files of version 2
 * have no mark: in these a truncated record is dropped, and one that was changed in any other way is an error. Files up
 * to version 3 were appended to under the first key.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { wipe } from "@anulo/crypto";

const NAME = Buffer.from("ANULOW\x00", "latin1");
const MAGIC = Buffer.concat([NAME, Uint8Array.of(4)]);
const SALT_BYTES = 32;
const MARK_AT = MAGIC.length + SALT_BYTES;
const MARK_BYTES = 12;
/** Bytes before the first record, by version. */
const headerBytes: Readonly<Record<number, number>> = {
  2: MARK_AT,
  3: MARK_AT + MARK_BYTES,
  4: MARK_AT + MARK_BYTES,
};
const LENGTH_BYTES = 4;
const HEAD_BYTES = LENGTH_BYTES + 4;
const TAG_BYTES = 16;
/** Far above any record we write, so that a damaged length does not cause a huge allocation. */
const MAX_RECORD_BYTES = 1 << 30;
const KEY_PURPOSE = "anulo wallet store v1";
/** In the place of a length: a salt follows, and later records use the key derived from it. */
const NEXT_KEY = 0x8000_0000;
const NEXT_KEY_PURPOSE = "anulo wallet store next key";
const NEXT_KEY_BYTES = HEAD_BYTES + SALT_BYTES + TAG_BYTES;

/** The file is not a journal, belongs to another key, or was changed. */
export class DamagedJournal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DamagedJournal";
  }
}

/** The message for a journal or row store whose format is none of ours, which are 1 to `newest`. */
export function unreadableVersion(version: unknown, newest: number): string {
  return typeof version === "number" && version > newest
    ? `the wallet was written by a newer release (format ${version}, this one reads up to ${newest}): open it there`
    : `the wallet has a format that does not exist: ${String(version)}`;
}

export class Journal {
  readonly path: string;
  #file: FileHandle;
  #key: Buffer;
  #count: number;
  #size: number;
  /** Size according to the mark; undefined in a file without mark. */
  #marked: number | undefined;
  #queue: { bytes: Uint8Array; done: () => void; failed: (error: unknown) => void }[] = [];
  #writing: Promise<void> | undefined;
  #broken: unknown;
  /**
   * Whether the key was derived since the file was opened, so that no copy of the file is continued with the same key.
   */
  #hasOwnKey: boolean;

  private constructor(
    path: string,
    file: FileHandle,
    position: { key: Buffer; count: number; size: number; marked?: number; hasOwnKey: boolean },
  ) {
    this.path = path;
    this.#file = file;
    this.#key = position.key;
    this.#count = position.count;
    this.#size = position.size;
    this.#marked = position.marked;
    this.#hasOwnKey = position.hasOwnKey;
  }

  /** Size of the file in bytes. */
  get size(): number {
    return this.#size;
  }

  /** Replaces the file at `path` by a journal with these records, in one step. */
  static async create(path: string, secret: Uint8Array, records: readonly Uint8Array[]): Promise<Journal> {
    const salt = randomBytes(SALT_BYTES);
    const key = fileKey(secret, salt);
    const sealed = Buffer.concat(records.map((record, i) => seal(record, key, i)));
    const size = MARK_AT + MARK_BYTES + sealed.length;
    const image = Buffer.concat([MAGIC, salt, markOf(size), sealed]);
    const file = await open(`${path}.new`, "w+", 0o600);
    try {
      await file.writeFile(image);
      await file.sync();
      await rename(`${path}.new`, path);
      await syncDirectory(dirname(path));
    } catch (error) {
      await file.close();
      await rm(`${path}.new`, { force: true });
      throw error;
    }
    return new Journal(path, file, { key, count: records.length, size, marked: size, hasOwnKey: true });
  }

  /**
   * Opens a journal and reads all records; a truncated last one is dropped, and then nothing more should be appended:
   * its nonce has been used. Throws `DamagedJournal`.
   */
  static async open(
    path: string,
    secret: Uint8Array,
  ): Promise<{ journal: Journal; records: Uint8Array[]; wasCut: boolean }> {
    const image = await readFile(path);
    const begin = headerBytes[image[NAME.length] ?? 0];
    if (begin === undefined || image.length < begin || !image.subarray(0, NAME.length).equals(NAME)) {
      throw new DamagedJournal("not a wallet store");
    }
    const firstKey = fileKey(secret, image.subarray(MAGIC.length, MARK_AT));
    const marked = begin === MARK_AT ? undefined : markedSize(image);
    const { records, end, key } = unsealAll(image, firstKey, { begin, marked });
    if (marked !== undefined && end < marked)
      throw new DamagedJournal(`the wallet store was cut off: ${end} bytes are left of ${marked}`);
    const file = await open(path, "r+");
    try {
      if (end < image.length) {
        await file.truncate(end);
        await file.sync();
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    const count = records.length;
    const position = { key, count, size: end, ...(marked !== undefined && { marked }), hasOwnKey: false };
    const journal = new Journal(path, file, position);
    return { journal, records, wasCut: end < image.length };
  }

  /** Resolves once the record is on disk. Concurrent calls share one write. */
  append(bytes: Uint8Array): Promise<void> {
    return new Promise((done, failed) => {
      this.#queue.push({ bytes, done, failed });
      this.#writing ??= this.#drain();
    });
  }

  /** Makes every later `append` fail with this error. */
  refuse(reason: unknown): void {
    this.#broken ??= reason;
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0);
      try {
        if (this.#broken !== undefined) throw this.#broken;
        const before = this.#hasOwnKey ? [] : [this.#nextKey()];
        const records = batch.map(({ bytes }, i) => seal(bytes, this.#key, this.#count + i));
        const sealed = Buffer.concat([...before, ...records]);
        await this.#mark();
        await writeAll(this.#file, sealed, this.#size);
        await this.#file.datasync();
        this.#count += batch.length;
        this.#size += sealed.length;
        for (const { done } of batch) done();
      } catch (error) {
        // The content of the file is now unknown, so a later record must not use the same nonce.
        this.#broken = error;
        for (const { failed } of batch) failed(error);
      }
    }
    this.#writing = undefined;
  }

  /** Switches to another key; returns the bytes to be written before its first record. */
  #nextKey(): Uint8Array {
    const { key, bytes } = keyAfter(this.#key, this.#count, randomBytes(SALT_BYTES));
    wipe(this.#key);
    this.#key = key;
    this.#hasOwnKey = true;
    return bytes;
  }

  /** Writes the mark: everything written so far is on disk; the mark itself is synced with the next write. */
  async #mark(): Promise<void> {
    if (this.#marked === undefined || this.#marked === this.#size) return;
    await writeAll(this.#file, markOf(this.#size), MARK_AT);
    this.#marked = this.#size;
  }

  /** Waits for writes under way, writes the mark and wipes the key. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    // Not synced: an older mark is also valid. After a failed write the content of the file is unknown.
    if (this.#broken === undefined) await this.#mark().catch(() => undefined);
    this.#broken ??= new Error("the wallet store is closed");
    wipe(this.#key);
    await this.#file.close();
  }
}

function fileKey(secret: Uint8Array, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, KEY_PURPOSE, 32));
}

/**
 * The key that follows another, and the bytes that introduce it: the salt, and an authentication tag under the new key.
 */
function keyAfter(before: Buffer, recordNumber: number, salt: Uint8Array) {
  const key = Buffer.from(hkdfSync("sha256", before, salt, NEXT_KEY_PURPOSE, 32));
  const told = Buffer.concat([headOf(NEXT_KEY + SALT_BYTES), salt]);
  const cipher = cipherOf(key, nonce(recordNumber, NEXT_KEY));
  cipher.setAAD(told, { plaintextLength: 0 });
  cipher.final();
  return { key, bytes: Buffer.concat([told, cipher.getAuthTag()]) };
}

function markOf(size: number): Buffer {
  const mark = Buffer.alloc(MARK_BYTES);
  mark.writeBigUInt64LE(BigInt(size));
  mark.writeUInt32LE(crc32(mark.subarray(0, 8)), 8);
  return mark;
}

/** Size according to the mark of a file; 0 if the mark is incomplete. */
function markedSize(image: Buffer): number {
  const mark = image.subarray(MARK_AT, MARK_AT + MARK_BYTES);
  return crc32(mark.subarray(0, 8)) === mark.readUInt32LE(8) ? Number(mark.readBigUInt64LE()) : 0;
}

function nonce(recordNumber: number, kind = 0): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(BigInt(recordNumber));
  bytes.writeUInt32LE(kind, 8);
  return bytes;
}

function cipherOf(key: Uint8Array, iv: Uint8Array) {
  return createCipheriv("chacha20-poly1305", key, iv, { authTagLength: TAG_BYTES });
}

function headOf(length: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(length);
  head.writeUInt32LE(crc32(head.subarray(0, LENGTH_BYTES)), LENGTH_BYTES);
  return head;
}

function seal(bytes: Uint8Array, key: Uint8Array, recordNumber: number): Uint8Array {
  const head = headOf(bytes.length);
  const cipher = cipherOf(key, nonce(recordNumber));
  cipher.setAAD(head, { plaintextLength: bytes.length });
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([head, sealed, cipher.getAuthTag()]);
}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

/** Length of the sealed bytes; undefined if a crash truncated the record. Throws `DamagedJournal`. */
function lengthAt(image: Buffer, at: number): number | undefined {
  const head = image.subarray(at, at + HEAD_BYTES);
  // The file had grown, but its new part was not on disk when the power failed.
  if (head.length < HEAD_BYTES || isZero(image.subarray(at + HEAD_BYTES))) return undefined;
  const length = head.readUInt32LE();
  if ((length > MAX_RECORD_BYTES && length !== NEXT_KEY + SALT_BYTES) || !headOf(length).equals(head))
    throw new DamagedJournal("a length in the wallet store was changed");
  const size = length >= NEXT_KEY ? NEXT_KEY_BYTES : HEAD_BYTES + length + TAG_BYTES;
  return at + size > image.length ? undefined : length;
}

type Place = { readonly at: number; readonly number: number };
type Found = { readonly end: number } & ({ readonly record: Uint8Array } | { readonly key: Buffer });

/** The record or key at an offset and where it ends; undefined if a crash truncated it. Throws `DamagedJournal`. */
function recordAt(image: Buffer, key: Buffer, { at, number }: Place): Found | undefined {
  const length = lengthAt(image, at);
  if (length === undefined) return undefined;
  const isKey = length >= NEXT_KEY;
  const end = at + (isKey ? NEXT_KEY_BYTES : HEAD_BYTES + length + TAG_BYTES);
  const bytes = image.subarray(at, end);
  if (isKey) {
    const next = keyAfter(key, number, bytes.subarray(HEAD_BYTES, HEAD_BYTES + SALT_BYTES));
    if (next.bytes.equals(bytes)) return { key: next.key, end };
    wipe(next.key);
  } else {
    const record = unseal(bytes, key, number);
    if (record !== undefined) return { record, end };
  }
  if (isZero(image.subarray(end - TAG_BYTES))) return undefined;
  throw new DamagedJournal(`record ${number} of the wallet store was changed, or the key is wrong`);
}

/** All records, and the last key; earlier keys are wiped. */
function unsealAll(
  image: Buffer,
  firstKey: Buffer,
  { begin, marked = 0 }: { begin: number; marked: number | undefined },
): { records: Uint8Array[]; end: number; key: Buffer } {
  const records: Uint8Array[] = [];
  let at = begin;
  let key = firstKey;
  for (;;) {
    try {
      const found = recordAt(image, key, { at, number: records.length });
      if (found === undefined) break;
      at = found.end;
      if ("record" in found) records.push(found.record);
      else {
        wipe(key);
        key = found.key;
      }
    } catch (error) {
      // After a valid mark there may be any part of the last write.
      if (marked > 0 && at >= marked) break;
      throw error;
    }
  }
  if (records.length === 0) throw new DamagedJournal("the wallet store holds nothing this key can read");
  return { records, end: at, key };
}

function unseal(record: Buffer, key: Uint8Array, recordNumber: number): Uint8Array | undefined {
  const head = record.subarray(0, HEAD_BYTES);
  const sealed = record.subarray(HEAD_BYTES, record.length - TAG_BYTES);
  const cipher = createDecipheriv("chacha20-poly1305", key, nonce(recordNumber), {
    authTagLength: TAG_BYTES,
  });
  cipher.setAAD(head, { plaintextLength: sealed.length });
  cipher.setAuthTag(record.subarray(record.length - TAG_BYTES));
  try {
    return new Uint8Array(Buffer.concat([cipher.update(sealed), cipher.final()]));
  } catch {
    return undefined;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** Syncs a directory, so that a renamed file survives a loss of power. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
