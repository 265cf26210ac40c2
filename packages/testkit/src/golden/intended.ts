import { type Exact, isExactObject } from "../exact-json.ts";
import type { Difference } from "./compare.ts";
import type { Context } from "./context.ts";

/** A difference from the recordings that we want, where it may appear, and why. */
type Intended = {
  /** Identifier of the step. */
  readonly id: RegExp;
  /** Path of the difference. */
  readonly path: RegExp;
  readonly kind?: Difference["kind"];
  /** Only in this dialect; else in both. */
  readonly dialect?: "contract";
  readonly why: string;
  /** What must also hold of the two values. */
  readonly holds?: (actual: Exact | undefined, recorded: Exact | undefined) => boolean;
};

const code = (wanted: number) => (actual: Exact | undefined) =>
  isExactObject(actual) && actual.code === wanted;

/** Fields the interface documents list and the original programs do not return. */
const additions: readonly Intended[] = [
  {
    id: /^incoming_transfers/,
    path: /\.transfers\[\]\.tx_size$/,
    kind: "extra",
    why: "documented: size of the transaction",
  },
  {
    id: /^sweep_single/,
    path: /\.result\.(tx_hash|tx_key|amount|fee|tx_blob|tx_metadata|weight|spent_key_images)_list$/,
    kind: "extra",
    why: "documented as lists; single values stay",
  },
  {
    id: /^get_address_book/,
    path: /\.entries\[\]\.payment_id$/,
    kind: "extra",
    why: "documented; the original dropped it",
  },
  {
    id: /^split_integrated_address/,
    path: /\.result\.payment$/,
    kind: "extra",
    why: "documented as payment in the list, payment_id in the example",
  },
  {
    id: /^\/send_?raw_?transaction/,
    path: /\.not_rct$/,
    kind: "extra",
    why: "documented; the original dropped it",
  },
  {
    id: /^\/get_transaction_pool/,
    path: /\.transactions\[\]\.max_used_block_hash$/,
    kind: "extra",
    why: "documented under both names",
  },
  {
    id: /^\/get_transaction_pool_hashes\.bin$/,
    path: /^\.(http|type|hex)$/,
    why: "documented as binary: a binary body is answered in binary",
  },
  {
    id: /^\/(start|stop)_save_graph/,
    path: /^\.(http|type|text|json)$/,
    why: "documented; the original has no such path",
  },
];

/** Requests the original programs answer in a way nobody can want. */
const mended: readonly Intended[] = [
  {
    id: /^(make_uri|parse_uri)/,
    path: /^\.json\.(error|result)/,
    why: "payment ids are written; = and ? in values are encoded, so that what was made can be parsed",
  },
  {
    id: /^set_bans:(no host|wrong types inside|bans is )/,
    path: /^\.json\.(error|result)$/,
    why: "a ban without host bans nobody",
  },
  {
    id: /^get_bans:at the end/,
    path: /\.result\.bans$/,
    kind: "length",
    why: "0.0.0.0 was not banned by a ban without host",
    holds: (actual, recorded) => listLength(recorded) - listLength(actual) === 1,
  },
  {
    id: /^\/get_limit:after -2 5/,
    path: /\.limit_down$/,
    why: "nothing is set when one of two numbers is bad",
  },
  {
    id: /^\/set_log_categories:(no body|empty object|without categories|categories is (null|array))$/,
    path: /\.categories$/,
    why: "documented: without input the default set",
  },
  {
    id: /^(restore_deterministic_wallet:unknown language|generate_from_keys:(wrong|integrated|subaddress))/,
    path: /^\.json\.(error|result)$/,
    why: "keys that do not belong to the address, and unknown languages, are refused",
  },
  {
    id: /^label_address:index is /,
    path: /^\.json\.(error|result)$/,
    why: "an index that is no index labels nothing",
    holds: (actual) => actual === undefined || code(-32602)(actual),
  },
  {
    id: /^http:method /,
    path: /^\.http$/,
    why: "a method that is no text is an invalid request, not a failure",
  },
  {
    id: /^http:(negative length|LF line ends)$/,
    path: /^\.http$/,
    why: "malformed HTTP is refused: what it means depends on who reads it",
    holds: (actual) => actual === 0 || actual === 400,
  },
  {
    id: /^http:chunked body$/,
    path: /^\.json\.(error|result|id)$/,
    why: "bodies may come in chunks",
  },
  {
    id: /^sweep_single:get_tx_keys$/,
    path: /\.tx_key$/,
    why: "documented as get_tx_keys; the original reads get_tx_key",
  },
  { id: /^http:digest, nonce of another connection$/, path: /^\./, why: "a nonce is good on any connection" },
  {
    id: /^sweep_dust:view only/,
    path: /\.unsigned_txset$/,
    why: "documented: empty when there is nothing to sweep",
  },
  {
    id: /^submit_block:(changed timestamp|unknown parent)/,
    path: /^\.json\.(error|result)$/,
    why: "a block without known parent is not accepted",
    holds: (actual) => actual === undefined || code(-7)(actual),
  },
  {
    id: /^make_multisig:without the flag$/,
    path: /^\.json\./,
    why: "documented: multisig asks for no flag",
  },
];

/** What only the documented dialect demands, beside the values that `demanded.ts` puts in. */
const contract: readonly Intended[] = [
  {
    id: /./,
    path: /^\.json\./,
    kind: "extra",
    dialect: "contract",
    why: "lists are there when empty, optional numbers when 0",
    holds: (actual) => actual === 0 || (Array.isArray(actual) && actual.length === 0),
  },
  {
    id: / (is|body is) (string|numstring|negative|float|bool|object|array_of_string|empty string)$/,
    path: /^\.(json\.(error|result|error\.code|error\.message)|http|type|text|json)$/,
    dialect: "contract",
    why: "a value of another kind where a list or a record is documented is refused",
    holds: isRefusalOfType,
  },
  {
    id: /^http:params /,
    path: /^\.json\.(error|result)$/,
    dialect: "contract",
    why: "params of another kind are refused",
    holds: (actual) => actual === undefined || code(-32602)(actual),
  },
  {
    id: /^http:.*batch/,
    path: /^\.json/,
    dialect: "contract",
    why: "JSON-RPC batches are answered",
  },
  {
    id: /^get_fee_estimate/,
    path: /\.error\.(code|message)$/,
    dialect: "contract",
    why: "an error has a code and says what is wrong",
    holds: (_actual, recorded) => recorded === 0 || recorded === "",
  },
  {
    id: /^get_tx_key:after rescan$/,
    path: /^\.json\.(error|result)$/,
    dialect: "contract",
    why: "a rescan discards transaction keys",
    holds: (actual) => actual === undefined || code(-24)(actual),
  },
  {
    id: /^(\/?get_?info)/,
    path: /\.version$/,
    dialect: "contract",
    why: "the version names the program",
  },
];

const table: readonly Intended[] = [...additions, ...mended, ...contract];

function listLength(value: Exact | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

function isRefusalOfType(actual: Exact | undefined): boolean {
  return [undefined, 400, -32602, "Invalid params", ""].includes(actual as string) || code(-32602)(actual);
}

/** Why a difference from the demanded answer is meant to be, or undefined. */
export function reasonOf({ step, dialect }: Context, difference: Difference): string | undefined {
  if (dialect === undefined) return undefined;
  return table.find(
    (entry) =>
      entry.id.test(step.id) &&
      entry.path.test(difference.path) &&
      (entry.kind === undefined || entry.kind === difference.kind) &&
      (entry.dialect === undefined || entry.dialect === dialect) &&
      (entry.holds?.(difference.actual, difference.recorded) ?? true),
  )?.why;
}
