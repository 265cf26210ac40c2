import {
  type ChainOutput,
  type ChainView,
  type ChainWindow,
  type Checkpoint,
  createChainWindow,
  type SeedSchedule,
} from "@anulo/consensus";
import { hardForkAt, type Network, NULL_HASH } from "@anulo/protocol";
import type { BlockInfo } from "@anulo/storage";

/** What a view needs to know of the newest block. */
export type TopBlock = Pick<
  BlockInfo,
  "hash" | "timestamp" | "weight" | "longTermWeight" | "cumulativeDifficulty" | "alreadyGenerated"
>;

/** What views read: a store's reader, or one with blocks above it that are not written yet. */
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

/** The rules' view of the main chain, kept in step with the store. */
export interface ChainState {
  /** A view of the chain as it is now, the same until the chain changes. */
  view(): ChainView;
  /** To be told of every block appended to the store. */
  appended(block: TopBlock): void;
  /** To be told when blocks were taken off, or a write was rolled back. */
  rewound(): void;
  /** The same rules over another reader's chain. */
  over(other: StateReader): ChainState;
}

export interface ChainStateOptions {
  readonly read: StateReader;
  readonly network: Network;
  /** Difficulty of every block, on test chains. */
  readonly fixedDifficulty: bigint | undefined;
  /** When RandomX changes its seed, on test chains. */
  readonly seedSchedule: SeedSchedule | undefined;
  /** Blocks the chain must have. */
  readonly checkpoints: readonly Checkpoint[] | undefined;
}

interface Loaded {
  readonly window: ChainWindow;
  top: TopBlock | undefined;
  view: ChainView | undefined;
}

/** Loads the windows the rules look at from the store, and again after every rewind. */
export function createChainState(options: ChainStateOptions): ChainState {
  const { read } = options;
  let loaded: Loaded | undefined;
  const load = (): Loaded => {
    const height = read.height();
    const window = createChainWindow(
      height,
      (from, to) => read.blockInfos(from, to),
      (from, to) => read.blockInfoColumn("longTermWeight", from, to),
    );
    return { window, top: height === 0 ? undefined : read.blockInfo(height - 1), view: undefined };
  };
  return {
    view() {
      loaded ??= load();
      loaded.view ??= createView(options, loaded.window, loaded.top);
      return loaded.view;
    },
    appended(block) {
      if (loaded === undefined) return;
      loaded.window.append(block);
      loaded.top = block;
      loaded.view = undefined;
    },
    rewound() {
      loaded = undefined;
    },
    over: (other) => createChainState({ ...options, read: other }),
  };
}

function createView(options: ChainStateOptions, window: ChainWindow, top: TopBlock | undefined): ChainView {
  const { read, network, fixedDifficulty, seedSchedule, checkpoints } = options;
  return {
    height: window.height,
    topId: top?.hash ?? NULL_HASH,
    hardForkVersion: hardForkAt(network, window.height),
    fixedDifficulty,
    seedSchedule,
    checkpoints,
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
