import { type MaybePromise, runSliced, whenFailed, whenReady } from "@anulo/limits";
import { RpcError, type TransactionBlob } from "@anulo/rpc";
import type { BlockExtent, ChainReader } from "@anulo/storage";
import { commonHeightSteps } from "../peers/chain-history.ts";
import type { ChainCallContext } from "./chain-call-context.ts";
import type { NodeContext } from "./context.ts";
import { atThisMoment, drawnAtThisMoment, mapInTurns } from "./in-turns.ts";
import { poolInfo, requestedInfo } from "./pool-info.ts";
import { errorCodes } from "./refusal.ts";

/** Limits of one answer. Source: core_rpc_server_commands_defs.h, blockchain.cpp, core_rpc_server.cpp. */
const MAX_BLOCKS = 1000;
const MAX_TRANSACTIONS = 20_000;
const MAX_BYTES = 100 * 1024 * 1024;
/** Limit of a restricted port, whose responses must stay below 32 MiB with what is returned besides the blocks. */
const RESTRICTED_BYTES = 16 * 1024 * 1024;
/** Of these, whole transactions of the pool have a quarter at most. */
const POOL_SHARE = 1 / 4;
/** Blocks that are sent however large they are. */
const MIN_BLOCKS = 3;
const MAX_HASHES = 10_000;
const RESTRICTED_BLOCKS = 1000;

const maxBytesFor = ({ restricted }: ChainCallContext): number => (restricted ? RESTRICTED_BYTES : MAX_BYTES);

const failed = { status: "Failed" };

/** A block of the main chain, and which transactions are in it beside the miner's. */
interface Downloaded {
  readonly height: number;
  readonly extent: BlockExtent;
}

/** A block with its transactions. */
function blockEntry(read: ChainReader, { height, extent }: Downloaded, prune: boolean) {
  const { firstTransactionId: first, transactionCount } = extent;
  const txs: TransactionBlob[] = [];
  for (let id = first + 1; id < first + transactionCount; id++) txs.push(transactionBlob(read, id, prune));
  return { block: read.blockBlob(height)!, pruned: prune, txs };
}

/** Global indices of the outputs of a block, by its transactions; of the miner's none where they are not wanted. */
function blockIndices(read: ChainReader, { extent }: Downloaded, withMiner: boolean) {
  const { firstTransactionId: first, transactionCount } = extent;
  const indices = [{ indices: withMiner ? (read.outputIndices(first) ?? []) : [] }];
  for (let id = first + 1; id < first + transactionCount; id++)
    indices.push({ indices: read.outputIndices(id) ?? [] });
  return { indices };
}

function transactionBlob(read: ChainReader, id: number, prune: boolean): TransactionBlob {
  const pruned = read.prunedTransaction(id)!;
  if (prune) return { blob: pruned, prunable_hash: new Uint8Array(32) };
  const prunable = read.prunablePart(id);
  if (prunable === undefined) throw new PrunedAway();
  return { blob: Buffer.concat([pruned, prunable]) };
}

/** Raised where whole transactions are wanted of a block that was pruned. */
class PrunedAway extends RpcError {
  constructor() {
    super(errorCodes.internal, failed.status);
  }
}

/** Raised where an answer would be longer than one may be. */
class TooMuch extends Error {}

interface Span {
  readonly start: number;
  /** Height of the chain. */
  readonly end: number;
  readonly prune: boolean;
  readonly maxBlocks: number;
  readonly maxBytes: number;
}

/** The blocks from `start` on, as many as one answer holds. */
function blocksOfOneAnswer(read: ChainReader, { start, end, ...bounds }: Span): Downloaded[] {
  const { prune, maxBlocks, maxBytes } = bounds;
  const blocks: Downloaded[] = [];
  let transactions = 0;
  let bytes = 0;
  for (let height = start; height < Math.min(end, start + maxBlocks); height++) {
    if (height - start >= MIN_BLOCKS && (bytes >= maxBytes || transactions >= MAX_TRANSACTIONS)) break;
    const extent = read.blockExtent(height)!;
    blocks.push({ height, extent });
    transactions += extent.transactionCount - 1;
    bytes += prune ? Math.ceil(extent.weight / 2) : extent.weight;
  }
  return blocks;
}

interface BlocksRequest {
  readonly block_ids: readonly Uint8Array[];
  readonly start_height: number;
  readonly prune: boolean;
  readonly no_miner_tx: boolean;
  /** 0: as many as one answer holds. */
  readonly max_block_count: bigint;
}

interface BlocksAndPoolRequest extends BlocksRequest {
  readonly requested_info: number;
  readonly pool_info_since: bigint;
}

/** Answers `/get_blocks.bin`. Source: core_rpc_server.cpp `on_get_blocks`. */
export function getBlocks(params: BlocksAndPoolRequest, context: NodeContext) {
  const { requested_info, pool_info_since, prune } = params;
  if (requested_info === requestedInfo.blocks) return getBlocksOnly(params, context);
  const daemon_time = context.parts.now();
  if (requested_info > requestedInfo.pool)
    return { ...empty, status: "Failed, wrong requested info", daemon_time };
  const pool = () =>
    poolInfo({ pool_info_since, prune, maxBytes: maxBytesFor(context) * POOL_SHARE }, context);
  if (requested_info === requestedInfo.pool) return { ...empty, ...pool().fields, daemon_time };
  // From where it is known where to start nothing pauses: blocks and pool are of one moment.
  return whenReady(startOf(params, context), (start) => {
    const { bytes, fields } = pool();
    const maxBytes = maxBytesFor(context) - bytes;
    return {
      ...blocksFor(params, context, { start, maxBytes }),
      ...fields,
      daemon_time: context.parts.now(),
    };
  });
}

/** Answers `/get_blocks.bin` where nothing of the pool is asked for. */
export function getBlocksOnly(params: BlocksRequest, context: ChainCallContext) {
  return whenReady(startOf(params, context), (start) => ({
    ...blocksFor(params, context, { start, maxBytes: maxBytesFor(context) }),
    daemon_time: context.parts.now(),
  }));
}

/** The blocks from `start` on, where the caller's chain and ours part; nothing where there are none. */
function blocksFor(
  params: BlocksRequest,
  context: ChainCallContext,
  { start, maxBytes }: { readonly start: number | undefined; readonly maxBytes: number },
) {
  const { parts, failingCallers, remoteAddress } = context;
  const { height: current_height, topId } = parts.state.view();
  const newest = params.block_ids[0];
  if (newest !== undefined && Buffer.compare(newest, topId) === 0) return { ...empty, current_height };
  if (start === undefined) {
    failingCallers.failed(remoteAddress);
    return { ...empty, ...failed };
  }
  const { prune, no_miner_tx, max_block_count: maxBlockCount } = params;
  const maxBlocks = maxBlockCount === 0n || maxBlockCount > MAX_BLOCKS ? MAX_BLOCKS : Number(maxBlockCount);
  const span = { start, end: current_height, prune, maxBlocks, maxBytes };
  const blocks = blocksOfOneAnswer(parts.store.read, span);
  const drawEach = <T>(draw: (read: ChainReader, block: Downloaded) => T) =>
    drawnAtThisMoment(parts.store, blocks.length, (read, place) => draw(read, blocks[place]!));
  return {
    blocks: drawEach((read, block) => blockEntry(read, block, prune)),
    output_indices: drawEach((read, block) => blockIndices(read, block, !no_miner_tx)),
    start_height: start,
    current_height,
  };
}

const empty = { blocks: [], output_indices: [], start_height: 0, current_height: 0 };

/** Where blocks are wanted from; undefined where the caller is on another chain, or asks for blocks above ours. */
function startOf(
  { start_height, block_ids }: BlocksRequest,
  context: ChainCallContext,
): MaybePromise<number | undefined> {
  if (start_height === 0) return sharedHeight(block_ids, context);
  return start_height < context.parts.store.read.height() ? start_height : undefined;
}

/** Height of the first of these blocks that we have; looking for it pauses, as others decide how many they are. */
function sharedHeight(
  ids: readonly Uint8Array[],
  { parts, signal, rows }: ChainCallContext,
): MaybePromise<number | undefined> {
  const steps = () => commonHeightSteps(parts.store.read, ids);
  return rows.during((options) => runSliced(steps(), options), { signal });
}

/** Answers `/get_blocks_by_height.bin`. Source: core_rpc_server.cpp `on_get_blocks_by_height`. */
export function getBlocksByHeight({ heights }: { heights: readonly number[] }, context: ChainCallContext) {
  const { parts, restricted, signal, rows } = context;
  if (restricted && heights.length > RESTRICTED_BLOCKS) {
    return { status: "Too many blocks requested in restricted mode", blocks: [] };
  }
  const maxBytes = maxBytesFor(context);
  const chainHeight = parts.state.view().height;
  const bad = heights.find((height) => height >= chainHeight);
  const good = bad === undefined ? heights : heights.slice(0, heights.indexOf(bad));
  const answer = () =>
    atThisMoment(parts.store, (moment) => {
      const download = (height: number) =>
        blockEntry(moment.read, { height, extent: moment.read.blockExtent(height)! }, false);
      const entries = withinBounds({ heights: good, maxBytes }, download);
      const read = mapInTurns(entries, (entry) => entry, { moment, signal, rows });
      const status = bad === undefined ? "OK" : `Error retrieving block at height ${bad}`;
      return whenReady(read, (blocks) => ({ blocks, status }));
    });
  return whenFailed(answer, (error) => {
    if (error instanceof PrunedAway) return { ...failed, blocks: [] };
    if (error instanceof TooMuch) return { status: "Too many blocks requested", blocks: [] };
    throw error;
  });
}

type BlockEntry = ReturnType<typeof blockEntry>;

function* withinBounds(
  { heights, maxBytes }: { readonly heights: readonly number[]; readonly maxBytes: number },
  download: (height: number) => BlockEntry,
): Iterable<BlockEntry> {
  let bytes = 0;
  for (const height of heights) {
    const entry = download(height);
    bytes += entry.txs.reduce((sum, { blob }) => sum + blob.length, entry.block.length);
    if (bytes > maxBytes) throw new TooMuch();
    yield entry;
  }
}

/** Answers `/get_hashes.bin`. Source: core_rpc_server.cpp `on_get_hashes`. */
export function getHashes(
  { block_ids, start_height }: { block_ids: readonly Uint8Array[]; start_height: number },
  context: NodeContext,
) {
  const { parts, failingCallers, remoteAddress } = context;
  return whenReady(sharedHeight(block_ids, context), (start) => {
    if (start === undefined) {
      failingCallers.failed(remoteAddress);
      return { ...failed, m_block_ids: [], start_height, current_height: 0 };
    }
    const { read } = parts.store;
    const current_height = read.height();
    const end = Math.min(current_height, start + MAX_HASHES);
    return {
      m_block_ids: [...read.blockInfoColumn("hash", start, end)],
      start_height: start,
      current_height,
    };
  });
}
