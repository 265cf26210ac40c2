import { type ExactObject, isExactObject } from "@anulo/devnet";
import type { Context } from "../context.ts";
import { inJson, inMember, paramsOf, type Rule } from "../rule.ts";

/** What an answer holds even when empty: lists, numbers that may be 0, and the records in it that hold some. */
type EmptyFields = {
  readonly lists?: readonly string[];
  readonly numbers?: readonly string[];
  readonly within?: { readonly [member: string]: EmptyFields };
};

const header: EmptyFields = { numbers: ["block_weight", "long_term_weight"] };
const incoming: EmptyFields = { numbers: ["confirmations", "suggested_confirmations_threshold"] };
const perTransaction = ["hash", "key", "blob", "metadata"].map((it) => `tx_${it}_list`);
const built: EmptyFields = { lists: [...perTransaction, "amount_list", "fee_list"] };
const payments: EmptyFields = { lists: ["payments"] };
const withHeader: EmptyFields = { within: { block_header: header } };

/** By method or path: the fields of the interface documents that are lists, or optional numbers. */
const documented: readonly { readonly id: RegExp; readonly holds: EmptyFields }[] = [
  { id: /^get_?block(:|$)/, holds: { lists: ["tx_hashes"], within: { block_header: header } } },
  {
    id: /^get_?(last_?block_?header|block_?header_?by_?hash|block_?header_?by_?height)(:|$)/,
    holds: withHeader,
  },
  { id: /^get_?block_?header_?by_?hash(:|$)/, holds: { within: { block_headers: header } } },
  { id: /^get_?block_?headers_?range(:|$)/, holds: { lists: ["headers"], within: { headers: header } } },
  { id: /^get_connections(:|$)/, holds: { lists: ["connections"] } },
  { id: /^get_bans(:|$)/, holds: { lists: ["bans"] } },
  { id: /^get_output_histogram(:|$)/, holds: { lists: ["histogram"] } },
  {
    id: /^get_alternate_chains(:|$)/,
    holds: { lists: ["chains"], within: { chains: { lists: ["block_hashes"] } } },
  },
  { id: /^sync_info(:|$)/, holds: { lists: ["peers"] } },
  { id: /^get_txpool_backlog(:|$)/, holds: { lists: ["backlog"] } },
  { id: /^get_output_distribution(:|$)/, holds: { lists: ["distributions"] } },
  { id: /^\/get_outs(:|$)/, holds: { lists: ["outs"] } },
  { id: /^\/get_?transactions(:|$)/, holds: { lists: ["txs", "txs_as_hex"] } },
  { id: /^\/get_alt_blocks_hashes(:|$)/, holds: { lists: ["blks_hashes"] } },
  { id: /^\/is_key_image_spent(:|$)/, holds: { lists: ["spent_status"] } },
  { id: /^\/get_peer_list(:|$)/, holds: { lists: ["gray_list", "white_list"] } },
  { id: /^\/get_transaction_pool(:|$)/, holds: { lists: ["transactions", "spent_key_images"] } },
  { id: /^\/get_transaction_pool_stats(:|$)/, holds: { within: { pool_stats: { lists: ["histo"] } } } },

  { id: /^get_?balance(:|$)/, holds: { lists: ["per_subaddress"] } },
  { id: /^get_?address(:|$)/, holds: { lists: ["addresses"] } },
  { id: /^get_accounts(:|$)/, holds: { lists: ["subaddress_accounts"] } },
  {
    id: /^get_account_tags(:|$)/,
    holds: { lists: ["account_tags"], within: { account_tags: { lists: ["accounts"] } } },
  },
  { id: /^(transfer_split|sweep_all|sweep_single)(:|$)/, holds: built },
  { id: /^sign_transfer(:|$)/, holds: { lists: ["tx_hash_list", "tx_raw_list"] } },
  { id: /^(submit_transfer|sign_multisig|submit_multisig)(:|$)/, holds: { lists: ["tx_hash_list"] } },
  { id: /^describe_transfer(:|$)/, holds: { lists: ["desc"], within: { desc: { lists: ["recipients"] } } } },
  { id: /^get_(bulk_)?payments(:|$)/, holds: payments },
  { id: /^incoming_transfers(:|$)/, holds: { lists: ["transfers"] } },
  { id: /^get_transfer_by_txid(:|$)/, holds: { within: { transfer: incoming, transfers: incoming } } },
  { id: /^get_tx_notes(:|$)/, holds: { lists: ["notes"] } },
  { id: /^export_key_images(:|$)/, holds: { lists: ["signed_key_images"] } },
  { id: /^get_address_book(:|$)/, holds: { lists: ["entries"] } },
  { id: /^get_languages(:|$)/, holds: { lists: ["languages"] } },
];

function withEmptyFields(
  object: ExactObject,
  { lists = [], numbers = [], within = {} }: EmptyFields,
): ExactObject {
  const empty: ExactObject = {
    ...Object.fromEntries(lists.map((name) => [name, []])),
    ...Object.fromEntries(numbers.map((name) => [name, 0])),
  };
  return Object.entries(within).reduce(
    (it, [name, holds]) => inMember(it, name, (member) => withEmptyFields(member, holds)),
    {
      ...empty,
      ...object,
    },
  );
}

const kindsOfTransfer = ["in", "out", "pending", "failed", "pool"];

/** Every kind that was asked for; what was not asked for stays out. */
function allKindsAskedFor(result: ExactObject, context: Context): ExactObject {
  const params = paramsOf(context);
  const isAsked = (name: string) => [true, "true", 1].includes(params[name] as boolean);
  return withEmptyFields(result, {
    lists: kindsOfTransfer.filter(isAsked),
    within: Object.fromEntries(kindsOfTransfer.map((name) => [name, incoming])),
  });
}

const outgoing = ["out", "pending", "failed"];
const withDestinations = (transfer: ExactObject): ExactObject =>
  outgoing.includes(String(transfer.type)) ? { destinations: [], ...transfer } : transfer;

/** S10: lists that are empty and optional numbers that are 0 are there. */
export const lists: readonly Rule[] = [
  ...documented.map(
    ({ id, holds }): Rule => ({
      id,
      dialect: "contract",
      why: "S10",
      change: (answer) => inJson(answer, (json) => inAnswer(json, (it) => withEmptyFields(it, holds))),
    }),
  ),
  {
    id: /^get_transfers(:|$)/,
    dialect: "contract",
    why: "S10, of the kinds that were asked for",
    change: (answer, context) =>
      inJson(answer, (json) => inAnswer(json, (it) => allKindsAskedFor(it, context))),
  },
  {
    id: /^get_transfer_by_txid(:|$)/,
    dialect: "contract",
    why: "get_transfer_by_txid: outgoing transfers always carry destinations",
    change: (answer) =>
      inJson(answer, (json) =>
        inAnswer(json, (it) =>
          inMember(inMember(it, "transfer", withDestinations), "transfers", withDestinations),
        ),
      ),
  },
];

/** The record an answer carries: the result of a call of JSON-RPC, or the whole of a plain path. */
function inAnswer(json: ExactObject, change: (record: ExactObject) => ExactObject): ExactObject {
  if (json.error !== undefined) return json;
  return isExactObject(json.result) ? { ...json, result: change(json.result) } : change(json);
}
