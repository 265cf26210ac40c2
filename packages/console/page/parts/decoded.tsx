import type { Exact, ExactObject } from "../exact-json.ts";

const isObject = (value: Exact): value is ExactObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Numbers in lists of this length and more are bytes in practice, and stand on one line. */
const LONG_LIST = 8;

/** JSON with two blanks an indent, long lists of numbers on one line. */
function indented(value: Exact, indent = ""): string {
  const inner = `${indent}  `;
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    if (
      value.length >= LONG_LIST &&
      value.every((item) => typeof item !== "object" && typeof item !== "string")
    )
      return `[${value.join(", ")}]`;
    return `[\n${value.map((item) => inner + indented(item, inner)).join(",\n")}\n${indent}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${indented(item, inner)}`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`;
}

/** A value as it was decoded, which scrolls by itself. */
export function Decoded({ name, value }: { readonly name: string; readonly value: Exact }) {
  return (
    <section class="decoded" aria-label={name} tabIndex={0}>
      <pre>{indented(value)}</pre>
    </section>
  );
}
