/** A whole number written with a point or an exponent (`1e3`): services tell it from an integer. */
export class WrittenAsFraction {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON with every integer exact: those beyond 2^53 - 1 are bigint. */
export type Exact = null | boolean | number | bigint | string | WrittenAsFraction | Exact[] | ExactObject;
export type ExactObject = { [key: string]: Exact };

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const mark = "number\u0000";

/** Parses strict JSON text, without loss. Throws SyntaxError. */
export function parseExact(text: string): Exact {
  const marked = text.replace(token, (found) => (isLossy(found) ? `"number\\u0000${found}"` : found));
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? exactNumber(value.slice(mark.length)) : value,
  ) as Exact;
}

/** Would `JSON.parse` turn this into a number that no longer shows how it was written? */
function isLossy(found: string): boolean {
  if (found.startsWith('"')) return false;
  if (/[.eE]/.test(found)) return Number.isInteger(Number(found));
  return !Number.isSafeInteger(Number(found));
}

function exactNumber(text: string): Exact {
  return /[.eE]/.test(text) ? new WrittenAsFraction(text) : BigInt(text);
}

/** JSON text of an exact value. */
export function formatExact(value: Exact): string {
  if (typeof value === "bigint") return String(value);
  if (value instanceof WrittenAsFraction) return value.text;
  if (Array.isArray(value)) return `[${value.map(formatExact).join(",")}]`;
  if (!isExactObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${formatExact(item)}`);
  return `{${members.join(",")}}`;
}

export function isExactObject(value: Exact | undefined): value is ExactObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof WrittenAsFraction)
  );
}
