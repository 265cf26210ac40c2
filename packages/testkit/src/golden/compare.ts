import { type Exact, isExactObject, WrittenAsFraction } from "@anulo/devnet";
import type { Conditions } from "./rule.ts";

/** One place where an answer is not the recorded one. Elements of arrays are written `[]`. */
export type Difference = {
  readonly path: string;
  readonly kind: "missing" | "extra" | "type" | "value" | "length";
  readonly recorded: Exact | undefined;
  readonly actual: Exact | undefined;
};

export type CompareOptions = {
  /** Paths whose values may differ; their type may not. */
  readonly volatile: readonly string[];
  /** A recorded text with the values of this run in place of the recorded ones. */
  readonly translate: (recorded: string) => string;
  /** Paths whose values must meet a condition instead of being equal. */
  readonly holds?: Conditions;
};

/** Compares two values of JSON. An empty list means that they agree. */
export function compareValues(
  recorded: Exact | undefined,
  actual: Exact | undefined,
  options: CompareOptions,
  path = "",
): Difference[] {
  const differ = (kind: Difference["kind"]): Difference[] => [{ path, kind, recorded, actual }];
  if (recorded === undefined) return actual === undefined ? [] : differ("extra");
  if (actual === undefined) return differ("missing");
  if (kindOf(recorded) !== kindOf(actual)) return differ("type");
  const condition = options.holds?.[path];
  if (condition !== undefined) return condition(actual, recorded) ? [] : differ("value");
  const isVolatile = options.volatile.includes(path);
  if (Array.isArray(recorded) && Array.isArray(actual)) {
    if (recorded.length !== actual.length) return isVolatile ? [] : differ("length");
    const [left, right] = [inOrder(recorded, path), inOrder(actual, path)];
    return left.flatMap((item, at) => compareValues(item, right[at], options, `${path}[]`));
  }
  if (isExactObject(recorded) && isExactObject(actual)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => compareValues(recorded[key], actual[key], options, `${path}.${key}`));
  }
  if (isVolatile || recorded === actual) return [];
  if (recorded instanceof WrittenAsFraction && actual instanceof WrittenAsFraction) {
    return Number(recorded.text) === Number(actual.text) ? [] : differ("value");
  }
  if (typeof recorded === "string" && options.translate(recorded) === actual) return [];
  return differ("value");
}

/**
 * Lists that the original programs take out of hash tables: their order means nothing. They are put in the order
 * of these members before they are compared.
 */
const unordered: { readonly [path: string]: readonly string[] } = {
  ".json.result.chains": ["height"],
  ".json.result.in": ["height", "unlock_time", "amount", "fee"],
  ".json.result.out": ["height", "unlock_time", "amount", "fee"],
  ".json.result.pending": ["height", "amount", "fee"],
  ".json.result.pool": ["amount", "fee"],
  ".json.result.payments": ["block_height", "unlock_time", "amount"],
};

function inOrder(items: readonly Exact[], path: string): readonly Exact[] {
  const members = unordered[path] ?? [];
  const place = (item: Exact) => members.map((name) => (isExactObject(item) ? Number(item[name]) : 0));
  const compare = (a: Exact, b: Exact): number => {
    const [left, right] = [place(a), place(b)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : left[at]! - right[at]!;
  };
  return members.length === 0 ? items : [...items].sort(compare);
}

function kindOf(value: Exact): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof WrittenAsFraction) return "fraction";
  return typeof value === "bigint" ? "number" : typeof value;
}
