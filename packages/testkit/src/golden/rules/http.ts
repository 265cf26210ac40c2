import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import {
  blockId,
  fromHex,
  genesisBlock,
  networks,
  readPortable,
  toHex,
  writePortable,
} from "@anulo/protocol";
import type { Context } from "../context.ts";
import type { GoldenAnswer } from "../recording.ts";
import { loadRecording } from "../recording.ts";
import { inJson, type Rule, refused, turnedAway, withJson } from "../rule.ts";

/** What the same call answers to a login that is right. */
function answerAfterLogin({ group, release }: Context): GoldenAnswer {
  const step = loadRecording(group, release).steps.find(({ id }) => id === "http:digest, right");
  if (step === undefined) throw new Error(`${group} has no login that is right`);
  return step.answer;
}

/** What one request of its kind answers in the same group. */
function resultOf({ group, release }: Context): GoldenAnswer {
  const step = loadRecording(group, release).steps.find(({ id }) => id === "http:params {}");
  if (step === undefined) throw new Error(`${group} has no plain call`);
  return step.answer;
}

const genesisId = toHex(blockId(genesisBlock(networks.regtest)));

/** What the first of these requests answers, or the same call where nobody has asked for another chain. */
function answerWithoutBan({ group, release, step: { id } }: Context): GoldenAnswer {
  const [call = "", what = ""] = id.split(":");
  const isFirst = what.startsWith("unknown ids");
  const { steps } = loadRecording(isFirst ? group : "node_read", release);
  const stepId = isFirst ? `${call}:unknown ids` : call;
  const step = steps.find((other) => other.id === stepId);
  if (step === undefined) throw new Error(`${stepId} was not recorded`);
  const ofEmptyChain = (json: ExactObject) => ({ ...json, hash: genesisId, height: 1 });
  return call === "/get_height" ? inJson(step.answer, ofEmptyChain) : step.answer;
}

/** Ids of the pool, hex, in the order of the recorded answers. */
function poolIds({ release }: Context): string[] {
  const step = loadRecording("node_read", release).steps.find(
    ({ id }) => id === "/get_transaction_pool_hashes",
  );
  const { json } = step!.answer;
  return isExactObject(json) && Array.isArray(json.tx_hashes) ? json.tx_hashes.map(String) : [];
}

const storedIn = (hex: Exact) => readPortable(fromHex(String(hex)));

function tellsTime(hex: Exact): boolean {
  const time = storedIn(hex).get("daemon_time");
  return time?.type === "uint64" && "value" in time && time.value > 0n;
}

/** Portable storage in hexadecimal without the time it was made at. */
function timeless(hex: Exact): string {
  const fields = new Map(storedIn(hex));
  fields.delete("daemon_time");
  return toHex(writePortable(fields));
}

/** Object of portable storage with the hashes of the recorded pool. */
function binaryPoolHashes(context: Context): string {
  const text = (value: string) => ({ type: "string", value: Buffer.from(value) }) as const;
  return toHex(
    writePortable(
      new Map([
        ["credits", { type: "uint64", value: 0n }],
        ["status", text("OK")],
        ["top_hash", text("")],
        ["tx_hashes", { type: "string", value: Buffer.concat(poolIds(context).map((id) => fromHex(id))) }],
        ["untrusted", { type: "bool", value: false }],
      ] as const),
    ),
  );
}

/** Requests as such: their framing, their envelope, their login. */
export const httpRules: readonly Rule[] = [
  {
    id: /^(\/get_hashes\.bin:unknown ids#[56]|(\/get_height|get_bans):after the bad requests)$/,
    why: "who asks for the blocks of another chain is not shut out where others may have the same address",
    change: (_, context) => answerWithoutBan(context),
  },
  {
    id: /^\/(set_log_categories:no body|save_bc|stop_mining:not mining|stop_daemon)$/,
    why: "what acts wants POST: a GET may be a web page's, and these steps have no body",
    change: () => turnedAway,
  },
  {
    id: /^http:method (5|\{\})$/,
    why: "method of another type: -32600, HTTP 200",
    change: (answer) => refused(answer, -32600, "Invalid Request"),
  },
  {
    id: /^http:(negative length|LF line ends)$/,
    why: "framing that can be read in two ways is refused",
    change: () => turnedAway,
  },
  {
    id: /^http:digest, nonce of another connection$/,
    why: "login: also across connections",
    change: (_, context) => answerAfterLogin(context),
  },
  {
    id: /^\/get_?blocks\.bin:/,
    why: "/get_blocks.bin: tells the node's time (#8800), which is this run's own",
    change: (answer) => answer,
    holds: { ".hex": (actual, recorded) => tellsTime(actual) && timeless(actual) === timeless(recorded) },
  },
  {
    id: /^\/get_transaction_pool_hashes\.bin$/,
    why: "/get_transaction_pool_hashes.bin: a binary request is answered in binary",
    change: ({ reason }, context) => ({
      http: 200,
      reason,
      type: "application/octet-stream",
      hex: binaryPoolHashes(context),
    }),
  },
  {
    id: /^\/(start|stop)_save_graph$/,
    why: "/start_save_graph, /stop_save_graph: OK",
    change: (answer, { step }) => (step.to === "node" ? withJson(answer, { status: "OK" }) : answer),
  },
  {
    id: /^http:chunked body$/,
    dialect: "contract",
    why: "a body may come in chunks",
    change: (_, context) => resultOf(context),
  },
  {
    id: /^http:batch$/,
    dialect: "contract",
    why: "a batch is answered one by one",
    change: (answer, context) => {
      const { json } = resultOf(context);
      if (!isExactObject(json)) return answer;
      return withJson(answer, [json, { ...json, id: "1" }]);
    },
  },
];
