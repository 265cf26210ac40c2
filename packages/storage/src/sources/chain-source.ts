import { BadBytes } from "@anulo/protocol";

/** A chain that somebody else's program left on disk, to be read from and never written to. */

/** A transaction of it, split or whole. */
export type SourceTransaction =
  | { readonly blob: Uint8Array }
  /** One that was pruned: its bytes without signatures and proofs, and the hash (32 bytes) of those. */
  | { readonly pruned: Uint8Array; readonly prunableHash: Uint8Array };

/** A block of it; its bytes stay as they are until the next is asked for. */
export interface SourceBlock {
  readonly height: number;
  readonly blob: Uint8Array;
  /** All but the miner's, where they were asked for. */
  readonly transactions: readonly SourceTransaction[];
  /** Bytes, by the source; undefined where it does not say. */
  readonly weight: number | undefined;
  /** How much of the source lies before the end of this block, 0 to 1. */
  readonly done: number;
  /** Where in the source it is, in words. */
  readonly place: string;
}

export interface SourceStart {
  readonly height: number;
  /** Transactions of the blocks below that height, miners' among them. */
  readonly transactionsBefore: number;
  /** False: only the blocks themselves are wanted. */
  readonly withTransactions?: boolean;
}

export interface ChainSource {
  /** Height of the first block it holds. */
  readonly first: number;
  /** Which blocks it has pruned, as nodes tell each other; 0: none. */
  readonly pruningSeed: number;
  /**
   * Its blocks from a height on, in order, and undefined now and then on the way to the first of them, where others
   * may take a turn. Throws BadSource where its bytes cannot be right.
   */
  blocks(start: SourceStart): Generator<SourceBlock | undefined, void>;
  close(): void;
}

/** A source that cannot be read, or not any further; the message says why and where. */
export class BadSource extends Error {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`${path}: ${reason}`, { cause });
    this.name = "BadSource";
  }
}

/** One that ends in the middle of a block: whoever wrote it was interrupted. */
export class CutOff extends BadSource {}

/** Reads what stands at a place of a source; throws BadSource where it is not what it should be. */
export function inSource<T>(path: string, place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof BadBytes ? new BadSource(path, `${place}: ${error.message}`, error) : error;
  }
}
