import type { PortableEntry } from "@anulo/protocol";
import { BytePieces } from "./byte-pieces.ts";
import { type AnySchema, putValue, type Schema } from "./schema.ts";
import { TextBytes } from "./text-bytes.ts";

/** A value whose text or binary form exists already: a list, or a string. */
export class Written {
  readonly length: number;
  readonly form: Buffer | BytePieces | PortableEntry;

  constructor(length: number, form: Buffer | BytePieces | PortableEntry) {
    this.length = length;
    this.form = form;
  }

  /** Size of a text or of one byte string; other entries are not counted. */
  get bytes(): number {
    const { form } = this;
    if (isText(form)) return form.length;
    return "value" in form && form.type === "string" ? form.value.length : 0;
  }
}

/** A string of characters that need no escape, written as its parts arrive: for very long ones. */
export async function writtenInParts(parts: AsyncIterable<string>): Promise<Written> {
  const out = new TextBytes("contract");
  out.text('"');
  for await (const part of parts) {
    out.text(part);
    out.setAside();
  }
  out.text('"');
  return new Written(out.length - 2, out.result);
}

/** The source of a list's elements, if it may change while a long list is written in turns. */
export interface DrawnFrom {
  /** Called before each pause: from now on the source must not change. */
  hold(): void;
  /** Called once writing has ended, completely or not. */
  release(): void;
}

/**
 * A list whose elements are created when they are written, and not retained: for a long list only the text takes
 * memory.
 */
export class Drawn<T> {
  readonly length: number;
  readonly at: (place: number) => T;
  readonly from: DrawnFrom | undefined;

  constructor(length: number, at: (place: number) => T, from?: DrawnFrom) {
    this.length = length;
    this.at = at;
    this.from = from;
  }
}

/** Creates each element from one of the values; `draw` may be called again for the same one. */
export function drawn<V, T>(values: readonly V[], draw: (value: V) => T): Drawn<T> {
  return new Drawn(values.length, (place) => draw(values[place]!));
}

/** The types that a handler may return for a list. */
export type Elements<T> = readonly T[] | Drawn<T>;

const isText = (form: Written["form"]): form is Buffer | BytePieces =>
  form instanceof Uint8Array || form instanceof BytePieces;

/** The text of a written value, undefined for any other. */
export function writtenText(value: unknown): Buffer | BytePieces | undefined {
  return value instanceof Written && isText(value.form) ? value.form : undefined;
}

/** The binary form of a written value, undefined for any other. */
export function writtenPortable(value: unknown): PortableEntry | undefined {
  return value instanceof Written && !isText(value.form) ? value.form : undefined;
}

/** The same schema, whose values may also be serialized already. */
export function serialized<Out, In, O extends boolean>(
  schema: Schema<Out, In, O>,
): Schema<Out, In | Written, O> {
  const unwrapInput = (value: In | Written): In => {
    if (value instanceof Written) throw new TypeError("a value that is written in the other form");
    return value;
  };
  return {
    ...schema,
    write: (value, dialect, indent) =>
      writtenText(value)?.toString("latin1") ?? schema.write(unwrapInput(value), dialect, indent),
    put: (value, out, indent) => {
      const text = writtenText(value);
      if (text === undefined) putValue(schema as AnySchema, unwrapInput(value), out, indent);
      else out.add(text);
    },
    writePortable: (value) => writtenPortable(value) ?? schema.writePortable(unwrapInput(value)),
    isEmpty: (value) => (value instanceof Written ? value.length === 0 : schema.isEmpty(value)),
  };
}
