import { type ChainView, difficultyOfNextBlock, seedHeight, weightLimits } from "@anulo/consensus";
import type { BacklogTransaction } from "./backlog.ts";

/** What a miner needs to make blocks of its own on top of the chain. */
export interface MinerData {
  readonly majorVersion: number;
  readonly height: number;
  /** 32 bytes, like the other ids. */
  readonly previousId: Uint8Array;
  /** The block that RandomX takes its seed from at this height, whether it is in use yet or not. */
  readonly seedId: Uint8Array;
  readonly difficulty: bigint;
  /** Bytes. */
  readonly medianWeight: number;
  /** Atomic units. */
  readonly alreadyGenerated: bigint;
  readonly backlog: readonly BacklogTransaction[];
}

/** What a miner needs on this chain, which has a block at least. */
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
