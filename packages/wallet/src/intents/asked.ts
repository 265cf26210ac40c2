/** What a caller asked for: its key, and what tells the same call from another one. */
import { createHash } from "node:crypto";
import { type Call, usualParams } from "@anulo/rpc";

/** A call that spends. */
export type Asked = {
  /** Undefined where the caller gave none. */
  readonly key: string | undefined;
  /** The call's name. */
  readonly method: string;
  /** SHA-256 of name and params, 32 bytes; empty without a key. */
  readonly digest: Uint8Array;
};

type Given = { readonly idempotency_key?: string | undefined };

/**
 * Of two calls with the same digest one is the other, repeated: the params are compared as they were read, whatever
 * way they were written. A param at its default counts as left out, so that params which later versions add change
 * nothing.
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

/** Text that is the same for the same value: members of records by name, whole numbers without bounds. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === "bigint") return part.toString();
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
