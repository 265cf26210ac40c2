/** Walks the node's chain from the last block both sides know to the newest one. Runs in the scan worker. */
import {
  type Block,
  equalBytes,
  type IdentifiedBlock,
  readIdentifiedBlock,
  readTransaction,
  type Transaction,
  writeTransaction,
} from "@anulo/protocol";
import type { Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";
import { RECENT_BLOCKS } from "./apply-blocks.ts";
import { type RawTransaction, type ScanContext, scanTransactions } from "./candidates.ts";
import type { BlocksChange, ScanTask } from "./messages.ts";
import { checkPlaces, type Position } from "./places.ts";
import { fullTransactionSize } from "./transaction-size.ts";

type Answer = Awaited<ReturnType<Daemon["getBlocks"]>>;
type ReadBlock = IdentifiedBlock & { readonly height: number };
/** Blocks that follow one another; the first stands at place `skipped` in the answer. */
type Batch = { readonly blocks: readonly ReadBlock[]; readonly answer: Answer; readonly skipped: number };

const BLOCKS_PER_CHANGE = 100;

export type ScannedBlocks = {
  readonly change: BlocksChange;
  /** Number of blocks the node has. */
  readonly targetHeight: number;
};

/** Yields what each answer of the node changes, in order of height; the next answer is on its way meanwhile. */
export async function* scanBlocks(
  context: ScanContext,
  task: ScanTask,
  daemon: Daemon,
): AsyncGenerator<ScannedBlocks> {
  const genesis = task.history.at(-1)!;
  const start = await startHeight(task, daemon);
  let position: Position = { history: task.history, startHeight: start };
  let asked = ask(daemon, position);
  let lastId: Uint8Array | undefined;
  let lastHeight = -1;
  for (;;) {
    const batch = readBatch(await asked, position, lastId);
    const last = batch.blocks.at(-1);
    const more = last !== undefined && last.height + 1 < batch.answer.current_height;
    if (more) {
      position = { history: historyOf(batch, genesis), startHeight: 0 };
      asked = ask(daemon, position);
    }
    const targetHeight = batch.answer.current_height;
    for (const piece of piecesOf(batch)) yield { change: scanBatch(context, task, piece), targetHeight };
    if (!more) return;
    if (last.height <= lastHeight) throw nonsense("the same blocks again");
    [lastId, lastHeight] = [last.id, last.height];
  }
}

/** Pieces small enough that the wallet's thread keeps each without making its callers wait. */
function piecesOf(batch: Batch): Batch[] {
  const pieces: Batch[] = [];
  for (let at = 0; at < batch.blocks.length; at += BLOCKS_PER_CHANGE) {
    const blocks = batch.blocks.slice(at, at + BLOCKS_PER_CHANGE);
    pieces.push({ ...batch, blocks, skipped: batch.skipped + at });
  }
  return pieces;
}

function ask(daemon: Daemon, { history, startHeight }: Position): Promise<Answer> {
  const asked = daemon.getBlocks({ block_ids: [...history], start_height: startHeight, prune: true });
  asked.catch(() => undefined); // whoever awaits it hears of it
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
  const all = entries.map(({ block: blob }, i): ReadBlock => {
    const { block, id, minerTransactionHash } = readIdentifiedBlock(blob);
    return { height: first + i, id, block, minerTransactionHash };
  });
  for (let i = 1; i < all.length; i++) {
    if (!equalBytes(all[i]!.block.header.previousId, all[i - 1]!.id))
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

function scanBatch(context: ScanContext, task: ScanTask, batch: Batch): BlocksChange {
  const { blocks, answer } = batch;
  const last = blocks.at(-1)!;
  const transactions = blocks.flatMap((block, i) =>
    block.height < task.fromHeight ? [] : transactionsOf(block, answer, batch.skipped + i),
  );
  const isFarBehind = answer.current_height - last.height > RECENT_BLOCKS;
  return {
    kind: "blocks",
    fromHeight: blocks[0]!.height,
    count: blocks.length,
    ids: (isFarBehind ? [last] : blocks).map(({ id }) => id),
    lastBlockReward: rewardOf(last.block),
    transactions: scanTransactions(context, transactions),
  };
}

function rewardOf({ minerTransaction }: Block): bigint {
  return minerTransaction.prefix.outputs.reduce((sum, { amount }) => sum + amount, 0n);
}

function transactionsOf(read: ReadBlock, answer: Answer, entry: number): RawTransaction[] {
  const { block, height, minerTransactionHash } = read;
  const { txs: blobs, pruned } = answer.blocks[entry]!;
  const indices = answer.output_indices[entry]!.indices;
  const { minerTransaction, transactionHashes, header } = block;
  if (blobs.length !== transactionHashes.length || indices.length !== blobs.length + 1) {
    throw nonsense("a block without all of its transactions");
  }
  const { timestamp, majorVersion: blockVersion } = header;
  const miner: RawTransaction = {
    transaction: minerTransaction,
    identify: () => ({
      txHash: minerTransactionHash,
      txSize: writeTransaction(minerTransaction).length,
    }),
    globalIndices: globalIndices(indices[0]!.indices, minerTransaction),
    coinbase: true,
    height,
    timestamp,
    blockVersion,
  };
  const others = transactionHashes.map((txHash, i): RawTransaction => {
    const { blob } = blobs[i]!;
    const transaction = readTransaction(blob, { pruned });
    const txSize = pruned ? fullTransactionSize(transaction, blob.length) : blob.length;
    return {
      transaction,
      identify: () => ({ txHash, txSize }),
      globalIndices: globalIndices(indices[i + 1]!.indices, transaction),
      coinbase: false,
      height,
      timestamp,
      blockVersion,
    };
  });
  return [miner, ...others];
}

function globalIndices(indices: readonly number[], { prefix }: Transaction): bigint[] {
  if (indices.length !== prefix.outputs.length)
    throw nonsense("a transaction without all of its output indices");
  return indices.map(BigInt);
}
