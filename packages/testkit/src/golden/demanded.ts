import { isExactObject } from "@anulo/devnet";
import type { Context } from "./context.ts";
import { laxJson } from "./lax-json.ts";
import type { GoldenAnswer, GoldenStep } from "./recording.ts";
import type { Conditions, Rule } from "./rule.ts";
import { additions } from "./rules/additions.ts";
import { httpRules } from "./rules/http.ts";
import { lists } from "./rules/lists.ts";
import { mended } from "./rules/mended.ts";
import { multisig } from "./rules/multisig.ts";
import { secondCopy } from "./rules/second-copy.ts";
import { switches } from "./rules/switches.ts";
import { todays } from "./rules/todays.ts";

/** What a step must be answered: the answer, the paths whose values may differ, and those that meet a condition. */
export type Demanded = {
  readonly answer: GoldenAnswer;
  readonly volatile: readonly string[];
  readonly holds: Conditions;
};

/** Every difference from the recordings that is meant to be, in the order in which they apply. */
export const rules: readonly Rule[] = [
  ...todays,
  ...secondCopy,
  ...mended,
  ...multisig,
  ...httpRules,
  ...additions,
  ...switches,
  ...lists,
];

/** Paths whose values are random too, though three recordings happened to agree. */
const alsoVolatile: readonly { readonly id: RegExp; readonly paths: readonly string[] }[] = [
  {
    // A wallet may have refreshed by itself before that is switched off.
    id: /^refresh:set-up/,
    paths: [".json.result.blocks_fetched", ".json.result.received_money"],
  },
  {
    // The original sweeps one address, chosen at random.
    id: /^sweep_all:(b, (real|again)|subaddr_indices is (null|negative|string|object))$/,
    paths: [
      ".json.result.amount_list[]",
      ".json.result.amounts_by_dest_list[].amounts[]",
      ".json.result.fee_list[]",
      ".json.result.spent_key_images_list[].key_images",
      ".json.result.spent_key_images_list[].key_images[]",
      ".json.result.weight_list[]",
    ],
  },
  {
    // Where among its transaction's outputs the change stands is random.
    id: /^incoming_transfers:for sweep_single$/,
    paths: [".json.result.transfers[].global_index"],
  },
  {
    // Pages of a database, ours or theirs.
    id: /get_?info/,
    paths: [".json.database_size", ".json.result.database_size"],
  },
];

/** The answer a step must get in its dialect. The original programs must give the recorded one. */
export function demandedAnswer(context: Context): Demanded {
  const { step, dialect } = context;
  const also = alsoVolatile.filter(({ id }) => id.test(step.id)).flatMap(({ paths }) => paths);
  const applied = dialect === undefined ? [] : rules.filter((rule) => appliesTo(rule, context));
  return {
    answer: applied.reduce((answer, rule) => rule.change(answer, context), recordedAnswer(step)),
    volatile: [...(step.volatile ?? []), ...also, ...applied.flatMap(({ volatile = [] }) => volatile)],
    holds: Object.assign({}, ...applied.map(({ holds = {} }) => holds)),
  };
}

export function appliesTo(rule: Rule, { step, dialect, release }: Context): boolean {
  const isMeant = <T>(only: T | undefined, actual: T) => only === undefined || only === actual;
  return rule.id.test(step.id) && isMeant(rule.dialect, dialect) && isMeant(rule.release, release);
}

/** The answer of a step. JSON with raw bytes in it was recorded as text; as JSON its members can be compared. */
export function recordedAnswer({ answer }: GoldenStep): GoldenAnswer {
  if (answer.text === undefined || answer.type !== "application/json") return answer;
  const json = laxJson(answer.text);
  return isExactObject(json) ? { ...answer, json, raw_bytes_in_json: true } : answer;
}
