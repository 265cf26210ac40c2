import { DamagedDatabase } from "./damage.ts";
import type { Tables } from "./environment.ts";

import { readPruning } from "./pruning-state.ts";
import { type BlockInfo, type OutputInfo, WEIGHTS_PER_ROW } from "./tables.ts";

/** An output to index: its amount as on the chain (0 for RingCT), one-time key and commitment (32 bytes each). */
export interface NewOutput {
  readonly amount: bigint;
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
}

/** A transaction to store, split at its prunable part; the miner transaction is the first of its block. */
export interface NewTransaction {
  readonly hash: Uint8Array;
  readonly pruned: Uint8Array;
  /** Undefined if it was downloaded without the prunable part, which only a pruned database accepts. */
  readonly prunable: Uint8Array | undefined;
  readonly prunableHash: Uint8Array;
  readonly unlockTime: bigint;
  readonly outputs: readonly NewOutput[];
  readonly keyImages: readonly Uint8Array[];
}

/** A block to store on top of the chain, without the fields that the store computes. */
export interface NewBlock
  extends Omit<BlockInfo, "cumulativeRctOutputs" | "firstTransactionId" | "transactionCount"> {
  readonly blob: Uint8Array;
  readonly transactions: readonly NewTransaction[];
}

/** A block with its height and the number of its first transaction. */
interface BlockAtHeight {
  readonly block: NewBlock;
  readonly height: number;
  readonly firstTransactionId: number;
  readonly rctOutputsBefore: number;
}

/** A change with its inverse, so that a reorganisation undoes and applies changes block by block. */
interface BlockChange {
  apply(tables: Tables, blockAtHeight: BlockAtHeight): void;
  undo(tables: Tables, blockAtHeight: BlockAtHeight): void;
}

const storeBlock: BlockChange = {
  apply(tables, { block, height, firstTransactionId, rctOutputsBefore }) {
    const { blob, transactions, ...facts } = block;
    const rctOutputs = transactions.flatMap((tx) => tx.outputs).filter((output) => output.amount === 0n);
    tables.blocks.put(height, blob);
    tables.heights.put(block.hash, height);
    tables.blockInfo.put(height, {
      ...facts,
      cumulativeRctOutputs: rctOutputsBefore + rctOutputs.length,
      firstTransactionId,
      transactionCount: transactions.length,
    });
  },
  undo(tables, { block, height }) {
    tables.blockInfo.remove(height);
    tables.heights.remove(block.hash);
    tables.blocks.remove(height);
  },
};

const storeLongTermWeight: BlockChange = {
  apply({ longTermWeights }, { block, height }) {
    const row = Math.floor(height / WEIGHTS_PER_ROW);
    longTermWeights.put(row, [...(longTermWeights.get(row) ?? []), block.longTermWeight]);
  },
  undo({ longTermWeights }, { height }) {
    const row = Math.floor(height / WEIGHTS_PER_ROW);
    const weights = longTermWeights.get(row)?.slice(0, height % WEIGHTS_PER_ROW) ?? [];
    if (weights.length === 0) longTermWeights.remove(row);
    else longTermWeights.put(row, weights);
  },
};

const storeTransactions: BlockChange = {
  apply(tables, { block, height, firstTransactionId }) {
    for (const [i, { hash, pruned, prunable, prunableHash, unlockTime }] of block.transactions.entries()) {
      const id = firstTransactionId + i;
      tables.transactionIds.put(hash, id);
      tables.transactionInfo.put(id, { hash, height, unlockTime, prunableHash });
      tables.prunedTransactions.put(id, pruned);
      if (prunable !== undefined) tables.prunableParts.put(id, prunable);
      else if (readPruning(tables, "seed") === 0)
        throw new RangeError("only a pruned database lacks prunable parts");
    }
  },
  undo(tables, { block, firstTransactionId }) {
    for (const [i, { hash }] of block.transactions.entries()) {
      const id = firstTransactionId + i;
      tables.transactionIds.remove(hash);
      tables.transactionInfo.remove(id);
      tables.prunedTransactions.remove(id);
      tables.prunableParts.remove(id);
    }
  },
};

interface OutputPlace {
  readonly amount: bigint;
  readonly index: number;
}

function putOutput(tables: Tables, { amount, index }: OutputPlace, row: OutputInfo): void {
  if (amount === 0n) tables.ringCtOutputs.put(index, row);
  else tables.outputs.put({ amount, index }, row);
}

function removeOutput(tables: Tables, { amount, index }: OutputPlace): void {
  if (amount === 0n) tables.ringCtOutputs.remove(index);
  else tables.outputs.remove({ amount, index });
}

const indexOutputs: BlockChange = {
  apply(tables, { block, height, firstTransactionId }) {
    for (const [i, { outputs, unlockTime }] of block.transactions.entries()) {
      const transactionId = firstTransactionId + i;
      const indices = outputs.map(({ amount, key, commitment }, indexInTransaction) => {
        const index = tables.outputCounts.get(amount) ?? 0;
        putOutput(
          tables,
          { amount, index },
          {
            key,
            commitment,
            unlockTime,
            height,
            transactionId,
            indexInTransaction,
          },
        );
        tables.outputCounts.put(amount, index + 1);
        return index;
      });
      tables.outputIndices.put(transactionId, indices);
    }
  },
  undo(tables, { block, firstTransactionId }) {
    for (const [i, { outputs }] of [...block.transactions.entries()].reverse()) {
      for (const { amount } of outputs.toReversed()) {
        const index = (tables.outputCounts.get(amount) ?? 0) - 1;
        removeOutput(tables, { amount, index });
        if (index === 0) tables.outputCounts.remove(amount);
        else tables.outputCounts.put(amount, index);
      }
      tables.outputIndices.remove(firstTransactionId + i);
    }
  },
};

const indexKeyImages: BlockChange = {
  apply(tables, { block }) {
    for (const { keyImages } of block.transactions)
      for (const image of keyImages) tables.keyImages.put(image, true);
  },
  undo(tables, { block }) {
    for (const { keyImages } of block.transactions)
      for (const image of keyImages) tables.keyImages.remove(image);
  },
};

/** All changes of a block, in the order in which they are applied; undone in reverse order. */
const blockChanges = [storeBlock, storeLongTermWeight, storeTransactions, indexOutputs, indexKeyImages];

/** The newest main-chain block, or undefined before the first one. */
function topBlock(tables: Tables): { readonly height: number; readonly info: BlockInfo } | undefined {
  for (const { key, value } of tables.blockInfo.entries({ reverse: true, limit: 1 })) {
    return { height: key, info: value };
  }
  return undefined;
}

/** Writes a block on top of the chain, inside the caller's write transaction. */
export function applyBlock(tables: Tables, block: NewBlock): void {
  const top = topBlock(tables);
  const blockAtHeight: BlockAtHeight = {
    block,
    height: top === undefined ? 0 : top.height + 1,
    firstTransactionId: top === undefined ? 0 : top.info.firstTransactionId + top.info.transactionCount,
    rctOutputsBefore: top?.info.cumulativeRctOutputs ?? 0,
  };
  for (const change of blockChanges) change.apply(tables, blockAtHeight);
}

/** What a stored transaction creates and spends; the caller, who knows the format, reads it from the bytes. */
export interface TransactionFacts {
  /** Amount of each output as on the chain (0 for RingCT). */
  readonly outputAmounts: readonly bigint[];
  readonly keyImages: readonly Uint8Array[];
}

/** A removed block with the bytes of its transactions, the miner transaction first. */
export interface RemovedBlock {
  readonly height: number;
  readonly info: BlockInfo;
  readonly blob: Uint8Array;
  readonly transactions: readonly {
    readonly hash: Uint8Array;
    readonly pruned: Uint8Array;
    /** Undefined where it was pruned. */
    readonly prunable: Uint8Array | undefined;
  }[];
}

function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new DamagedDatabase(`${what} is missing`);
  return value;
}

function readTop(tables: Tables): RemovedBlock | undefined {
  const top = topBlock(tables);
  if (top === undefined) return undefined;
  const transactions = Array.from({ length: top.info.transactionCount }, (_, i) => {
    const id = top.info.firstTransactionId + i;
    return {
      hash: must(tables.transactionInfo.get(id), "transaction info").hash,
      pruned: must(tables.prunedTransactions.get(id), "transaction"),
      prunable: tables.prunableParts.get(id),
    };
  });
  return { ...top, blob: must(tables.blocks.get(top.height), "block"), transactions };
}

const NO_BYTES = new Uint8Array(0);

/** Removes the newest block, inside the caller's write transaction; undefined when there is none. */
export function undoBlock(
  tables: Tables,
  factsOf: (pruned: Uint8Array) => TransactionFacts,
): RemovedBlock | undefined {
  const removed = readTop(tables);
  if (removed === undefined) return undefined;
  const transactions = removed.transactions.map(({ hash, pruned, prunable }) => {
    const { outputAmounts, keyImages } = factsOf(pruned);
    const outputs = outputAmounts.map((amount) => ({ amount, key: NO_BYTES, commitment: NO_BYTES }));
    return { hash, pruned, prunable, prunableHash: NO_BYTES, unlockTime: 0n, outputs, keyImages };
  });
  const block: NewBlock = { ...removed.info, blob: removed.blob, transactions };
  const { height, info } = removed;
  const blockAtHeight = { block, height, firstTransactionId: info.firstTransactionId, rctOutputsBefore: 0 };
  for (const change of blockChanges.toReversed()) change.undo(tables, blockAtHeight);
  return removed;
}
