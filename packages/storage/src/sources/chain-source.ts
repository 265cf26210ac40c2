import { BadBytes } from "@anulo/protocol";

/** A chain in the files of another program, which are read and never written. */

/** A transaction of the source, split or whole. */
export type SourceTransaction =
  | { readonly blob: Uint8Array }
  /** A pruned transaction: its bytes without signatures and proofs, and the hash (32 bytes) of those. */
  | { readonly pruned: Uint8Array; readonly prunableHash: Uint8Array };

/** A block of the source; its bytes are valid until the next block is read. */
export interface SourceBlock {
  readonly height: number;
  readonly blob: Uint8Array;
  /** All but the miner transaction, if they were requested. */
  readonly transactions: readonly SourceTransaction[];
  /** Weight in bytes as stored in the source; undefined if it is not stored. */
  readonly weight: number | undefined;
  /** The part of the source up to the end of this block, 0 to 1. */
  readonly done: number;
  /** Describes the block's position in the source. */
  readonly place: string;
}

export interface SourceStart {
  readonly height: number;
  /** Number of transactions in the blocks below that height, miner transactions included. */
  readonly transactionsBefore: number;
  /** If false, only the blocks themselves are needed. */
  readonly withTransactions?: boolean;
}

export interface ChainSource {
  /** Height of the first block in the source. */
  readonly first: number;
  /** Pruning seed of the source, as nodes send it; 0: it is not pruned. */
  readonly pruningSeed: number;
  /**
   * Yields its blocks from a height on, in order; before the first of them it yields undefined from time to time, so
   * that other code may take a turn. Throws BadSource for bytes that cannot be right.
   */
  blocks(start: SourceStart): Generator<SourceBlock | undefined, void>;
  close(): void;
}

/** A source that cannot be read, or not any further; the message contains the reason and the place. */
export class BadSource extends Error {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`${path}: ${reason}`, { cause });
    this.name = "BadSource";
  }
}

/** A source that ends in the middle of a block, because its writer was interrupted. */
export class CutOff extends BadSource {}

/** Reads a part of a source; errors become BadSource with its place. */
export function inSource<T>(path: string, place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof BadBytes ? new BadSource(path, `${place}: ${error.message}`, error) : error;
  }
}
