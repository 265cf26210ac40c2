import type { Snapshot } from "./database-file.ts";
import type { Tables } from "./environment.ts";
import { readCount } from "./layout.ts";
import { outputOffsets, transactionHashOffset } from "./tables.ts";

const HASH_BYTES = 32;
const NUMBER_BYTES = 8;

/** Identifies an output; RingCT outputs have amount 0. */
export interface OutputName {
  readonly amount: bigint;
  readonly index: bigint;
}

const MAX_INDEX = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Outputs in columns, each at the position at which it was read: rings need hundreds, so there is no object for each.
 */
export class OutputBatch {
  readonly length: number;
  readonly heights: Float64Array;
  /** As on the chain; values beyond 2^53, which are no real height or time, are approximate. */
  readonly unlockTimes: Float64Array;
  /** One-time keys, 32 bytes each. */
  readonly keys: Uint8Array;
  /** Commitments, 32 bytes each. */
  readonly commitments: Uint8Array;
  /** Hashes of their transactions, 32 bytes each; undefined if they are not needed: each is another row to read. */
  readonly transactionHashes: Uint8Array | undefined;
  #position = 0;

  /** Memory for `length` outputs. */
  constructor(length: number, { withTransactionHashes }: { readonly withTransactionHashes: boolean }) {
    const numbers = NUMBER_BYTES * length;
    const hashes = HASH_BYTES * length;
    const memory = new ArrayBuffer(2 * numbers + (withTransactionHashes ? 3 : 2) * hashes);
    this.length = length;
    this.heights = new Float64Array(memory, 0, length);
    this.unlockTimes = new Float64Array(memory, numbers, length);
    this.keys = new Uint8Array(memory, 2 * numbers, hashes);
    this.commitments = new Uint8Array(memory, 2 * numbers + hashes, hashes);
    this.transactionHashes = withTransactionHashes
      ? new Uint8Array(memory, 2 * numbers + 2 * hashes, hashes)
      : undefined;
  }

  /** Reads an output from the tables to a position; returns false if there is none. */
  read(tables: Tables, position: number, { output, at }: OutputSource): boolean {
    const { amount, index } = output;
    if (index > MAX_INDEX) return false;
    this.#position = position;
    const transactionId =
      amount === 0n
        ? tables.ringCtOutputs.view(Number(index), this.#takeOutput, at)
        : tables.outputs.view({ amount, index: Number(index) }, this.#takeOutput, at);
    if (transactionId === undefined) return false;
    if (this.transactionHashes !== undefined) tables.transactionInfo.view(transactionId, this.#takeHash, at);
    return true;
  }

  /** Copies an output's fields and returns the number of its transaction. */
  readonly #takeOutput = (row: Buffer): number => {
    const position = this.#position;
    const start = HASH_BYTES * position;
    this.heights[position] = readCount(row, outputOffsets.height);
    this.unlockTimes[position] = readCount(row, outputOffsets.unlockTime);
    copyHash(row, outputOffsets.key, { target: this.keys, at: start });
    copyHash(row, outputOffsets.commitment, { target: this.commitments, at: start });
    return readCount(row, outputOffsets.transactionId);
  };

  readonly #takeHash = (row: Buffer): void => {
    const target = { target: this.transactionHashes!, at: HASH_BYTES * this.#position };
    copyHash(row, transactionHashOffset, target);
  };
}

interface OutputSource {
  readonly output: OutputName;
  readonly at: Snapshot | undefined;
}

/** A loop, because the library's function would first have to create a view of these few bytes. */
function copyHash(source: Buffer, from: number, { target, at }: { target: Uint8Array; at: number }): void {
  for (let i = 0; i < HASH_BYTES; i++) target[at + i] = source[from + i]!;
}
