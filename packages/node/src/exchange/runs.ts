import { KNOWN_GROUP_BLOCKS } from "@anulo/consensus";
import { TimeSlice } from "@anulo/limits";
import { BadSource, type ChainSource } from "@anulo/storage";
import type { FetchedBlock } from "../chain/import-blocks.ts";
import type { ChainParts } from "../chain/parts.ts";
import { placeOf, readSourceBlock } from "./source-block.ts";
import { fetchedTransactions } from "./source-transactions.ts";

/** The parts and options of an import. */
export interface Import {
  readonly parts: ChainParts;
  readonly source: ChainSource;
  /** The source's path, for errors. */
  readonly path: string;
  /** Height of the last block to import; by default all are. */
  readonly last?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where to continue: a height, and the number of transactions in the blocks below it, miner transactions included. */
export interface Start {
  readonly height: number;
  readonly transactionsBefore: number;
}

/** Consecutive blocks. */
export interface Run {
  readonly blocks: readonly FetchedBlock[];
  /** Height after its last block. */
  readonly end: number;
  /** The part of the source up to its end, 0 to 1. */
  readonly done: number;
  /** The place of each block in the source, by its id (hexadecimal). */
  readonly places: ReadonlyMap<string, string>;
}

/** A run is judged in one piece: the limits of its blocks and bytes are those of runs from peers. */
const RUN_BLOCKS = 100;
const RUN_BYTES = 2 * 1024 * 1024;

/** Reads the source's blocks in runs, as a peer would send them; rejects with BadSource. */
export async function* runsFrom(importing: Import, start: Start): AsyncGenerator<Run, void> {
  const { parts, source, path, last = Number.POSITIVE_INFINITY, signal } = importing;
  const slice = new TimeSlice();
  let run = emptyRun();
  /** Blocks below this height were compared with those known beforehand. */
  let compared = start.height;
  let transactionsBefore = start.transactionsBefore;
  try {
    for (const block of source.blocks(start)) {
      if (slice.isOver) await slice.yield();
      if (signal?.aborted === true || (block !== undefined && block.height > last)) break;
      if (block === undefined) continue;
      const { height } = block;
      if (height >= compared) compared = await compareKnown(importing, { height, transactionsBefore });
      const incoming = readSourceBlock(path, block);
      const isKnown = parts.confirmedBlocks.idAt(height) !== undefined;
      const txs = fetchedTransactions(path, block, {
        incoming,
        isKnown,
        pruningSeed: parts.store.read.pruningSeed(),
      });
      const size = txs.reduce((sum, tx) => sum + bytesOf(tx), block.blob.length);
      run.blocks.push({ incoming, txs, size });
      run.places.set(incoming.key, placeOf(block));
      run.bytes += size;
      run.end = height + 1;
      run.done = block.done;
      transactionsBefore += txs.length + 1;
      if (run.blocks.length < RUN_BLOCKS && run.bytes < RUN_BYTES) continue;
      yield run;
      run = emptyRun();
    }
  } catch (error) {
    // The complete blocks before the damage are imported.
    if (run.blocks.length > 0) yield run;
    throw error;
  }
  if (run.blocks.length > 0) yield run;
}

function emptyRun() {
  const blocks: FetchedBlock[] = [];
  return { blocks, places: new Map<string, string>(), bytes: 0, end: 0, done: 0 };
}

function bytesOf(tx: FetchedBlock["txs"][number]): number {
  return (tx instanceof Uint8Array ? tx : tx.pruned).length;
}

/**
 * Compares the blocks from a height to the end of its group with the known blocks; equal ones need no proofs. Returns
 * the height after them. Rejects with BadSource for another chain, as a peer with such a chain would be dropped.
 */
async function compareKnown({ parts, source, path, signal }: Import, start: Start): Promise<number> {
  const end = (Math.floor(start.height / KNOWN_GROUP_BLOCKS) + 1) * KNOWN_GROUP_BLOCKS;
  if (!parts.confirmedBlocks.isCovered(start.height)) return Number.POSITIVE_INFINITY;
  const ids: Uint8Array[] = [];
  const weights: number[] = [];
  const slice = new TimeSlice();
  for (const block of source.blocks({ ...start, withTransactions: false })) {
    if (slice.isOver) await slice.yield();
    if (block === undefined) continue;
    if (block.height >= end || signal?.aborted === true) break;
    ids.push(readSourceBlock(path, block).id);
    if (block.weight !== undefined) weights.push(block.weight);
  }
  const isToTop = start.height + ids.length < end;
  const announced = {
    start: start.height,
    ids,
    weights: weights.length === ids.length ? weights : undefined,
  };
  const usable = parts.confirmedBlocks.confirm({ ...announced, isToTop });
  if (usable === ids.length) return end;
  throw new BadSource(
    path,
    `blocks ${start.height} to ${end - 1} are not those that are known of this network`,
  );
}
