import { type IntegerType, type PortableEntry, type PortableValue, toHex } from "@anulo/protocol";
import { textOfBytes } from "../body-text.ts";
import { BadRequest } from "../errors.ts";
import { byteStringOf, type Json, quote } from "../json.ts";
import { Quoted } from "./quoted.ts";
import type { JsonSchema, Schema } from "./schema.ts";
import { bytesOfText as jsonBytes, type TextBytes, textWords } from "./text-bytes.ts";

const MAX_U64 = 0xffffffffffffffffn;
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);
const MIN_I64 = -0x8000000000000000n;
const MAX_I64 = 0x7fffffffffffffffn;

type Scalar<T, In> = {
  kind: string;
  zero: T;
  read: Schema<T>["read"];
  write: (value: In) => string;
  put?: (value: In, out: TextBytes) => void;
  toPortable: (value: In) => PortableEntry;
  fromPortable: (value: PortableValue) => Json;
  /** If left out, the value is read as the JSON value it corresponds to. */
  readPortable?: (value: PortableValue) => T;
  describe: JsonSchema;
};

function scalar<T extends In, In = T>(options: Scalar<T, In>): Schema<T, In, false> {
  const { kind, zero, read, write, toPortable, fromPortable, describe } = options;
  return {
    kind,
    omittable: false,
    presence: "always",
    absent: () => zero,
    absentInAnswer: false,
    read,
    write,
    ...(options.put && { put: options.put }),
    readPortable: options.readPortable ?? ((entry, reading) => read(fromPortable(entry), reading)),
    writePortable: toPortable,
    isEmpty: (value) => value === zero,
    describe: () => describe,
  };
}

/**
 * Digits in a string are accepted as a number for 64-bit fields only: clients send amounts as strings (monero-ts does),
 * which the original accepted until 0.18.5. Source: portable_storage_val_converters.h.
 */
function integerOf(value: Json, bits: number): bigint | number {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) return value;
  if (bits === 64 && typeof value === "string" && /^[0-9]{1,20}$/.test(value)) return BigInt(value);
  throw new BadRequest("not an integer");
}

/** Accepts any integer type, as long as the number fits. */
function portableInteger({ integer }: PortableValue): bigint {
  if (integer === undefined) throw new BadRequest("not an integer");
  return integer;
}

function asPortable(type: IntegerType): (value: number | bigint) => PortableEntry {
  return (value) => ({ type, value: BigInt(value) });
}

function checkedU64(value: unknown): bigint {
  if (typeof value !== "bigint" || value < 0n || value > MAX_U64) throw new RangeError(`not a u64: ${value}`);
  return value;
}

/** Unsigned 64-bit integer that may exceed 2^53: amounts, difficulties, any value that a peer chooses. A bigint. */
export const u64: Schema<bigint, bigint, false> = scalar({
  kind: "u64",
  zero: 0n,
  read: (value) => {
    const number = BigInt(integerOf(value, 64));
    if (number < 0n || number > MAX_U64) throw new BadRequest("outside 0 to 2^64-1");
    return number;
  },
  write: (value) => checkedU64(value).toString(),
  put: (value, out) => {
    if (checkedU64(value) <= MAX_EXACT) out.integer(Number(value));
    else out.text(value.toString());
  },
  toPortable: asPortable("uint64"),
  fromPortable: portableInteger,
  readPortable: (entry) => {
    const number = portableInteger(entry);
    if (number < 0n) throw new BadRequest("outside 0 to 2^64-1");
    return number;
  },
  describe: { type: "integer", minimum: 0, maximum: MAX_U64 },
});

/** Signed 64-bit integer. A bigint. */
export const i64: Schema<bigint, bigint, false> = scalar({
  kind: "i64",
  zero: 0n,
  read: (value) => {
    const number = BigInt(integerOf(value, 0));
    if (number < MIN_I64 || number > MAX_I64) throw new BadRequest("outside 64 bits");
    return number;
  },
  write: (value) => value.toString(),
  toPortable: asPortable("int64"),
  fromPortable: portableInteger,
  describe: { type: "integer" },
});

/** Numbers of `bits` bits as a JavaScript number. */
function unsigned(kind: string, bits: number): Schema<number, number, false> {
  const max = bits === 64 ? Number.MAX_SAFE_INTEGER : 2 ** bits - 1;
  const checked = (value: number): number => {
    if (!Number.isInteger(value) || value < 0 || value > max) throw new RangeError(`not a ${kind}: ${value}`);
    return value;
  };
  return scalar<number>({
    kind,
    zero: 0,
    read: (value, { of }) => {
      const number = integerOf(value, bits);
      if (number < 0 || number > (bits === 64 ? MAX_U64 : max)) throw new BadRequest(`outside ${bits} bits`);
      if (number <= max) return Number(number);
      if (of === "answer") throw new BadRequest("above 2^53-1");
      return max;
    },
    write: (value) => String(checked(value)),
    put: (value, out) => out.integer(checked(value)),
    toPortable: asPortable(`uint${bits}` as IntegerType),
    fromPortable: portableInteger,
    describe: { type: "integer", minimum: 0, maximum: max },
  });
}

/**
 * Unsigned 64-bit integer that stays below 2^53: heights, counts, sizes in bytes, seconds. A number; a request above
 * 2^53-1 counts as 2^53-1, which exceeds every chain as well.
 */
export const uint = unsigned("uint", 64);
export const uint32 = unsigned("uint32", 32);
export const uint16 = unsigned("uint16", 16);
export const uint8 = unsigned("uint8", 8);

function signed(kind: string, bits: number): Schema<number, number, false> {
  const max = bits === 64 ? Number.MAX_SAFE_INTEGER : 2 ** (bits - 1) - 1;
  const min = bits === 64 ? -max : -max - 1;
  return scalar<number>({
    kind,
    zero: 0,
    read: (value, { of }) => {
      const number = integerOf(value, 0);
      if (number >= min && number <= max) return Number(number);
      if (bits !== 64 || number < MIN_I64 || number > MAX_I64) throw new BadRequest(`outside ${bits} bits`);
      if (of === "answer") throw new BadRequest("beyond 2^53-1");
      return number < 0 ? min : max;
    },
    write: (value) => {
      if (!Number.isInteger(value) || value < min || value > max) {
        throw new RangeError(`not an ${kind}: ${value}`);
      }
      return String(value);
    },
    toPortable: asPortable(`int${bits}` as IntegerType),
    fromPortable: portableInteger,
    describe: { type: "integer" },
  });
}

/** Signed 64-bit integer that stays below 2^53. A number; a request beyond 2^53-1 counts as 2^53-1, as for `uint`. */
export const int = signed("int", 64);
export const int8 = signed("int8", 8);

const [TRUE, FALSE] = [textWords("true"), textWords("false")];

/** Boolean. */
export const flag: Schema<boolean, boolean, false> = scalar<boolean>({
  kind: "flag",
  zero: false,
  read: (value) => {
    if (typeof value !== "boolean") throw new BadRequest("not a boolean");
    return value;
  },
  write: String,
  put: (value, out) => out.words(value ? TRUE : FALSE),
  toPortable: (value) => ({ type: "bool", value }),
  fromPortable: (value) => value.boolean ?? null,
  describe: { type: "boolean" },
});

function portableBytes({ bytes }: PortableValue): Uint8Array {
  if (bytes === undefined) throw new BadRequest("not a string");
  return bytes;
}

function textLike(kind: string, describe: JsonSchema): Schema<string, string | Quoted, false> {
  return scalar<string, string | Quoted>({
    kind,
    zero: "",
    read: (value) => {
      if (typeof value !== "string") throw new BadRequest("not a string");
      return value;
    },
    write: (value) => {
      if (typeof value === "string") return quote(value);
      if (!(value instanceof Quoted)) throw new TypeError(`not a string: ${typeof value}`);
      return value.json;
    },
    toPortable: (value) => ({
      type: "string",
      value: bytesOfText(value instanceof Quoted ? value.text : value),
    }),
    fromPortable: (entry) => textOfBytes(portableBytes(entry)),
    describe,
  });
}

/** Texts of hex digits: bytes need not be checked or escaped. */
function hexLike(kind: string, describe: JsonSchema): Schema<string, string | Quoted | Uint8Array, false> {
  const asText = textLike(kind, describe);
  return {
    ...asText,
    write: (value, dialect, indent) =>
      value instanceof Uint8Array ? `"${toHex(value)}"` : asText.write(value, dialect, indent),
    put: (value, out, indent) => {
      if (value instanceof Uint8Array) out.hex(value);
      else out.text(asText.write(value, out.dialect, indent));
    },
    writePortable: (value) => asText.writePortable(value instanceof Uint8Array ? toHex(value) : value),
    isEmpty: (value) => (value instanceof Uint8Array ? value.length === 0 : asText.isEmpty(value)),
  };
}

/** Text; bytes that are not UTF-8 survive as lone surrogates. */
export const text = textLike("text", { type: "string" });

/** 1 to `longest` visible ASCII characters that need no escaping. */
export function printable(longest: number): Schema<string, string | Quoted, false> {
  const pattern = `^[!-~]{1,${longest}}$`;
  const isName = new RegExp(pattern);
  const asText = textLike("printable", { type: "string", pattern });
  return {
    ...asText,
    read: (value, reading) => {
      const text = asText.read(value, reading);
      if (!isName.test(text)) throw new BadRequest(`not 1 to ${longest} visible characters`);
      return text;
    },
  };
}

/**
 * Hex digits, or the bytes to be written as hex. The handler checks them, because each method rejects invalid ones with
 * its own code.
 */
export const hex = hexLike("hex", { type: "string", pattern: "^([0-9a-fA-F]{2})*$" });
/** 32 bytes in hex, or "" if there is none. The handler checks it, as with `hex`. */
export const hash = hexLike("hash", { type: "string", pattern: "^([0-9a-fA-F]{64})?$" });

function putRawBytes(value: Uint8Array, out: TextBytes): void {
  out.text('"');
  out.escaped(value);
  out.text('"');
}

/** Raw bytes inside a JSON string, one byte per character; a byte string in binary paths. */
export const rawBytes: Schema<Uint8Array, Uint8Array, false> = {
  kind: "rawBytes",
  omittable: false,
  presence: "always",
  absent: () => new Uint8Array(0),
  absentInAnswer: false,
  read: (value) => {
    if (typeof value !== "string") throw new BadRequest("not a string");
    return bytesOfText(value);
  },
  write: (value, dialect) => jsonBytes(dialect, (out) => putRawBytes(value, out)).toString("latin1"),
  put: putRawBytes,
  readPortable: portableBytes,
  writePortable: (value) => ({ type: "string", value }),
  isEmpty: (value) => value.length === 0,
  describe: () => ({ type: "string", description: "Raw bytes, one a character." }),
};

/** The bytes that were sent as a JSON string. */
function bytesOfText(value: string): Uint8Array {
  return new Uint8Array(Buffer.from(byteStringOf(value), "latin1"));
}
