import { type Exact, type ExactObject, isExactObject } from "../exact-json.ts";
import type { Context } from "./context.ts";
import { laxJson } from "./lax-json.ts";
import type { GoldenAnswer } from "./recording.ts";

type Demanded = { readonly answer: GoldenAnswer; readonly volatile: readonly string[] };

/** Paths whose values are random too, though three recordings happened to agree. */
const alsoVolatile: readonly { readonly id: RegExp; readonly paths: readonly string[] }[] = [
  {
    // A wallet may have refreshed by itself before it is told not to.
    id: /^refresh:set-up/,
    paths: [".json.result.blocks_fetched", ".json.result.received_money"],
  },
  {
    // The original sweeps one address, chosen at random.
    id: /^sweep_all:subaddr_indices is (null|negative)$/,
    paths: [".json.result.amount_list[]", ".json.result.spent_key_images_list[].key_images[]"],
  },
  {
    // Pages of a database, ours or theirs.
    id: /get_?info/,
    paths: [".json.database_size", ".json.result.database_size"],
  },
];

/** A value the documented dialect demands in another form. */
type Switched = {
  readonly method: RegExp;
  readonly change: (result: ExactObject, context: Context) => ExactObject;
  /** Paths that are times in the demanded form. */
  readonly volatile?: readonly string[];
};

const each = (list: Exact | undefined, change: (item: ExactObject) => ExactObject): Exact[] =>
  (Array.isArray(list) ? list : []).map((item) => (isExactObject(item) ? change(item) : item));

/** `value` with the members that `result` has changed. */
function mapped(result: ExactObject, key: string, change: (value: Exact) => Exact): ExactObject {
  const value = result[key];
  return value === undefined ? result : { ...result, [key]: change(value) };
}

const incoming = (transfer: ExactObject): ExactObject =>
  transfer.type === "block" ? { ...transfer, type: "in" } : transfer;

const switched: readonly Switched[] = [
  { method: /^get_version$/, change: (it) => (it.version === 65561 ? { ...it, version: 65539 } : it) },
  {
    method: /^validate_address$/,
    change: (it) => mapped(it, "openalias_address", (address) => address !== ""),
  },
  {
    method: /^get_transfers$/,
    change: (it) =>
      mapped(
        mapped(it, "in", (list) => each(list, incoming)),
        "pool",
        (list) => each(list, incoming),
      ),
  },
  {
    method: /^get_transfer_by_txid$/,
    change: (it) =>
      mapped(
        mapped(it, "transfer", (transfer) => (isExactObject(transfer) ? incoming(transfer) : transfer)),
        "transfers",
        (list) => each(list, incoming),
      ),
  },
  { method: /^get_bans$/, change: (it) => it, volatile: [".json.result.bans[].seconds"] },
  {
    method: /^get_alternate_chains$/,
    change: (it) => mapped(it, "chains", (chains) => each(chains, firstDiverging)),
  },
  {
    method: /^get_txpool_backlog$/,
    change: (it) =>
      mapped(it, "backlog", (packed) => (typeof packed === "string" ? backlogOf(packed) : packed)),
    volatile: [".json.result.backlog[].time_in_pool"],
  },
  {
    method: /^get_output_distribution$/,
    change: (it, context) => (asksForBinary(context) ? it : mapped(it, "distributions", unpackAll)),
  },
];

function firstDiverging(chain: ExactObject): ExactObject {
  const hashes = chain.block_hashes;
  return Array.isArray(hashes) ? { ...chain, block_hash: hashes.at(-1) ?? "" } : chain;
}

/** 24-byte records: size, fee, seconds in the pool, each 64 bits little-endian; a character a byte. */
function backlogOf(packed: string): Exact[] {
  const bytes = Buffer.from(packed, "latin1");
  return Array.from({ length: bytes.length / 24 }, (_, at) => ({
    blob_size: Number(bytes.readBigUInt64LE(24 * at)),
    fee: Number(bytes.readBigUInt64LE(24 * at + 8)),
    time_in_pool: Number(bytes.readBigUInt64LE(24 * at + 16)),
  }));
}

function unpackAll(distributions: Exact): Exact {
  return each(distributions, (entry) => {
    const packed = entry.distribution;
    if (typeof packed !== "string") return entry;
    const bytes = Buffer.from(packed, "latin1");
    const numbers = Array.from({ length: bytes.length / 8 }, (_, at) =>
      Number(bytes.readBigUInt64LE(8 * at)),
    );
    return { ...entry, binary: false, distribution: numbers };
  });
}

function asksForBinary({ step }: Context): boolean {
  const { body } = step.request;
  const params = isExactObject(body) ? body.params : undefined;
  return isExactObject(params) && params.binary === true;
}

/** The answer a step must get in its dialect, with the paths whose values may differ. */
export function demandedAnswer(context: Context): Demanded {
  const { step, dialect } = context;
  const also = alsoVolatile.filter(({ id }) => id.test(step.id)).flatMap(({ paths }) => paths);
  const volatile = [...(step.volatile ?? []), ...also];
  const answer = withJson(step.answer);
  if (dialect !== "contract") return { answer, volatile };
  const demand = switched.find(({ method }) => method.test(context.method));
  return {
    answer: demandedRefusal(
      context,
      changeResult(answer, (it) => demand?.change(it, context) ?? it),
    ),
    volatile: [...volatile, ...(demand?.volatile ?? [])],
  };
}

/** JSON with raw bytes in it was recorded as text; as JSON it can be compared member by member. */
function withJson(answer: GoldenAnswer): GoldenAnswer {
  if (answer.text === undefined || answer.type !== "application/json") return answer;
  const json = laxJson(answer.text);
  return json === undefined ? answer : { ...answer, json, raw_bytes_in_json: true };
}

function changeResult(answer: GoldenAnswer, change: (result: ExactObject) => ExactObject): GoldenAnswer {
  const { json } = answer;
  if (!isExactObject(json) || !isExactObject(json.result)) return answer;
  return { ...answer, json: { ...json, result: change(json.result) } };
}

/** A blob that is no block is a block that is not accepted, as every other. */
function demandedRefusal({ method }: Context, answer: GoldenAnswer): GoldenAnswer {
  const { json } = answer;
  if (!/^submit_?block$/.test(method) || !isExactObject(json) || !isExactObject(json.error)) return answer;
  if (json.error.code !== -6) return answer;
  return { ...answer, json: { ...json, error: { code: -7, message: "Block not accepted" } } };
}
