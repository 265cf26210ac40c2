/** JSON with every integer exact: those beyond 2^53 - 1 are bigint. */
export type Exact = null | boolean | number | bigint | string | Exact[] | ExactObject;
export type ExactObject = { [key: string]: Exact };

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const integerMark = "integer\u0000";

/** Parses strict JSON text, without loss. Throws SyntaxError. */
export function parseExact(text: string): Exact {
  const marked = text.replace(token, (found) => (isLargeInteger(found) ? `"integer\\u0000${found}"` : found));
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(integerMark)
      ? BigInt(value.slice(integerMark.length))
      : value,
  ) as Exact;
}

function isLargeInteger(found: string): boolean {
  return /^-?\d+$/.test(found) && !Number.isSafeInteger(Number(found));
}

/** JSON text of an exact value. */
export function formatExact(value: Exact): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(formatExact).join(",")}]`;
  if (!isExactObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${formatExact(item)}`);
  return `{${members.join(",")}}`;
}

export function isExactObject(value: Exact | undefined): value is ExactObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
