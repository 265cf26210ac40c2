import { type Block, blockId, equalBytes, fromHex, type NetworkName, toHex } from "@anulo/protocol";
import { type CheckpointRow, checkpointRows } from "./checkpoint-rows.ts";
import { RuleViolation } from "./violations.ts";

/** A block that the chain must have at this height. */
export interface Checkpoint {
  readonly height: number;
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** Up to and including this block; undefined if it is not recorded. */
  readonly cumulativeDifficulty?: bigint | undefined;
}

function parseRows(rows: readonly CheckpointRow[]): readonly Checkpoint[] {
  return rows.map(([height, id, difficulty]) => ({
    height,
    id: fromHex(id),
    cumulativeDifficulty: BigInt(`0x${difficulty}`),
  }));
}

const builtIn: { readonly [N in NetworkName]: readonly Checkpoint[] } = {
  mainnet: parseRows(checkpointRows.mainnet),
  testnet: parseRows(checkpointRows.testnet),
  stagenet: parseRows(checkpointRows.stagenet),
  regtest: [],
};

/** The checkpoints of a network that are built in, oldest first; regtest has none. */
export function checkpointsOf(network: NetworkName): readonly Checkpoint[] {
  return builtIn[network];
}

/**
 * The checkpoints that a node enforces: those of mainnet. The test networks' are for wallets, since anybody may start
 * such a network again. Source: cryptonote_core.cpp `handle_command_line`.
 */
export function enforcedCheckpoints(network: NetworkName): readonly Checkpoint[] {
  return network === "mainnet" ? checkpointsOf(network) : [];
}

/** Adds the checkpoints above the known ones; those at or below the newest known are ignored. */
export function withCheckpoints(
  checkpoints: readonly Checkpoint[],
  more: readonly Checkpoint[],
): readonly Checkpoint[] {
  const newest = checkpoints.at(-1)?.height ?? 0;
  return [...checkpoints, ...more.filter(({ height }) => height > newest)];
}

/** True if a checkpoint is at this height or above it. Source: checkpoints.cpp `is_in_checkpoint_zone`. */
export function isInCheckpointZone(checkpoints: readonly Checkpoint[], height: number): boolean {
  return height <= (checkpoints.at(-1)?.height ?? -1);
}

/**
 * Checks that a block is the one of its height's checkpoint, if there is one, and returns the checkpoint. Source:
 * checkpoints.cpp `check_block`.
 */
export function checkCheckpoint(
  block: Block,
  height: number,
  checkpoints: readonly Checkpoint[] = [],
): Checkpoint | undefined {
  const checkpoint = checkpoints.find((candidate) => candidate.height === height);
  if (checkpoint === undefined) return undefined;
  const id = blockId(block);
  if (!equalBytes(id, checkpoint.id)) throw new RuleViolation({ code: "CHECKPOINT", height, id: toHex(id) });
  return checkpoint;
}

/**
 * Throws a plain `Error` if the cumulative difficulty of a checkpoint's block differs from the recorded one: the block
 * is right, so the database is damaged or this program has a bug. Source: blockchain.cpp
 * `check_difficulty_checkpoints`.
 */
export function requireWrittenDifficulty(checkpoint: Checkpoint | undefined, counted: bigint): void {
  const expected = checkpoint?.cumulativeDifficulty ?? counted;
  if (expected !== counted)
    throw new Error(`difficulty drifted: ${counted} at checkpoint ${checkpoint?.height}, not ${expected}`);
}

/** The position of a block on a branch. */
export interface BranchPlace {
  /** Of the block. */
  height: number;
  /** Number of blocks of the main chain. */
  mainHeight: number;
}

/**
 * A branch must leave the main chain above the newest checkpoint that the main chain has reached. Source:
 * checkpoints.cpp `is_alternative_block_allowed`.
 */
export function checkBranchAllowed(
  { height, mainHeight }: BranchPlace,
  checkpoints: readonly Checkpoint[] = [],
): void {
  const reached = checkpoints.findLast((checkpoint) => checkpoint.height <= mainHeight);
  if (reached !== undefined && height <= reached.height) {
    throw new RuleViolation({ code: "BELOW_CHECKPOINT", height, checkpoint: reached.height });
  }
}

/** The part of a chain that checkpoints are compared with. */
export interface CheckedChain {
  /** Number of blocks. */
  height: number;
  blockId(height: number): Uint8Array;
}

/**
 * The oldest checkpoint at whose height the chain has another block; undefined if there is none. Source: blockchain.cpp
 * `check_against_checkpoints`, which then removes blocks down to two below it.
 */
export function brokenCheckpoint(
  chain: CheckedChain,
  checkpoints: readonly Checkpoint[],
): Checkpoint | undefined {
  return checkpoints.find(
    ({ height, id }) => height < chain.height && !equalBytes(chain.blockId(height), id),
  );
}
