import { toHex } from "@anulo/protocol";

/** A value to be written: numbers as digits, bytes as hexadecimal text, objects with their fields in order. */
export type ArchiveValue = number | bigint | Uint8Array | ArchiveObject | ArchiveArray;
export type ArchiveObject = { readonly fields: readonly (readonly [name: string, value: ArchiveValue])[] };
export type ArchiveArray = {
  readonly items: readonly ArchiveValue[];
  /** Whether the original announces the number of items: this decides where the closing bracket stands. */
  readonly announced: boolean;
};

export function object(...fields: ArchiveObject["fields"]): ArchiveObject {
  return { fields };
}

/** A list whose length the original announces: plain vectors. */
export function vector(items: readonly ArchiveValue[]): ArchiveArray {
  return { items, announced: true };
}

/** A list whose length follows from elsewhere: most of RingCT. */
export function counted(items: readonly ArchiveValue[]): ArchiveArray {
  return { items, announced: false };
}

/**
 * The text the original writes for chain data, to the last blank, since callers compare and store it.
 * The bracket that ends a list stands on its own line when the list begun last announced items.
 * Source: serialization/json_archive.h.
 */
export function archiveText(value: ArchiveValue): string {
  const writer: Writer = { parts: [], depth: 0, lastAnnounced: 0 };
  write(writer, value);
  return writer.parts.join("");
}

interface Writer {
  readonly parts: string[];
  depth: number;
  lastAnnounced: number;
}

function newLine(writer: Writer): void {
  writer.parts.push(`\n${"  ".repeat(writer.depth)}`);
}

function write(writer: Writer, value: ArchiveValue): void {
  if (typeof value === "number" || typeof value === "bigint") writer.parts.push(value.toString());
  else if (value instanceof Uint8Array) writer.parts.push(`"${toHex(value)}"`);
  else if ("fields" in value) writeObject(writer, value);
  else writeArray(writer, value);
}

function writeObject(writer: Writer, { fields }: ArchiveObject): void {
  writer.parts.push("{");
  writer.depth++;
  for (const [i, [name, value]] of fields.entries()) {
    if (i > 0) writer.parts.push(", ");
    newLine(writer);
    writer.parts.push(`"${name}": `);
    write(writer, value);
  }
  writer.depth--;
  newLine(writer);
  writer.parts.push("}");
}

function writeArray(writer: Writer, { items, announced }: ArchiveArray): void {
  writer.lastAnnounced = announced ? items.length : 0;
  writer.depth++;
  writer.parts.push("[ ");
  for (const [i, item] of items.entries()) {
    if (i > 0) writer.parts.push(", ");
    write(writer, item);
  }
  writer.depth--;
  if (writer.lastAnnounced > 0) newLine(writer);
  writer.parts.push("]");
}
