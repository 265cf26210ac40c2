import type { Branch } from "@anulo/consensus";
import { type BlockHeader, hardForkAt, readBlock, toHex } from "@anulo/protocol";
import type { AlternativeBlock, ChainReader, WithHash } from "@anulo/storage";
import { type ChainStateOptions, chainReads } from "./chain-state.ts";

/** Blocks that left the main chain above `forkHeight`, oldest first. */
export interface BranchBlocks {
  /** Height of the newest main-chain block below them. */
  readonly forkHeight: number;
  readonly blocks: readonly WithHash<AlternativeBlock>[];
}

type HeaderFacts = Pick<BlockHeader, "previousId" | "timestamp">;

/** Headers read once: each block on a long branch looks at all those below it. Beyond this the oldest are forgotten. */
const MAX_HEADERS = 20_000;
const headers = new Map<string, HeaderFacts>();

function headerOf({ hash, blob }: { readonly hash: Uint8Array; readonly blob: Uint8Array }): HeaderFacts {
  const key = toHex(hash);
  const known = headers.get(key);
  if (known !== undefined) return known;
  const { previousId, timestamp } = readBlock(blob).header;
  const facts = { previousId: Uint8Array.from(previousId), timestamp };
  headers.set(key, facts);
  if (headers.size > MAX_HEADERS) headers.delete(headers.keys().next().value ?? key);
  return facts;
}

/** The branch that ends with this block (of the main chain: an empty branch); undefined when it is unknown. */
export function findBranch(read: ChainReader, top: Uint8Array): BranchBlocks | undefined {
  const blocks: WithHash<AlternativeBlock>[] = [];
  let hash = top;
  for (;;) {
    const forkHeight = read.heightOf(hash);
    if (forkHeight !== undefined) return { forkHeight, blocks: blocks.reverse() };
    const row = read.alternativeBlock(hash);
    if (row === undefined) return undefined;
    blocks.push({ hash, ...row });
    hash = headerOf({ hash, blob: row.blob }).previousId;
  }
}

type WindowField = "timestamp" | "cumulativeDifficulty" | "weight";

/** The rules' view of a branch, which ends with its newest block. */
export function branchView(options: ChainStateOptions, { forkHeight, blocks }: BranchBlocks): Branch {
  const { read, network, fixedDifficulty, seedSchedule, checkpoints } = options;
  const fork = read.blockInfo(forkHeight);
  if (fork === undefined) throw new RangeError(`there is no block ${forkHeight}`);
  const height = forkHeight + 1 + blocks.length;
  const top = blocks.at(-1) ?? fork;
  const own = blocks.map((row) => ({ ...row, timestamp: headerOf(row).timestamp }));
  const recent = <F extends WindowField>(count: number, field: F) => {
    const ofBranch = count === 0 ? [] : own.slice(-count);
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
  return { view, length: blocks.length, mainHeight: read.height() };
}
