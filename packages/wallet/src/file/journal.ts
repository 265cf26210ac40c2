/**
 * An encrypted file that only grows: records of bytes, each sealed on its own and on disk before `append` answers.
 *
 *   magic (8) · salt (32) · record …       record: length (4, little-endian) · sealed bytes · tag (16)
 *
 * Each file has its own key, made of the owner's secret and the salt; the nonce is the record's number, so a record
 * can't be moved, repeated or left out. A record that a crash cut short was never acknowledged: opening drops it.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

const MAGIC = Buffer.from("ANULOW\x00\x01", "latin1");
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.length + SALT_BYTES;
const LENGTH_BYTES = 4;
const TAG_BYTES = 16;
/** Far above any record we write; a damaged length must not allocate more. */
const MAX_RECORD_BYTES = 1 << 30;
const KEY_PURPOSE = "anulo wallet store v1";

/** The file is no journal, belongs to another key, or was changed. */
export class DamagedJournal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DamagedJournal";
  }
}

export class Journal {
  readonly path: string;
  #file: FileHandle;
  #key: Buffer;
  #count: number;
  #size: number;
  #queue: { bytes: Uint8Array; done: () => void; failed: (error: unknown) => void }[] = [];
  #writing: Promise<void> | undefined;
  #broken: unknown;

  private constructor(
    path: string,
    file: FileHandle,
    position: { key: Buffer; count: number; size: number },
  ) {
    this.path = path;
    this.#file = file;
    this.#key = position.key;
    this.#count = position.count;
    this.#size = position.size;
  }

  /** Bytes on disk. */
  get size(): number {
    return this.#size;
  }

  /** Replaces whatever is at `path` with a journal that holds `records`, in one step. */
  static async create(path: string, secret: Uint8Array, records: readonly Uint8Array[]): Promise<Journal> {
    const salt = randomBytes(SALT_BYTES);
    const key = fileKey(secret, salt);
    const parts: Uint8Array[] = [MAGIC, salt, ...records.map((record, i) => seal(record, key, i))];
    const image = Buffer.concat(parts);
    const file = await open(`${path}.new`, "w+", 0o600);
    try {
      await file.writeFile(image);
      await file.sync();
      await rename(`${path}.new`, path);
      await syncDirectory(dirname(path));
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Journal(path, file, { key, count: records.length, size: image.length });
  }

  /** Opens and reads all records; a cut-off last one is dropped. Throws `DamagedJournal`. */
  static async open(path: string, secret: Uint8Array): Promise<{ journal: Journal; records: Uint8Array[] }> {
    const image = await readFile(path);
    if (image.length < HEADER_BYTES || !image.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new DamagedJournal("not a wallet store");
    }
    const key = fileKey(secret, image.subarray(MAGIC.length, HEADER_BYTES));
    const { records, end } = unsealAll(image, key);
    const file = await open(path, "r+");
    if (end < image.length) {
      await file.truncate(end);
      await file.sync();
    }
    return { journal: new Journal(path, file, { key, count: records.length, size: end }), records };
  }

  /** Answers once the record is on disk. Calls that come together share one write. */
  append(bytes: Uint8Array): Promise<void> {
    return new Promise((done, failed) => {
      this.#queue.push({ bytes, done, failed });
      this.#writing ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0);
      try {
        if (this.#broken !== undefined) throw this.#broken;
        const sealed = Buffer.concat(batch.map(({ bytes }, i) => seal(bytes, this.#key, this.#count + i)));
        await writeAll(this.#file, sealed, this.#size);
        await this.#file.datasync();
        this.#count += batch.length;
        this.#size += sealed.length;
        for (const { done } of batch) done();
      } catch (error) {
        // What is on disk now is unknown, so a later record must not claim the same nonce.
        this.#broken = error;
        for (const { failed } of batch) failed(error);
      }
    }
    this.#writing = undefined;
  }

  /** Waits for what is under way and forgets the key. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#broken ??= new Error("the wallet store is closed");
    this.#key.fill(0);
    await this.#file.close();
  }
}

function fileKey(secret: Uint8Array, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, KEY_PURPOSE, 32));
}

function nonce(recordNumber: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(BigInt(recordNumber));
  return bytes;
}

function seal(bytes: Uint8Array, key: Uint8Array, recordNumber: number): Uint8Array {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(bytes.length);
  const cipher = createCipheriv("chacha20-poly1305", key, nonce(recordNumber), { authTagLength: TAG_BYTES });
  cipher.setAAD(length, { plaintextLength: bytes.length });
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([length, sealed, cipher.getAuthTag()]);
}

function unsealAll(image: Buffer, key: Uint8Array): { records: Uint8Array[]; end: number } {
  const records: Uint8Array[] = [];
  let at = HEADER_BYTES;
  while (at + LENGTH_BYTES <= image.length) {
    const length = image.readUInt32LE(at);
    const end = at + LENGTH_BYTES + length + TAG_BYTES;
    if (length > MAX_RECORD_BYTES || end > image.length) break;
    const record = unseal(image.subarray(at, end), key, records.length);
    if (record === undefined) {
      // Written in part when the power went: the rest is missing or was never filled in.
      if (end === image.length || image.subarray(at).every((byte) => byte === 0)) break;
      throw new DamagedJournal(
        `record ${records.length} of the wallet store was changed, or the key is wrong`,
      );
    }
    records.push(record);
    at = end;
  }
  if (records.length === 0) throw new DamagedJournal("the wallet store holds nothing this key can read");
  return { records, end: at };
}

function unseal(record: Buffer, key: Uint8Array, recordNumber: number): Uint8Array | undefined {
  const length = record.subarray(0, LENGTH_BYTES);
  const sealed = record.subarray(LENGTH_BYTES, record.length - TAG_BYTES);
  const cipher = createDecipheriv("chacha20-poly1305", key, nonce(recordNumber), {
    authTagLength: TAG_BYTES,
  });
  cipher.setAAD(length, { plaintextLength: sealed.length });
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

/** A renamed file survives a power cut once its directory is on disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
