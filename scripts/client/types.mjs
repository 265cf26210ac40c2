/** Types of params and results as TypeScript, with a name for each record that is used more than once. */
import { formsOf, letterOf, presenceOf } from "./shapes.mjs";

const types = { s: "string", b: "boolean", i: "number", n: "bigint" };

const toTypeName = (name) =>
  name
    .split("_")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");

/** `transfers` are a list of `Transfer`. */
const singular = (name) =>
  name
    .replace(/ses$/, "s")
    .replace(/ies$/, "y")
    .replace(/([^s])s$/, "$1");

/** Fields whose names say little by themselves. */
const plainNames = { in: "TransferEntry", desc: "TransferDescription" };

/** Shorter records are written where they are. */
const MIN_NAMED = 120;

export class CallTypes {
  #names = new Map();
  #texts = new Map();

  /** Of a call's params: a record, or a list. */
  params(schema, { key, leftOut = [] }) {
    const text = this.#text(schema, { of: "params", key, name: key, leftOut });
    return schema.omittable ? `${text} | undefined` : text;
  }

  result(schema, { key, replaced = {} }) {
    return this.#text(schema, { of: "result", key, name: key, replaced });
  }

  /** The named records, in the order of their names. */
  records() {
    return [...this.#texts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, text]) => `export type ${name} = ${text};\n`)
      .join("\n");
  }

  #text(schema, place) {
    const { path = "", replaced = {} } = place;
    if (replaced[path] !== undefined) return replaced[path].type;
    if (schema.kind === "object" && schema.fields !== undefined) return this.#record(schema, place);
    if (schema.kind === "list") {
      const item = this.#text(schema.item, { ...place, path: `${path}[]`, name: singular(place.name) });
      const array = /[|&]/.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
      return place.of === "params" ? `readonly ${array}` : array;
    }
    if (schema.kind === "switched") {
      const forms = formsOf(schema).map((form) => this.#text(form, place));
      return [...new Set(forms)].join(" | ");
    }
    return types[letterOf(schema)];
  }

  #record({ fields }, place) {
    const { of, path = "", leftOut = [] } = place;
    const lines = Object.entries(fields)
      .filter(([name]) => !leftOut.includes(name))
      .map(([name, field]) => {
        const inner = { ...place, leftOut: [], path: path === "" ? name : `${path}.${name}`, name };
        const mayMiss = of === "params" ? field.omittable : presenceOf(field) === "?";
        const type = this.#text(field, inner);
        const also = mayMiss && of === "params" ? " | undefined" : "";
        return `${name}${mayMiss ? "?" : ""}: ${type}${also}`;
      });
    const text = lines.length === 0 ? "Record<never, never>" : `{ ${lines.join("; ")} }`;
    return path === "" || text.length < MIN_NAMED ? text : this.#named(text, place);
  }

  /** By the field that holds it; by the call too where another record has that name. */
  #named(text, { of, key, name }) {
    const existing = this.#names.get(text);
    if (existing !== undefined) return existing;
    const plain = plainNames[name] ?? toTypeName(name);
    const candidates = [plain, `${toTypeName(key)}${plain}`, `${toTypeName(key)}${plain}${toTypeName(of)}`];
    const freeName = candidates.find((candidate) => !this.#texts.has(candidate));
    if (freeName === undefined) throw new Error(`no name for a record in ${key}`);
    this.#names.set(text, freeName);
    this.#texts.set(freeName, text);
    return freeName;
  }
}
