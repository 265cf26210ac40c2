import { concatBytes, equalBytes, keccak256 } from "@anulo/crypto";
import { fromHex } from "./bytes.ts";
import { Reader, Writer } from "./codec/bytes-io.ts";
import type { Codec, TypeOf } from "./codec/wire.ts";
import {
  bytes32,
  decode,
  encode,
  lenientSize,
  list,
  struct,
  u32,
  varint,
  varintBelow,
} from "./codec/wire.ts";
import { ringCtTypes } from "./ringct.ts";
import { type Transaction, transaction } from "./transaction.ts";
import { NULL_HASH, transactionHash } from "./transaction-hash.ts";
import { TransactionOffsets } from "./transaction-offsets.ts";
import { treeHash } from "./tree-hash.ts";

/**
 * Heights are below this number; an unlock time that is not below it is a time. Source: cryptonote_config.h
 * `CRYPTONOTE_MAX_BLOCK_NUMBER`.
 */
export const MAX_BLOCK_NUMBER = 500_000_000;

const u8Varint = varintBelow(256);

const blockHeader = struct()
  .field("majorVersion", u8Varint)
  .field("minorVersion", u8Varint)
  .field("timestamp", varint)
  .field("previousId", bytes32)
  .field("nonce", u32);
/** `majorVersion` is the hard fork; `timestamp` in seconds since 1970 (by the miner's clock). */
export type BlockHeader = TypeOf<typeof blockHeader>;

/**
 * The varint of the number of transactions may be cut off, but not missing. Source: binary_archive.h of 0.18.5,
 * `serialize_uvarint`.
 */
const transactionCount: Codec<number> = {
  ...lenientSize,
  read: (reader) => {
    if (reader.remaining === 0) throw reader.bad("the number of transactions is missing");
    return lenientSize.read(reader);
  },
};
const namesOfTransactions = list(bytes32, transactionCount);

/** The codec of a block inside a longer structure. */
export const block = struct()
  .field("header", blockHeader)
  .field("minerTransaction", transaction)
  .field("transactionHashes", namesOfTransactions);
/**
 * A block contains only the ids of its transactions, and the miner transaction. Source:
 * cryptonote_basic/cryptonote_basic.h.
 */
export type Block = TypeOf<typeof block>;

/** Parses a block of exactly these bytes (a copy is kept). Throws `BadBytes`. */
export function readBlock(blob: Uint8Array): Block {
  return decode(block, blob);
}

/** Parses the header at the start of a block's bytes; the rest is not read. Throws `BadBytes`. */
export function readBlockHeader(blob: Uint8Array): BlockHeader {
  return blockHeader.read(new Reader(new Uint8Array(blob)));
}

/**
 * Parses the start of a block's bytes: its header, and of its miner transaction only the sum of the outputs (atomic
 * units). The result refers to the bytes. Throws `BadBytes`.
 */
export function readBlockTop(blob: Uint8Array): Pick<BlockOutline, "header" | "reward"> {
  const reader = new Reader(blob);
  const header = blockHeader.read(reader);
  const miner = new TransactionOffsets();
  miner.find(reader);
  return { header, reward: miner.amountOut };
}

/** The ids of a block's transactions, with which its bytes end. */
function readHashes(reader: Reader): Block["transactionHashes"] {
  const hashes = namesOfTransactions.read(reader);
  if (reader.remaining !== 0) throw reader.bad(`${reader.remaining} bytes left over`);
  return hashes;
}

/** Serializes a block. */
export function writeBlock(value: Block): Uint8Array {
  return encode(block, value);
}

/** A block with its id and the hash of its miner transaction (32 bytes each). */
export type IdentifiedBlock = {
  readonly block: Block;
  readonly id: Uint8Array;
  readonly minerTransactionHash: Uint8Array;
  /** Its serialization, complete even if the last byte was cut off. */
  readonly blob: Uint8Array;
};

/**
 * Parses a block of exactly these bytes, and computes its ids from the bytes: header and prefix have only one encoding,
 * so nothing need be serialized again. Throws `BadBytes`.
 */
export function readIdentifiedBlock(blob: Uint8Array): IdentifiedBlock {
  const reader = new Reader(new Uint8Array(blob));
  const header = blockHeader.read(reader);
  const headerEnd = reader.position;
  const minerTransaction = transaction.read(reader);
  const minerEnd = reader.position;
  const transactionHashes = readHashes(reader);
  const read = { header, minerTransaction, transactionHashes };
  const minerTransactionHash = minerHash(minerTransaction, reader.bytes.subarray(headerEnd, minerEnd));
  const root = treeHash([minerTransactionHash, ...transactionHashes]);
  const id = idOf(read, () => hashingBlob(reader.bytes.subarray(0, headerEnd), root, transactionHashes));
  const isCutOff = transactionHashes.length === 0 && reader.bytes[minerEnd] !== 0;
  const whole = isCutOff ? concatBytes(reader.bytes.subarray(0, minerEnd), Uint8Array.of(0)) : reader.bytes;
  return { block: read, id, minerTransactionHash, blob: whole };
}

/** What a scan needs of a block besides its transactions. */
export type BlockOutline = Omit<IdentifiedBlock, "block" | "blob"> &
  Pick<Block, "header" | "transactionHashes"> & {
    /** Height in its miner transaction; undefined if that is no miner transaction. */
    readonly minerHeight: number | undefined;
    /** The sum of its miner transaction's outputs, in atomic units. */
    readonly reward: bigint;
  };

/** Parses the outline of a block of exactly these bytes, to which it refers. Throws `BadBytes`. */
export function outlineBlock(blob: Uint8Array): BlockOutline {
  const reader = new Reader(blob);
  const header = blockHeader.read(reader);
  const headerEnd = reader.position;
  const miner = new TransactionOffsets();
  miner.find(reader);
  const { version, minerHeight, amountOut: reward } = miner;
  const prefixBytes = blob.subarray(headerEnd, reader.position);
  const isPlain = version === 2 && reader.remaining > 0 && reader.readByte() === ringCtTypes.none;
  const isOrdinary = isPlain && minerHeight !== undefined && minerHeight !== misidentifiedBlock.height;
  if (!isOrdinary) return outlineOf(readIdentifiedBlock(blob), { minerHeight, reward });
  const transactionHashes = readHashes(reader);
  const minerTransactionHash = plainMinerHash(prefixBytes);
  const root = treeHash([minerTransactionHash, ...transactionHashes]);
  const id = hashOfHashingBlob(hashingBlob(blob.subarray(0, headerEnd), root, transactionHashes));
  return { header, transactionHashes, minerTransactionHash, id, minerHeight, reward };
}

function outlineOf(
  { block: { header, transactionHashes }, id, minerTransactionHash }: IdentifiedBlock,
  outline: Pick<BlockOutline, "minerHeight" | "reward">,
): BlockOutline {
  return { header, transactionHashes, id, minerTransactionHash, ...outline };
}

/** Offset of the miner transaction in a block's bytes. Throws `BadBytes`. */
export function minerTransactionStart(blob: Uint8Array): number {
  const reader = new Reader(blob);
  blockHeader.read(reader);
  return reader.position;
}

/** Hash of the base of RingCT type 0: a single byte. */
const PLAIN_BASE_HASH = keccak256(Uint8Array.of(ringCtTypes.none));

function minerHash(miner: Transaction, bytes: Uint8Array): Uint8Array {
  const { prefix, ringct } = miner;
  if (prefix.version !== 2 || ringct?.type !== ringCtTypes.none) return transactionHash(miner);
  return plainMinerHash(bytes.subarray(0, bytes.length - 1));
}

/** Hash of a miner transaction of version 2 and RingCT type 0, from the bytes of its prefix. */
function plainMinerHash(prefixBytes: Uint8Array): Uint8Array {
  return keccak256(keccak256(prefixBytes), PLAIN_BASE_HASH, NULL_HASH);
}

/** Root (32 bytes) of the tree of the ids of a block's transactions, the miner's first. */
export function transactionTreeHash({ minerTransaction, transactionHashes }: Block): Uint8Array {
  return treeHash([transactionHash(minerTransaction), ...transactionHashes]);
}

/** The bytes that miners hash: header, tree root, number of transactions. Source: `get_block_hashing_blob`. */
export function blockHashingBlob(value: Block): Uint8Array {
  const header = encode(blockHeader, value.header);
  return hashingBlob(header, transactionTreeHash(value), value.transactionHashes);
}

function hashingBlob(header: Uint8Array, root: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
  const writer = new Writer(128);
  writer.writeBytes(header);
  writer.writeBytes(root);
  writer.writeVarint(others.length + 1);
  return writer.finish();
}

/**
 * One mainnet block (September 2014) was accepted under an id that is not the hash of its contents: an error in the
 * tree hash of that time with 514 transactions. Source: cryptonote_format_utils.cpp `calculate_block_hash`.
 */
const misidentifiedBlock = {
  height: 202612,
  hashOfBytes: fromHex("3a8a2b3a29b50fc86ff73dd087ea43c6f0d6b8f936c849194d5c84c737903966"),
  id: fromHex("bbd604d2ba11ba27935e006ed39c9bfdd99b76bf4a50654bc1e1e61217962698"),
};

/** Height in a block's miner transaction, undefined when that is no miner transaction. */
export function claimedHeight({ minerTransaction: { prefix } }: Block): number | undefined {
  const input = prefix.inputs[0];
  return prefix.inputs.length === 1 && input!.type === "generation" ? input!.height : undefined;
}

/** Id (32 bytes) of a block. */
export function blockId(value: Block): Uint8Array {
  return idOf(value, () => blockHashingBlob(value));
}

function idOf(value: Block, hashingBlobOf: () => Uint8Array): Uint8Array {
  const maybeWronglyHashed =
    (claimedHeight(value) ?? misidentifiedBlock.height) === misidentifiedBlock.height;
  if (maybeWronglyHashed && equalBytes(keccak256(writeBlock(value)), misidentifiedBlock.hashOfBytes)) {
    return misidentifiedBlock.id.slice();
  }
  return hashOfHashingBlob(hashingBlobOf());
}

function hashOfHashingBlob(hashed: Uint8Array): Uint8Array {
  const writer = new Writer(128);
  writer.writeVarint(hashed.length);
  writer.writeBytes(hashed);
  return keccak256(writer.finish());
}
