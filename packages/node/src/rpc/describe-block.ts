import {
  type BlockHeader,
  describeBlock,
  readBlock,
  readBlockTop,
  sumAmounts,
  transactionHash,
} from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { cumulativeDifficultyFields, difficultyFields, splitWide } from "./wide-number.ts";

/** A block found in the chain or beside it. */
export interface FoundBlock {
  readonly blob: Uint8Array;
  readonly header: BlockHeader;
  /** Sum of the outputs of the miner transaction, in atomic units. */
  readonly reward: bigint;
  readonly minerTransactionHash: Uint8Array;
  /** Of the miner and of others. */
  readonly transactionCount: number;
  readonly hash: Uint8Array;
  readonly height: number;
  /** True beside the main chain. */
  readonly orphan: boolean;
  readonly weight: number;
  /** Bytes; 0 beside the main chain, where it has none. */
  readonly longTermWeight: number;
  readonly difficulty: bigint;
  readonly cumulativeDifficulty: bigint;
}

/**
 * The main-chain block at a height, undefined above the top. What its row tells, or the block `before` it where that
 * was read last, is not looked up again.
 */
export function blockAt(read: ChainReader, height: number, before?: FoundBlock): FoundBlock | undefined {
  const info = read.blockInfo(height);
  const blob = read.blockBlob(height);
  if (info === undefined || blob === undefined) return undefined;
  const below =
    before?.height === height - 1
      ? before.cumulativeDifficulty
      : height === 0
        ? 0n
        : (read.blockField(height - 1, "cumulativeDifficulty") ?? 0n);
  const { hash, weight, longTermWeight, cumulativeDifficulty, transactionCount } = info;
  const { header, reward } = readBlockTop(blob);
  return {
    blob,
    header,
    reward,
    minerTransactionHash: read.transactionHash(info.firstTransactionId)!,
    transactionCount,
    hash,
    height,
    orphan: false,
    weight,
    longTermWeight,
    difficulty: cumulativeDifficulty - below,
    cumulativeDifficulty,
  };
}

/** The block with this id (32 bytes), on the main chain or beside it. */
export function blockOf(read: ChainReader, hash: Uint8Array): FoundBlock | undefined {
  const height = read.heightOf(hash);
  if (height !== undefined) return blockAt(read, height);
  const row = read.alternativeBlock(hash);
  if (row === undefined) return undefined;
  const { blob, weight, cumulativeDifficulty } = row;
  const { header, minerTransaction, transactionHashes } = readBlock(blob);
  const below = cumulativeDifficultyOf(read, header.previousId);
  return {
    blob,
    header,
    reward: sumAmounts(minerTransaction.prefix.outputs),
    minerTransactionHash: transactionHash(minerTransaction),
    transactionCount: 1 + transactionHashes.length,
    hash,
    height: row.height,
    orphan: true,
    weight,
    longTermWeight: 0,
    difficulty: cumulativeDifficulty - below,
    cumulativeDifficulty,
  };
}

/** Of a block that a side block stands on, which is always there. */
function cumulativeDifficultyOf(read: ChainReader, hash: Uint8Array): bigint {
  const height = read.heightOf(hash);
  const block = height === undefined ? read.alternativeBlock(hash) : read.blockInfo(height);
  return block!.cumulativeDifficulty;
}

/** Facts that are not in the block itself. */
interface HeaderOptions {
  /** Blocks of the main chain above it. */
  readonly depth: number;
  /** "" where it is not known. */
  readonly powHash: Uint8Array | "";
}

/** The header fields of an answer. Written out: to spread objects into it takes longer than to read the block. */
export function describeHeader(block: FoundBlock, { depth, powHash }: HeaderOptions) {
  const { header, height, weight } = block;
  const own = splitWide(block.difficulty);
  const cumulative = splitWide(block.cumulativeDifficulty);
  return {
    block_size: weight,
    block_weight: weight,
    cumulative_difficulty: cumulative.low,
    cumulative_difficulty_top64: cumulative.high,
    wide_cumulative_difficulty: cumulative.hex,
    depth,
    difficulty: own.low,
    difficulty_top64: own.high,
    wide_difficulty: own.hex,
    hash: block.hash,
    height,
    long_term_weight: block.longTermWeight,
    major_version: header.majorVersion,
    miner_tx_hash: block.minerTransactionHash,
    minor_version: header.minorVersion,
    nonce: header.nonce,
    num_txes: block.transactionCount - 1,
    orphan_status: block.orphan,
    pow_hash: powHash,
    prev_hash: header.previousId,
    reward: block.reward,
    timestamp: header.timestamp,
  };
}

/** What `get_block` returns about a block beside its header. */
export function blockFacts({ blob, minerTransactionHash }: FoundBlock) {
  const block = readBlock(blob);
  return {
    blob,
    json: describeBlock(block),
    miner_tx_hash: minerTransactionHash,
    tx_hashes: block.transactionHashes,
  };
}

/** Header fields of no block: the answer to a request that names none. */
export const noHeader = {
  block_size: 0,
  block_weight: 0,
  ...cumulativeDifficultyFields(0n),
  wide_cumulative_difficulty: "",
  depth: 0,
  ...difficultyFields(0n),
  wide_difficulty: "",
  hash: "",
  height: 0,
  long_term_weight: 0,
  major_version: 0,
  miner_tx_hash: "",
  minor_version: 0,
  nonce: 0,
  num_txes: 0,
  orphan_status: false,
  pow_hash: "",
  prev_hash: "",
  reward: 0n,
  timestamp: 0,
};
