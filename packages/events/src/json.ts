/** JSON in memory: numbers are safe integers; larger integers and amounts are bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/**
 * Formats compact JSON whose integers are exact, however large. Throws a RangeError for a number that is not a safe
 * integer.
 */
export function formatJson(value: Json): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new RangeError(`not an exact integer: ${value}`);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(formatJson).join(",")}]`;
  const members = Object.keys(value).map((name) => `${JSON.stringify(name)}:${formatJson(value[name]!)}`);
  return `{${members.join(",")}}`;
}

const isList = (value: readonly Json[] | JsonObject): value is readonly Json[] => Array.isArray(value);

const BIGINT_MARK = "n";
const STRING_MARK = "s";

/** Formats text that `unpackJson` turns into the same value: a prefix distinguishes strings from bigints. */
export function packJson(value: Json): string {
  return JSON.stringify(value, (_, item: Json) => {
    if (typeof item === "bigint") return BIGINT_MARK + item;
    return typeof item === "string" ? STRING_MARK + item : item;
  });
}

/** Parses text that `packJson` wrote. */
export function unpackJson(text: string): Json {
  return JSON.parse(text, (_, item: Json) => {
    if (typeof item !== "string") return item;
    return item.startsWith(BIGINT_MARK) ? BigInt(item.slice(1)) : item.slice(1);
  });
}
