/** Blocks in a node's responses: requested, checked, split into pieces. Runs in a scan thread. */
import { type BlockOutline, equalBytes, outlineBlock } from "@anulo/protocol";
import type { Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";
import type { createForkCheck } from "./check-forks.ts";
import { checkPlaces, type Position } from "./places.ts";
import type { RawTransaction } from "./raw-transaction.ts";

type Answer = Awaited<ReturnType<Daemon["getBlocks"]>>;
type ReadBlock = BlockOutline & { readonly height: number };

/** Consecutive blocks; the first has index `skipped` in the response. */
export type Batch = {
  readonly blocks: readonly ReadBlock[];
  readonly answer: Answer;
  readonly skipped: number;
  /** Blocks of the whole response, including a first one that was known already. */
  readonly all: readonly ReadBlock[];
};

/**
 * Maximum number of blocks per change, so that storing a change does not block the wallet's thread for long. Each change
 * has a cost of its own, more than a hundred empty blocks have.
 */
const BLOCKS_PER_CHANGE = 500;
/** Maximum number of transactions per change: some 40 ms of work. */
const TRANSACTIONS_PER_CHANGE = 1000;

/** Splits a batch into runs of blocks, each of which becomes one change. */
export function piecesOf(batch: Batch): Batch[] {
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

/** A request to the node; `isHere` becomes true when the response has arrived. */
export type Asked = { readonly batch: Promise<Batch>; isHere: boolean };

export type Source = { readonly daemon: Daemon; readonly checkForks: ReturnType<typeof createForkCheck> };

/** Requests the next blocks; `lastId` (32 bytes) is the id of the last block received. */
export function ask(source: Source, position: Position, lastId: Uint8Array | undefined): Asked {
  const request: Asked = { batch: fetchBatch(source, position, lastId), isHere: false };
  void request.batch.then(
    () => (request.isHere = true),
    () => undefined, // the caller that awaits it gets the error
  );
  return request;
}

async function fetchBatch(
  { daemon, checkForks }: Source,
  { history, startHeight: requestedHeight }: Position,
  lastId: Uint8Array | undefined,
): Promise<Batch> {
  const position = { history, startHeight: await startHeight(requestedHeight, daemon) };
  const params = { block_ids: [...history], start_height: position.startHeight, prune: true };
  const batch = readBatch(await daemon.getBlocks(params), position, lastId);
  await checkForks(batch.blocks);
  return batch;
}

/** The height to request: the node refuses a height beyond its newest block. */
async function startHeight(requestedHeight: number, daemon: Daemon): Promise<number> {
  if (requestedHeight <= 1) return 0;
  const { height } = await daemon.getHeight();
  return Math.max(0, Math.min(requestedHeight, height - 1));
}

/** Ids of the newest blocks of a batch, newest first, then the genesis block. */
export function historyOf(ids: readonly Uint8Array[], genesis: Uint8Array): Uint8Array[] {
  return [...ids.slice(-10).reverse(), genesis];
}

/**
 * Parses the response, without the genesis block and without a first block that was the last of the previous response.
 */
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
  return { blocks: all.slice(skipped), answer, skipped, all };
}

export function nonsense(what: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", `the node answered with ${what}`);
}

/** Transactions of the blocks from a height on, coinbase included unless it is skipped. */
export function transactionsFrom(
  { blocks, answer, skipped }: Batch,
  fromHeight: number,
  { skipsCoinbase }: { readonly skipsCoinbase: boolean },
): RawTransaction[] {
  const all = blocks.flatMap((block, i) =>
    block.height < fromHeight ? [] : transactionsOf(block, answer, skipped + i),
  );
  return skipsCoinbase ? all.filter(({ coinbase }) => !coinbase) : all;
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
