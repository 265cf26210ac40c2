import type { PortableArray } from "@anulo/protocol";

/** A list whose text or binary form is made already. */
export class Written {
  readonly length: number;
  readonly form: string | PortableArray;

  constructor(length: number, form: string | PortableArray) {
    this.length = length;
    this.form = form;
  }
}

/** A list whose elements are made when they are written, and not kept: of a long one only the text takes memory. */
export class Drawn<T> {
  readonly length: number;
  readonly at: (place: number) => T;

  constructor(length: number, at: (place: number) => T) {
    this.length = length;
    this.at = at;
  }
}

/** Draws each element from one of the values; `draw` may be called again for the same one. */
export function drawn<V, T>(values: readonly V[], draw: (value: V) => T): Drawn<T> {
  return new Drawn(values.length, (place) => draw(values[place]!));
}

/** What a handler gives for a list. */
export type Elements<T> = readonly T[] | Drawn<T>;

/** The text of a written list, undefined for any other value. */
export function writtenText(value: unknown): string | undefined {
  return value instanceof Written && typeof value.form === "string" ? value.form : undefined;
}

/** The binary form of a written list, undefined for any other value. */
export function writtenPortable(value: unknown): PortableArray | undefined {
  return value instanceof Written && typeof value.form === "object" ? value.form : undefined;
}
