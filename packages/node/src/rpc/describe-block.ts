import { type Block, describeBlock, readBlock, sumAmounts, toHex, transactionHash } from "@anulo/protocol";
import { quoted } from "@anulo/rpc";
import type { ChainReader } from "@anulo/storage";
import { cumulativeDifficultyFields, difficultyFields } from "./wide-number.ts";

/** A block found in the chain or beside it. */
export interface FoundBlock {
  readonly block: Block;
  readonly blob: Uint8Array;
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

/** The main-chain block at a height, undefined above the top. */
export function blockAt(read: ChainReader, height: number): FoundBlock | undefined {
  const info = read.blockInfo(height);
  const blob = read.blockBlob(height);
  if (info === undefined || blob === undefined) return undefined;
  const below = height === 0 ? 0n : (read.blockInfo(height - 1)?.cumulativeDifficulty ?? 0n);
  const { hash, weight, longTermWeight, cumulativeDifficulty } = info;
  const difficulty = cumulativeDifficulty - below;
  const block = readBlock(blob);
  return {
    block,
    blob,
    hash,
    height,
    orphan: false,
    weight,
    longTermWeight,
    difficulty,
    cumulativeDifficulty,
  };
}

/** The block with this id (32 bytes), on the main chain or beside it. */
export function blockOf(read: ChainReader, hash: Uint8Array): FoundBlock | undefined {
  const height = read.heightOf(hash);
  if (height !== undefined) return blockAt(read, height);
  const row = read.alternativeBlock(hash);
  if (row === undefined) return undefined;
  const block = readBlock(row.blob);
  const { blob, weight, cumulativeDifficulty } = row;
  const below = cumulativeDifficultyOf(read, block.header.previousId);
  const difficulty = cumulativeDifficulty - below;
  const facts = { weight, longTermWeight: 0, difficulty, cumulativeDifficulty };
  return { block, blob, hash, height: row.height, orphan: true, ...facts };
}

function cumulativeDifficultyOf(read: ChainReader, hash: Uint8Array): bigint {
  const height = read.heightOf(hash);
  const found = height === undefined ? read.alternativeBlock(hash) : read.blockInfo(height);
  return found?.cumulativeDifficulty ?? 0n;
}

/** The header fields of an answer, without those that change while the block stands: `depth` and `pow_hash`. */
export function headerFacts(found: FoundBlock) {
  const { block, height, weight } = found;
  const { header, minerTransaction, transactionHashes } = block;
  return {
    block_size: weight,
    block_weight: weight,
    ...cumulativeDifficultyFields(found.cumulativeDifficulty),
    ...difficultyFields(found.difficulty),
    hash: toHex(found.hash),
    height,
    long_term_weight: found.longTermWeight,
    major_version: header.majorVersion,
    miner_tx_hash: toHex(transactionHash(minerTransaction)),
    minor_version: header.minorVersion,
    nonce: header.nonce,
    num_txes: transactionHashes.length,
    orphan_status: found.orphan,
    prev_hash: toHex(header.previousId),
    reward: sumAmounts(minerTransaction.prefix.outputs),
    timestamp: header.timestamp,
  };
}

export type HeaderFacts = ReturnType<typeof headerFacts>;

/** What `get_block` tells of a block beside its header. */
export function blockFacts({ block, blob }: FoundBlock) {
  return {
    blob: quoted(toHex(blob)),
    json: quoted(describeBlock(block)),
    miner_tx_hash: toHex(transactionHash(block.minerTransaction)),
    tx_hashes: block.transactionHashes.map(toHex),
  };
}

export type BlockFacts = ReturnType<typeof blockFacts>;

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
