/** Walks the node's chain from the last block both sides know to the newest one. Runs in the scan worker. */
import { type BlockOutline, equalBytes, outlineBlock } from "@anulo/protocol";
import type { Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";
import { pickOwn, type ScanContext } from "./candidates.ts";
import { createForkCheck } from "./check-forks.ts";
import { RECENT_BLOCKS } from "./history.ts";
import type { BlocksChange, ScanTask } from "./messages.ts";
import { checkPlaces, type Position } from "./places.ts";
import { type PackedTransactions, packTransactions, type RawTransaction } from "./raw-transaction.ts";
import { type Sifted, sift } from "./sift.ts";

type Answer = Awaited<ReturnType<Daemon["getBlocks"]>>;
type ReadBlock = BlockOutline & { readonly height: number };
/** Blocks that follow one another; the first stands at place `skipped` in the answer. */
type Batch = { readonly blocks: readonly ReadBlock[]; readonly answer: Answer; readonly skipped: number };

/** The most of one change, so that the wallet's thread keeps each without making its callers wait. */
const BLOCKS_PER_CHANGE = 100;
/** Some 40 ms of work. */
const TRANSACTIONS_PER_CHANGE = 1000;
/** From so many transactions on, half a second of work, other threads are asked to help. Miners' are read here anyway. */
const LONG_SCAN = 10_000;
/** Pieces under way for each thread: it has the next at hand while an answer of the node is read here. */
const PIECES_PER_THREAD = 2;

/** Threads that sift. */
export type SiftThreads = {
  readonly count: number;
  /** Undefined when it could not be done there. */
  readonly sift: (transactions: PackedTransactions) => Promise<Sifted | undefined>;
};

export type ScannedBlocks = {
  readonly change: BlocksChange;
  /** Number of blocks the node has. */
  readonly targetHeight: number;
};

type Scan = {
  readonly context: ScanContext;
  readonly task: ScanTask;
  readonly daemon: Daemon;
  /** Left out: everything is done here. */
  readonly threads?: SiftThreads | undefined;
};

/**
 * Yields what the blocks change, in order of height. The next answer of the node is on its way meanwhile, and of a long
 * scan the next pieces are sifted in other threads. What fails is told after all that came before it.
 */
export async function* scanBlocks(scan: Scan): AsyncGenerator<ScannedBlocks> {
  const { task, daemon } = scan;
  const genesis = task.history.at(-1)!;
  const start = await startHeight(task, daemon);
  const line = new Line(scan);
  const source = { daemon, checkForks: createForkCheck(task.network, daemon) };
  let asked = ask(source, { history: task.history, startHeight: start }, undefined);
  let lastHeight = -1;
  for (;;) {
    while (!line.isEmpty && !asked.isHere) yield await line.finish();
    const batch = await asked.batch;
    const last = batch.blocks.at(-1);
    const more = last !== undefined && last.height + 1 < batch.answer.current_height;
    if (more) asked = ask(source, { history: historyOf(batch, genesis), startHeight: 0 }, last.id);
    line.measure(batch);
    for (const piece of piecesOf(batch)) {
      line.begin(piece);
      while (line.isFull) yield await line.finish();
    }
    if (more && last.height > lastHeight) {
      lastHeight = last.height;
      continue;
    }
    while (!line.isEmpty) yield await line.finish();
    if (more) throw nonsense("the same blocks again");
    return;
  }
}

/** Pieces whose first half is under way, lowest first. */
class Line {
  readonly #scan: Scan;
  readonly #begun: { readonly piece: Batch; readonly second: Promise<() => BlocksChange> }[] = [];
  #threads: SiftThreads | undefined;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  get isEmpty(): boolean {
    return this.#begun.length === 0;
  }

  get isFull(): boolean {
    return this.#begun.length > PIECES_PER_THREAD * (this.#threads?.count ?? 0);
  }

  /** Takes threads once the scan, as far as this batch tells, has much before it. */
  measure({ blocks, answer }: Batch): void {
    if (blocks.length === 0) return;
    const here = blocks.reduce((sum, { transactionHashes }) => sum + transactionHashes.length, 0);
    const ahead = (here / blocks.length) * (answer.current_height - blocks[0]!.height);
    if (ahead >= LONG_SCAN) this.#threads = this.#scan.threads;
  }

  begin(piece: Batch): void {
    const second = this.#begin(piece);
    second.catch(() => undefined); // told when its turn has come
    this.#begun.push({ piece, second });
  }

  /** The second half of the lowest. */
  async finish(): Promise<ScannedBlocks> {
    const { piece, second } = this.#begun.shift()!;
    return { change: (await second)(), targetHeight: piece.answer.current_height };
  }

  async #begin(piece: Batch): Promise<() => BlocksChange> {
    const { context, task } = this.#scan;
    const transactions = transactionsOfPiece(piece, task, context);
    const sifted = await this.#threads?.sift(packTransactions(transactions));
    return () => scanPiece(context, piece, { transactions, sifted });
  }
}

/** Runs of blocks, each one change. */
function piecesOf(batch: Batch): Batch[] {
  const pieces: Batch[] = [];
  let from = 0;
  let count = 0;
  for (const [i, { transactionHashes }] of batch.blocks.entries()) {
    count += 1 + transactionHashes.length;
    const end = i + 1;
    const isLast = end === batch.blocks.length;
    if (!isLast && end - from < BLOCKS_PER_CHANGE && count < TRANSACTIONS_PER_CHANGE) continue;
    pieces.push({ ...batch, blocks: batch.blocks.slice(from, end), skipped: batch.skipped + from });
    [from, count] = [end, 0];
  }
  return pieces;
}

/** A question to the node. */
type Asked = { readonly batch: Promise<Batch>; isHere: boolean };

type Source = { readonly daemon: Daemon; readonly checkForks: ReturnType<typeof createForkCheck> };

async function fetchBatch(
  { daemon, checkForks }: Source,
  position: Position,
  lastId: Uint8Array | undefined,
) {
  const { history, startHeight } = position;
  const asked = { block_ids: [...history], start_height: startHeight, prune: true };
  const batch = readBatch(await daemon.getBlocks(asked), position, lastId);
  await checkForks(batch.blocks);
  return batch;
}

/** `lastId` (32 bytes): of the last block that is here. */
function ask(source: Source, position: Position, lastId: Uint8Array | undefined): Asked {
  const asked: Asked = { batch: fetchBatch(source, position, lastId), isHere: false };
  asked.batch.then(
    () => (asked.isHere = true),
    () => undefined, // whoever awaits it hears of it
  );
  return asked;
}

/** The node refuses a height beyond its newest block. */
async function startHeight({ startHeight: wanted }: ScanTask, daemon: Daemon): Promise<number> {
  if (wanted <= 1) return 0;
  const { height } = await daemon.getHeight();
  return Math.max(0, Math.min(wanted, height - 1));
}

/** Ids of the newest blocks of a batch, newest first, then the genesis block. */
function historyOf({ blocks }: Batch, genesis: Uint8Array): Uint8Array[] {
  const newest = blocks.slice(-10).reverse();
  return [...newest.map(({ id }) => id), genesis];
}

/** Reads the answer, without the genesis block and without a first block that the answer before ended with. */
function readBatch(answer: Answer, position: Position, lastId: Uint8Array | undefined): Batch {
  const { blocks: entries, start_height: first, output_indices: indices } = answer;
  if (entries.length !== indices.length) throw nonsense("blocks and output indices differ in number");
  const all = entries.map(({ block: blob }, i): ReadBlock => ({ ...outlineBlock(blob), height: first + i }));
  for (let i = 1; i < all.length; i++) {
    if (!equalBytes(all[i]!.header.previousId, all[i - 1]!.id))
      throw nonsense("blocks that don't follow one another");
  }
  checkPlaces(all, position);
  const repeats =
    all[0]?.height === 0 || (lastId !== undefined && all[0] !== undefined && equalBytes(all[0].id, lastId));
  const skipped = repeats ? 1 : 0;
  return { blocks: all.slice(skipped), answer, skipped };
}

function nonsense(what: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", `the node answered with ${what}`);
}

function transactionsOfPiece(
  { blocks, answer, skipped }: Batch,
  { fromHeight }: ScanTask,
  { skipsCoinbase }: ScanContext,
): RawTransaction[] {
  const all = blocks.flatMap((block, i) =>
    block.height < fromHeight ? [] : transactionsOf(block, answer, skipped + i),
  );
  return skipsCoinbase ? all.filter(({ coinbase }) => !coinbase) : all;
}

function scanPiece(
  context: ScanContext,
  { blocks, answer }: Batch,
  { transactions, sifted }: { transactions: readonly RawTransaction[]; sifted: Sifted | undefined },
): BlocksChange {
  const found = sifted ?? sift(context.keys.viewSecret, transactions);
  const last = blocks.at(-1)!;
  const isFarBehind = answer.current_height - last.height > RECENT_BLOCKS;
  const { outputCounts } = found;
  if (transactions.some(({ globalIndices }, i) => globalIndices.length !== outputCounts[i]))
    throw nonsense("a transaction without all of its output indices");
  return {
    kind: "blocks",
    fromHeight: blocks[0]!.height,
    count: blocks.length,
    ids: (isFarBehind ? [last] : blocks).map(({ id }) => id),
    lastBlockReward: last.reward,
    transactions: pickOwn(context, transactions, found),
  };
}

function transactionsOf(read: ReadBlock, answer: Answer, entry: number): RawTransaction[] {
  const { height, minerTransactionHash, transactionHashes, header } = read;
  const { block: blockBlob, txs: blobs, pruned } = answer.blocks[entry]!;
  const indices = answer.output_indices[entry]!.indices;
  if (blobs.length !== transactionHashes.length || indices.length !== blobs.length + 1) {
    throw nonsense("a block without all of its transactions");
  }
  const { timestamp, majorVersion: blockVersion } = header;
  const all: RawTransaction[] = [
    {
      form: "miner",
      blob: blockBlob,
      read: undefined,
      txHash: minerTransactionHash,
      globalIndices: indices[0]!.indices,
      coinbase: true,
      height,
      timestamp,
      blockVersion,
    },
  ];
  for (let i = 0; i < transactionHashes.length; i++) {
    all.push({
      form: pruned ? "pruned" : "whole",
      blob: blobs[i]!.blob,
      read: undefined,
      txHash: transactionHashes[i]!,
      globalIndices: indices[i + 1]!.indices,
      coinbase: false,
      height,
      timestamp,
      blockVersion,
    });
  }
  return all;
}
