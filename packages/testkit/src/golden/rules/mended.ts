import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import type { Context } from "../context.ts";
import { type GoldenAnswer, loadRecording } from "../recording.ts";
import {
  hasErrorCode,
  inJson,
  inResult,
  isRefusal,
  paramsOf,
  type Rule,
  refused,
  resulted,
} from "../rule.ts";

const coinScheme = "monero";

/** Percent-encoding of everything but unreserved characters (RFC 3986, 2.3). */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

/** The payment request that the interface document describes, for the params of a step. */
function paymentUri({ address, payment_id, amount, recipient_name, tx_description }: ExactObject): string {
  const textOf = (value: Exact | undefined) =>
    typeof value === "string" && value !== "" ? value : undefined;
  const atomic = typeof amount === "number" || typeof amount === "string" ? BigInt(amount) : 0n;
  const fields: [string, string | undefined][] = [
    ["tx_payment_id", textOf(payment_id)],
    ["tx_amount", atomic === 0n ? undefined : decimal(atomic)],
    ["recipient_name", textOf(recipient_name)],
    ["tx_description", textOf(tx_description)],
  ];
  const query = fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encoded(value)}`]));
  return `${coinScheme}:${address}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

function decimal(atomic: bigint): string {
  const digits = atomic.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

/** The default set of the interface document. */
const defaultCategories =
  "*:WARNING,net:FATAL,net.p2p:FATAL,net.cn:FATAL,global:INFO,verify:FATAL,stacktrace:INFO,logging:INFO,msgwriter:INFO";

/** The recorded answer of another step of the same group. */
function answerOf({ group, release }: Context, id: string): GoldenAnswer {
  return loadRecording(group, release).steps.find((step) => step.id === id)!.answer;
}

/** Packed entries of three numbers of 8 bytes, a character a byte, with the last number 0. */
function withoutSeconds(packed: string): string {
  return packed.replace(/(.{16}).{8}/gs, `$1${"\0".repeat(8)}`);
}

/** What the original programs answer and nobody can want: another answer in both dialects. */
export const mended: readonly Rule[] = [
  {
    id: /^get_txpool_backlog/,
    why: "get_txpool_backlog: the node's clock stands still here, so nothing is in the pool for a second",
    change: (answer) =>
      inResult(answer, (it) =>
        typeof it.backlog === "string" ? { ...it, backlog: withoutSeconds(it.backlog) } : it,
      ),
  },
  {
    id: /^get_block_template:reserve 255$/,
    why: "get_block_template: up to 255 bytes are reserved; the lengths of nonce and extra have two bytes then",
    change: (_, context) =>
      inResult(answerOf(context, "get_block_template"), (it) => ({
        ...it,
        reserved_offset: (it.reserved_offset as number) + 2,
      })),
    volatile: [".json.result.blockhashing_blob", ".json.result.blocktemplate_blob"],
  },
  {
    id: /^check_tx_proof:(without signature|signature is null)$/,
    why: "check_tx_proof: an empty proof is refused in our words; the original shows an error of its library",
    change: (answer) => refused(answer, -1, "Signature size mismatch with additional tx pubkeys"),
  },
  {
    id: /^make_uri:(address and short id|long id)$/,
    dialect: "contract",
    why: "make_uri: payment ids of 16 and 64 digits are written",
    change: (answer, context) => resulted(answer, { uri: paymentUri(paramsOf(context)) }),
  },
  {
    id: /^make_uri:bad id$/,
    dialect: "contract",
    why: "make_uri: payment ids are taken, so a bad one is refused as such",
    change: (answer) => refused(answer, -11, "Cannot make URI from supplied parameters: Invalid payment id"),
  },
  {
    id: /^make_uri/,
    why: "make_uri: = and ? in values are encoded",
    change: (answer, context) => inResult(answer, (it) => ({ ...it, uri: paymentUri(paramsOf(context)) })),
  },
  {
    id: /^parse_uri$/,
    why: "parse_uri: = inside a value is read",
    change: (answer, context) =>
      hasErrorCode(answer, -11)
        ? resulted(answer, { uri: parsedUri(String(paramsOf(context).uri)) })
        : answer,
  },
  {
    id: /^refresh:untrusted$/,
    why: "rescan_blockchain: forgets nothing while the node is away, so nothing is found anew afterwards",
    change: (answer) => inResult(answer, (it) => ({ ...it, blocks_fetched: 0, received_money: false })),
  },
  {
    id: /^\/get_limit:after -2 5$/,
    why: "/set_limit: nothing set when one of two numbers is bad",
    change: (answer) => inJson(answer, (it) => ({ ...it, limit_down: 32_768 })),
  },
  {
    id: /^\/set_log_categories:/,
    why: "/set_log_categories: left out, the default set",
    change: (answer, context) =>
      isLeftOut(paramsOf(context).categories)
        ? inJson(answer, (it) => ({ ...it, categories: defaultCategories }))
        : answer,
  },
  {
    id: /^restore_deterministic_wallet:unknown language$/,
    why: "restore_deterministic_wallet: an unknown language is refused",
    change: (answer, context) =>
      refused(answer, -1, `Unknown language: ${String(paramsOf(context).language)}`),
  },
  {
    id: /^generate_from_keys:(wrong view key|integrated address|subaddress)$/,
    why: "generate_from_keys: keys must match the address",
    change: (answer) => refused(answer, -1, "view key does not match address"),
  },
  {
    id: /^generate_from_keys:wrong spend key$/,
    why: "generate_from_keys: keys must match the address",
    change: (answer) => refused(answer, -1, "spend key does not match address"),
  },
  {
    id: /^label_address:index is /,
    why: "label_address: an index that is no object is refused",
    change: (answer, context) => {
      const { index } = paramsOf(context);
      return isLeftOut(index) || isExactObject(index) || isRefusal(answer)
        ? answer
        : refused(answer, -32602, "Invalid params");
    },
  },
  {
    id: /^sweep_dust:view only/,
    why: "sweep_dust: nothing to sweep, no set to sign",
    change: (answer) => inResult(answer, (it) => ({ ...it, unsigned_txset: "" })),
  },
];

function isLeftOut(value: Exact | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function parsedUri(uri: string): ExactObject {
  const [, address = "", query = ""] = /^\w+:(\w+)\?(.*)$/.exec(uri) ?? [];
  const fields = new Map(
    query.split("&").map((field) => {
      const at = field.indexOf("=");
      return [field.slice(0, at), decodeURIComponent(field.slice(at + 1))];
    }),
  );
  return {
    address,
    amount: Number((fields.get("tx_amount") ?? "0.0").replace(".", "")),
    payment_id: fields.get("tx_payment_id") ?? "",
    recipient_name: fields.get("recipient_name") ?? "",
    tx_description: fields.get("tx_description") ?? "",
  };
}
