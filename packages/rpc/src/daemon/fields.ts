import { contractZero, object, or } from "../schema/composites.ts";
import { flag, hash, hex, text, u64, uint, uint8, uint32 } from "../schema/scalars.ts";

/** Fields of nearly every answer; left out by a handler they say that all is well. */
export const nodeStatus = { status: or(text, "OK"), untrusted: or(flag, false) };

/** The same where the original once sold access; nothing is sold here. */
export const accessStatus = { ...nodeStatus, credits: or(uint, 0), top_hash: or(text, "") };

export const noParams = object({});

/** A 128-bit difficulty: low and high half, and both in hex. */
export const difficultyFields = { difficulty: u64, difficulty_top64: u64, wide_difficulty: text };

export const cumulativeDifficultyFields = {
  cumulative_difficulty: u64,
  cumulative_difficulty_top64: u64,
  wide_cumulative_difficulty: text,
};

/** Block header. Source: node-service.md; `pow_hash` is "" where it is not known. */
export const blockHeader = object({
  block_size: uint,
  block_weight: contractZero(uint),
  ...cumulativeDifficultyFields,
  depth: uint,
  ...difficultyFields,
  hash,
  height: uint,
  long_term_weight: contractZero(uint),
  major_version: uint8,
  miner_tx_hash: hash,
  minor_version: uint8,
  nonce: uint32,
  num_txes: uint,
  orphan_status: flag,
  pow_hash: hex,
  prev_hash: hash,
  reward: u64,
  timestamp: uint,
});

/** Asks for the proof-of-work hash, which costs a hash of a second. */
export const fillPowHash = { fill_pow_hash: or(flag, false) };
