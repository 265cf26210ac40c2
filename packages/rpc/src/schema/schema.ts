import type { PortableEntry, PortableScalar, PortableValue } from "@anulo/protocol";
import type { Dialect } from "../dialect.ts";
import type { Json } from "../json.ts";
import type { TextBytes } from "./text-bytes.ts";

/** How strictly a value is read. */
export type Reading = {
  /**
   * `request`: absent fields take their zero value, as in the original programs. `answer`: absent fields are rejected.
   */
  readonly of: "request" | "answer";
};

/**
 * When a field of a response is written:
 * `always`; `contract`: left out when empty, but only in the upstream dialect; `omitEmpty`: left out when empty.
 */
export type Presence = "always" | "contract" | "omitEmpty";

/** For whom a value is described: a request that a caller sends, or an answer in a dialect. */
export type DescribedAs = { readonly of: Reading["of"]; readonly dialect: Dialect };

/** JSON Schema, as far as OpenRPC documents need it. */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * One declared value: the type that a reader returns (`Out`), the type that a writer takes (`In`), and whether a writer
 * may leave the field out (`Omittable`).
 */
export interface Schema<Out, In = Out, Omittable extends boolean = boolean> {
  readonly kind: string;
  readonly omittable: Omittable;
  readonly presence: Presence;
  /** The value of an absent field. */
  absent(): Out | undefined;
  /** False if a response without this field is invalid. */
  readonly absentInAnswer: boolean;
  /** Throws BadRequest if the value does not fit. */
  read(value: Json, reading: Reading): Out;
  /** JSON text as a byte string (each character is one byte); `indent` is that of the enclosing object. */
  write(value: In, dialect: Dialect, indent: string): string;
  /** Writes the same text as bytes; if left out, the result of `write` is used. */
  put?(value: In, out: TextBytes, indent: string): void;
  /** Reads the value from portable storage. */
  readPortable(value: PortableValue, reading: Reading): Out;
  /** The value in portable storage, always in its upstream form; undefined for an empty list. */
  writePortable(value: In): PortableEntry | undefined;
  isEmpty(value: In): boolean;
  /** The schema of a request in the contract dialect if `as` is left out. */
  describe(as?: DescribedAs): JsonSchema;
}

/** The entry of a single value; throws when there are several. */
export function scalarOf(entry: PortableEntry): PortableScalar {
  if ("value" in entry) return entry;
  throw new TypeError("not a single value");
}

export type AnySchema = Schema<unknown, unknown>;

/** Writes JSON text as bytes; `indent` is that of the enclosing object. */
export function putValue(schema: AnySchema, value: unknown, out: TextBytes, indent: string): void {
  if (schema.put === undefined) out.text(schema.write(value, out.dialect, indent));
  else schema.put(value, out, indent);
}

/** The type that a reader returns: params for a handler, the result for a client. */
export type TypeOf<S> = S extends Schema<infer Out, infer _In, boolean> ? Out : never;

/** The type that a writer takes: params from a client, the result from a handler. */
export type InputOf<S> = S extends Schema<infer _Out, infer In, boolean> ? In : never;

export type Fields = Readonly<Record<string, AnySchema>>;

type OmittableKey<F extends Fields> = {
  [K in keyof F]: F[K]["omittable"] extends true ? K : never;
}[keyof F];

type Flat<T> = { [K in keyof T]: T[K] };

export type RecordOf<F extends Fields> = { [K in keyof F]: TypeOf<F[K]> };

export type RecordInputOf<F extends Fields> = Flat<
  { [K in Exclude<keyof F, OmittableKey<F>>]: InputOf<F[K]> } & {
    [K in OmittableKey<F>]?: InputOf<F[K]> | undefined;
  }
>;
