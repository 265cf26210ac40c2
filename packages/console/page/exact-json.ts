/** JSON of the services: integers beyond 2^53 - 1 are bigint, so that no amount is rounded. */

export type Exact = null | boolean | number | bigint | string | readonly Exact[] | ExactObject;
export type ExactObject = { readonly [name: string]: Exact };

type Source = { readonly source: string };
/** Revivers receive the text of numbers. Source: ECMAScript proposal "JSON.parse source text access", stage 4. */
type Parse = (text: string, reviver: (key: string, value: unknown, context?: Source) => unknown) => unknown;

/** Parses without loss. Throws SyntaxError, also if this browser does not pass on the text of a number. */
export function parseExact(text: string): Exact {
  return (JSON.parse as Parse)(text, (_key, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    if (context === undefined)
      throw new SyntaxError("This browser rounds large amounts: a newer one is needed");
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
  }) as Exact;
}

/** JSON text of a value, integers of any size included. */
export function formatExact(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(formatExact).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${formatExact(member)}`).join(",")}}`;
}
