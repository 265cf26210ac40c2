import { NULL_HASH, toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import { popBlocks } from "../chain/chain.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import { alternateChains } from "./alternate-chains.ts";
import { getBlocks, getBlocksByHeight, getHashes } from "./block-download.ts";
import { blockJson } from "./chain-json.ts";
import { coinbaseSum } from "./coinbase-sum.ts";
import { type NodeContext, refusal } from "./context.ts";
import { blockAt, blockOf, type FoundBlock, noHeader } from "./describe-block.ts";
import { hardForkInfo } from "./hard-fork-info.ts";
import { describeHeaderOf, describeHeaders } from "./headers.ts";
import { bytesOfHex } from "./hex-params.ts";
import { mapInTurns, range } from "./in-turns.ts";

/** Blocks and headers a restricted port gives at once. Source: core_rpc_server.cpp RESTRICTED_*. */
const RESTRICTED_HEADERS = 1000;

function tooHigh(height: bigint, top: number) {
  return refusal(
    "tooBigHeight",
    `Requested block height: ${height} greater than current top block height: ${top}`,
  );
}

function headerOf(context: NodeContext, block: FoundBlock, fillPowHash: boolean) {
  return describeHeaderOf(context, { read: context.parts.store.read, block, fillPowHash });
}

function mainBlock({ parts }: NodeContext, height: bigint): FoundBlock {
  const { read } = parts.store;
  const count = read.height();
  if (height >= BigInt(count)) throw tooHigh(height, count - 1);
  return blockAt(read, Number(height))!;
}

function blockByHash({ parts }: NodeContext, text: string): FoundBlock {
  const hash = bytesOfHex(text, 32);
  if (hash === undefined) {
    throw refusal("wrongParam", `Failed to parse hex representation of block hash. Hex = ${text}.`);
  }
  const found = blockOf(parts.store.read, hash);
  if (found === undefined)
    throw refusal("internal", `Internal error: can't get block by hash. Hash = ${text}.`);
  return found;
}

async function headersRange(
  params: { start_height: number; end_height: number; fill_pow_hash: boolean },
  context: NodeContext,
) {
  const { start_height: start, end_height: end, fill_pow_hash } = params;
  const { read } = context.parts.store;
  const count = read.height();
  if (start >= count || end >= count || start > end)
    throw refusal("tooBigHeight", "Invalid start/end heights.");
  if (context.restricted && end - start > RESTRICTED_HEADERS) {
    throw refusal("restricted", "Too many block headers requested.");
  }
  const snapshot = context.parts.store.snapshot();
  try {
    const blocks = await mapInTurns(range(start, end + 1), (height) => blockAt(snapshot, height)!);
    return {
      headers: await describeHeaders(context, { read: snapshot, blocks, fillPowHash: fill_pow_hash }),
    };
  } finally {
    snapshot.close();
  }
}

async function headersByHash(
  params: { hash: string; hashes: readonly string[]; fill_pow_hash: boolean },
  context: NodeContext,
) {
  const { hash, hashes, fill_pow_hash } = params;
  if (context.restricted && hashes.length > RESTRICTED_HEADERS) {
    throw refusal("restricted", "Too many block headers requested in restricted mode");
  }
  const { read } = context.parts.store;
  const named = hash === "" ? undefined : blockByHash(context, hash);
  const blocks = await mapInTurns(hashes, (text) => blockByHash(context, text));
  return {
    block_header: named === undefined ? noHeader : await headerOf(context, named, fill_pow_hash),
    block_headers: await describeHeaders(context, { read, blocks, fillPowHash: fill_pow_hash }),
  };
}

/** Handlers of the calls about blocks. */
export function blockHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.blocks, {
    getBlockCount: (_, { parts }) => ({ count: parts.store.read.height() }),
    onGetBlockHash(heights, { parts }) {
      if (heights.length !== 1) throw refusal("wrongParam", "Wrong parameters, expected height");
      const { read } = parts.store;
      const known = heights[0]! < BigInt(read.height());
      return toHex(known ? read.blockInfo(Number(heights[0]))!.hash : NULL_HASH);
    },
    getLastBlockHeader: async ({ fill_pow_hash }, context) => {
      const top = blockAt(context.parts.store.read, context.parts.store.read.height() - 1)!;
      return { block_header: await headerOf(context, top, fill_pow_hash) };
    },
    getBlockHeaderByHash: headersByHash,
    getBlockHeaderByHeight: async ({ height, fill_pow_hash }, context) => ({
      block_header: await headerOf(context, mainBlock(context, height), fill_pow_hash),
    }),
    getBlockHeadersRange: headersRange,
    async getBlock({ height, hash, fill_pow_hash }, context) {
      const found = hash === "" ? mainBlock(context, height) : blockByHash(context, hash);
      const header = await headerOf(context, found, fill_pow_hash);
      return {
        blob: toHex(found.blob),
        block_header: header,
        json: blockJson(found.block),
        miner_tx_hash: header.miner_tx_hash,
        tx_hashes: found.block.transactionHashes.map(toHex),
      };
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
