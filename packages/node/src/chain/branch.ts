import type { Branch } from "@anulo/consensus";
import { hardForkAt, readBlockHeader } from "@anulo/protocol";
import type { AlternativeBlock, ChainReader, WithHash } from "@anulo/storage";
import { type ChainStateOptions, chainReads } from "./chain-state.ts";

/** Blocks that left the main chain above `forkHeight`, oldest first. */
export interface BranchBlocks<B extends BranchBlock = BranchBlock> {
  /** Height of the newest main-chain block below them. */
  readonly forkHeight: number;
  readonly blocks: readonly B[];
}

/** The fields of a block on a branch that the rules need; its timestamp in Unix seconds. */
export type BranchBlock = WithHash<Omit<AlternativeBlock, "blob">> & { readonly timestamp: number };

/** The same with the block's bytes. */
export type StoredBranchBlock = BranchBlock & Pick<AlternativeBlock, "blob">;

/** The branch that ends with this block (of the main chain: an empty branch); undefined when it is unknown. */
export function findBranch(read: ChainReader, top: Uint8Array): BranchBlocks<StoredBranchBlock> | undefined {
  const blocks: StoredBranchBlock[] = [];
  let hash = top;
  for (;;) {
    const forkHeight = read.heightOf(hash);
    if (forkHeight !== undefined) return { forkHeight, blocks: blocks.reverse() };
    const row = read.alternativeBlock(hash);
    if (row === undefined) return undefined;
    const { previousId, timestamp } = readBlockHeader(row.blob);
    blocks.push({ hash, timestamp, ...row });
    hash = previousId;
  }
}

type WindowField = "timestamp" | "cumulativeDifficulty" | "weight";

/** The rules' view of a branch, which ends with its newest block; the clock (`now`) in Unix seconds. */
export function branchView(
  options: ChainStateOptions & { readonly now: number },
  { forkHeight, blocks }: BranchBlocks,
): Branch {
  const { read, network, fixedDifficulty, seedSchedule, checkpoints, now } = options;
  const fork = read.blockInfo(forkHeight);
  if (fork === undefined) throw new RangeError(`there is no block ${forkHeight}`);
  const height = forkHeight + 1 + blocks.length;
  const top = blocks.at(-1) ?? fork;
  const recent = <F extends WindowField>(count: number, field: F) => {
    const ofBranch = count === 0 ? [] : blocks.slice(-count);
    const below = forkHeight + 1 - Math.max(0, count - ofBranch.length);
    return [...read.blockInfos(below, forkHeight + 1), ...ofBranch].map((block) => block[field]);
  };
  const reads = chainReads(read);
  const view = {
    ...reads,
    height,
    topId: top.hash,
    hardForkVersion: hardForkAt(network, height),
    fixedDifficulty,
    seedSchedule,
    checkpoints,
    alreadyGenerated: top.alreadyGenerated,
    cumulativeDifficulty: top.cumulativeDifficulty,
    longTermWeightMedian: 0,
    recentTimestamps: (count: number) => recent(count, "timestamp"),
    recentCumulativeDifficulties: (count: number) => recent(count, "cumulativeDifficulty"),
    recentWeights: (count: number) => recent(count, "weight"),
    blockId: (at: number) => (at > forkHeight ? blocks[at - forkHeight - 1]!.hash : reads.blockId(at)),
  };
  return { view, length: blocks.length, mainHeight: read.height(), now };
}
