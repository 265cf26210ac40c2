import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import type { RecordedRelease } from "../fixtures.ts";
import type { Context } from "./context.ts";
import type { GoldenAnswer } from "./recording.ts";

/** A demanded answer that is not the recorded one: where, why, and what is demanded instead. */
export type Rule = {
  /** Identifiers of the steps. */
  readonly id: RegExp;
  /** Only where this release was recorded; else for every one. */
  readonly release?: RecordedRelease;
  /** Only in the documented dialect; else in both. */
  readonly dialect?: "contract";
  /** The decision behind it: S1 to S11 are the switched values of DIFFERENCES.md. */
  readonly why: string;
  /** The demanded answer; the one given, where the rule has nothing to say. */
  readonly change: (answer: GoldenAnswer, context: Context) => GoldenAnswer;
  /** Paths whose values are this run's own; their type is not. */
  readonly volatile?: readonly string[];
  /** Paths whose values must meet a condition instead of being equal. */
  readonly holds?: Conditions;
};

/** What a value at a path must meet. */
export type Conditions = { readonly [path: string]: (actual: Exact, recorded: Exact) => boolean };

/** The answer with its JSON changed. */
export function inJson(answer: GoldenAnswer, change: (json: ExactObject) => ExactObject): GoldenAnswer {
  return isExactObject(answer.json) ? { ...answer, json: change(answer.json) } : answer;
}

/** The answer with its JSON-RPC result changed; errors stay. */
export function inResult(answer: GoldenAnswer, change: (result: ExactObject) => ExactObject): GoldenAnswer {
  return inJson(answer, (json) => inMember(json, "result", change));
}

/** The object with one member changed where it is an object, or, of a list, each object in it. */
export function inMember(
  object: ExactObject,
  name: string,
  change: (member: ExactObject) => ExactObject,
): ExactObject {
  const member = object[name];
  const changed = (item: Exact) => (isExactObject(item) ? change(item) : item);
  if (Array.isArray(member)) return { ...object, [name]: member.map(changed) };
  return isExactObject(member) ? { ...object, [name]: change(member) } : object;
}

/** The answer of a call of JSON-RPC that fails. */
export function refused(answer: GoldenAnswer, code: number, message: string): GoldenAnswer {
  return withJson(answer, { error: { code, message }, ...envelope(answer) });
}

/** The answer of a call of JSON-RPC that succeeds. */
export function resulted(answer: GoldenAnswer, result: Exact): GoldenAnswer {
  return withJson(answer, { ...envelope(answer), result });
}

/** An answer of JSON. */
export function withJson(answer: GoldenAnswer, json: Exact): GoldenAnswer {
  return { http: 200, reason: answer.reason, type: "application/json", json };
}

/** A connection that ends, or any refusal of HTTP. */
export const turnedAway: GoldenAnswer = { http: 0, reason: "" };

function envelope({ json }: GoldenAnswer): ExactObject {
  const id = isExactObject(json) ? json.id : undefined;
  return { id: id ?? 0, jsonrpc: "2.0" };
}

/** Parameters of a step's request. */
export function paramsOf({ step }: Context): ExactObject {
  const { body, path } = step.request;
  const params = isExactObject(body) && path === "/json_rpc" ? body.params : body;
  return isExactObject(params) ? params : {};
}

export function isRefusal({ json }: GoldenAnswer): boolean {
  return isExactObject(json) && json.error !== undefined;
}

export function hasErrorCode({ json }: GoldenAnswer, code: number): boolean {
  return isExactObject(json) && isExactObject(json.error) && json.error.code === code;
}
