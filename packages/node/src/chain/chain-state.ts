import {
  type ChainOutput,
  type ChainView,
  type ChainWindow,
  type Checkpoint,
  createChainWindow,
  DIFFICULTY_BLOCKS,
  type SeedSchedule,
} from "@anulo/consensus";
import { equalBytes, hardForkAt, type Network, NULL_HASH } from "@anulo/protocol";
import type { BlockInfo } from "@anulo/storage";

/** The fields of the newest block that a view needs. */
export type TopBlock = Pick<
  BlockInfo,
  "hash" | "timestamp" | "weight" | "longTermWeight" | "cumulativeDifficulty" | "alreadyGenerated"
>;

/** What views read: a store's reader, or one with further blocks that are not written yet. */
export interface StateReader {
  height(): number;
  blockInfo(height: number): TopBlock | undefined;
  blockInfos(from: number, to: number): readonly TopBlock[];
  blockInfoColumn(field: "longTermWeight", from: number, to: number): Iterable<number>;
  transaction(hash: Uint8Array): object | undefined;
  isKeyImageSpent(image: Uint8Array): boolean;
  outputCount(amount: bigint): number;
  output(amount: bigint, globalIndex: number): ChainOutput | undefined;
}

/** The rules' view of the main chain, updated with the store. */
export interface ChainState {
  /** A view of the current chain; the same object until the chain changes. */
  view(): ChainView;
  /** To be called for every block appended to the store. */
  addBlock(block: TopBlock): void;
  /** To be called when blocks were removed, or a write was rolled back. */
  reload(): void;
  /** The same rules for the chain of another reader, which is equal so far. */
  withReader(other: StateReader): ChainState;
  /** Median (bytes) of the long-term weights if this many empty blocks came next. */
  longTermWeightMedianAfterEmpty(blocks: number): number;
}

export interface ChainStateOptions {
  readonly read: StateReader;
  readonly network: Network;
  /** Difficulty of every block, on test chains. */
  readonly fixedDifficulty: bigint | undefined;
  /** When RandomX changes its seed, on test chains. */
  readonly seedSchedule: SeedSchedule | undefined;
  /** Block ids that the chain must have. */
  readonly checkpoints: readonly Checkpoint[] | undefined;
  /** The id (32 bytes) the block at a height must have, where it is known beforehand. */
  readonly knownBlockId?: ChainView["knownBlockId"] | undefined;
  /** Runs the reading of up to 100,000 rows that the first caller after a start would otherwise be charged for. */
  readonly withoutCounting?: (<T>(work: () => T) => T) | undefined;
}

interface LoadedWindow {
  readonly window: ChainWindow<TopBlock>;
  view: ChainView | undefined;
  /** Whether the chain may differ from the one that the windows were loaded from. */
  isStale: boolean;
}

/** Number of removed blocks up to which the windows go back one by one; beyond it they are loaded again. */
const MAX_STEPS_BACK = DIFFICULTY_BLOCKS / 2;

const readFactsOf = (read: StateReader) => (from: number, to: number) => read.blockInfos(from, to);
const readWeightsOf = (read: StateReader) => (from: number, to: number) =>
  read.blockInfoColumn("longTermWeight", from, to);

/** Loads the windows that the rules need from the store; they are updated when blocks are added or removed. */
export function createChainState(options: ChainStateOptions): ChainState {
  return chainStateOf(options, undefined);
}

function chainStateOf(options: ChainStateOptions, start: ChainWindow<TopBlock> | undefined): ChainState {
  const { read, withoutCounting = (work) => work() } = options;
  const loadedOf = (window: ChainWindow<TopBlock>): LoadedWindow => ({
    window,
    view: undefined,
    isStale: false,
  });
  let loaded = start && loadedOf(start);
  const load = () => loadedOf(createChainWindow(read.height(), readFactsOf(read), readWeightsOf(read)));
  const current = (): LoadedWindow => {
    if (loaded !== undefined && !loaded.isStale) return loaded;
    return withoutCounting(() => {
      if (loaded !== undefined && !followChain(loaded, read)) loaded = undefined;
      loaded ??= load();
      return loaded;
    });
  };
  return {
    view() {
      const now = current();
      now.view ??= createView(options, now.window);
      return now.view;
    },
    addBlock(block) {
      if (loaded === undefined || loaded.isStale) return;
      loaded.window.append(block);
      loaded.view = undefined;
    },
    reload() {
      if (loaded !== undefined) loaded.isStale = true;
    },
    withReader(other) {
      const { window } = current();
      return chainStateOf({ ...options, read: other }, window.copy(readFactsOf(other), readWeightsOf(other)));
    },
    longTermWeightMedianAfterEmpty: (blocks) => current().window.longTermWeightMedianAfterEmpty(blocks),
  };
}

/**
 * Moves the windows to the current chain; returns false where that is too far back. The view remains where nothing
 * changed.
 */
function followChain(loaded: LoadedWindow, read: StateReader): boolean {
  const { window } = loaded;
  const height = read.height();
  const before = window.height;
  const isOnChain = () => {
    if (window.height === 0) return true;
    const hash = window.top?.hash;
    const there = read.blockInfo(window.height - 1)?.hash;
    return hash !== undefined && there !== undefined && equalBytes(hash, there);
  };
  while (!isOnChain()) {
    if (before - window.height >= MAX_STEPS_BACK) return false;
    window.removeTop();
  }
  if (window.height !== before || height !== before) loaded.view = undefined;
  for (const block of read.blockInfos(window.height, height)) window.append(block);
  loaded.isStale = false;
  return true;
}

function createView(options: ChainStateOptions, window: ChainWindow<TopBlock>): ChainView {
  const { read, network, fixedDifficulty, seedSchedule, checkpoints, knownBlockId } = options;
  const { top } = window;
  return {
    height: window.height,
    topId: top?.hash ?? NULL_HASH,
    hardForkVersion: hardForkAt(network, window.height),
    fixedDifficulty,
    seedSchedule,
    checkpoints,
    knownBlockId,
    alreadyGenerated: top?.alreadyGenerated ?? 0n,
    cumulativeDifficulty: top?.cumulativeDifficulty ?? 0n,
    longTermWeightMedian: window.longTermWeightMedian,
    recentTimestamps: (count) => window.recentTimestamps(count),
    recentCumulativeDifficulties: (count) => window.recentCumulativeDifficulties(count),
    recentWeights: (count) => window.recentWeights(count),
    ...chainReads(read),
  };
}

/** The part of a view that is read from the store on demand. */
export function chainReads(
  read: StateReader,
): Pick<ChainView, "blockId" | "hasTransaction" | "isKeyImageSpent" | "outputCount" | "outputs"> {
  return {
    blockId(height) {
      const info = read.blockInfo(height);
      if (info === undefined) throw new RangeError(`there is no block ${height}`);
      return info.hash;
    },
    hasTransaction: (id) => read.transaction(id) !== undefined,
    isKeyImageSpent: (image) => read.isKeyImageSpent(image),
    outputCount: (amount) => BigInt(read.outputCount(amount)),
    outputs(amount, indices) {
      const count = BigInt(read.outputCount(amount));
      return indices.map((index) => (index < count ? read.output(amount, Number(index)) : undefined));
    },
  };
}
