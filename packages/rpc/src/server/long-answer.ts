import { type MaybePromise, runSliced, type SliceOptions, whenReady } from "@anulo/limits";
import { type PortableArray, PortableObjects, type PortableScalar } from "@anulo/protocol";
import type { Dialect } from "../dialect.ts";
import { isListSchema, type ListSchema, type RecordSchema } from "../schema/composites.ts";
import { Lasting, lasting } from "../schema/lasting.ts";
import { type AnySchema, type Fields, putValue, scalarOf } from "../schema/schema.ts";
import { TextBytes } from "../schema/text-bytes.ts";
import { Drawn, type Elements, Written } from "../schema/written.ts";
import type { RequestInfo } from "./call.ts";
import { OverBudget } from "./over-budget.ts";

/** Elements per turn of a list that is written in turns: few as text, since each may be a transaction. */
const LONG_LISTS = { text: 16, portable: 256 };

const INDENT = "  ";

/** The form in which lists are written: as text of a dialect at an indent, or in portable storage. */
export type Form = { readonly dialect: Dialect; readonly indent: string } | "portable";

/**
 * The request for which lists are written; if left out, they are written for several callers, whoever leaves meanwhile.
 */
type Writing = {
  readonly form: Form;
  readonly request?: RequestInfo;
  /** Maximum bytes of the text of a list; the request's own limit may be lower. */
  readonly maxBytes: number;
};

/**
 * Returns the result with its long lists already serialized, between turns of the event loop, so that a long response
 * does not block it. Lists inside of lists are serialized with the element that contains them.
 */
export function writeLongLists(schema: AnySchema, result: unknown, writing: Writing): MaybePromise<unknown> {
  if (typeof result !== "object" || result === null) return result;
  if (!(result instanceof Lasting)) return writeListsOf(schema, result, writing);
  const { facts, changing } = result;
  return whenReady(writtenFacts(schema, facts, writing), (lists) => lasting(lists, changing));
}

/** Cached facts whose long lists are serialized, by the facts and the form. */
const formsOfFacts = new WeakMap<object, Map<string, MaybePromise<object>>>();

/**
 * Serializes the long lists of cached facts once for all concurrent and later callers. Those that are too long for any of
 * them are not serialized again either.
 */
function writtenFacts(
  schema: AnySchema,
  facts: object,
  { form, maxBytes }: Pick<Writing, "form" | "maxBytes">,
): MaybePromise<object> {
  if (longListsOf(schema, facts, form).length === 0) return facts;
  const forms = formsOfFacts.get(facts) ?? new Map<string, MaybePromise<object>>();
  formsOfFacts.set(facts, forms);
  const key = form === "portable" ? form : form.dialect + form.indent;
  const cached = forms.get(key) ?? writeListsOf(schema, facts, { form, maxBytes });
  forms.set(key, cached);
  return cached;
}

/** Returns the same object if there is no long list. */
function writeListsOf(schema: AnySchema, result: object, writing: Writing): MaybePromise<object> {
  const names = longListsOf(schema, result, writing.form);
  if (names.length === 0) return result;
  const { request } = writing;
  const drawn = names.map((name) => result[name as keyof typeof result] as Elements<unknown>);
  const beforeYield = () => {
    for (const list of drawn) if (list instanceof Drawn) list.from?.hold();
  };
  const release = () => {
    for (const list of drawn) if (list instanceof Drawn) list.from?.release();
  };
  const write = (options: SliceOptions) =>
    runSliced(writeLists(schema as RecordSchema<Fields>, { result, names }, writing), options);
  const lists =
    request === undefined
      ? write({ beforeYield })
      : request.caller.rows.during(write, { beforeYield, signal: request.caller.signal });
  // If everything was written in this turn, nothing has been held.
  return lists instanceof Promise ? lists.finally(release) : lists;
}

/** Names of the fields with long lists. */
function longListsOf(schema: AnySchema, result: object, form: Form): string[] {
  const { fields } = schema as Partial<RecordSchema<Fields>>;
  const names: string[] = [];
  if (fields === undefined) return names;
  const longest = form === "portable" ? LONG_LISTS.portable : LONG_LISTS.text;
  for (const name in result) {
    const value: unknown = result[name as keyof typeof result];
    if (isElements(value) && isLong(value, longest) && isListSchema(fields[name])) names.push(name);
  }
  return names;
}

/** Elements that are created while the list is written may be long, however few there are. */
function isLong(list: Elements<unknown>, longest: number): boolean {
  return list.length > longest || (list instanceof Drawn && list.from !== undefined);
}

type LongLists = { readonly result: object; readonly names: readonly string[] };

function* writeLists(
  { fields }: RecordSchema<Fields>,
  { result, names }: LongLists,
  writing: Writing,
): Generator<void, object> {
  const lists: Record<string, Written> = {};
  for (const name of names) {
    const { item } = fields[name] as ListSchema<AnySchema>;
    const values = result[name as keyof typeof result] as Elements<unknown>;
    lists[name] = yield* writing.form === "portable"
      ? writePortableList(item, values)
      : writeTextList(item, values, { ...writing, form: writing.form });
  }
  return { ...result, ...lists };
}

function isElements(value: unknown): value is Elements<unknown> {
  return Array.isArray(value) || value instanceof Drawn;
}

function* writeTextList(
  item: AnySchema,
  values: Elements<unknown>,
  { form, request, maxBytes }: Writing & { readonly form: Exclude<Form, "portable"> },
): Generator<void, Written> {
  const out = new TextBytes(form.dialect);
  out.text("[");
  for (let at = 0; at < values.length; at++) {
    if (at > 0) out.text(",");
    putValue(item, values.at(at)!, out, form.indent + INDENT);
    if ((at & 3) !== 3) continue;
    if (out.length > maxBytes) throw new OverBudget("response", "response too long");
    request?.budget.check(out.length);
    out.setAside();
    yield;
  }
  out.text("]");
  return new Written(values.length, out.result);
}

function* writePortableList(item: AnySchema, values: Elements<unknown>): Generator<void, Written> {
  const objects = new PortableObjects();
  const scalars: PortableScalar[] = [];
  for (let at = 0; at < values.length; at++) {
    const entry = scalarOf(item.writePortable(values.at(at)!)!);
    if (entry.type === "object") objects.add(entry.value);
    else scalars.push(entry);
    yield;
  }
  if (scalars.length === 0) return new Written(values.length, objects.finish());
  const array = { type: scalars[0]!.type, values: scalars.map(({ value }) => value) };
  return new Written(values.length, array as PortableArray);
}
