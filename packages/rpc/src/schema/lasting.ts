import { type PortableObject, rememberPortable } from "@anulo/protocol";
import type { Dialect } from "../dialect.ts";
import type { BytePieces } from "./byte-pieces.ts";
import { TextBytes } from "./text-bytes.ts";

/**
 * A record in which all but the `changing` fields are constant as long as `facts` lives: their serialized form is
 * computed once. `facts` must not be changed, and must contain the first field that is written if any other changes.
 */
export class Lasting<T> {
  readonly facts: object;
  readonly changing: object;
  /** Never set; distinguishes the types of records. */
  declare readonly of?: T;

  constructor(facts: object, changing: object) {
    this.facts = facts;
    this.changing = changing;
  }
}

/** Creates such a record; the same `facts` object must be passed each time. */
export function lasting<F extends object, C extends object>(facts: F, changing: C): Lasting<F & C> {
  return new Lasting(facts, changing);
}

/** All fields of a record, cached or not. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const fields = value instanceof Lasting ? Object.assign({}, value.facts, value.changing) : value;
  return fields as Record<string, unknown>;
}

type Encoding = { readonly changing: object; readonly object: PortableObject };

/** Caches the binary form of such records of one schema, as long as their changing fields are equal. */
export function createEncodings(): (value: Lasting<unknown>, encode: () => PortableObject) => PortableObject {
  const encodings = new WeakMap<object, Encoding>();
  return ({ facts, changing }, encode) => {
    const cached = encodings.get(facts);
    if (cached !== undefined && isSame(cached.changing, changing)) return cached.object;
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

/** Text with gaps for some fields of a record. */
type Template = {
  readonly dialect: Dialect;
  readonly indent: string;
  /** Names of the changing fields, joined. */
  readonly shape: string;
  /** Text before each gap, and after the last. */
  readonly texts: readonly (Buffer | BytePieces)[];
  /** Indices of the fields that fill the gaps. */
  readonly gaps: readonly number[];
};

/** Writes a member of a record with its name; returns false if it is left out. */
export type MemberWriter = (
  at: number,
  record: Readonly<Record<string, unknown>>,
  target: { readonly out: TextBytes; readonly indent: string; readonly isFirst: boolean },
) => boolean;

export type TemplateOptions = {
  readonly names: readonly string[];
  readonly putMember: MemberWriter;
  readonly out: TextBytes;
  readonly indent: string;
};

/** Creates the writer of such records of one schema. */
export function createTemplates(): (value: Lasting<unknown>, options: TemplateOptions) => void {
  const templates = new WeakMap<object, Template>();
  return (value, options) => {
    const { facts, changing } = value;
    const { out, indent } = options;
    const shape = Object.keys(changing).join();
    let template = templates.get(facts);
    const isFit = template?.dialect === out.dialect && template.indent === indent && template.shape === shape;
    if (template === undefined || !isFit) {
      template = createTemplate(value, shape, options);
      templates.set(facts, template);
    }
    const { texts, gaps } = template;
    const target = { out, indent, isFirst: false };
    out.add(texts[0]!);
    for (let i = 0; i < gaps.length; i++) {
      options.putMember(gaps[i]!, changing as Readonly<Record<string, unknown>>, target);
      out.add(texts[i + 1]!);
    }
  };
}

function createTemplate(
  { facts, changing }: Lasting<unknown>,
  shape: string,
  { names, putMember, out: { dialect }, indent }: TemplateOptions,
): Template {
  const texts: (Buffer | BytePieces)[] = [];
  const gaps: number[] = [];
  let out = new TextBytes(dialect);
  let isFirst = true;
  names.forEach((name, at) => {
    if (!(name in changing)) {
      const isThere = putMember(at, facts as Readonly<Record<string, unknown>>, { out, indent, isFirst });
      if (isThere) isFirst = false;
      return;
    }
    if (isFirst) throw new TypeError(`the first field of a lasting record may not change: ${name}`);
    texts.push(out.kept);
    gaps.push(at);
    out = new TextBytes(dialect);
  });
  out.text(isFirst ? `{\r\n${indent}}` : `\r\n${indent}}`);
  texts.push(out.kept);
  return { dialect, indent, shape, texts, gaps };
}
