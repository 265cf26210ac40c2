/** The request of a caller: its key, and a digest that distinguishes it from other calls. */
import { createHash } from "node:crypto";
import { type MaybePromise, runSliced } from "@anulo/limits";
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
 * later versions do not change the digest. Long lists are read in slices.
 */
export function askedBy(call: Call, params: Given): MaybePromise<Asked> {
  const { idempotency_key: key, ...others } = params;
  if (key === undefined) return { key, method: call.name, digest: new Uint8Array(0) };
  return runSliced(digestSteps(call, { key, others }));
}

/** Hashes the JSON text of the method's name and of the params that are not the default ones, each as a text itself. */
function* digestSteps(
  call: Call,
  { key, others }: { readonly key: string; readonly others: Readonly<Record<string, unknown>> },
): Generator<void, Asked> {
  const usual = usualParams(call);
  const hash = createHash("sha256");
  hash.update(`[${JSON.stringify(call.name)},[`);
  let prefix = "";
  for (const name of Object.keys(others).sort()) {
    const parts = yield* canonicalParts(others[name]);
    if (Object.hasOwn(usual, name) && parts.join("") === (canonical(usual[name]) ?? "")) continue;
    hash.update(`${prefix}[${JSON.stringify(name)},"`);
    for (const part of parts) {
      hash.update(JSON.stringify(part).slice(1, -1));
      yield;
    }
    hash.update('"]');
    prefix = ",";
  }
  hash.update("]]");
  return { key, method: call.name, digest: new Uint8Array(hash.digest()) };
}

/** The canonical text of a value, in parts: one for each item of a list, and none for an absent value. */
function* canonicalParts(value: unknown): Generator<void, string[]> {
  if (!Array.isArray(value)) return [canonical(value) ?? ""];
  const parts = ["["];
  for (const item of value) {
    const text = canonical(item) ?? "null";
    parts.push(parts.length === 1 ? text : `,${text}`);
    yield;
  }
  parts.push("]");
  return parts;
}

/** A text that is equal for equal values: members of records are sorted by name, whole numbers have no bounds. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === "bigint") return part.toString();
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
