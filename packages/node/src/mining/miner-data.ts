import { type ChainView, difficultyOfNextBlock, seedHeight, weightLimits } from "@anulo/consensus";
import type { BacklogTransaction } from "./backlog.ts";

/** The data a miner needs to build its own blocks on top of the chain. */
export interface MinerData {
  readonly majorVersion: number;
  readonly height: number;
  /** 32 bytes, like the other ids. */
  readonly previousId: Uint8Array;
  /** The id of the block that is the RandomX seed at this height, whether RandomX is in use yet or not. */
  readonly seedId: Uint8Array;
  readonly difficulty: bigint;
  /** Bytes. */
  readonly medianWeight: number;
  /** Atomic units. */
  readonly alreadyGenerated: bigint;
  readonly backlog: readonly BacklogTransaction[];
}

/** Collects the miner data of this chain, which has at least one block. */
export function minerDataOf(view: ChainView, backlog: readonly BacklogTransaction[]): MinerData {
  return {
    majorVersion: view.hardForkVersion,
    height: view.height,
    previousId: view.topId,
    seedId: view.blockId(seedHeight(view.height, view.seedSchedule)),
    difficulty: difficultyOfNextBlock(view),
    medianWeight: weightLimits(view).effectiveMedian,
    alreadyGenerated: view.alreadyGenerated,
    backlog,
  };
}
