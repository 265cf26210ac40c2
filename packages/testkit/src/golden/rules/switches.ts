import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import type { Context } from "../context.ts";
import { hasErrorCode, inMember, inResult, paramsOf, type Rule, refused } from "../rule.ts";

const incoming = (transfer: ExactObject): ExactObject =>
  transfer.type === "block" ? { ...transfer, type: "in" } : transfer;

const incomingIn =
  (...names: string[]) =>
  (result: ExactObject): ExactObject =>
    names.reduce((it, name) => inMember(it, name, incoming), result);

/** Values that must be one or the other: their form in the documented dialect. S10 is in `lists.ts`. */
export const switches: readonly Rule[] = [
  {
    id: /^get_version/,
    dialect: "contract",
    why: "S1",
    change: (answer) => inResult(answer, (it) => (it.version === 65568 ? { ...it, version: 65539 } : it)),
  },
  {
    id: /^validate_address/,
    dialect: "contract",
    why: "S2",
    change: (answer) => inResult(answer, (it) => ({ ...it, openalias_address: it.openalias_address !== "" })),
  },
  {
    id: /^get_transfer(s|_by_txid)/,
    dialect: "contract",
    why: "S3",
    change: (answer) => inResult(answer, incomingIn("in", "pool", "transfer", "transfers")),
  },
  {
    id: /^get_tx_key:after rescan$/,
    dialect: "contract",
    why: "S5",
    change: (answer) => refused(answer, -24, "No tx secret key is stored for this tx"),
  },
  {
    id: /^get_bans/,
    dialect: "contract",
    why: "S6",
    change: (answer) => answer,
    holds: { ".json.result.bans[].seconds": endsAfter },
  },
  {
    id: /^get_alternate_chains/,
    dialect: "contract",
    why: "S7",
    change: (answer) => inResult(answer, (it) => inMember(it, "chains", firstDiverging)),
  },
  {
    id: /^\/get_peer_list/,
    dialect: "contract",
    why: "S8",
    change: (answer) =>
      isExactObject(answer.json) ? { ...answer, json: peersByNumber(answer.json) } : answer,
  },
  {
    id: /^get_txpool_backlog/,
    dialect: "contract",
    why: "S9",
    change: (answer) =>
      inResult(answer, (it) =>
        typeof it.backlog === "string" ? { ...it, backlog: backlogOf(it.backlog) } : it,
      ),
    volatile: [".json.result.backlog[].time_in_pool"],
  },
  {
    id: /^get_output_distribution/,
    dialect: "contract",
    why: "S9",
    change: (answer, context) =>
      asksForBinary(context) ? answer : inResult(answer, (it) => inMember(it, "distributions", unpacked)),
  },
  {
    id: /^submit_?block/,
    dialect: "contract",
    why: "S11",
    change: (answer) => (hasErrorCode(answer, -6) ? refused(answer, -7, "Block not accepted") : answer),
  },
  {
    id: /^get_fee_estimate:grace 4294967296$/,
    dialect: "contract",
    why: "an error says what is wrong; the original fails inside",
    change: (answer) => refused(answer, -1, "grace_blocks may be at most 100"),
  },
  {
    id: /^\/?get_?info/,
    dialect: "contract",
    why: "the version names the program that answers",
    change: (answer) => namedAnulo(answer),
  },
];

/** Are the recorded seconds that remain the time from now to this end? */
function endsAfter(end: Exact, secondsLeft: Exact): boolean {
  const slack = 120;
  const remaining = Number(end) - Date.now() / 1000;
  return remaining > Number(secondsLeft) - slack && remaining <= Number(secondsLeft) + 1;
}

function firstDiverging(chain: ExactObject): ExactObject {
  const hashes = chain.block_hashes;
  return Array.isArray(hashes) ? { ...chain, block_hash: hashes.at(-1) ?? "" } : chain;
}

function peersByNumber(lists: ExactObject): ExactObject {
  const byNumber = (peer: ExactObject) => ({ ...peer, host: peer.ip!, id: String(peer.id) });
  return ["white_list", "gray_list"].reduce((it, name) => inMember(it, name, byNumber), lists);
}

/** 24-byte records: size, fee, seconds in the pool, each 64 bits little-endian; a character a byte. */
function backlogOf(packed: string): Exact[] {
  const numbers = numbersOf(packed);
  return Array.from({ length: numbers.length / 3 }, (_, at) => ({
    blob_size: numbers[3 * at]!,
    fee: numbers[3 * at + 1]!,
    time_in_pool: numbers[3 * at + 2]!,
  }));
}

function unpacked(entry: ExactObject): ExactObject {
  const { distribution } = entry;
  if (typeof distribution !== "string") return entry;
  return { ...entry, binary: false, distribution: numbersOf(distribution) };
}

/** 64 bits little-endian each; a character a byte. */
function numbersOf(packed: string): number[] {
  const bytes = Buffer.from(packed, "latin1");
  return Array.from({ length: bytes.length / 8 }, (_, at) => Number(bytes.readBigUInt64LE(8 * at)));
}

function asksForBinary(context: Context): boolean {
  return paramsOf(context).binary === true;
}

function namedAnulo<Answer extends { readonly json?: Exact }>(answer: Answer): Answer {
  const named = (it: ExactObject): ExactObject =>
    it.version === "0.18.5.3-unknown" ? { ...it, version: "0.18.5.3-anulo" } : it;
  const { json } = answer;
  return isExactObject(json) ? { ...answer, json: inMember(named(json), "result", named) } : answer;
}
