/** One byte string: the parts, one after the other. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** What `use` makes of the parts, one after the other: a copy of them, which may hold secrets, is wiped afterwards. */
export function useJoined<T>(parts: readonly Uint8Array[], use: (bytes: Uint8Array) => T): T {
  if (parts.length === 1) return use(parts[0]!);
  const copy = concatBytes(...parts);
  try {
    return use(copy);
  } finally {
    wipe(copy);
  }
}

/** Element `index` of a vector of 32-byte elements; a view, not a copy. */
export function elementAt(vector: Uint8Array, index: number): Uint8Array {
  return vector.subarray(32 * index, 32 * index + 32);
}

/** A vector of 32-byte elements as a list of views. */
export function elementsOf(vector: Uint8Array): Uint8Array[] {
  return Array.from({ length: vector.length / 32 }, (_, i) => elementAt(vector, i));
}

/** Whether two byte strings are equal; the time depends only on their lengths. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** A non-negative integer in groups of seven bits, lowest first. Source: common/varint.h. */
export function varint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not an index: ${value}`);
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

/** ASCII text as bytes. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Throws `RangeError` unless there are exactly `length` bytes. */
export function checkLength(name: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length)
    throw new RangeError(`${name}: ${length} bytes expected, ${bytes.length} given`);
}

/** Throws `RangeError` unless the bytes are whole 32-byte elements; their number. */
export function countElements(name: string, vector: Uint8Array): number {
  if (vector.length % 32 !== 0)
    throw new RangeError(`${name}: ${vector.length} bytes are not whole elements of 32`);
  return vector.length / 32;
}

/** A constant written in hexadecimal as bytes. */
export function hexBytes(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}

/** The same 32 bytes n times. */
export function repeatElement(element: Uint8Array, n: number): Uint8Array {
  const vector = new Uint8Array(32 * n);
  for (let i = 0; i < n; i++) vector.set(element, 32 * i);
  return vector;
}

/** Overwrites secrets with zeros; those that are undefined are none. */
export function wipe(...secrets: readonly (Uint8Array | undefined)[]): void {
  for (const secret of secrets) secret?.fill(0);
}
