import type { TransactionCandidate } from "../src/index.ts";
import type { Coin, Forge } from "./forge.ts";

/** Bytes to try on a chain: what no honest program would send, beside what one would. */
export interface Case {
  name: string;
  blob: Uint8Array;
}

/** What the cases are made of. */
export interface Bench {
  forge: Forge;
  /** The reward of each block, that of block 1 first; the first two are spent, the third is in the pool. */
  coins: readonly Coin[];
  /** The transactions on the chain. */
  oldSpend: ChainSpend;
  youngSpend: ChainSpend;
  height: number;
}

export interface ChainSpend {
  candidate: TransactionCandidate;
  /** Global index of its first output. */
  firstOutput: bigint;
}
