import { type MaybePromise, whenReady } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import { popBlocks } from "../chain/chain.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import { alternateChains } from "./alternate-chains.ts";
import { getBlocks, getBlocksByHeight, getHashes } from "./block-download.ts";
import { coinbaseSum } from "./coinbase-sum.ts";
import { busy, type NodeContext, refusal } from "./context.ts";
import { blockAt, blockFacts, blockOf, type FoundBlock, noHeader } from "./describe-block.ts";
import { hardForkInfo } from "./hard-fork-info.ts";
import { describeHeaderOf, describeKnownHeader, type Header } from "./headers.ts";
import { bytesOfHex } from "./hex-params.ts";
import { atThisMoment, drawnAtThisMoment, type Moment, mapInTurns, range } from "./in-turns.ts";

/** Blocks and headers a restricted port gives at once. Source: core_rpc_server.cpp RESTRICTED_*. */
const RESTRICTED_HEADERS = 1000;

function tooHigh(height: bigint, top: number) {
  return refusal(
    "tooBigHeight",
    `Requested block height: ${height} greater than current top block height: ${top}`,
  );
}

interface HeaderRequest {
  readonly block: FoundBlock;
  readonly fill_pow_hash: boolean;
}

function headerOf(context: NodeContext, { block, fill_pow_hash }: HeaderRequest): MaybePromise<Header> {
  const { read } = context.parts.store;
  return describeHeaderOf(context, { read, block, fillPowHash: fill_pow_hash });
}

function mainBlock({ parts }: NodeContext, height: bigint): FoundBlock {
  const count = parts.state.view().height;
  if (height >= BigInt(count)) throw tooHigh(height, count - 1);
  return blockAt(parts.store.read, Number(height))!;
}

/** The block with this id, on the main chain or beside it. */
function blockByHash({ parts }: NodeContext, text: string): FoundBlock {
  const hash = bytesOfHex(text, 32);
  if (hash === undefined) {
    throw refusal("wrongParam", `Failed to parse hex representation of block hash. Hex = ${text}.`);
  }
  const block = blockOf(parts.store.read, hash);
  if (block === undefined)
    throw refusal("internal", `Internal error: can't get block by hash. Hash = ${text}.`);
  return block;
}

function headersRange(
  params: { start_height: number; end_height: number; fill_pow_hash: boolean },
  context: NodeContext,
) {
  const { start_height: start, end_height: end, fill_pow_hash } = params;
  const { parts, restricted } = context;
  const count = parts.state.view().height;
  if (end >= count || start > end) throw refusal("tooBigHeight", "Invalid start/end heights.");
  if (restricted && end - start > RESTRICTED_HEADERS) {
    throw refusal("restricted", "Too many block headers requested.");
  }
  if (!fill_pow_hash || restricted) {
    let before: FoundBlock | undefined;
    const headers = drawnAtThisMoment(parts.store, end - start + 1, (read, place) => {
      before = blockAt(read, start + place, before)!;
      return describeKnownHeader(context, before, count);
    });
    return { headers };
  }
  return atThisMoment(parts.store, (moment) => headersWithWork(range(start, end + 1), moment, context));
}

async function headersWithWork(heights: Iterable<number>, moment: Moment, context: NodeContext) {
  const { signal, rows } = context;
  const turns = { moment, signal, rows };
  const blocks = await mapInTurns(heights, (height) => blockAt(moment.read, height)!, turns);
  const { read } = moment;
  const headers = blocks.map((block) => describeHeaderOf(context, { read, block, fillPowHash: true }));
  return { headers: await Promise.all(headers) };
}

function headersByHash(
  params: { hash: string; hashes: readonly string[]; fill_pow_hash: boolean },
  context: NodeContext,
) {
  const { hash, hashes, fill_pow_hash } = params;
  if (context.restricted && hashes.length > RESTRICTED_HEADERS) {
    throw refusal("restricted", "Too many block headers requested in restricted mode");
  }
  const headerBy = (text: string) => headerOf(context, { block: blockByHash(context, text), fill_pow_hash });
  const header: MaybePromise<Header | typeof noHeader> = hash === "" ? noHeader : headerBy(hash);
  return whenReady(header, (block_header) => {
    if (hashes.length === 0) return { block_header, block_headers: [] };
    const headers = whenReady(mapInTurns(hashes, headerBy, context), (all) => Promise.all(all));
    return whenReady(headers, (block_headers) => ({ block_header, block_headers }));
  });
}

/** Handlers of the calls about blocks. */
export function blockHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.blocks, {
    getBlockCount: (_, { parts }) => ({ count: parts.state.view().height }),
    onGetBlockHash(heights, { parts }) {
      if (heights.length !== 1) throw refusal("wrongParam", "Wrong parameters, expected height");
      const { height } = parts.state.view();
      if (heights[0]! >= BigInt(height)) {
        const message = `Requested block height: ${heights[0]} greater than current top block height: ${height - 1}`;
        throw refusal("tooBigHeight", message);
      }
      return toHex(parts.store.read.blockInfo(Number(heights[0]))!.hash);
    },
    getLastBlockHeader({ fill_pow_hash }, context) {
      if (!context.peers.sync.isSynchronized) return { ...busy, block_header: noHeader };
      const { parts } = context;
      const block = blockAt(parts.store.read, parts.state.view().height - 1)!;
      return whenReady(headerOf(context, { block, fill_pow_hash }), (block_header) => ({ block_header }));
    },
    getBlockHeaderByHash: headersByHash,
    getBlockHeaderByHeight({ height, fill_pow_hash }, context) {
      const block = mainBlock(context, height);
      return whenReady(headerOf(context, { block, fill_pow_hash }), (block_header) => ({ block_header }));
    },
    getBlockHeadersRange: headersRange,
    getBlock({ height, hash, fill_pow_hash: fillPowHash }, context) {
      const { read } = context.parts.store;
      const block = hash === "" ? mainBlock(context, height) : blockByHash(context, hash);
      const header = describeHeaderOf(context, { read, block, fillPowHash });
      return whenReady(header, (block_header) => ({ ...blockFacts(block), block_header }));
    },
    getHeight: (_, { parts }) => {
      const { height, topId } = parts.state.view();
      return { hash: topId, height };
    },
    getAltBlocksHashes: (_, { parts }) => {
      const hashes = parts.store.read.alternativeBlocks().map(({ hash }) => hash);
      return { blks_hashes: hashes.sort(compareTableOrder).map(toHex) };
    },
    getAlternateChains: (_, { parts, dialect }) => ({ chains: alternateChains(parts.store.read, dialect) }),
    getBlocksBin: getBlocks,
    getBlocksByHeightBin: getBlocksByHeight,
    getHashesBin: getHashes,
    async popBlocks({ nblocks }, { parts }) {
      await popBlocks(parts, nblocks);
      return { height: parts.store.read.height() };
    },
    getCoinbaseTxSum: coinbaseSum,
    hardForkInfo,
    async pruneBlockchain({ check }, { parts, pruner }) {
      if (!check) await pruner.prune();
      else if (!(await pruner.check())) throw refusal("internal", "Failed to check blockchain pruning");
      const pruning_seed = parts.store.read.pruningSeed();
      return { pruned: pruning_seed !== 0, pruning_seed };
    },
  });
}
