/** The request of a caller: its key, and a digest that distinguishes it from other calls. */
import { createHash } from "node:crypto";
import { type Call, usualParams } from "@anulo/rpc";

/** A call that spends. */
export type Asked = {
  /** Undefined if the caller sent none. */
  readonly key: string | undefined;
  /** Name of the RPC method. */
  readonly method: string;
  /** SHA-256 of name and params, 32 bytes; empty if there is no key. */
  readonly digest: Uint8Array;
};

type Given = { readonly idempotency_key?: string | undefined };

/**
 * Identifies a call: two calls with the same digest are one call and its repetition. The params are compared after
 * parsing, so the notation does not matter. A param with its default value counts as left out, so that params added in
 * later versions do not change the digest.
 */
export function askedBy(call: Call, params: Given): Asked {
  const { idempotency_key: key, ...others } = params;
  if (key === undefined) return { key, method: call.name, digest: new Uint8Array(0) };
  const usual = usualParams(call);
  const named = Object.entries(others)
    .map(([name, value]): [string, string] => [name, canonical(value)])
    .filter(([name, text]) => !Object.hasOwn(usual, name) || text !== canonical(usual[name]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([call.name, named]);
  return { key, method: call.name, digest: new Uint8Array(createHash("sha256").update(text).digest()) };
}

/** A text that is equal for equal values: members of records are sorted by name, whole numbers have no bounds. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === "bigint") return part.toString();
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
