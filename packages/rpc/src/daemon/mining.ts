import { method, path } from "../define.ts";
import { filled, list, object, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, text, u64, uint, uint8, uint32 } from "../schema/scalars.ts";
import { difficultyFields, nodeStatus, noParams } from "./fields.ts";

const auxiliaryProof = object({ id: hash, hash });

/** Making blocks, for miners and for tests. */
export const mining = {
  getBlockTemplate: method({
    name: "get_block_template",
    aliases: ["getblocktemplate"],
    summary: "A block to mine on, paying to the given address.",
    params: object({
      wallet_address: text,
      reserve_size: zero(uint),
      prev_block: zero(hash),
      extra_nonce: zero(hex),
    }),
    result: object({
      blockhashing_blob: hex,
      blocktemplate_blob: hex,
      ...difficultyFields,
      expected_reward: u64,
      height: uint,
      next_seed_hash: hash,
      prev_hash: hash,
      reserved_offset: uint,
      seed_hash: hash,
      seed_height: uint,
      ...nodeStatus,
    }),
  }),
  getMinerData: method({
    name: "get_miner_data",
    summary: "What a miner needs to build a block itself.",
    params: noParams,
    result: object({
      already_generated_coins: u64,
      difficulty: text,
      height: uint,
      major_version: uint8,
      median_weight: uint,
      prev_id: hash,
      seed_hash: hash,
      tx_backlog: list(object({ id: hash, weight: uint, fee: u64 })),
      ...nodeStatus,
    }),
  }),
  calcPow: method({
    name: "calc_pow",
    access: "unrestricted",
    summary: "Proof-of-work hash of a block.",
    params: object({
      major_version: zero(uint8),
      height: zero(uint),
      block_blob: zero(hex),
      seed_hash: zero(hash),
    }),
    result: hash,
  }),
  addAuxPow: method({
    name: "add_aux_pow",
    summary: "Puts the roots of merge-mined chains into a block template.",
    params: object({ blocktemplate_blob: zero(hex), aux_pow: zero(list(auxiliaryProof)) }),
    result: object({
      blocktemplate_blob: hex,
      blockhashing_blob: hex,
      merkle_root: hash,
      merkle_tree_depth: uint,
      aux_pow: list(auxiliaryProof),
      ...nodeStatus,
    }),
  }),
  submitBlock: method({
    name: "submit_block",
    aliases: ["submitblock"],
    summary: "Adds a mined block; params is a list of its hex.",
    params: list(hex),
    result: object(nodeStatus),
  }),
  generateBlocks: method({
    name: "generateblocks",
    access: "unrestricted",
    summary: "Mines blocks at once; regtest only.",
    params: object({
      amount_of_blocks: uint,
      wallet_address: text,
      prev_block: zero(hash),
      starting_nonce: or(uint32, 0),
    }),
    result: object({ blocks: filled(list(hash)), height: uint, ...nodeStatus }),
  }),
  startMining: path({
    name: "/start_mining",
    access: "unrestricted",
    summary: "Starts to mine in the node.",
    params: object({
      miner_address: zero(text),
      threads_count: zero(uint),
      do_background_mining: zero(flag),
      ignore_battery: zero(flag),
    }),
    result: object(nodeStatus),
  }),
  stopMining: path({
    name: "/stop_mining",
    access: "unrestricted",
    summary: "Stops the miner of the node.",
    params: noParams,
    result: object(nodeStatus),
  }),
  miningStatus: path({
    name: "/mining_status",
    access: "unrestricted",
    summary: "Whether and how fast the node mines.",
    params: noParams,
    result: object({
      active: flag,
      address: text,
      bg_idle_threshold: uint8,
      bg_ignore_battery: flag,
      bg_min_idle_seconds: uint8,
      bg_target: uint8,
      block_reward: u64,
      block_target: uint32,
      ...difficultyFields,
      is_background_mining_enabled: flag,
      pow_algorithm: text,
      speed: uint,
      threads_count: uint32,
      ...nodeStatus,
    }),
  }),
  setLogHashRate: path({
    name: "/set_log_hash_rate",
    access: "unrestricted",
    summary: "Shows or hides the hash rate while mining.",
    params: object({ visible: zero(flag) }),
    result: object(nodeStatus),
  }),
};
