import { type PortableObject, rememberPortable } from "@anulo/protocol";
import type { Dialect } from "../dialect.ts";
import { objectText } from "../json.ts";

/**
 * A record of which all but the `changing` fields stay as they are for as long as `facts` lives: what is written of
 * them is written once. `facts` must not be changed, and must hold the first field in alphabetical order where anything changes.
 */
export class Lasting<T> {
  readonly facts: object;
  readonly changing: object;
  /** Never there; tells the types of records apart. */
  declare readonly of?: T;

  constructor(facts: object, changing: object) {
    this.facts = facts;
    this.changing = changing;
  }
}

/** Makes one; the same `facts` object is to be given each time. */
export function lasting<F extends object, C extends object>(facts: F, changing: C): Lasting<F & C> {
  return new Lasting(facts, changing);
}

/** All fields of a record, lasting or not. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value instanceof Lasting) return { ...value.facts, ...value.changing } as Record<string, unknown>;
  return value as Record<string, unknown>;
}

type Encoding = { readonly changing: object; readonly object: PortableObject };

/** Remembers the binary form of lasting records of one schema, for as long as what may change did not. */
export function createEncodings(): (value: Lasting<unknown>, encode: () => PortableObject) => PortableObject {
  const encodings = new WeakMap<object, Encoding>();
  return ({ facts, changing }, encode) => {
    const known = encodings.get(facts);
    if (known !== undefined && isSame(known.changing, changing)) return known.object;
    const object = rememberPortable(encode());
    encodings.set(facts, { changing, object });
    return object;
  };
}

function isSame(a: object, b: object): boolean {
  let more = 0;
  for (const name in a) {
    if (!Object.is(a[name as keyof typeof a], b[name as keyof typeof b])) return false;
    more++;
  }
  for (const _ in b) more--;
  return more === 0;
}

/** Text with gaps for the fields at some places of a record. */
type Template = {
  readonly dialect: Dialect;
  readonly indent: string;
  /** Names of the changing fields, joined. */
  readonly shape: string;
  /** Text before each gap, and after the last. */
  readonly texts: readonly string[];
  /** Places of the fields that fill the gaps. */
  readonly gaps: readonly number[];
};

export type TemplateOptions = {
  readonly names: readonly string[];
  /** The member of a record with its name, or undefined where it is left out. */
  readonly member: (at: number, record: Readonly<Record<string, unknown>>) => string | undefined;
  readonly dialect: Dialect;
  readonly indent: string;
};

const separator = ",\r\n";

/** Writes lasting records of one schema. */
export function createTemplates(): (value: Lasting<unknown>, options: TemplateOptions) => string {
  const templates = new WeakMap<object, Template>();
  return (value, options) => {
    const { facts, changing } = value;
    const shape = Object.keys(changing).join();
    let template = templates.get(facts);
    const isFit =
      template?.dialect === options.dialect && template.indent === options.indent && template.shape === shape;
    if (template === undefined || !isFit) {
      template = shape === "" ? wholeTemplate(facts, options) : createTemplate(value, shape, options);
      templates.set(facts, template);
    }
    const { texts, gaps } = template;
    let text = texts[0]!;
    for (let i = 0; i < gaps.length; i++) {
      const member = options.member(gaps[i]!, changing as Readonly<Record<string, unknown>>);
      text += member === undefined ? texts[i + 1]! : separator + member + texts[i + 1]!;
    }
    return text;
  };
}

/** Of a record of which nothing changes. Joined, since text only linked together would be copied at every use. */
function wholeTemplate(facts: object, { names, member, dialect, indent }: TemplateOptions): Template {
  const members = names.flatMap((_, at) => member(at, facts as Readonly<Record<string, unknown>>) ?? []);
  const text =
    members.length === 0
      ? objectText([], indent)
      : ["{\r\n", members.join(separator), "\r\n", indent, "}"].join("");
  return { dialect, indent, shape: "", texts: [text], gaps: [] };
}

function createTemplate(
  { facts, changing }: Lasting<unknown>,
  shape: string,
  { names, member, dialect, indent }: TemplateOptions,
): Template {
  const texts: string[] = [];
  const gaps: number[] = [];
  let run: string[] = [];
  names.forEach((name, at) => {
    if (name in changing) {
      if (at === 0) throw new TypeError(`the first field of a lasting record may not change: ${name}`);
      texts.push(run.join(""));
      gaps.push(at);
      run = [];
      return;
    }
    const text = member(at, facts as Readonly<Record<string, unknown>>);
    if (text !== undefined) run.push(at === 0 ? "{\r\n" : separator, text);
    else if (at === 0) throw new TypeError(`the first field of a lasting record is missing: ${name}`);
  });
  texts.push(`${run.join("")}\r\n${indent}}`);
  return { dialect, indent, shape, texts, gaps };
}
