import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { syncFolder } from "@anulo/storage";
import type { Mark } from "../engine.ts";

const MARK_BYTES = 16;
const WITNESS_BYTES = MARK_BYTES + 4;
const FLAGS = constants.O_WRONLY | constants.O_CREAT;
const FILE_MODE = 0o600;

function writeWitness({ epoch, sequence }: Mark): Buffer {
  const bytes = Buffer.alloc(WITNESS_BYTES);
  bytes.writeBigUInt64BE(BigInt(epoch));
  bytes.writeBigUInt64BE(BigInt(sequence), 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, MARK_BYTES)), MARK_BYTES);
  return bytes;
}

/**
 * A file beside the store, and separate from it, that records the last mark of a wallet: a store that is behind it is
 * an older copy. It is written after each change without syncing, and synced when the wallet is opened and closed: a
 * loss of power may restore an older record, never a newer one.
 */
export class Witness {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The last recorded mark; undefined if there is none, or none that is intact. */
  read(): Mark | undefined {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    if (bytes.length !== WITNESS_BYTES) return undefined;
    if (crc32(bytes.subarray(0, MARK_BYTES)) !== bytes.readUInt32BE(MARK_BYTES)) return undefined;
    return { epoch: Number(bytes.readBigUInt64BE()), sequence: Number(bytes.readBigUInt64BE(8)) };
  }

  /** Records a mark without waiting for the disk. No file remains open: there may be thousands of wallets. */
  note(mark: Mark): void {
    const file = openSync(this.#path, FLAGS, FILE_MODE);
    try {
      writeSync(file, writeWitness(mark), 0, WITNESS_BYTES, 0);
    } finally {
      closeSync(file);
    }
  }

  /** Records a mark durably; a later mark, as of a later owner, is not overwritten. */
  async keep(mark: Mark): Promise<void> {
    const seen = this.read();
    if (seen !== undefined && isBehind(mark, seen)) return;
    const isThere = seen !== undefined;
    const file = await open(this.#path, FLAGS, FILE_MODE);
    try {
      await file.write(writeWitness(mark), 0, WITNESS_BYTES, 0);
      // A loss of power may lose the time of the file, which only dates wallets that are used no more.
      await file.datasync();
    } finally {
      await file.close();
    }
    // The name of a file that was there is on disk: whoever created it has synced the folder here.
    if (!isThere) syncFolder(dirname(this.#path));
  }
}

/** Whether the store's mark is behind the recorded one. */
export function isBehind(found: Mark, witnessed: Mark): boolean {
  if (found.epoch !== witnessed.epoch) return found.epoch < witnessed.epoch;
  return found.sequence < witnessed.sequence;
}
