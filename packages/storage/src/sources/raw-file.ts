import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import {
  type BlockPackage,
  CHAIN_FILE_HEADER_BYTES,
  readPackagedBlock,
  writeBlockPackage,
  writeChainFileHeader,
} from "@anulo/protocol";
import { BadSource, CutOff } from "./chain-source.ts";
import { chunks, readHeader } from "./raw-source.ts";
import { openSource } from "./source-bytes.ts";

/** A `blockchain.raw` that is being written. */
export interface RawFile {
  /** Height of the block to write next. */
  readonly next: number;
  /** Writes the next block; returns the number of bytes it takes. */
  append(block: BlockPackage): number;
  /** Writes the height of the last block to the header and flushes all of it to disk. */
  finish(): void;
  close(): void;
}

export interface RawFileOptions {
  readonly path: string;
  /** Height of the first block of a new file. */
  readonly first: number;
  /** Returns the bytes of our block at a height, which an existing file has to contain. */
  readonly blockAt: (height: number) => Uint8Array | undefined;
}

interface ExistingFile {
  /** Height of the first block of the file, and height after the last one. */
  readonly first: number;
  readonly next: number;
  /** Bytes up to the end of the last complete block. */
  readonly size: number;
}

/** Reads a file that was begun before; its last block may be cut off. Throws BadSource for a file of another chain. */
function* readExisting({ path, first, blockAt }: RawFileOptions): Generator<void, ExistingFile> {
  const file = openSource(path);
  try {
    const header = readHeader(file);
    if (header.version !== 1 || header.first !== first) {
      throw new BadSource(
        path,
        `it is of version ${header.version} and begins at block ${header.first}: write to another`,
      );
    }
    let existing: ExistingFile = { first, next: first, size: CHAIN_FILE_HEADER_BYTES };
    let last: { height: number; offset: number; length: number } | undefined;
    try {
      for (const chunk of chunks(file, { height: first, offset: CHAIN_FILE_HEADER_BYTES + 4 })) {
        last = chunk;
        existing = { first, next: chunk.height + 1, size: chunk.offset + chunk.length };
        if (chunk.height % 1000 === 0) yield;
      }
    } catch (error) {
      if (!(error instanceof CutOff)) throw error;
    }
    if (last === undefined) return existing;
    const own = blockAt(last.height);
    const block = readPackagedBlock(file.read(last.offset, last.length));
    if (own === undefined || Buffer.compare(own, block) !== 0) {
      throw new BadSource(
        path,
        `block ${last.height}, offset ${last.offset}: our chain has another: write to another file`,
      );
    }
    return existing;
  } finally {
    file.close();
  }
}

function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

/** Creates a file, or continues an existing one; yields while it reads that. Throws BadSource. */
export function* openRawFile(options: RawFileOptions): Generator<void, RawFile> {
  const file = openSync(options.path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o644);
  try {
    const about = fstatSync(file);
    if (!about.isFile()) throw new BadSource(options.path, "is no file");
    const { first } = options;
    const isNew = isFileEmpty(file, about.size);
    const existing = isNew
      ? { first, next: first, size: CHAIN_FILE_HEADER_BYTES }
      : yield* readExisting(options);
    if (isNew) writeAll(file, writeChainFileHeader({ first, last: first }), 0);
    // Removes a chunk that was cut off, or what a loss of power left there.
    ftruncateSync(file, existing.size);
    return createRawFile(file, existing);
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/**
 * Whether the file contains only zeros or a part of the header, as one of our own files does just after it was created.
 */
function isFileEmpty(file: number, size: number): boolean {
  if (size > CHAIN_FILE_HEADER_BYTES) return false;
  const expected = writeChainFileHeader({ first: 0, last: 0 });
  const bytes = Buffer.alloc(size);
  readSync(file, bytes, 0, size, 0);
  return (
    size < CHAIN_FILE_HEADER_BYTES && bytes.subarray(0, 8).equals(expected.subarray(0, Math.min(8, size)))
  );
}

function createRawFile(file: number, { first, next: begunAt, size }: ExistingFile): RawFile {
  let next = begunAt;
  let end = size;
  return {
    get next() {
      return next;
    },
    append(block) {
      const bytes = writeBlockPackage(block);
      const chunk = Buffer.alloc(4 + bytes.length);
      chunk.writeUInt32LE(bytes.length);
      chunk.set(bytes, 4);
      writeAll(file, chunk, end);
      end += chunk.length;
      next++;
      return bytes.length;
    },
    finish() {
      if (next > first) writeAll(file, writeChainFileHeader({ first, last: next - 1 }), 0);
      fsyncSync(file);
    },
    close: () => closeSync(file),
  };
}
