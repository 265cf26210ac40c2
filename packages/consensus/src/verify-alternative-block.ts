import { type Block, blockHashingBlob, sumAmounts } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { checkBranchAllowed, checkCheckpoint } from "./checkpoints.ts";
import { TIMESTAMP_WINDOW } from "./constants.ts";
import { difficultyOfNextBlock } from "./difficulty.ts";
import { generatedAfter } from "./emission.ts";
import { checkForkVersion } from "./header.ts";
import { median } from "./median.ts";
import { checkMinerTransaction } from "./miner-transaction.ts";
import type { Obligation } from "./obligations.ts";
import { proofOfWork } from "./proof-of-work.ts";
import { checkTimestampNotAhead, checkTimestampNotBefore } from "./timestamps.ts";

/** A branch off the main chain: `view` ends with it, and `length` of its blocks are not on the main chain. */
export interface Branch {
  view: ChainView;
  length: number;
  /** Number of blocks of the main chain; by default that of the branch. */
  mainHeight?: number;
  /** Unix seconds. */
  now: number;
}

/** The obligations of a block on a branch, and what it adds to the branch. */
export interface VerifiedAlternativeBlock {
  obligations: Obligation[];
  height: number;
  difficulty: bigint;
  cumulativeDifficulty: bigint;
  /** Whether this block has a checkpoint, which makes its branch the main chain whatever its work. */
  isCheckpoint: boolean;
  /** Counted as the original does on branches: including the fees (atomic units, at most 2^64 - 1). */
  alreadyGenerated: bigint;
}

/**
 * Judges what can be judged of a block on a branch: header, proof of work, miner transaction. Its transactions, its
 * weight and its reward are judged by `verifyBlock` if the branch becomes the main chain. Throws `RuleViolation`.
 * Source: blockchain.cpp `handle_alternative_block`.
 */
export function verifyAlternativeBlock(block: Block, branch: Branch): VerifiedAlternativeBlock {
  const { view } = branch;
  const { height } = view;
  checkBranchAllowed({ height, mainHeight: branch.mainHeight ?? height }, view.checkpoints);
  checkForkVersion(block.header, view.hardForkVersion);
  checkTimestampNotAhead(block.header.timestamp, branch.now);
  checkTimestampNotBefore(block.header.timestamp, branchMedianTimestamp(branch));
  const checkpoint = checkCheckpoint(block, height, view.checkpoints);
  const difficulty = difficultyOfNextBlock(view);
  checkMinerTransaction(block.minerTransaction, view);
  const claimed = sumAmounts(block.minerTransaction.prefix.outputs);
  const work = {
    blob: blockHashingBlob(block),
    height,
    majorVersion: block.header.majorVersion,
    difficulty,
  };
  return {
    obligations: proofOfWork(work, view),
    height,
    difficulty,
    isCheckpoint: checkpoint !== undefined,
    cumulativeDifficulty: view.cumulativeDifficulty + difficulty,
    alreadyGenerated: generatedAfter(view.alreadyGenerated, claimed),
  };
}

/**
 * Median timestamp (Unix seconds) for a branch: of the whole branch if it is longer than 60 blocks, else of 60 blocks;
 * undefined where there are less, without genesis. Source: blockchain.cpp `build_alt_chain`, `complete_timestamps_vector`,
 * and since 0.18.5.3 `check_block_timestamp`, which judges both chains alike.
 */
function branchMedianTimestamp({ view, length }: Branch): number | undefined {
  const count = Math.max(length, Math.min(TIMESTAMP_WINDOW, view.height - 1));
  return count < TIMESTAMP_WINDOW ? undefined : median(view.recentTimestamps(count));
}
