import { type SliceOptions, TimeSlice } from "@anulo/limits";
import { TextBytes } from "../schema/text-bytes.ts";
import { Written, writtenText } from "../schema/written.ts";

/** Outputs of consecutive blocks: how many each added, or with `base` how many there were up to each. */
export interface BlockCounts {
  readonly perBlock: Uint32Array;
  /** Outputs before the first of these blocks. */
  readonly base: number;
  readonly isCumulative: boolean;
}

/** How numbers are written: each in decimal, as 64 bits, or in groups of 7 bits. */
export type CountsEncoding = "decimal" | "packed" | "compressed";

export interface CountsForm {
  readonly encoding: CountsEncoding;
  /** Whether the response is portable storage; else it is JSON. */
  readonly isPortable: boolean;
}

/** So many numbers are written between looks at the clock. */
const NUMBERS_PER_STEP = 4096;
/** Longest form of a number below 2^53. */
export const MAX_COMPRESSED_BYTES = 8;
const PACKED_BYTES = 8;

/** Seven bits a byte, lowest first; the high bit says that more follow. Returns the number of bytes written. */
export function compressInto(bytes: Uint8Array, values: ArrayLike<number>): number {
  let at = 0;
  for (let i = 0; i < values.length; i++) {
    let value = values[i]!;
    while (value >= 0x80) {
      bytes[at++] = (value % 0x80) + 0x80;
      value = Math.floor(value / 0x80);
    }
    bytes[at++] = value;
  }
  return at;
}

function packInto(bytes: Uint8Array, values: ArrayLike<number>): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    view.setUint32(PACKED_BYTES * i, value, true);
    // Counts are small: a division of each took five times as long as all the rest.
    view.setUint32(PACKED_BYTES * i + 4, value < 2 ** 32 ? 0 : Math.floor(value / 2 ** 32), true);
  }
  return PACKED_BYTES * values.length;
}

/** The numbers of a response, step by step. */
function* numbersOf({ perBlock, base, isCumulative }: BlockCounts): Iterable<Numbers> {
  let sum = base;
  for (let from = 0; from < perBlock.length; from += NUMBERS_PER_STEP) {
    const counts = perBlock.subarray(from, from + NUMBERS_PER_STEP);
    if (!isCumulative) {
      yield counts;
      continue;
    }
    yield Float64Array.from(counts, (count) => {
      sum += count;
      return sum;
    });
  }
}

export interface SerializeOptions extends SliceOptions {
  /** What was written of the blocks before these, in the same form: it is put in front. */
  readonly before?: Written | undefined;
}

/** Writes them in slices, so that millions of blocks keep nobody waiting. */
export async function serializeCounts(
  counts: BlockCounts,
  { encoding, isPortable }: CountsForm,
  { before, ...options }: SerializeOptions = {},
): Promise<Written> {
  const slice = new TimeSlice(options);
  const length = (before?.length ?? 0) + counts.perBlock.length;
  // Nothing is in front of the first number.
  const first = before !== undefined && before.length > 0 ? before : undefined;
  const output =
    encoding === "decimal"
      ? decimalText(first)
      : isPortable
        ? bytesOutput(encoderOf(encoding), first)
        : quotedText(encoding, first);
  for (const numbers of numbersOf(counts)) {
    output.add(numbers);
    if (slice.isOver) await slice.yield();
  }
  return new Written(length, output.finish());
}

type Numbers = Uint32Array | Float64Array;

/** Takes the numbers of a response step by step. */
interface Output {
  add(numbers: Numbers): void;
  finish(): Written["form"];
}

/** Encodes the numbers of a step; the bytes are valid until the next one. */
function encoderOf(encoding: Exclude<CountsEncoding, "decimal">): (numbers: Numbers) => Uint8Array {
  const scratch = new Uint8Array(MAX_COMPRESSED_BYTES * NUMBERS_PER_STEP);
  const encodeInto = encoding === "packed" ? packInto : compressInto;
  return (numbers) => scratch.subarray(0, encodeInto(scratch, numbers));
}

/** A byte string of portable storage. */
function bytesOutput(encode: (numbers: Numbers) => Uint8Array, before: Written | undefined): Output {
  const parts = before === undefined ? [] : [(before.form as { readonly value: Uint8Array }).value];
  return {
    add: (numbers) => void parts.push(encode(numbers).slice()),
    finish: () => ({ type: "string", value: Buffer.concat(parts) }),
  };
}

/** The same bytes as a JSON string. */
function quotedText(encoding: Exclude<CountsEncoding, "decimal">, before: Written | undefined): Output {
  const marks = ['"', '"'] as const;
  if (encoding === "packed") return textOutput(marks, before, (numbers, out) => out.packed(numbers));
  const encode = encoderOf(encoding);
  return textOutput(marks, before, (numbers, out) => out.escaped(encode(numbers)));
}

/** A JSON list. */
function decimalText(before: Written | undefined): Output {
  let isFirst = before === undefined;
  return textOutput(["[", "]"], before, (numbers, out) => {
    if (isFirst) out.integer(numbers[0]!);
    out.moreIntegers(numbers.subarray(isFirst ? 1 : 0));
    isFirst = false;
  });
}

function textOutput(
  [begin, end]: readonly [string, string],
  before: Written | undefined,
  put: (numbers: Numbers, out: TextBytes) => void,
): Output {
  const out = new TextBytes("contract");
  if (before === undefined) out.text(begin);
  else out.resume(writtenText(before)!);
  return {
    add(numbers) {
      put(numbers, out);
      out.setAside();
    },
    finish() {
      out.text(end);
      return out.kept;
    },
  };
}
