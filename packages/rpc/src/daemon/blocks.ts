import { costs } from "../costs.ts";
import { binaryPath, method, path } from "../define.ts";
import { list, object, omitEmpty, or, zero } from "../schema/composites.ts";
import { packedHashes } from "../schema/packed.ts";
import { flag, hash, hex, rawBytes, text, u64, uint, uint8, uint32 } from "../schema/scalars.ts";
import { accessStatus, blockHeader, difficultyFields, fillPowHash, nodeStatus, noParams } from "./fields.ts";
import { transactionBlobs } from "./transaction-blobs.ts";

/** A block with its transactions; pruned ones carry the hash of what is missing. Binary paths only. */
const blockEntry = object({
  pruned: omitEmpty(or(flag, false)),
  block: rawBytes,
  block_weight: omitEmpty(or(uint, 0)),
  txs: transactionBlobs,
});

const poolTransaction = object({ tx_hash: rawBytes, tx_blob: rawBytes, double_spend_seen: flag });

/** What `/get_blocks.bin` returns about the pool, on request. Source: #8800. */
const poolInfo = {
  /** Unix seconds of the node when it began to answer: `pool_info_since` of the next request. */
  daemon_time: omitEmpty(or(uint, 0)),
  /** 1: news; 2: the whole pool, as far as the caller may see it. */
  pool_info_extent: omitEmpty(or(uint8, 0)),
  added_pool_txs: omitEmpty(zero(list(poolTransaction))),
  remaining_added_pool_txids: omitEmpty(zero(packedHashes)),
  removed_pool_txids: omitEmpty(zero(packedHashes)),
};

const headerAnswer = object({ block_header: blockHeader, ...accessStatus });

/** Blocks and the chain they form. */
export const blocks = {
  getBlockCount: method({
    name: "get_block_count",
    reads: true,
    aliases: ["getblockcount"],
    summary: "Number of blocks in the longest chain; params is an unused list of texts.",
    params: zero(list(text)),
    result: object({ count: uint, ...nodeStatus }),
  }),
  onGetBlockHash: method({
    name: "on_get_block_hash",
    reads: true,
    aliases: ["on_getblockhash"],
    summary: "Hash of the block at a height; params is a list of that one height.",
    params: list(u64),
    result: hash,
  }),
  getLastBlockHeader: method({
    name: "get_last_block_header",
    reads: true,
    aliases: ["getlastblockheader"],
    summary: "Header of the newest block.",
    params: object(fillPowHash),
    result: headerAnswer,
  }),
  getBlockHeaderByHash: method({
    name: "get_block_header_by_hash",
    cost: costs.large,
    reads: true,
    aliases: ["getblockheaderbyhash"],
    summary: "Headers by block hash.",
    params: object({ hash: zero(hash), hashes: zero(list(hash)), ...fillPowHash }),
    result: object({
      block_header: blockHeader,
      block_headers: omitEmpty(list(blockHeader)),
      ...accessStatus,
    }),
  }),
  getBlockHeaderByHeight: method({
    name: "get_block_header_by_height",
    reads: true,
    aliases: ["getblockheaderbyheight"],
    summary: "Header by height.",
    params: object({ height: u64, ...fillPowHash }),
    result: headerAnswer,
  }),
  getBlockHeadersRange: method({
    name: "get_block_headers_range",
    cost: costs.large,
    reads: true,
    aliases: ["getblockheadersrange"],
    summary: "Headers of consecutive blocks, lowest first; both ends are included.",
    params: object({ start_height: uint, end_height: uint, ...fillPowHash }),
    result: object({ headers: list(blockHeader), ...accessStatus }),
  }),
  getBlock: method({
    name: "get_block",
    cost: costs.medium,
    reads: true,
    aliases: ["getblock"],
    summary: "A full block, by height or by hash.",
    params: object({ height: zero(u64), hash: zero(hash), ...fillPowHash }),
    result: object({
      blob: hex,
      block_header: blockHeader,
      json: text,
      miner_tx_hash: hash,
      tx_hashes: list(hash),
      ...accessStatus,
    }),
  }),
  getHeight: path({
    name: "/get_height",
    reads: true,
    aliases: ["/getheight"],
    summary: "Height of the chain and hash of its newest block.",
    params: noParams,
    result: object({ hash, height: uint, ...nodeStatus }),
  }),
  getAltBlocksHashes: path({
    name: "/get_alt_blocks_hashes",
    access: "unrestricted",
    cost: costs.medium,
    reads: true,
    summary: "Hashes of the known blocks outside the longest chain.",
    params: noParams,
    result: object({ blks_hashes: list(hash), ...accessStatus }),
  }),
  getAlternateChains: method({
    name: "get_alternate_chains",
    cost: costs.medium,
    reads: true,
    access: "unrestricted",
    summary: "Side chains the node has seen.",
    params: noParams,
    result: object({
      chains: list(
        object({
          block_hash: hash,
          block_hashes: list(hash),
          ...difficultyFields,
          height: uint,
          length: uint,
          main_chain_parent_block: hash,
        }),
      ),
      ...nodeStatus,
    }),
  }),
  getBlocksBin: binaryPath({
    name: "/get_blocks.bin",
    cost: costs.large,
    reads: true,
    aliases: ["/getblocks.bin"],
    summary:
      "Blocks that follow the newest one the caller shares, with their transactions; what is new in the pool, too.",
    params: object({
      requested_info: zero(uint8),
      block_ids: zero(packedHashes),
      start_height: zero(uint),
      prune: zero(flag),
      no_miner_tx: or(flag, false),
      pool_info_since: zero(u64),
      max_block_count: zero(u64),
    }),
    result: object({
      blocks: list(blockEntry),
      current_height: uint,
      output_indices: list(object({ indices: list(object({ indices: list(uint) })) })),
      start_height: uint,
      ...poolInfo,
      ...accessStatus,
    }),
  }),
  getBlocksByHeightBin: binaryPath({
    name: "/get_blocks_by_height.bin",
    cost: costs.large,
    reads: true,
    aliases: ["/getblocks_by_height.bin"],
    summary: "Blocks with their transactions, by height.",
    params: object({ heights: list(uint) }),
    result: object({ blocks: list(blockEntry), ...accessStatus }),
  }),
  getHashesBin: binaryPath({
    name: "/get_hashes.bin",
    cost: costs.medium,
    reads: true,
    aliases: ["/gethashes.bin"],
    summary: "Hashes of the blocks that follow the newest one the caller shares.",
    params: object({ block_ids: zero(packedHashes), start_height: zero(uint) }),
    result: object({
      current_height: uint,
      m_block_ids: packedHashes,
      start_height: uint,
      ...accessStatus,
    }),
  }),
  popBlocks: path({
    name: "/pop_blocks",
    access: "unrestricted",
    summary: "Removes the newest blocks from the chain.",
    params: object({ nblocks: zero(uint) }),
    result: object({ height: uint, ...nodeStatus }),
  }),
  pruneBlockchain: method({
    name: "prune_blockchain",
    access: "unrestricted",
    summary: "Drops seven eighths of the prunable data, or tells whether that was done.",
    params: object({ check: or(flag, false) }),
    result: object({ pruned: flag, pruning_seed: uint32, ...nodeStatus }),
  }),
  getCoinbaseTxSum: method({
    name: "get_coinbase_tx_sum",
    cost: costs.sum,
    reads: true,
    access: "unrestricted",
    summary: "Coins created and fees paid in a range of blocks, in atomic units.",
    params: object({ height: uint, count: uint }),
    result: object({
      emission_amount: u64,
      emission_amount_top64: u64,
      fee_amount: u64,
      fee_amount_top64: u64,
      wide_emission_amount: text,
      wide_fee_amount: text,
      ...accessStatus,
    }),
  }),
  hardForkInfo: method({
    name: "hard_fork_info",
    cost: costs.medium,
    reads: true,
    summary: "State of one hard fork, or of the next one.",
    params: object({ version: zero(uint8) }),
    result: object({
      earliest_height: u64,
      enabled: flag,
      state: uint32,
      threshold: uint32,
      version: uint8,
      votes: uint32,
      voting: uint8,
      window: uint32,
      ...accessStatus,
    }),
  }),
};
