import { nodeExamples, walletExamples } from "../generated/examples.ts";
import type { Json } from "../json.ts";
import { parseJson } from "../json-parser.ts";

/** A recorded call as JSON texts: amounts may exceed 2^53. */
export type ExampleText = {
  readonly call: string;
  /** The recording it is from, and its step. */
  readonly from: string;
  readonly params: string;
  readonly result?: string;
  /** In place of a result. */
  readonly error?: string;
  /** Left out where it is the same. */
  readonly upstream?: string;
};

/**
 * A call as it was sent, and its response: a result or an error. Of calls in portable storage the fields, with bytes
 * as hexadecimal. `scripts/make-examples.mjs` records them.
 */
export type CallExample = {
  readonly params: Json;
  /** In the contract dialect. */
  readonly result?: Json;
  /** `code` and `message`. */
  readonly error?: Json;
  /** In the upstream dialect, if it differs. */
  readonly upstream?: Json;
};

const jsonOf = (text: string): Json => parseJson(`{"value":${text}}`).value!;

/** The recorded examples of a service, by the name of their call. */
export function readExamples(service: "node" | "wallet"): ReadonlyMap<string, readonly CallExample[]> {
  const byCall = new Map<string, CallExample[]>();
  const texts = service === "node" ? nodeExamples : walletExamples;
  for (const { call, params, result, error, upstream } of texts) {
    const example = {
      params: jsonOf(params),
      ...(result !== undefined && { result: jsonOf(result) }),
      ...(error !== undefined && { error: jsonOf(error) }),
      ...(upstream !== undefined && { upstream: jsonOf(upstream) }),
    };
    byCall.set(call, [...(byCall.get(call) ?? []), example]);
  }
  return byCall;
}
