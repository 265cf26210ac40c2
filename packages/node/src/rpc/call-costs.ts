import { Drawn } from "@anulo/rpc";

/**
 * What calls cost where a node lets itself be paid for answers, which this one does not: it only counts.
 * Source: rpc_payment_costs.h; core_rpc_server.cpp CHECK_PAYMENT*.
 */
export type Cost = (params: Fields, result: Fields) => number;

export type Fields = Readonly<Record<string, unknown>>;

const lengthOf = (value: unknown): number =>
  Array.isArray(value) || value instanceof Drawn ? value.length : 0;
const atLeastOne = (cost: number): number => Math.max(1, Math.floor(cost));
const always =
  (cost: number): Cost =>
  () =>
    cost;
/** One credit, and some for each entry of a list in the answer. */
const perRow = (name: string, each: number): Cost => {
  return (_, result) => 1 + Math.floor(each * lengthOf(result[name]));
};
/** Some for each entry of a requested list. */
const perItem = (name: string, each: number): Cost => {
  return (params) => atLeastOne(each * lengthOf(params[name]));
};

const distribution: Cost = ({ amounts }) => {
  const list = Array.isArray(amounts) ? amounts : [];
  const ofRingCt = list.filter((amount) => BigInt(amount) === 0n).length;
  return atLeastOne(20 * ofRingCt + 50_000 * (list.length - ofRingCt));
};

const range: Cost = ({ start_height: start, end_height: end }) => {
  return atLeastOne(0.1 * (Number(end) - Number(start) + 1));
};

/** Credits by the name a call is counted under; what is not here costs nothing. */
export const costs: { readonly [name: string]: Cost } = {
  get_info: always(1),
  get_blocks: perRow("blocks", 0.05),
  get_blocks_by_height: perItem("heights", 0.05),
  get_hashes: perRow("m_block_ids", 0.002),
  get_outs_bin: perItem("outputs", 1),
  get_outs: perItem("outputs", 1),
  get_indexes: always(1),
  get_transactions: perItem("txs_hashes", 0.5),
  is_key_image_spent: perItem("key_images", 0.01),
  send_raw_tx: always(100),
  get_transaction_pool: perRow("transactions", 0.5),
  get_transaction_pool_hashes: perRow("tx_hashes", 0.01),
  get_transaction_pool_stats: always(1),
  get_last_block_header: always(1),
  get_block_header_by_hash: always(1),
  get_block_headers_range: range,
  get_block_header_by_height: always(1),
  get_block: always(1),
  hard_fork_info: always(1),
  get_output_histogram: ({ amounts }) => (lengthOf(amounts) === 0 ? 5_000_000 : 25_000 * lengthOf(amounts)),
  get_coinbase_tx_sum: ({ count }) => atLeastOne(2 * Number(count)),
  get_base_fee_estimate: always(1),
  relay_tx: perItem("txids", 100),
  sync_info: always(2),
  get_txpool_backlog: (_, result) => atLeastOne(0.2 * lengthOf(result.backlog)),
  get_output_distribution: distribution,
  get_output_distribution_bin: distribution,
};
