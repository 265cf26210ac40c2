import { block } from "./block.ts";
import { BadBytes, Reader, Writer } from "./codec/bytes-io.ts";
import { transaction } from "./transaction.ts";

/**
 * The header of `blockchain.raw`, the file in which the original's tools export a chain: the header, then chunks, each
 * the length of a block's bytes followed by these. Source: blockchain_utilities/bootstrap_file.cpp `initialize_file`,
 * `flush_chunk`, bootstrap_serialization.h.
 */
export interface ChainFileHeader {
  /** 0: difficulties have 64 bits; 1: 128. */
  readonly version: number;
  /** Height of the first block. */
  readonly first: number;
  /** Height of the last block when the file was begun; more may have been added since. */
  readonly last: number;
}

/** A block in such a file, with facts for importers that trust the file. */
export interface BlockPackage {
  readonly blob: Uint8Array;
  /** Bytes of its transactions, without the miner transaction. */
  readonly transactions: readonly Uint8Array[];
  /** Bytes. */
  readonly weight: number;
  /** Cumulative difficulty of all blocks up to it. */
  readonly cumulativeDifficulty: bigint;
  /** Coins generated up to it, atomic units. */
  readonly generated: bigint;
}

/** Bytes before the first chunk. */
export const CHAIN_FILE_HEADER_BYTES = 4 + 1024;
/**
 * Length in bytes of the longest chunk that the original's importer accepts. Source: bootstrap_file.h `BUFFER_SIZE`.
 */
export const MAX_CHUNK_BYTES = 2 * 1024 * 1024;

const MAGIC = 0x28721586;
const FILLED_BYTES = 1024;
/** Maximum length in bytes of each part of the header: three varints. */
const MAX_PART_BYTES = 30;

function readUint32(reader: Reader): number {
  const bytes = reader.readBytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}

function readPart(reader: Reader): Reader {
  const size = readUint32(reader);
  if (size > MAX_PART_BYTES) throw reader.bad(`a part of the header has ${size} bytes`);
  return new Reader(reader.readBytes(size));
}

/** Reads the first bytes of a file. Throws BadBytes for another format, or an unknown version. */
export function readChainFileHeader(bytes: Uint8Array): ChainFileHeader {
  const reader = new Reader(bytes);
  if (readUint32(reader) !== MAGIC) throw new BadBytes("it does not begin as a blockchain.raw does", 0);
  const about = readPart(reader);
  const version = about.readByte();
  about.readByte();
  const filled = about.readVarint();
  if (version > 1) throw reader.bad(`version ${version} of the format is not known`);
  if (filled !== FILLED_BYTES) throw reader.bad(`a header of ${filled} bytes`);
  const range = readPart(reader);
  return { version, first: range.readVarint(), last: range.readVarint() };
}

/** Serializes the header of a file of version 1. */
export function writeChainFileHeader({ first, last }: Omit<ChainFileHeader, "version">): Uint8Array {
  const about = new Writer();
  about.writeByte(1);
  about.writeByte(0);
  about.writeVarint(FILLED_BYTES);
  const range = new Writer();
  for (const value of [first, last, 0]) range.writeVarint(value);
  const bytes = new Uint8Array(CHAIN_FILE_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  let at = 4;
  for (const part of [about.finish(), range.finish()]) {
    view.setUint32(at, part.length, true);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return bytes;
}

/** The bytes of the block at the start of a chunk; the rest is not read. Throws BadBytes. */
export function readPackagedBlock(chunk: Uint8Array): Uint8Array {
  const reader = new Reader(chunk);
  block.read(reader);
  return chunk.subarray(0, reader.position);
}

/** Parses a chunk of a file of this version; the result refers to the chunk's bytes. Throws BadBytes. */
export function readBlockPackage(chunk: Uint8Array, version: number): BlockPackage {
  const reader = new Reader(chunk);
  block.read(reader);
  const blob = chunk.subarray(0, reader.position);
  const count = reader.readVarint();
  if (count > reader.remaining) throw reader.bad(`count ${count} above the bytes left`);
  const transactions: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const start = reader.position;
    transaction.read(reader);
    transactions.push(chunk.subarray(start, reader.position));
  }
  const weight = reader.readVarint();
  const high = version === 0 ? 0n : reader.readVarint64();
  const cumulativeDifficulty = (high << 64n) | reader.readVarint64();
  const generated = reader.readVarint64();
  if (reader.remaining !== 0) throw reader.bad(`${reader.remaining} bytes left over`);
  return { blob, transactions, weight, cumulativeDifficulty, generated };
}

/** Serializes a chunk of version 1. */
export function writeBlockPackage(value: BlockPackage): Uint8Array {
  const { blob, transactions, weight, cumulativeDifficulty, generated } = value;
  const writer = new Writer();
  writer.writeBytes(blob);
  writer.writeVarint(transactions.length);
  for (const bytes of transactions) writer.writeBytes(bytes);
  writer.writeVarint(weight);
  writer.writeVarint(cumulativeDifficulty >> 64n);
  writer.writeVarint(BigInt.asUintN(64, cumulativeDifficulty));
  writer.writeVarint(generated);
  return writer.finish();
}
