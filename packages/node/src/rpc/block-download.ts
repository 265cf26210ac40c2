import { whenFailed, whenReady } from "@anulo/limits";
import type { TransactionBlob } from "@anulo/rpc";
import type { BlockInfo, ChainReader } from "@anulo/storage";
import { commonHeight } from "../peers/chain-history.ts";
import type { NodeContext } from "./context.ts";
import { atThisMoment, mapInTurns, range } from "./in-turns.ts";

/** Limits of one answer. Source: core_rpc_server_commands_defs.h, blockchain.cpp, core_rpc_server.cpp. */
const MAX_BLOCKS = 1000;
const MAX_TRANSACTIONS = 20_000;
const MAX_BYTES = 100 * 1024 * 1024;
/** Of a restricted port, whose responses must stay below 32 MiB with what is told beside the blocks. */
const RESTRICTED_BYTES = 16 * 1024 * 1024;
/** Blocks that are sent however large they are. */
const MIN_BLOCKS = 3;
const MAX_HASHES = 10_000;
const RESTRICTED_BLOCKS = 1000;

const maxBytesFor = ({ restricted }: NodeContext): number => (restricted ? RESTRICTED_BYTES : MAX_BYTES);

const failed = { status: "Failed" };

interface Wanted {
  readonly prune: boolean;
  readonly withMiner: boolean;
}

/** A block with its transactions and the global indices of their outputs. */
export interface DownloadedBlock {
  readonly info: BlockInfo;
  readonly entry: { pruned: boolean; block: Uint8Array; txs: readonly TransactionBlob[] };
  readonly indices: { indices: readonly { indices: readonly number[] }[] };
  /** Bytes of the entry, about. */
  readonly bytes: number;
}

function downloadBlock(read: ChainReader, height: number, { prune, withMiner }: Wanted): DownloadedBlock {
  const info = read.blockInfo(height)!;
  const { firstTransactionId: first, transactionCount } = info;
  const ids = [...range(first + 1, first + transactionCount)];
  const miner = withMiner ? (read.outputIndices(first) ?? []) : [];
  const indices = [miner, ...ids.map((id) => read.outputIndices(id) ?? [])];
  const block = read.blockBlob(height)!;
  const txs = ids.map((id) => transactionBlob(read, id, prune));
  return {
    info,
    entry: { block, pruned: prune, txs },
    indices: { indices: indices.map((own) => ({ indices: own })) },
    bytes: txs.reduce((sum, { blob }) => sum + blob.length, block.length),
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

/** Raised where an answer would be longer than one may be. */
class TooMuch extends Error {}

interface Span {
  readonly start: number;
  /** Height of the chain. */
  readonly end: number;
  readonly prune: boolean;
  readonly maxBytes: number;
}

/** The blocks from `start` on, as many as one answer holds. */
function* blocksOfOneAnswer(
  download: (height: number) => DownloadedBlock,
  { start, end, prune, maxBytes }: Span,
): Iterable<DownloadedBlock> {
  let transactions = 0;
  let bytes = 0;
  for (let height = start; height < Math.min(end, start + MAX_BLOCKS); height++) {
    if (height - start >= MIN_BLOCKS && (bytes >= maxBytes || transactions >= MAX_TRANSACTIONS)) return;
    const block = download(height);
    yield block;
    transactions += block.info.transactionCount - 1;
    bytes += prune ? Math.ceil(block.info.weight / 2) : block.info.weight;
  }
}

interface BlocksRequest {
  readonly block_ids: readonly Uint8Array[];
  readonly start_height: number;
  readonly prune: boolean;
  readonly no_miner_tx: boolean;
}

/** Answers `/get_blocks.bin`. Source: core_rpc_server.cpp `on_get_blocks`. */
export function getBlocks(params: BlocksRequest, context: NodeContext) {
  const { parts, failingCallers, remoteAddress, signal } = context;
  const { height: current_height, topId } = parts.state.view();
  const newest = params.block_ids[0];
  if (newest !== undefined && Buffer.compare(newest, topId) === 0) return { ...empty, current_height };
  const start = startOf(parts.store.read, current_height, params);
  if (start === undefined) {
    failingCallers.failed(remoteAddress);
    return { ...empty, ...failed };
  }
  const maxBytes = maxBytesFor(context);
  const span = { start, end: current_height, prune: params.prune, maxBytes };
  const wanted = { prune: params.prune, withMiner: !params.no_miner_tx };
  const answer = () =>
    atThisMoment(parts.store, (moment) => {
      const download = (height: number) => downloadBlock(moment.read, height, wanted);
      const found = mapInTurns(
        blocksOfOneAnswer(download, span),
        ({ entry, indices }) => ({ entry, indices }),
        { moment, signal },
      );
      return whenReady(found, (blocks) => ({
        blocks: blocks.map(({ entry }) => entry),
        output_indices: blocks.map(({ indices }) => indices),
        start_height: start,
        current_height,
      }));
    });
  return whenFailed(answer, (error) => {
    if (error instanceof PrunedAway) return { ...empty, ...failed };
    throw error;
  });
}

const empty = { blocks: [], output_indices: [], start_height: 0, current_height: 0 };

function startOf(
  read: ChainReader,
  chainHeight: number,
  { start_height, block_ids }: BlocksRequest,
): number | undefined {
  if (start_height > 0) return start_height < chainHeight ? start_height : undefined;
  return commonHeight(read, block_ids);
}

/** Answers `/get_blocks_by_height.bin`. Source: core_rpc_server.cpp `on_get_blocks_by_height`. */
export function getBlocksByHeight({ heights }: { heights: readonly number[] }, context: NodeContext) {
  const { parts, restricted, signal } = context;
  if (restricted && heights.length > RESTRICTED_BLOCKS) {
    return { status: "Too many blocks requested in restricted mode", blocks: [] };
  }
  const maxBytes = maxBytesFor(context);
  const chainHeight = parts.state.view().height;
  const bad = heights.find((height) => height >= chainHeight);
  const good = bad === undefined ? heights : heights.slice(0, heights.indexOf(bad));
  const answer = () =>
    atThisMoment(parts.store, (moment) => {
      const wanted = { prune: false, withMiner: false };
      const download = (height: number) => downloadBlock(moment.read, height, wanted);
      const found = mapInTurns(withinBounds({ heights: good, maxBytes }, download), ({ entry }) => entry, {
        moment,
        signal,
      });
      const status = bad === undefined ? "OK" : `Error retrieving block at height ${bad}`;
      return whenReady(found, (blocks) => ({ blocks, status }));
    });
  return whenFailed(answer, (error) => {
    if (error instanceof PrunedAway) return { ...failed, blocks: [] };
    if (error instanceof TooMuch) return { status: "Too many blocks requested", blocks: [] };
    throw error;
  });
}

function* withinBounds(
  { heights, maxBytes }: { readonly heights: readonly number[]; readonly maxBytes: number },
  download: (height: number) => DownloadedBlock,
): Iterable<DownloadedBlock> {
  let bytes = 0;
  for (const height of heights) {
    const block = download(height);
    bytes += block.bytes;
    if (bytes > maxBytes) throw new TooMuch();
    yield block;
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
