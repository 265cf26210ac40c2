import { TimeSlice } from "@anulo/limits";
import { type PortableArray, type PortableObject, rememberPortable } from "@anulo/protocol";
import type { Dialect } from "../dialect.ts";
import type { ListSchema, RecordSchema } from "../schema/composites.ts";
import { Lasting, lasting } from "../schema/lasting.ts";
import { type AnySchema, type Fields, scalarOf } from "../schema/schema.ts";
import { Drawn, type Elements, Written } from "../schema/written.ts";
import type { RequestInfo } from "./call.ts";
import { CallerLeft } from "./request-budget.ts";

/** Elements of a list that is written in turns: as text a few, since each may be a transaction. */
const LONG_LISTS = { text: 16, portable: 256 };

/** Elements whose texts are joined at once. */
const TEXTS_PER_PIECE = 64;

/** How lists are to be written: as text of a dialect at an indent, or in portable storage. */
export type Form = { readonly dialect: Dialect; readonly indent: string } | "portable";

/** For whom lists are written; left out: for all who ask, whoever leaves meanwhile. */
type Writing = { readonly form: Form; readonly request?: RequestInfo };

/**
 * The result with its long lists written already, between turns of the event loop, so that a long answer keeps
 * nobody waiting. Lists inside of lists are written with the element they belong to.
 */
export async function writeLongLists(schema: AnySchema, result: unknown, writing: Writing): Promise<unknown> {
  if (typeof result !== "object" || result === null) return result;
  if (!(result instanceof Lasting)) return await writeListsOf(schema, result, writing);
  const { facts, changing } = result;
  return lasting(await writtenFacts(schema, facts, writing.form), changing);
}

/** Facts whose long lists are written, by the facts and the form they are written in. */
const written = new WeakMap<object, Map<string, Promise<object>>>();

/** Writes the long lists of lasting facts once for all who ask meanwhile and later. */
function writtenFacts(schema: AnySchema, facts: object, form: Form): Promise<object> {
  const forms = written.get(facts) ?? new Map<string, Promise<object>>();
  written.set(facts, forms);
  const key = form === "portable" ? form : form.dialect + form.indent;
  const known = forms.get(key) ?? writeListsOf(schema, facts, { form });
  forms.set(key, known);
  return known;
}

/** The same object where there is no long list. */
async function writeListsOf(schema: AnySchema, result: object, writing: Writing): Promise<object> {
  const { fields } = schema as Partial<RecordSchema<Fields>>;
  if (fields === undefined) return result;
  const longest = writing.form === "portable" ? LONG_LISTS.portable : LONG_LISTS.text;
  const long = Object.entries(result).filter(
    ([name, value]) => isElements(value) && value.length > longest && isList(fields[name]),
  );
  if (long.length === 0) return result;
  const lists: Record<string, unknown> = {};
  for (const [name, values] of long) {
    const { item } = fields[name] as ListSchema<AnySchema>;
    lists[name] = await writeList(item, values as Elements<unknown>, writing);
  }
  return { ...result, ...lists };
}

function isElements(value: unknown): value is Elements<unknown> {
  return Array.isArray(value) || value instanceof Drawn;
}

function isList(schema: AnySchema | undefined): schema is ListSchema<AnySchema> {
  return schema?.kind === "list" && "item" in schema;
}

async function writeList(item: AnySchema, values: Elements<unknown>, writing: Writing): Promise<Written> {
  const { form, request } = writing;
  if (form !== "portable") {
    // Joined piece by piece: of texts that are only linked together the links take more memory than the letters.
    const pieces: string[] = [];
    let texts: string[] = [];
    let bytes = 0;
    await inTurns(values, request, (value) => {
      texts.push(item.write(value, form.dialect, `${form.indent}  `));
      if (texts.length < TEXTS_PER_PIECE) return;
      const piece = texts.join();
      bytes += piece.length;
      request?.budget.check(bytes);
      pieces.push(piece);
      texts = [];
    });
    if (texts.length > 0) pieces.push(texts.join());
    return new Written(values.length, `[${pieces.join()}]`);
  }
  const entries: ReturnType<typeof scalarOf>[] = [];
  await inTurns(values, request, (value) => {
    const entry = scalarOf(item.writePortable(value)!);
    if (entry.type === "object") rememberPortable(entry.value as PortableObject);
    entries.push(entry);
  });
  const array = { type: entries[0]!.type, values: entries.map(({ value }) => value) };
  return new Written(values.length, array as PortableArray);
}

async function inTurns<T>(
  values: Elements<T>,
  request: RequestInfo | undefined,
  step: (value: T) => void,
): Promise<void> {
  const slice = new TimeSlice();
  for (let at = 0; at < values.length; at++) {
    step(values.at(at)!);
    if ((at & 3) !== 3 || !slice.isOver) continue;
    await slice.yield();
    if (request?.caller.isGone) throw new CallerLeft();
  }
}
