import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import { parseAddress, toHex } from "@anulo/protocol";
import { transactionSizes } from "../chain-facts.ts";
import { inJson, inMember, inResult, type Rule } from "../rule.ts";

const noPaymentId = "0".repeat(64);

/** Payment ids that the steps before put beside addresses of the book, by entry, and the steps that show them. */
const paymentIds: { readonly [entry: string]: string } = {
  3: "0123456789abcdef".padEnd(64, "0"),
  4: "01".repeat(32),
};
const showsGiven = /^get_address_book(:two|:edited)?$/;

const withPaymentId =
  (step: string) =>
  (entry: ExactObject): ExactObject => {
    const address = parseAddress(String(entry.address));
    const own = address.kind === "integrated" ? toHex(address.paymentId).padEnd(64, "0") : noPaymentId;
    return {
      ...entry,
      payment_id: (showsGiven.test(step) ? paymentIds[String(entry.index)] : undefined) ?? own,
    };
  };

/** Values of this run stand in for a recorded text that is empty because the original ignores an input. */
const keyOfThisRun = "the key of this transaction";

const listed = ["tx_hash", "amount", "fee"];
const listedWhenAskedFor = ["tx_key", "tx_blob", "tx_metadata"];

/** Every value of a single sweep again as a list of one; what was not asked for makes no list. */
function withLists(result: ExactObject): ExactObject {
  const lists: ExactObject = {};
  for (const name of listed) lists[`${name}_list`] = [result[name]!];
  for (const name of listedWhenAskedFor) if (result[name] !== "") lists[`${name}_list`] = [result[name]!];
  return { ...result, ...lists };
}

const withTransactionSize = (transfer: ExactObject): ExactObject => ({
  ...transfer,
  tx_size: transactionSizes().get(String(transfer.tx_hash)) ?? 0,
});

/** Fields that the interface documents list and the original programs do not return: given in both dialects. */
export const additions: readonly Rule[] = [
  {
    id: /^get_?(last_?block_?header|block_?header_?by_?(hash|height)|block_?headers_?range|block)\b/,
    dialect: "contract",
    why: "block headers: `pow_hash` is told where the node knows it, not only where it is asked for",
    change: (answer) => answer,
    holds: {
      ".json.result.block_header.pow_hash": isSameOrKnown,
      ".json.result.block_headers[].pow_hash": isSameOrKnown,
      ".json.result.headers[].pow_hash": isSameOrKnown,
    },
  },
  {
    id: /^incoming_transfers(?!:for sweep_single)/,
    why: "incoming_transfers: tx_size",
    change: (answer) => inResult(answer, (it) => inMember(it, "transfers", withTransactionSize)),
  },
  {
    id: /^incoming_transfers:for sweep_single/,
    why: "incoming_transfers: tx_size, of transactions this run made",
    change: (answer) =>
      inResult(answer, (it) => inMember(it, "transfers", (transfer) => ({ ...transfer, tx_size: 1 }))),
    holds: { ".json.result.transfers[].tx_size": isPositive },
  },
  {
    id: /^sweep_single:get_tx_keys/,
    why: "sweep_single: either key flag works",
    change: (answer) => inResult(answer, (it) => ({ ...it, tx_key: keyOfThisRun })),
    volatile: [".json.result.tx_key"],
  },
  {
    id: /^sweep_single/,
    why: "sweep_single: single values and lists of one",
    change: (answer) => inResult(answer, withLists),
  },
  {
    id: /^split_integrated_address/,
    why: "split_integrated_address: payment and payment_id",
    change: (answer) => inResult(answer, (it) => ({ ...it, payment: it.payment_id! })),
  },
  {
    id: /^\/send_?raw_?transaction/,
    why: "/send_raw_transaction: not_rct, of ringct transactions alone in the recordings",
    change: (answer) => inJson(answer, (it) => ({ ...it, not_rct: false })),
  },
  {
    id: /^\/send_raw_transaction:last bytes changed/,
    dialect: "contract",
    why: "/send_raw_transaction: the reason is sent",
    change: (answer) => inJson(answer, (it) => ({ ...it, reason: "double spend" })),
  },
  {
    id: /^\/get_transaction_pool(:|$)/,
    why: "/get_transaction_pool: the id of the highest block used, under both names",
    change: (answer) =>
      inJson(answer, (it) =>
        inMember(it, "transactions", (entry) => ({
          ...entry,
          max_used_block_hash: entry.max_used_block_id_hash!,
        })),
      ),
  },
  {
    id: /^rpc_access_tracking/,
    why: "rpc_access_tracking: by name, without the steps before it that want POST",
    change: (answer) => inResult(answer, (it) => byName(withoutRefusedCalls(it))),
  },
  {
    id: /^get_info:(after popping|with bootstrap daemon)$/,
    why: "pop_blocks takes the two side blocks along that stood on what was popped; the original leaves orphans",
    change: (answer) => inResult(answer, (it) => ({ ...it, alt_blocks_count: 2 })),
  },
  {
    id: /^get_address_book/,
    why: "get_address_book: payment_id",
    change: (answer, { step }) => inResult(answer, (it) => inMember(it, "entries", withPaymentId(step.id))),
  },
];

/** Calls that were refused, since the recorded request came by GET, are not counted. */
function withoutRefusedCalls(result: ExactObject): ExactObject {
  const { data } = result;
  if (!Array.isArray(data)) return result;
  const counted = data.filter(isExactObject).flatMap((entry) => {
    if (entry.rpc === "save_bc" || entry.rpc === "stop_mining") return [];
    return entry.rpc === "set_log_categories" ? [{ ...entry, count: Number(entry.count) - 1 }] : [entry];
  });
  return { ...result, data: counted };
}

/** The original's order is that of a hash table. */
function byName(result: ExactObject): ExactObject {
  const { data } = result;
  if (!Array.isArray(data)) return result;
  const nameOf = (entry: Exact) => (isExactObject(entry) ? String(entry.rpc) : "");
  return { ...result, data: [...data].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) };
}

function isPositive(actual: Exact): boolean {
  return typeof actual === "number" && actual > 0;
}

/** The recorded value, or a hash in place of the empty text. */
function isSameOrKnown(actual: Exact, recorded: Exact): boolean {
  return actual === recorded || (recorded === "" && /^[0-9a-f]{64}$/.test(String(actual)));
}
