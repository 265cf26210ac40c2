import type { ChainView } from "@anulo/consensus";
import { equalBytes } from "@anulo/protocol";
import type { Lasting, SerializedDistribution } from "@anulo/rpc";
import type { ChainParts } from "../chain/parts.ts";
import { createMemo, type Memo } from "../pool/once.ts";
import { createRingCtCounts, type RingCtCounts } from "./ringct-counts.ts";
import type { StateInfo } from "./state-info.ts";
import type { TransactionText } from "./transaction-text.ts";

/** What was made of facts, the least recently made forgotten first. */
export interface Memory<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export interface MemoryOptions<V> {
  readonly capacity: number;
  /** Share of the capacity that a value takes; by default 1. */
  readonly cost?: (value: V) => number;
}

/** Starts empty. */
export function createMemory<K, V>({
  capacity,
  cost = () => 1,
}: MemoryOptions<V>): Memory<K, V> & { clear(): void } {
  const values = new Map<K, V>();
  let used = 0;
  const drop = (key: K, value: V): void => {
    values.delete(key);
    used -= cost(value);
  };
  return {
    get: (key) => values.get(key),
    set(key, value) {
      const before = values.get(key);
      if (before !== undefined) drop(key, before);
      values.set(key, value);
      used += cost(value);
      for (const [oldest, old] of values) {
        if (used <= capacity) return;
        drop(oldest, old);
      }
    },
    clear() {
      values.clear();
      used = 0;
    },
  };
}

/** Counts how often blocks were taken off the main chain: what was read of it before may then be wrong. */
export function createEpochs({ state, store }: Pick<ChainParts, "state" | "store">): () => number {
  let lastView: ChainView | undefined;
  let epoch = 0;
  const stillStands = ({ height, topId }: ChainView): boolean => {
    const hash = height === 0 ? topId : store.read.blockInfo(height - 1)?.hash;
    return hash !== undefined && equalBytes(hash, topId);
  };
  return () => {
    const view = state.view();
    if (view !== lastView) {
      if (lastView !== undefined && !stillStands(lastView)) epoch++;
      lastView = view;
    }
    return epoch;
  };
}

/** What was made of the main chain, as far as it still stands. */
export interface ChainMemory<K, V> {
  /** The memory for the chain of this moment: once blocks were taken off, it gives and takes nothing more. */
  now(): Memory<K, V>;
}

/** Starts empty, and is empty again whenever blocks were taken off. */
export function createChainMemory<K, V>(epochs: () => number, options: MemoryOptions<V>): ChainMemory<K, V> {
  const memory = createMemory<K, V>(options);
  let filledEpoch = epochs();
  return {
    now() {
      const epoch = epochs();
      if (epoch !== filledEpoch) memory.clear();
      filledEpoch = epoch;
      const isCurrent = () => epochs() === epoch;
      return {
        get: (key) => (isCurrent() ? memory.get(key) : undefined),
        set(key, value) {
          if (isCurrent()) memory.set(key, value);
        },
      };
    },
  };
}

/** What the handlers of one node remember of earlier answers. */
export interface AnswerMemory {
  /** Outputs of each block. */
  readonly ringCtCounts: RingCtCounts;
  /** Distributions of RingCT outputs by request. */
  readonly distributions: ChainMemory<string, KeptDistribution>;
  /** Texts of transactions by request. */
  readonly transactions: Memory<string, TransactionText>;
  /** Facts of `get_info`, by what the port may report. */
  readonly info: ReadonlyMap<boolean, Memo<StateInfo>>;
  readonly feeEstimate: Memo<Lasting<FeeEstimate>>;
  /** Minor versions of the blocks whose votes count for the next one. */
  readonly votes: Memo<readonly number[]>;
}

/** Distributions as they are written, of one moment of the chain. */
export type DistributionResponse = Lasting<{ distributions: SerializedDistribution[] }>;

/** What was returned about the blocks up to a height (inclusive): what later blocks add is appended. */
export interface KeptDistribution {
  readonly response: DistributionResponse;
  readonly to: number;
  readonly distribution: SerializedDistribution["distribution"];
}

export interface FeeEstimate {
  readonly fee: bigint;
  readonly fees: readonly bigint[];
  readonly quantization_mask: number;
}

const MiB = 1024 * 1024;

/** Takes some 50 MB when full. */
export function createAnswerMemory(parts: ChainParts): AnswerMemory {
  const epochs = createEpochs(parts);
  return {
    ringCtCounts: createRingCtCounts(),
    // Held twice: as numbers, and in the response.
    distributions: createChainMemory(epochs, {
      capacity: 32 * MiB,
      cost: ({ distribution }) => 1000 + 2 * distribution.bytes,
    }),
    transactions: createMemory({ capacity: 16 * MiB, cost: ({ bytes }) => bytes }),
    info: new Map([true, false].map((restricted) => [restricted, createMemo()])),
    feeEstimate: createMemo(),
    votes: createMemo(),
  };
}
