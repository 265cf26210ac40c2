import { type MaybePromise, whenReady } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import { popBlocks } from "../chain/chain.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import { alternateChains } from "./alternate-chains.ts";
import { getBlocks, getBlocksByHeight, getHashes } from "./block-download.ts";
import { coinbaseSum } from "./coinbase-sum.ts";
import { busy, type NodeContext } from "./context.ts";
import { blockAt, blockFacts, type FoundBlock, noHeader } from "./describe-block.ts";
import { hardForkInfo } from "./hard-fork-info.ts";
import { describeHeaderOf } from "./headers.ts";
import { atThisMoment, type Moment, mapInTurns, range } from "./in-turns.ts";
import {
  blockByHash,
  type Header,
  type HeaderRange,
  heightForRange,
  knownBlock,
  knownHeaders,
  mainBlock,
  namedBlock,
  RESTRICTED_HEADERS,
} from "./read-blocks.ts";
import { refusal } from "./refusal.ts";

interface HeaderRequest {
  readonly block: FoundBlock;
  readonly fill_pow_hash: boolean;
}

function headerOf(context: NodeContext, { block, fill_pow_hash }: HeaderRequest): MaybePromise<Header> {
  const { read } = context.parts.store;
  return describeHeaderOf(context, { read, block, fillPowHash: fill_pow_hash });
}

function headersRange(params: HeaderRange & { readonly fill_pow_hash: boolean }, context: NodeContext) {
  const { start_height: start, end_height: end, fill_pow_hash } = params;
  if (!fill_pow_hash || context.restricted) return knownHeaders(params, context);
  heightForRange(params, context);
  return atThisMoment(context.parts.store, (moment) =>
    headersWithWork(range(start, end + 1), moment, context),
  );
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
    getBlock(params, context) {
      if (!params.fill_pow_hash) return knownBlock(params, context);
      const { read } = context.parts.store;
      const block = namedBlock(context, params);
      const header = describeHeaderOf(context, { read, block, fillPowHash: true });
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
