/**
 * The shape of a result as text, which @anulo/client reads by (`packages/client/src/shape.ts`): `s` text, `b` boolean,
 * `i` number, `n` bigint, `[x]` a list, `{name:x,..}` a record whose field may be missing (`name?`) or then has its zero
 * value (`name~`) or another (`name~"OK"`), `(x|y)` one or the other.
 */

const letters = {
  text: "s",
  hex: "s",
  hash: "s",
  printable: "s",
  rawBytes: "s",
  packedBacklog: "s",
  flag: "b",
  u64: "n",
  i64: "n",
  uint: "i",
  uint32: "i",
  uint16: "i",
  uint8: "i",
  int: "i",
  int8: "i",
};

/** Which letter stands for a single value; what is written as a number though its kind is a text is one. */
export function letterOf(schema) {
  if (schema.kind === "text" && schema.describe().type === "integer") return "i";
  const letter = letters[schema.kind];
  if (letter === undefined) throw new Error(`no shape for values of kind ${schema.kind}`);
  return letter;
}

/** The forms of a value that has several, those that are written alike once. */
export function formsOf(schema) {
  return [schema.forms.contract.schema, schema.forms.upstream.schema];
}

const isZero = (value) =>
  value === "" ||
  value === 0 ||
  value === 0n ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === "object" && value !== null && Object.values(value).every(isZero));

/** What becomes of a field of a result that is not there: `?` nothing, `~` its value, "" the result is refused. */
export function presenceOf(schema) {
  if (!schema.absentInAnswer) return "";
  const absent = schema.absent();
  if (absent === undefined) return "?";
  if (isZero(absent)) return "~";
  if (typeof absent === "bigint" || typeof absent === "object") throw new Error(`no shape for ${absent}`);
  return `~${JSON.stringify(absent)}`;
}

export function shapeOf(schema, { key, replaced = {}, path = "" }) {
  if (replaced[path] !== undefined) return replaced[path].shape;
  const inner = (child, name) => shapeOf(child, { key, replaced, path: name });
  if (schema.kind === "object" && schema.fields !== undefined) {
    const fields = Object.entries(schema.fields).map(
      ([name, field]) =>
        `${name}${presenceOf(field)}:${inner(field, path === "" ? name : `${path}.${name}`)}`,
    );
    return `{${fields.join(",")}}`;
  }
  if (schema.kind === "list") return `[${inner(schema.item, `${path}[]`)}]`;
  if (schema.kind === "switched") {
    const forms = [...new Set(formsOf(schema).map((form) => inner(form, path)))];
    return forms.length > 1 ? `(${forms.join("|")})` : forms[0];
  }
  return letterOf(schema);
}
