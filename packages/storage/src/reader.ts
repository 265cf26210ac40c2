import { CHECKSUM_BYTES } from "./checksum.ts";
import type { Snapshot } from "./database-file.ts";
import type { Tables } from "./environment.ts";
import { readCounts } from "./layout.ts";
import type { OutputBatch, OutputName } from "./output-batch.ts";
import { readPruning } from "./pruning-state.ts";
import type { AlternativeBlock, BlockInfo, OutputInfo, PoolTransaction, TransactionInfo } from "./tables.ts";
import { blockInfoColumns, outputHeightColumn, transactionHashColumn, WEIGHTS_PER_ROW } from "./tables.ts";

/** A stored transaction with its number in chain order. */
export interface StoredTransaction extends TransactionInfo {
  readonly id: number;
}

/** A row with the hash it is stored under. */
export type WithHash<T> = T & { readonly hash: Uint8Array };

/** The transactions of a block, numbered in chain order from that of the miner on, and the weight in bytes. */
export type BlockExtent = Pick<BlockInfo, "firstTransactionId" | "transactionCount" | "weight">;

/** All reads of a chain. Hashes, keys and images are 32 bytes; heights count from 0 at genesis. */
export interface ChainReader {
  /** Number of blocks on the main chain. */
  height(): number;
  blockInfo(height: number): BlockInfo | undefined;
  /** What of a block's info a download needs: nothing else is read of its row. */
  blockExtent(height: number): BlockExtent | undefined;
  /** One field of a block's info: nothing else is read of its row. */
  blockField<F extends keyof BlockInfo>(height: number, field: F): BlockInfo[F] | undefined;
  /** Info of the blocks from `from` (inclusive) to `to` (exclusive), as far as they exist. */
  blockInfos(from: number, to: number): BlockInfo[];
  /** One field of the info of those blocks: cheaper over long ranges. */
  blockInfoColumn<F extends keyof BlockInfo>(field: F, from: number, to: number): Iterable<BlockInfo[F]>;
  blockBlob(height: number): Uint8Array | undefined;
  heightOf(blockHash: Uint8Array): number | undefined;
  transaction(hash: Uint8Array): StoredTransaction | undefined;
  transactionById(id: number): StoredTransaction | undefined;
  transactionHash(id: number): Uint8Array | undefined;
  prunedTransaction(id: number): Uint8Array | undefined;
  /** Also undefined if it was pruned. */
  prunablePart(id: number): Uint8Array | undefined;
  /** Global index of each output of a transaction. */
  outputIndices(id: number): readonly number[] | undefined;
  output(amount: bigint, globalIndex: number): OutputInfo | undefined;
  /** Height of the block of an output. */
  outputHeight(amount: bigint, globalIndex: number): number | undefined;
  /** Reads an output to a position of a batch; returns false if there is none. */
  readIntoBatch(batch: OutputBatch, position: number, output: OutputName): boolean;
  outputCount(amount: bigint): number;
  /** Every amount that has outputs, ascending, with their number. */
  outputCounts(): Iterable<{ readonly amount: bigint; readonly count: number }>;
  isKeyImageSpent(image: Uint8Array): boolean;
  alternativeBlock(hash: Uint8Array): AlternativeBlock | undefined;
  alternativeBlocks(): WithHash<AlternativeBlock>[];
  poolTransactions(): WithHash<PoolTransaction>[];
  /** Pruning seed, as nodes send it: which blocks are kept whole; 0: all. */
  pruningSeed(): number;
  /** Blocks below this height are pruned as the seed requires. */
  prunedHeight(): number;
}

/** As many as the rules need at once. */
const WEIGHTS_AT_ONCE = 100_000;

/** Long-term weights of the blocks from `start` to `end`, as far as they exist. */
function weightsOf(
  { longTermWeights }: Tables,
  { start, end }: { readonly start: number; readonly end: number },
  at: Snapshot | undefined,
): Float64Array {
  const maxCount = Math.max(0, end - start);
  let weights = new Float64Array(Math.min(maxCount, WEIGHTS_AT_ONCE));
  let count = 0;
  while (count < maxCount) {
    if (count === weights.length) {
      const longer = new Float64Array(Math.min(maxCount, 2 * count));
      longer.set(weights);
      weights = longer;
    }
    const height = start + count;
    const from = height % WEIGHTS_PER_ROW;
    const target = weights.subarray(count);
    const more = longTermWeights.view(
      Math.floor(height / WEIGHTS_PER_ROW),
      (row) => readCounts(row, { length: row.length - CHECKSUM_BYTES, from }, target),
      at,
    );
    if (more === undefined || more === 0) break;
    count += more;
  }
  return weights.subarray(0, count);
}

const extentOf = (row: Buffer): BlockExtent => ({
  firstTransactionId: blockInfoColumns.firstTransactionId(row),
  transactionCount: blockInfoColumns.transactionCount(row),
  weight: blockInfoColumns.weight(row),
});
const copyOfTransactionHash = (row: Buffer): Uint8Array => transactionHashColumn(row).slice();

/** Each reads a field from a row; bytes are copied, because the row is valid only until the next one is read. */
const blockFields: typeof blockInfoColumns = {
  ...blockInfoColumns,
  hash: (row) => blockInfoColumns.hash(row).slice(),
};

/** One field of the blocks from `start` to `end`, read row by row, which takes half the time of reading the range. */
function* columnOf<F extends keyof BlockInfo>(
  { blockInfo }: Tables,
  field: F,
  { start, end, at }: { readonly start: number; readonly end: number; readonly at: Snapshot | undefined },
): Iterable<BlockInfo[F]> {
  const read = blockFields[field];
  for (let height = start; height < end; height++) {
    const value = blockInfo.view(height, read, at);
    if (value === undefined) return;
    yield value;
  }
}

/** Counts that are read often, kept until the chain changes. */
export interface CachedCounts {
  height: number | undefined;
  ringCtOutputs: number | undefined;
}

/**
 * Reads at a snapshot, or at the newest commit by default. `remembered` has to be cleared with every change; a snapshot
 * never changes.
 */
export function createReader(tables: Tables, at?: Snapshot, cachedCounts?: CachedCounts): ChainReader {
  const memory = at === undefined ? cachedCounts : { height: undefined, ringCtOutputs: undefined };
  const countBlocks = () => {
    for (const { key } of tables.blockInfo.entries({ reverse: true, limit: 1 }, at)) return key + 1;
    return 0;
  };
  const countOutputs = (amount: bigint) => tables.outputCounts.get(amount, at) ?? 0;
  const transactionById = (id: number): StoredTransaction | undefined => {
    const info = tables.transactionInfo.get(id, at);
    return info === undefined ? undefined : { id, ...info };
  };
  return {
    height() {
      if (memory === undefined) return countBlocks();
      memory.height ??= countBlocks();
      return memory.height;
    },
    blockInfo: (height) => tables.blockInfo.get(height, at),
    blockExtent: (height) => tables.blockInfo.view(height, extentOf, at),
    blockField: (height, field) => tables.blockInfo.view(height, blockFields[field], at),
    blockInfos: (from, to) =>
      Array.from(
        tables.blockInfo.entries({ start: Math.max(0, from), end: Math.max(0, to) }, at),
        (row) => row.value,
      ),
    blockInfoColumn(field, from, to) {
      const range = { start: Math.max(0, from), end: Math.max(0, to) };
      // Both are numbers; the compiler does not connect the field's name with its type here.
      if (field === "longTermWeight") return weightsOf(tables, range, at) as Iterable<never>;
      return columnOf(tables, field, { ...range, at });
    },
    blockBlob: (height) => tables.blocks.get(height, at),
    heightOf: (blockHash) => tables.heights.get(blockHash, at),
    transaction(hash) {
      const id = tables.transactionIds.get(hash, at);
      return id === undefined ? undefined : transactionById(id);
    },
    transactionById,
    transactionHash: (id) => tables.transactionInfo.view(id, copyOfTransactionHash, at),
    prunedTransaction: (id) => tables.prunedTransactions.get(id, at),
    prunablePart: (id) => tables.prunableParts.get(id, at),
    outputIndices: (id) => tables.outputIndices.get(id, at),
    output: (amount, index) =>
      amount === 0n ? tables.ringCtOutputs.get(index, at) : tables.outputs.get({ amount, index }, at),
    outputHeight: (amount, index) =>
      amount === 0n
        ? tables.ringCtOutputs.view(index, outputHeightColumn, at)
        : tables.outputs.view({ amount, index }, outputHeightColumn, at),
    readIntoBatch: (batch, position, output) => batch.read(tables, position, { output, at }),
    outputCount(amount) {
      if (memory === undefined || amount !== 0n) return countOutputs(amount);
      memory.ringCtOutputs ??= countOutputs(0n);
      return memory.ringCtOutputs;
    },
    *outputCounts() {
      for (const { key, value } of tables.outputCounts.entries({}, at)) yield { amount: key, count: value };
    },
    isKeyImageSpent: (image) => tables.keyImages.has(image, at),
    alternativeBlock: (hash) => tables.alternativeBlocks.get(hash, at),
    alternativeBlocks: () =>
      Array.from(tables.alternativeBlocks.entries({}, at), ({ key, value }) => ({ hash: key, ...value })),
    pruningSeed: () => readPruning(tables, "seed", at),
    prunedHeight: () => readPruning(tables, "height", at),
    poolTransactions: () =>
      Array.from(tables.poolTransactions.entries({}, at), ({ key, value }) => ({ hash: key, ...value })),
  };
}
