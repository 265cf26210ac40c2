import {
  isPruningSeed,
  keepsWholeBlock,
  NULL_HASH,
  nextPrunedBlock,
  PRUNING_TIP_BLOCKS,
} from "@anulo/protocol";
import { DamagedDatabase } from "./damage.ts";
import type { Tables } from "./environment.ts";
import { heightName, seedName } from "./pruning-state.ts";
import type { ChainReader } from "./reader.ts";

/** The progress of pruning. */
export interface PruneStep {
  /** Blocks below this height are pruned as the seed requires. */
  readonly height: number;
  /** Height at which pruning ends for now: the newest blocks remain whole. */
  readonly end: number;
  /** Number of transactions whose prunable part was removed. */
  readonly dropped: number;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Marks the database as pruned; throws RangeError for an invalid seed, or if it has another one. */
export function startPruning(tables: Tables, read: ChainReader, seed: number): void {
  if (seed === 0 || !isPruningSeed(seed)) throw new RangeError(`${seed} is no pruning seed`);
  const pruningSeed = read.pruningSeed();
  if (pruningSeed === seed) return;
  if (pruningSeed !== 0) throw new RangeError("the database is pruned by another seed");
  tables.properties.put(seedName, uint32(seed));
  tables.properties.put(heightName, uint32(0));
}

/** Transactions of version 1 are kept whole: their hash covers the prunable part. */
function isPrunable({ prunableHash }: { readonly prunableHash: Uint8Array }): boolean {
  return Buffer.compare(prunableHash, NULL_HASH) !== 0;
}

function dropPrunableParts(tables: Tables, height: number): number {
  const info = tables.blockInfo.get(height);
  if (info === undefined) throw new DamagedDatabase(`there is no block ${height}`);
  const { firstTransactionId: first, transactionCount } = info;
  for (let id = first; id < first + transactionCount; id++) {
    const transaction = tables.transactionInfo.get(id);
    if (transaction === undefined) throw new DamagedDatabase(`there is no transaction ${id}`);
    if (isPrunable(transaction)) tables.prunableParts.remove(id);
  }
  return transactionCount;
}

/** Continues pruning, inside the caller's write transaction, until about `maxTransactions` were pruned. */
export function pruneOn(tables: Tables, read: ChainReader, maxTransactions: number): PruneStep {
  const seed = read.pruningSeed();
  const chainHeight = read.height();
  const end = Math.max(0, chainHeight - PRUNING_TIP_BLOCKS);
  let height = Math.min(read.prunedHeight(), chainHeight);
  let dropped = 0;
  if (seed === 0) return { height, end, dropped };
  const start = height;
  while (height < end && dropped < maxTransactions) {
    if (keepsWholeBlock(height, chainHeight, seed)) {
      height = Math.min(end, nextPrunedBlock(height, chainHeight, seed));
    } else {
      dropped += dropPrunableParts(tables, height);
      height++;
    }
  }
  if (height !== start) tables.properties.put(heightName, uint32(height));
  return { height, end, dropped };
}

/** Whether a block has exactly the prunable parts that the seed requires. */
export function isPrunedCorrectly(read: ChainReader, height: number): boolean {
  const info = read.blockInfo(height);
  if (info === undefined) return false;
  const mayLack = !keepsWholeBlock(height, read.height(), read.pruningSeed());
  const mustLack = mayLack && height < read.prunedHeight();
  const { firstTransactionId: first, transactionCount } = info;
  for (let id = first; id < first + transactionCount; id++) {
    const transaction = read.transactionById(id);
    if (transaction === undefined) return false;
    const isLacking = read.prunablePart(id) === undefined;
    if (isLacking ? !(mayLack && isPrunable(transaction)) : mustLack && isPrunable(transaction)) return false;
  }
  return true;
}
