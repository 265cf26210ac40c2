import { BadRequest } from "../errors.ts";
import type { JsonSchema } from "./schema.ts";

/** One declared value of a query: what a handler receives for the caller's text. */
export interface QueryValue<Out> {
  /** The value if the caller does not send it. */
  readonly absent: Out;
  /** Parses the decoded text; throws BadRequest. */
  read(text: string): Out;
  describe(): JsonSchema;
}

/** The declared values of a query by name. */
export type QueryFields = Readonly<Record<string, QueryValue<unknown>>>;

/** The values that a handler receives for a query. */
export type QueryOf<Q extends QueryFields> = { readonly [K in keyof Q]: Q[K]["absent"] };

const DIGITS = /^(?:0|[1-9][0-9]{0,15})$/;

/** A number from 0 to 2^53-1 in decimal digits, without leading zeros; undefined, or `absent`, if it is not sent. */
export function queryNumber<Absent extends number | undefined = undefined>(
  bounds: { readonly min?: number; readonly max?: number; readonly absent?: Absent } = {},
): QueryValue<number | Absent> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, absent } = bounds;
  return {
    absent: absent as Absent,
    read(text) {
      const number = DIGITS.test(text) ? Number(text) : Number.NaN;
      if (!(number >= min && number <= max)) throw new BadRequest(`not a number from ${min} to ${max}`);
      return number;
    },
    describe: () => ({ type: "integer", minimum: min, maximum: max }),
  };
}

/** Text of 1 to `longest` characters that `pattern` allows; undefined, or `absent`, if it is not sent. */
export function queryText<Absent extends string | undefined = undefined>(bounds: {
  readonly longest: number;
  /** Tested against the whole decoded text; has no flags `g` or `y`. */
  readonly pattern?: RegExp;
  readonly absent?: Absent;
}): QueryValue<string | Absent> {
  const { longest, pattern, absent } = bounds;
  return {
    absent: absent as Absent,
    read(text) {
      if (text === "" || text.length > longest) throw new BadRequest(`not 1 to ${longest} characters`);
      if (pattern?.test(text) === false) throw new BadRequest(`does not match ${pattern.source}`);
      return text;
    },
    describe: () => ({
      type: "string",
      minLength: 1,
      maxLength: longest,
      ...(pattern && { pattern: pattern.source }),
    }),
  };
}
