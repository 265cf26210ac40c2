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

/** The text of a written list, undefined for any other value. */
export function writtenText(value: unknown): string | undefined {
  return value instanceof Written && typeof value.form === "string" ? value.form : undefined;
}

/** The binary form of a written list, undefined for any other value. */
export function writtenPortable(value: unknown): PortableArray | undefined {
  return value instanceof Written && typeof value.form === "object" ? value.form : undefined;
}
