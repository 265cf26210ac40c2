import type { TransactionBlob } from "@anulo/rpc";
import type { BlockInfo, ChainReader } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { mapInTurns, range } from "./in-turns.ts";

/** Limits of one answer. Source: core_rpc_server_commands_defs.h, blockchain.cpp, core_rpc_server.cpp. */
const MAX_BLOCKS = 1000;
const MAX_TRANSACTIONS = 20_000;
const MAX_BYTES = 100 * 1024 * 1024;
/** Blocks that are sent however large they are. */
const MIN_BLOCKS = 3;
const MAX_HASHES = 10_000;
const RESTRICTED_BLOCKS = 1000;

const failed = { status: "Failed" };

/**
 * Height of the newest block that both sides know, from the caller's ids (32 bytes each, newest first), whose
 * last must be the genesis block; undefined where it is not. Source: blockchain.cpp `find_blockchain_supplement`.
 */
function commonHeight(read: ChainReader, ids: readonly Uint8Array[]): number | undefined {
  const last = ids.at(-1);
  if (last === undefined || read.heightOf(last) !== 0) return undefined;
  for (const id of ids) {
    const height = read.heightOf(id);
    if (height !== undefined) return height;
  }
  return undefined;
}

interface Wanted {
  readonly prune: boolean;
  readonly withMiner: boolean;
}

/** A block with its transactions and the global indices of their outputs. */
function downloadBlock(read: ChainReader, { height, info }: Place, { prune, withMiner }: Wanted) {
  const { firstTransactionId: first, transactionCount } = info;
  const ids = [...range(first + 1, first + transactionCount)];
  const miner = withMiner ? [...(read.outputIndices(first) ?? [])] : [];
  const indices = [miner, ...ids.map((id) => [...(read.outputIndices(id) ?? [])])];
  return {
    entry: {
      pruned: prune,
      block: read.blockBlob(height)!,
      txs: ids.map((id) => transactionBlob(read, id, prune)),
    },
    indices: { indices: indices.map((own) => ({ indices: own })) },
  };
}

function transactionBlob(read: ChainReader, id: number, prune: boolean): TransactionBlob {
  const pruned = read.prunedTransaction(id)!;
  if (prune) return { blob: pruned, prunable_hash: new Uint8Array(32) };
  const prunable = read.prunablePart(id);
  if (prunable === undefined) throw new PrunedAway();
  return { blob: Buffer.concat([pruned, prunable]) };
}

/** Raised where whole transactions are wanted of a block that was pruned. */
class PrunedAway extends Error {}

interface Place {
  readonly height: number;
  readonly info: BlockInfo;
}

/** The blocks from `start` on, as many as one answer holds. */
function* blocksOfOneAnswer(read: ChainReader, start: number, prune: boolean): Iterable<Place> {
  let transactions = 0;
  let bytes = 0;
  const end = Math.min(read.height(), start + MAX_BLOCKS);
  for (let height = start; height < end; height++) {
    const info = read.blockInfo(height)!;
    if (height - start >= MIN_BLOCKS && (bytes >= MAX_BYTES || transactions >= MAX_TRANSACTIONS)) return;
    yield { height, info };
    transactions += info.transactionCount - 1;
    bytes += prune ? Math.ceil(info.weight / 2) : info.weight;
  }
}

/** Answers `/get_blocks.bin`. Source: core_rpc_server.cpp `on_get_blocks`. */
export async function getBlocks(
  params: { block_ids: readonly Uint8Array[]; start_height: number; prune: boolean; no_miner_tx: boolean },
  context: NodeContext,
) {
  const snapshot = context.parts.store.snapshot();
  try {
    const current_height = snapshot.height();
    const top = snapshot.blockInfo(current_height - 1)!;
    const newest = params.block_ids[0];
    if (newest !== undefined && Buffer.compare(newest, top.hash) === 0) {
      return { blocks: [], output_indices: [], start_height: 0, current_height };
    }
    const start = startOf(snapshot, params);
    if (start === undefined) {
      context.failingCallers.failed(context.remoteAddress);
      return { ...empty, ...failed };
    }
    const wanted = { prune: params.prune, withMiner: !params.no_miner_tx };
    const places = blocksOfOneAnswer(snapshot, start, params.prune);
    const blocks = await mapInTurns(places, (place) => downloadBlock(snapshot, place, wanted));
    return {
      blocks: blocks.map(({ entry }) => entry),
      output_indices: blocks.map(({ indices }) => indices),
      start_height: start,
      current_height,
    };
  } catch (error) {
    if (error instanceof PrunedAway) return { ...empty, ...failed };
    throw error;
  } finally {
    snapshot.close();
  }
}

const empty = { blocks: [], output_indices: [], start_height: 0, current_height: 0 };

function startOf(
  read: ChainReader,
  { start_height, block_ids }: { start_height: number; block_ids: readonly Uint8Array[] },
): number | undefined {
  if (start_height > 0) return start_height < read.height() ? start_height : undefined;
  return commonHeight(read, block_ids);
}

/** Answers `/get_blocks_by_height.bin`. Source: core_rpc_server.cpp `on_get_blocks_by_height`. */
export async function getBlocksByHeight({ heights }: { heights: readonly number[] }, context: NodeContext) {
  if (context.restricted && heights.length > RESTRICTED_BLOCKS) {
    return { status: "Too many blocks requested in restricted mode", blocks: [] };
  }
  const snapshot = context.parts.store.snapshot();
  try {
    const bad = heights.find((height) => height >= snapshot.height());
    const good = bad === undefined ? heights : heights.slice(0, heights.indexOf(bad));
    const wanted = { prune: false, withMiner: false };
    const blocks = await mapInTurns(good, (height) => {
      return downloadBlock(snapshot, { height, info: snapshot.blockInfo(height)! }, wanted).entry;
    });
    return bad === undefined ? { blocks } : { blocks, status: `Error retrieving block at height ${bad}` };
  } catch (error) {
    if (error instanceof PrunedAway) return { ...failed, blocks: [] };
    throw error;
  } finally {
    snapshot.close();
  }
}

/** Answers `/get_hashes.bin`. Source: core_rpc_server.cpp `on_get_hashes`. */
export function getHashes(
  { block_ids, start_height }: { block_ids: readonly Uint8Array[]; start_height: number },
  { parts, failingCallers, remoteAddress }: NodeContext,
) {
  const { read } = parts.store;
  const start = commonHeight(read, block_ids);
  if (start === undefined) {
    failingCallers.failed(remoteAddress);
    return { ...failed, m_block_ids: [], start_height, current_height: 0 };
  }
  const infos = read.blockInfos(start, start + MAX_HASHES);
  return { m_block_ids: infos.map(({ hash }) => hash), start_height: start, current_height: read.height() };
}
