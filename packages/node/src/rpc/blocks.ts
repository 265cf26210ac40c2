import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor, lasting } from "@anulo/rpc";
import { popBlocks } from "../chain/chain.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import { alternateChains } from "./alternate-chains.ts";
import { getBlocks, getBlocksByHeight, getHashes } from "./block-download.ts";
import { coinbaseSum } from "./coinbase-sum.ts";
import { busy, type NodeContext, refusal } from "./context.ts";
import {
  type BlockFacts,
  blockAt,
  blockFacts,
  blockOf,
  type FoundBlock,
  noHeader,
} from "./describe-block.ts";
import { hardForkInfo } from "./hard-fork-info.ts";
import { describeHeaderAt, describeHeaderOf, describeHeadersAt, type Header } from "./headers.ts";
import { bytesOfHex } from "./hex-params.ts";
import { atThisMoment, mapInTurns, range } from "./in-turns.ts";

/** Blocks and headers a restricted port gives at once. Source: core_rpc_server.cpp RESTRICTED_*. */
const RESTRICTED_HEADERS = 1000;

function tooHigh(height: bigint, top: number) {
  return refusal(
    "tooBigHeight",
    `Requested block height: ${height} greater than current top block height: ${top}`,
  );
}

/** A block the caller named: one of the main chain by its height, or one beside it. */
type Named = { readonly height: number } | { readonly beside: FoundBlock };

interface HeaderRequest {
  readonly named: Named;
  readonly fill_pow_hash: boolean;
}

function headerOf(context: NodeContext, { named, fill_pow_hash }: HeaderRequest): Header | Promise<Header> {
  const { parts, restricted } = context;
  if ("height" in named && (!fill_pow_hash || restricted)) return describeHeaderAt(context, named.height);
  const { read } = parts.store;
  const block = "height" in named ? blockAt(read, named.height)! : named.beside;
  return describeHeaderOf(context, { read, block, fillPowHash: fill_pow_hash });
}

function mainBlock({ parts }: NodeContext, height: bigint): Named {
  const count = parts.state.view().height;
  if (height >= BigInt(count)) throw tooHigh(height, count - 1);
  return { height: Number(height) };
}

function blockByHash({ parts }: NodeContext, text: string): Named {
  const { read } = parts.store;
  const hash = bytesOfHex(text, 32);
  if (hash === undefined) {
    throw refusal("wrongParam", `Failed to parse hex representation of block hash. Hex = ${text}.`);
  }
  const height = read.heightOf(hash);
  if (height !== undefined) return { height };
  const beside = blockOf(read, hash);
  if (beside === undefined)
    throw refusal("internal", `Internal error: can't get block by hash. Hash = ${text}.`);
  return { beside };
}

async function headersRange(
  params: { start_height: number; end_height: number; fill_pow_hash: boolean },
  context: NodeContext,
) {
  const { start_height: start, end_height: end, fill_pow_hash } = params;
  const { parts, restricted } = context;
  const count = parts.state.view().height;
  if (start >= count || end >= count || start > end)
    throw refusal("tooBigHeight", "Invalid start/end heights.");
  if (restricted && end - start > RESTRICTED_HEADERS) {
    throw refusal("restricted", "Too many block headers requested.");
  }
  const heights = range(start, end + 1);
  return atThisMoment(parts.store, async (moment) => {
    if (!fill_pow_hash || restricted) return { headers: await describeHeadersAt(context, moment, heights) };
    const blocks = await mapInTurns(heights, (height) => blockAt(moment.read, height)!, {
      moment,
      signal: context.signal,
    });
    moment.hold();
    const { read } = moment;
    const headers = blocks.map((block) => describeHeaderOf(context, { read, block, fillPowHash: true }));
    return { headers: await Promise.all(headers) };
  });
}

async function headersByHash(
  params: { hash: string; hashes: readonly string[]; fill_pow_hash: boolean },
  context: NodeContext,
) {
  const { hash, hashes, fill_pow_hash } = params;
  if (context.restricted && hashes.length > RESTRICTED_HEADERS) {
    throw refusal("restricted", "Too many block headers requested in restricted mode");
  }
  const headerBy = (text: string) => headerOf(context, { named: blockByHash(context, text), fill_pow_hash });
  return {
    block_header: hash === "" ? noHeader : await headerBy(hash),
    block_headers: await Promise.all(await mapInTurns(hashes, headerBy, context)),
  };
}

function factsOf({ parts, memory }: NodeContext, named: Named): BlockFacts {
  if ("beside" in named) return blockFacts(named.beside);
  const blocks = memory.blocks.now();
  const known = blocks.get(named.height) ?? blockFacts(blockAt(parts.store.read, named.height)!);
  blocks.set(named.height, known);
  return known;
}

/** Handlers of the calls about blocks. */
export function blockHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.blocks, {
    getBlockCount: (_, { parts }) => ({ count: parts.state.view().height }),
    onGetBlockHash(heights, { parts }) {
      if (heights.length !== 1) throw refusal("wrongParam", "Wrong parameters, expected height");
      const { height } = parts.state.view();
      if (heights[0]! >= BigInt(height)) {
        const told = `Requested block height: ${heights[0]} greater than current top block height: ${height - 1}`;
        throw refusal("tooBigHeight", told);
      }
      return toHex(parts.store.read.blockInfo(Number(heights[0]))!.hash);
    },
    getLastBlockHeader: async ({ fill_pow_hash }, context) => {
      if (!context.peers.sync.isSynchronized) return { ...busy, block_header: noHeader };
      const named = { height: context.parts.state.view().height - 1 };
      return { block_header: await headerOf(context, { named, fill_pow_hash }) };
    },
    getBlockHeaderByHash: headersByHash,
    getBlockHeaderByHeight: async ({ height, fill_pow_hash }, context) => ({
      block_header: await headerOf(context, { named: mainBlock(context, height), fill_pow_hash }),
    }),
    getBlockHeadersRange: headersRange,
    async getBlock({ height, hash, fill_pow_hash }, context) {
      const named = hash === "" ? mainBlock(context, height) : blockByHash(context, hash);
      const facts = factsOf(context, named);
      return lasting(facts, { block_header: await headerOf(context, { named, fill_pow_hash }) });
    },
    getHeight: (_, { parts }) => {
      const { height, topId } = parts.state.view();
      return { hash: toHex(topId), height };
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
