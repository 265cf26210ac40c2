// Written by scripts/make-client.mjs from the declarations of @anulo/rpc.

import type { CallRow } from "../call-table.ts";

export type BlockHeader = { block_size: number; block_weight: number; cumulative_difficulty: bigint; cumulative_difficulty_top64: bigint; wide_cumulative_difficulty: string; depth: number; difficulty: bigint; difficulty_top64: bigint; wide_difficulty: string; hash: string; height: number; long_term_weight: number; major_version: number; miner_tx_hash: string; minor_version: number; nonce: number; num_txes: number; orphan_status: boolean; pow_hash: string; prev_hash: string; reward: bigint; timestamp: number };

export type Chain = { block_hash: string; block_hashes: string[]; difficulty: bigint; difficulty_top64: bigint; wide_difficulty: string; height: number; length: number; main_chain_parent_block: string };

export type Connection = { address: string; address_type: number; avg_download: number; avg_upload: number; connection_id: string; current_download: number; current_upload: number; height: number; host: string; incoming: boolean; ip: string; live_time: number; local_ip: boolean; localhost: boolean; peer_id: string; port: string; pruning_seed: number; recv_count: number; recv_idle_time: number; rpc_credits_per_hash: number; rpc_port: number; send_count: number; send_idle_time: number; state: string; support_flags: number };

export type Entry = { balance: bigint; client: string; credits_total: bigint; credits_used: bigint; last_update_time: number; nonces_bad: number; nonces_dupe: number; nonces_good: number; nonces_stale: number };

export type GrayList = { host: number | string; id: string | bigint; ip: number; last_seen: number; port: number; pruning_seed: number; rpc_credits_per_hash: number; rpc_port: number };

export type PoolStats = { bytes_max: number; bytes_med: number; bytes_min: number; bytes_total: number; fee_total: bigint; histo: { txs: number; bytes: number }[]; histo_98pc: number; num_10m: number; num_double_spends: number; num_failing: number; num_not_relayed: number; oldest: number; txs_total: number };

export type Span = { connection_id: string; nblocks: number; rate: number; remote_address: string; size: number; speed: number; start_block_height: number };

export type Transaction = { blob_size: number; do_not_relay: boolean; double_spend_seen: boolean; fee: bigint; id_hash: string; kept_by_block: boolean; last_failed_height: number; last_failed_id_hash: string; last_relayed_time: bigint; max_used_block_hash: string; max_used_block_height: number; max_used_block_id_hash: string; receive_time: number; relayed: boolean; tx_blob: string; tx_json: string; weight: number };

export type Tx = { as_hex: string; as_json: string; double_spend_seen: boolean; in_pool: boolean; prunable_as_hex: string; prunable_hash: string; pruned_as_hex: string; tx_hash: string; block_height?: number; block_timestamp?: number; confirmations?: number; output_indices?: number[]; received_timestamp?: number; relayed?: boolean };

/** Params and result of each call. */
export interface NodeCalls {
  /** Number of blocks in the longest chain; params is an unused list of texts. */
  getBlockCount: { params: readonly string[] | undefined; result: { count: number; status: string; untrusted: boolean } };
  /** Hash of the block at a height; params is a list of that one height. */
  onGetBlockHash: { params: readonly bigint[]; result: string };
  /** Header of the newest block. */
  getLastBlockHeader: { params: { fill_pow_hash?: boolean | undefined }; result: { block_header: BlockHeader; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Headers by block hash. */
  getBlockHeaderByHash: { params: { hash?: string | undefined; hashes?: readonly string[] | undefined; fill_pow_hash?: boolean | undefined }; result: { block_header: BlockHeader; block_headers: BlockHeader[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Header by height. */
  getBlockHeaderByHeight: { params: { height: bigint; fill_pow_hash?: boolean | undefined }; result: { block_header: BlockHeader; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Headers of consecutive blocks, lowest first; both ends are included. */
  getBlockHeadersRange: { params: { start_height: number; end_height: number; fill_pow_hash?: boolean | undefined }; result: { headers: BlockHeader[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** A full block, by height or by hash. */
  getBlock: { params: { height?: bigint | undefined; hash?: string | undefined; fill_pow_hash?: boolean | undefined }; result: { blob: string; block_header: BlockHeader; json: string; miner_tx_hash: string; tx_hashes: string[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Height of the chain and hash of its newest block. */
  getHeight: { params: Record<never, never>; result: { hash: string; height: number; status: string; untrusted: boolean } };
  /** Hashes of the known blocks outside the longest chain. */
  getAltBlocksHashes: { params: Record<never, never>; result: { blks_hashes: string[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Side chains the node has seen. */
  getAlternateChains: { params: Record<never, never>; result: { chains: Chain[]; status: string; untrusted: boolean } };
  /** Removes the newest blocks from the chain. */
  popBlocks: { params: { nblocks?: number | undefined }; result: { height: number; status: string; untrusted: boolean } };
  /** Drops seven eighths of the prunable data, or tells whether that was done. */
  pruneBlockchain: { params: { check?: boolean | undefined }; result: { pruned: boolean; pruning_seed: number; status: string; untrusted: boolean } };
  /** Coins created and fees paid in a range of blocks, in atomic units. */
  getCoinbaseTxSum: { params: { height: number; count: number }; result: { emission_amount: bigint; emission_amount_top64: bigint; fee_amount: bigint; fee_amount_top64: bigint; wide_emission_amount: string; wide_fee_amount: string; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** State of one hard fork, or of the next one. */
  hardForkInfo: { params: { version?: number | undefined }; result: { earliest_height: bigint; enabled: boolean; state: number; threshold: number; version: number; votes: number; voting: number; window: number; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Transactions by hash, from the chain or the pool. */
  getTransactions: { params: { txs_hashes: readonly string[]; decode_as_json?: boolean | undefined; prune?: boolean | undefined; split?: boolean | undefined }; result: { missed_tx: string[]; txs: Tx[]; txs_as_hex: string[]; txs_as_json: string[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Whether key images are unspent (0), spent in the chain (1) or spent in the pool (2). */
  isKeyImageSpent: { params: { key_images: readonly string[] }; result: { spent_status: number[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Takes a signed transaction into the pool and relays it. */
  sendRawTransaction: { params: { tx_as_hex: string; do_not_relay?: boolean | undefined; do_sanity_checks?: boolean | undefined }; result: { double_spend: boolean; fee_too_low: boolean; invalid_input: boolean; invalid_output: boolean; low_mixin: boolean; nonzero_unlock_time: boolean; not_rct: boolean; not_relayed: boolean; overspend: boolean; reason: string; sanity_check_failed: boolean; too_big: boolean; too_few_outputs: boolean; tx_extra_too_big: boolean; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Outputs by amount and global index, with their keys. */
  getOuts: { params: { outputs: readonly { amount?: bigint | undefined; index?: bigint | undefined }[]; get_txid?: boolean | undefined }; result: { outs: { height: number; key: string; mask: string; txid: string; unlocked: boolean }[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Number of outputs of each amount; RingCT outputs count as amount 0. */
  getOutputHistogram: { params: { amounts?: readonly bigint[] | undefined; min_count?: number | undefined; max_count?: number | undefined; unlocked?: boolean | undefined; recent_cutoff?: number | undefined }; result: { histogram: { amount: bigint; total_instances: number; unlocked_instances: number; recent_instances: number }[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Number of outputs of an amount in each block. */
  getOutputDistribution: { params: { amounts: readonly bigint[]; from_height?: number | undefined; to_height?: number | undefined; cumulative?: boolean | undefined }; result: { distributions: { amount: bigint; base: number; start_height: number; distribution: number[] }[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Transactions waiting in the pool and the key images they spend. */
  getTransactionPool: { params: Record<never, never>; result: { spent_key_images: { id_hash: string; txs_hashes: string[] }[]; transactions: Transaction[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Hashes of the transactions in the pool. */
  getTransactionPoolHashes: { params: Record<never, never>; result: { tx_hashes: string[]; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Sizes, fees and ages of the transactions in the pool. */
  getTransactionPoolStats: { params: Record<never, never>; result: { pool_stats: PoolStats; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Weight, fee and age of each transaction in the pool. */
  getTxpoolBacklog: { params: Record<never, never>; result: { backlog: { blob_size: number; fee: bigint; time_in_pool: number }[] | string; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Removes transactions from the pool; all of them when none is named. */
  flushTxpool: { params: { txids?: readonly string[] | undefined }; result: { status: string; untrusted: boolean } };
  /** Relays transactions that are in the pool. */
  relayTx: { params: { txids: readonly string[] }; result: { status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Forgets which transactions and blocks were found invalid. */
  flushCache: { params: { bad_txs?: boolean | undefined; bad_blocks?: boolean | undefined }; result: { status: string; untrusted: boolean } };
  /** Fee in atomic units per byte, and the four levels a wallet chooses from. */
  getFeeEstimate: { params: { grace_blocks?: number | undefined }; result: { fee: bigint; fees: bigint[]; quantization_mask: number; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** A block to mine on, paying to the given address. */
  getBlockTemplate: { params: { wallet_address: string; reserve_size?: number | undefined; prev_block?: string | undefined; extra_nonce?: string | undefined }; result: { blockhashing_blob: string; blocktemplate_blob: string; difficulty: bigint; difficulty_top64: bigint; wide_difficulty: string; expected_reward: bigint; height: number; next_seed_hash: string; prev_hash: string; reserved_offset: number; seed_hash: string; seed_height: number; status: string; untrusted: boolean } };
  /** What a miner needs to build a block itself. */
  getMinerData: { params: Record<never, never>; result: { already_generated_coins: bigint; difficulty: string; height: number; major_version: number; median_weight: number; prev_id: string; seed_hash: string; tx_backlog: { id: string; weight: number; fee: bigint }[]; status: string; untrusted: boolean } };
  /** Proof-of-work hash of a block. */
  calcPow: { params: { major_version?: number | undefined; height?: number | undefined; block_blob?: string | undefined; seed_hash?: string | undefined }; result: string };
  /** Puts the roots of merge-mined chains into a block template. */
  addAuxPow: { params: { blocktemplate_blob?: string | undefined; aux_pow?: readonly { id: string; hash: string }[] | undefined }; result: { blocktemplate_blob: string; blockhashing_blob: string; merkle_root: string; merkle_tree_depth: number; aux_pow: { id: string; hash: string }[]; status: string; untrusted: boolean } };
  /** Adds a mined block; params is a list of its hex. */
  submitBlock: { params: readonly string[]; result: { block_id: string; status: string; untrusted: boolean } };
  /** Mines blocks at once; regtest only. */
  generateBlocks: { params: { amount_of_blocks: number; wallet_address: string; prev_block?: string | undefined; starting_nonce?: number | undefined }; result: { blocks: string[]; height: number; status: string; untrusted: boolean } };
  /** Starts to mine in the node. */
  startMining: { params: { miner_address?: string | undefined; threads_count?: number | undefined; do_background_mining?: boolean | undefined; ignore_battery?: boolean | undefined }; result: { status: string; untrusted: boolean } };
  /** Stops the miner of the node. */
  stopMining: { params: Record<never, never>; result: { status: string; untrusted: boolean } };
  /** Whether and how fast the node mines. */
  miningStatus: { params: Record<never, never>; result: { active: boolean; address: string; bg_idle_threshold: number; bg_ignore_battery: boolean; bg_min_idle_seconds: number; bg_target: number; block_reward: bigint; block_target: number; difficulty: bigint; difficulty_top64: bigint; wide_difficulty: string; is_background_mining_enabled: boolean; pow_algorithm: string; speed: number; threads_count: number; status: string; untrusted: boolean } };
  /** Shows or hides the hash rate while mining. */
  setLogHashRate: { params: { visible?: boolean | undefined }; result: { status: string; untrusted: boolean } };
  /** Connections to peers. */
  getConnections: { params: Record<never, never>; result: { connections: Connection[]; status: string; untrusted: boolean } };
  /** How far the node is and what its peers are sending. */
  syncInfo: { params: Record<never, never>; result: { height: number; next_needed_pruning_seed: number; overview: string; peers: { info: Connection }[]; spans: Span[]; target_height: number; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Bans addresses for some seconds, or lifts bans. */
  setBans: { params: { bans: readonly { host?: string | undefined; ip?: number | undefined; ban?: boolean | undefined; seconds?: number | undefined }[] }; result: { status: string; untrusted: boolean } };
  /** Banned addresses; seconds is the Unix time of the end, or upstream what remains. */
  getBans: { params: Record<never, never>; result: { bans: { host: string; ip: number; seconds: number }[]; status: string; untrusted: boolean } };
  /** Whether an address is banned and for how many seconds. */
  banned: { params: { address?: string | undefined }; result: { banned: boolean; seconds: number; status: string } };
  /** Peers the node knows: seen online (white) or only heard of (gray). */
  getPeerList: { params: { public_only?: boolean | undefined; include_blocked?: boolean | undefined }; result: { gray_list: GrayList[]; white_list: GrayList[]; status: string; untrusted: boolean } };
  /** Peers that offer their RPC to anybody. */
  getPublicNodes: { params: { gray?: boolean | undefined; white?: boolean | undefined; include_blocked?: boolean | undefined }; result: { gray: { host: string; last_seen: number; rpc_port: number; rpc_credits_per_hash: number }[]; white: { host: string; last_seen: number; rpc_port: number; rpc_credits_per_hash: number }[]; status: string; untrusted: boolean } };
  /** Packets and bytes sent and received since the start. */
  getNetStats: { params: Record<never, never>; result: { start_time: number; total_bytes_in: number; total_bytes_out: number; total_packets_in: number; total_packets_out: number; status: string; untrusted: boolean } };
  /** Bandwidth limits in kB per second. */
  getLimit: { params: Record<never, never>; result: { limit_down: number; limit_up: number; status: string; untrusted: boolean } };
  /** Sets bandwidth limits in kB per second; -1 is the default, 0 leaves a limit as it is. */
  setLimit: { params: { limit_down?: number | undefined; limit_up?: number | undefined }; result: { limit_down: number; limit_up: number; status: string; untrusted: boolean } };
  /** Sets or tells the greatest number of outgoing peers. */
  outPeers: { params: { set?: boolean | undefined; out_peers?: number | undefined }; result: { out_peers: number; status: string; untrusted: boolean } };
  /** Sets or tells the greatest number of incoming peers. */
  inPeers: { params: { set?: boolean | undefined; in_peers?: number | undefined }; result: { in_peers: number; status: string; untrusted: boolean } };
  /** Names another node to answer while this one synchronizes. */
  setBootstrapDaemon: { params: { address?: string | undefined; username?: string | undefined; password?: string | undefined; proxy?: string | undefined }; result: { status: string } };
  /** State of the node and its chain. */
  getInfo: { params: Record<never, never>; result: { adjusted_time: number; alt_blocks_count: number; block_size_limit: number; block_size_median: number; block_weight_limit: number; block_weight_median: number; bootstrap_daemon_address: string; busy_syncing: boolean; cumulative_difficulty: bigint; cumulative_difficulty_top64: bigint; wide_cumulative_difficulty: string; database_size: number; difficulty: bigint; difficulty_top64: bigint; wide_difficulty: string; free_space: bigint; grey_peerlist_size: number; height: number; height_without_bootstrap: number; incoming_connections_count: number; mainnet: boolean; nettype: string; offline: boolean; outgoing_connections_count: number; restricted: boolean; rpc_connections_count: number; stagenet: boolean; start_time: number; synchronized: boolean; target: number; target_height: number; testnet: boolean; top_block_hash: string; tx_count: number; tx_pool_size: number; update_available: boolean; version: string; was_bootstrap_ever_used: boolean; white_peerlist_size: number; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** State of the node and its chain. */
  getInfoPath: { params: Record<never, never>; result: { adjusted_time: number; alt_blocks_count: number; block_size_limit: number; block_size_median: number; block_weight_limit: number; block_weight_median: number; bootstrap_daemon_address: string; busy_syncing: boolean; cumulative_difficulty: bigint; cumulative_difficulty_top64: bigint; wide_cumulative_difficulty: string; database_size: number; difficulty: bigint; difficulty_top64: bigint; wide_difficulty: string; free_space: bigint; grey_peerlist_size: number; height: number; height_without_bootstrap: number; incoming_connections_count: number; mainnet: boolean; nettype: string; offline: boolean; outgoing_connections_count: number; restricted: boolean; rpc_connections_count: number; stagenet: boolean; start_time: number; synchronized: boolean; target: number; target_height: number; testnet: boolean; top_block_hash: string; tx_count: number; tx_pool_size: number; update_available: boolean; version: string; was_bootstrap_ever_used: boolean; white_peerlist_size: number; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Version of this interface: major times 65536 plus minor. */
  getVersion: { params: Record<never, never>; result: { current_height: number; hard_forks: { height: number; hf_version: number }[]; release: boolean; target_height: number; version: number; status: string; untrusted: boolean } };
  /** Writes the chain to disk. */
  saveBc: { params: Record<never, never>; result: { status: string; untrusted: boolean } };
  /** Sets how much is logged, 0 to 4. */
  setLogLevel: { params: { level?: number | undefined }; result: { status: string; untrusted: boolean } };
  /** Sets what is logged, as category:level pairs; left out, the default set. */
  setLogCategories: { params: { categories?: string | undefined }; result: { categories: string; status: string; untrusted: boolean } };
  /** Stops the node. */
  stopDaemon: { params: Record<never, never>; result: { status: string; untrusted: boolean } };
  /** Looks for a newer version, or downloads it. */
  update: { params: { command?: string | undefined; path?: string | undefined }; result: { auto_uri: string; hash: string; path: string; update: boolean; user_uri: string; version: string; status: string; untrusted: boolean } };
  /** Obsolete; does nothing. */
  startSaveGraph: { params: Record<never, never>; result: { status: string } };
  /** Obsolete; does nothing. */
  stopSaveGraph: { params: Record<never, never>; result: { status: string } };
  /** What access costs. */
  rpcAccessInfo: { params: { client?: string | undefined }; result: { cookie: number; credits_per_hash_found: number; diff: bigint; hashing_blob: string; height: number; next_seed_hash: string; seed_hash: string; seed_height: number; status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Pays for access with a hash. */
  rpcAccessSubmitNonce: { params: { client?: string | undefined; nonce?: number | undefined; cookie?: number | undefined }; result: { status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** Pays for a named call. */
  rpcAccessPay: { params: { client?: string | undefined; paying_for?: string | undefined; payment?: bigint | undefined }; result: { status: string; untrusted: boolean; credits: number; top_hash: string } };
  /** How often each call was made and how long it took. */
  rpcAccessTracking: { params: { clear?: boolean | undefined }; result: { data: { count: number; credits: number; rpc: string; time: number }[]; status: string; untrusted: boolean } };
  /** Clients that paid for access. */
  rpcAccessData: { params: Record<never, never>; result: { entries: Entry[]; hashrate: number; status: string; untrusted: boolean } };
  /** Changes the credits of a client. */
  rpcAccessAccount: { params: { client?: string | undefined; delta_balance?: bigint | undefined }; result: { credits: bigint; status: string; untrusted: boolean } };
}

export const nodeCalls: Readonly<Record<keyof NodeCalls, CallRow>> = {
  getBlockCount: ["get_block_count","rl","{count:i,status~\"OK\":s,untrusted~:b}"],
  onGetBlockHash: ["on_get_block_hash","rl","s"],
  getLastBlockHeader: ["get_last_block_header","r","{block_header:{block_size:i,block_weight~:i,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,depth:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,hash:s,height:i,long_term_weight~:i,major_version:i,miner_tx_hash:s,minor_version:i,nonce:i,num_txes:i,orphan_status:b,pow_hash:s,prev_hash:s,reward:n,timestamp:i},status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getBlockHeaderByHash: ["get_block_header_by_hash","r","{block_header:{block_size:i,block_weight~:i,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,depth:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,hash:s,height:i,long_term_weight~:i,major_version:i,miner_tx_hash:s,minor_version:i,nonce:i,num_txes:i,orphan_status:b,pow_hash:s,prev_hash:s,reward:n,timestamp:i},block_headers~:[{block_size:i,block_weight~:i,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,depth:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,hash:s,height:i,long_term_weight~:i,major_version:i,miner_tx_hash:s,minor_version:i,nonce:i,num_txes:i,orphan_status:b,pow_hash:s,prev_hash:s,reward:n,timestamp:i}],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getBlockHeaderByHeight: ["get_block_header_by_height","r","{block_header:{block_size:i,block_weight~:i,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,depth:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,hash:s,height:i,long_term_weight~:i,major_version:i,miner_tx_hash:s,minor_version:i,nonce:i,num_txes:i,orphan_status:b,pow_hash:s,prev_hash:s,reward:n,timestamp:i},status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getBlockHeadersRange: ["get_block_headers_range","r","{headers~:[{block_size:i,block_weight~:i,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,depth:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,hash:s,height:i,long_term_weight~:i,major_version:i,miner_tx_hash:s,minor_version:i,nonce:i,num_txes:i,orphan_status:b,pow_hash:s,prev_hash:s,reward:n,timestamp:i}],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getBlock: ["get_block","r","{blob:s,block_header:{block_size:i,block_weight~:i,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,depth:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,hash:s,height:i,long_term_weight~:i,major_version:i,miner_tx_hash:s,minor_version:i,nonce:i,num_txes:i,orphan_status:b,pow_hash:s,prev_hash:s,reward:n,timestamp:i},json:s,miner_tx_hash:s,tx_hashes~:[s],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getHeight: ["/get_height","r","{hash:s,height:i,status~\"OK\":s,untrusted~:b}"],
  getAltBlocksHashes: ["/get_alt_blocks_hashes","r","{blks_hashes~:[s],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getAlternateChains: ["get_alternate_chains","r","{chains~:[{block_hash:s,block_hashes~:[s],difficulty:n,difficulty_top64:n,wide_difficulty:s,height:i,length:i,main_chain_parent_block:s}],status~\"OK\":s,untrusted~:b}"],
  popBlocks: ["/pop_blocks","","{height:i,status~\"OK\":s,untrusted~:b}"],
  pruneBlockchain: ["prune_blockchain","","{pruned:b,pruning_seed:i,status~\"OK\":s,untrusted~:b}"],
  getCoinbaseTxSum: ["get_coinbase_tx_sum","r","{emission_amount:n,emission_amount_top64:n,fee_amount:n,fee_amount_top64:n,wide_emission_amount:s,wide_fee_amount:s,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  hardForkInfo: ["hard_fork_info","r","{earliest_height:n,enabled:b,state:i,threshold:i,version:i,votes:i,voting:i,window:i,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getTransactions: ["/get_transactions","r","{missed_tx~:[s],txs~:[{as_hex:s,as_json:s,double_spend_seen:b,in_pool:b,prunable_as_hex:s,prunable_hash:s,pruned_as_hex:s,tx_hash:s,block_height?:i,block_timestamp?:i,confirmations?:i,output_indices?:[i],received_timestamp?:i,relayed?:b}],txs_as_hex~:[s],txs_as_json~:[s],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  isKeyImageSpent: ["/is_key_image_spent","r","{spent_status~:[i],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  sendRawTransaction: ["/send_raw_transaction","","{double_spend~:b,fee_too_low~:b,invalid_input~:b,invalid_output~:b,low_mixin~:b,nonzero_unlock_time~:b,not_rct~:b,not_relayed~:b,overspend~:b,reason~:s,sanity_check_failed~:b,too_big~:b,too_few_outputs~:b,tx_extra_too_big~:b,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getOuts: ["/get_outs","r","{outs~:[{height:i,key:s,mask:s,txid:s,unlocked:b}],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getOutputHistogram: ["get_output_histogram","r","{histogram~:[{amount:n,total_instances:i,unlocked_instances:i,recent_instances:i}],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getOutputDistribution: ["get_output_distribution","r","{distributions~:[{amount:n,base:i,start_height:i,distribution~:[i]}],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}",{"binary":false}],
  getTransactionPool: ["/get_transaction_pool","r","{spent_key_images~:[{id_hash:s,txs_hashes~:[s]}],transactions~:[{blob_size:i,do_not_relay:b,double_spend_seen:b,fee:n,id_hash:s,kept_by_block:b,last_failed_height:i,last_failed_id_hash:s,last_relayed_time:n,max_used_block_hash:s,max_used_block_height:i,max_used_block_id_hash:s,receive_time:i,relayed:b,tx_blob:s,tx_json:s,weight~:i}],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getTransactionPoolHashes: ["/get_transaction_pool_hashes","r","{tx_hashes~:[s],status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getTransactionPoolStats: ["/get_transaction_pool_stats","r","{pool_stats:{bytes_max:i,bytes_med:i,bytes_min:i,bytes_total:i,fee_total:n,histo~:[{txs:i,bytes:i}],histo_98pc:i,num_10m:i,num_double_spends:i,num_failing:i,num_not_relayed:i,oldest:i,txs_total:i},status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getTxpoolBacklog: ["get_txpool_backlog","r","{backlog~:([{blob_size:i,fee:n,time_in_pool:i}]|s),status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  flushTxpool: ["flush_txpool","","{status~\"OK\":s,untrusted~:b}"],
  relayTx: ["relay_tx","","{status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  flushCache: ["flush_cache","","{status~\"OK\":s,untrusted~:b}"],
  getFeeEstimate: ["get_fee_estimate","r","{fee:n,fees~:[n],quantization_mask~1:i,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getBlockTemplate: ["get_block_template","r","{blockhashing_blob:s,blocktemplate_blob:s,difficulty:n,difficulty_top64:n,wide_difficulty:s,expected_reward:n,height:i,next_seed_hash:s,prev_hash:s,reserved_offset:i,seed_hash:s,seed_height:i,status~\"OK\":s,untrusted~:b}"],
  getMinerData: ["get_miner_data","r","{already_generated_coins:n,difficulty:s,height:i,major_version:i,median_weight:i,prev_id:s,seed_hash:s,tx_backlog~:[{id:s,weight:i,fee:n}],status~\"OK\":s,untrusted~:b}"],
  calcPow: ["calc_pow","r","s"],
  addAuxPow: ["add_aux_pow","r","{blocktemplate_blob:s,blockhashing_blob:s,merkle_root:s,merkle_tree_depth:i,aux_pow~:[{id:s,hash:s}],status~\"OK\":s,untrusted~:b}"],
  submitBlock: ["submit_block","l","{block_id~:s,status~\"OK\":s,untrusted~:b}"],
  generateBlocks: ["generateblocks","","{blocks~:[s],height:i,status~\"OK\":s,untrusted~:b}"],
  startMining: ["/start_mining","","{status~\"OK\":s,untrusted~:b}"],
  stopMining: ["/stop_mining","","{status~\"OK\":s,untrusted~:b}"],
  miningStatus: ["/mining_status","r","{active:b,address:s,bg_idle_threshold:i,bg_ignore_battery:b,bg_min_idle_seconds:i,bg_target:i,block_reward:n,block_target:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,is_background_mining_enabled:b,pow_algorithm:s,speed:i,threads_count:i,status~\"OK\":s,untrusted~:b}"],
  setLogHashRate: ["/set_log_hash_rate","","{status~\"OK\":s,untrusted~:b}"],
  getConnections: ["get_connections","r","{connections~:[{address:s,address_type:i,avg_download:i,avg_upload:i,connection_id:s,current_download:i,current_upload:i,height:i,host:s,incoming:b,ip:s,live_time:i,local_ip:b,localhost:b,peer_id:s,port:s,pruning_seed:i,recv_count:i,recv_idle_time:i,rpc_credits_per_hash:i,rpc_port:i,send_count:i,send_idle_time:i,state:s,support_flags:i}],status~\"OK\":s,untrusted~:b}"],
  syncInfo: ["sync_info","r","{height:i,next_needed_pruning_seed:i,overview:s,peers~:[{info:{address:s,address_type:i,avg_download:i,avg_upload:i,connection_id:s,current_download:i,current_upload:i,height:i,host:s,incoming:b,ip:s,live_time:i,local_ip:b,localhost:b,peer_id:s,port:s,pruning_seed:i,recv_count:i,recv_idle_time:i,rpc_credits_per_hash:i,rpc_port:i,send_count:i,send_idle_time:i,state:s,support_flags:i}}],spans~:[{connection_id:s,nblocks:i,rate:i,remote_address:s,size:i,speed:i,start_block_height:i}],target_height:i,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  setBans: ["set_bans","","{status~\"OK\":s,untrusted~:b}"],
  getBans: ["get_bans","r","{bans~:[{host:s,ip:i,seconds:i}],status~\"OK\":s,untrusted~:b}"],
  banned: ["banned","r","{banned:b,seconds:i,status~\"OK\":s}"],
  getPeerList: ["/get_peer_list","r","{gray_list~:[{host:(i|s),id:(s|n),ip:i,last_seen:i,port:i,pruning_seed~:i,rpc_credits_per_hash~:i,rpc_port~:i}],white_list~:[{host:(i|s),id:(s|n),ip:i,last_seen:i,port:i,pruning_seed~:i,rpc_credits_per_hash~:i,rpc_port~:i}],status~\"OK\":s,untrusted~:b}"],
  getPublicNodes: ["/get_public_nodes","r","{gray~:[{host:s,last_seen:i,rpc_port:i,rpc_credits_per_hash:i}],white~:[{host:s,last_seen:i,rpc_port:i,rpc_credits_per_hash:i}],status~\"OK\":s,untrusted~:b}"],
  getNetStats: ["/get_net_stats","r","{start_time:i,total_bytes_in:i,total_bytes_out:i,total_packets_in:i,total_packets_out:i,status~\"OK\":s,untrusted~:b}"],
  getLimit: ["/get_limit","r","{limit_down:i,limit_up:i,status~\"OK\":s,untrusted~:b}"],
  setLimit: ["/set_limit","","{limit_down:i,limit_up:i,status~\"OK\":s,untrusted~:b}"],
  outPeers: ["/out_peers","","{out_peers:i,status~\"OK\":s,untrusted~:b}"],
  inPeers: ["/in_peers","","{in_peers:i,status~\"OK\":s,untrusted~:b}"],
  setBootstrapDaemon: ["/set_bootstrap_daemon","","{status~\"OK\":s}"],
  getInfo: ["get_info","r","{adjusted_time:i,alt_blocks_count:i,block_size_limit:i,block_size_median:i,block_weight_limit:i,block_weight_median:i,bootstrap_daemon_address:s,busy_syncing:b,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,database_size:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,free_space:n,grey_peerlist_size:i,height:i,height_without_bootstrap:i,incoming_connections_count:i,mainnet:b,nettype:s,offline:b,outgoing_connections_count:i,restricted:b,rpc_connections_count:i,stagenet:b,start_time:i,synchronized:b,target:i,target_height:i,testnet:b,top_block_hash:s,tx_count:i,tx_pool_size:i,update_available:b,version:s,was_bootstrap_ever_used:b,white_peerlist_size:i,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getInfoPath: ["/get_info","r","{adjusted_time:i,alt_blocks_count:i,block_size_limit:i,block_size_median:i,block_weight_limit:i,block_weight_median:i,bootstrap_daemon_address:s,busy_syncing:b,cumulative_difficulty:n,cumulative_difficulty_top64:n,wide_cumulative_difficulty:s,database_size:i,difficulty:n,difficulty_top64:n,wide_difficulty:s,free_space:n,grey_peerlist_size:i,height:i,height_without_bootstrap:i,incoming_connections_count:i,mainnet:b,nettype:s,offline:b,outgoing_connections_count:i,restricted:b,rpc_connections_count:i,stagenet:b,start_time:i,synchronized:b,target:i,target_height:i,testnet:b,top_block_hash:s,tx_count:i,tx_pool_size:i,update_available:b,version:s,was_bootstrap_ever_used:b,white_peerlist_size:i,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  getVersion: ["get_version","r","{current_height~:i,hard_forks~:[{height:i,hf_version:i}],release:b,target_height~:i,version:i,status~\"OK\":s,untrusted~:b}"],
  saveBc: ["/save_bc","","{status~\"OK\":s,untrusted~:b}"],
  setLogLevel: ["/set_log_level","","{status~\"OK\":s,untrusted~:b}"],
  setLogCategories: ["/set_log_categories","","{categories:s,status~\"OK\":s,untrusted~:b}"],
  stopDaemon: ["/stop_daemon","","{status~\"OK\":s,untrusted~:b}"],
  update: ["/update","","{auto_uri~:s,hash~:s,path~:s,update~:b,user_uri~:s,version~:s,status~\"OK\":s,untrusted~:b}"],
  startSaveGraph: ["/start_save_graph","r","{status~\"OK\":s}"],
  stopSaveGraph: ["/stop_save_graph","r","{status~\"OK\":s}"],
  rpcAccessInfo: ["rpc_access_info","r","{cookie:i,credits_per_hash_found:i,diff:n,hashing_blob:s,height:i,next_seed_hash:s,seed_hash:s,seed_height:i,status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  rpcAccessSubmitNonce: ["rpc_access_submit_nonce","","{status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  rpcAccessPay: ["rpc_access_pay","","{status~\"OK\":s,untrusted~:b,credits~:i,top_hash~:s}"],
  rpcAccessTracking: ["rpc_access_tracking","","{data~:[{count:i,credits:i,rpc:s,time:i}],status~\"OK\":s,untrusted~:b}"],
  rpcAccessData: ["rpc_access_data","r","{entries~:[{balance:n,client:s,credits_total:n,credits_used:n,last_update_time:i,nonces_bad:i,nonces_dupe:i,nonces_good:i,nonces_stale:i}],hashrate:i,status~\"OK\":s,untrusted~:b}"],
  rpcAccessAccount: ["rpc_access_account","","{credits:n,status~\"OK\":s,untrusted~:b}"],
};
