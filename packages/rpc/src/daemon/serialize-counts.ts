import { type SliceOptions, TimeSlice } from "@anulo/limits";
import { quoteBytes } from "../json.ts";
import { bytesOfText } from "../schema/text-bytes.ts";
import { Written } from "../schema/written.ts";

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
    view.setUint32(PACKED_BYTES * i, values[i]!, true);
    view.setUint32(PACKED_BYTES * i + 4, values[i]! / 2 ** 32, true);
  }
  return PACKED_BYTES * values.length;
}

/** The numbers of a response, step by step. */
function* numbersOf({ perBlock, base, isCumulative }: BlockCounts): Iterable<Uint32Array | Float64Array> {
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
  form: CountsForm,
  { before, ...options }: SerializeOptions = {},
): Promise<Written> {
  const { encoding, isPortable } = form;
  const slice = new TimeSlice(options);
  const scratch = new Uint8Array(MAX_COMPRESSED_BYTES * NUMBERS_PER_STEP);
  const encode = encoding === "packed" ? packInto : compressInto;
  const pieces: Pieces = { texts: [], bytes: [] };
  if (before !== undefined && before.length > 0) addBefore(pieces, before);
  for (const numbers of numbersOf(counts)) {
    if (encoding === "decimal") pieces.texts.push(numbers.join());
    else {
      const bytes = scratch.subarray(0, encode(scratch, numbers));
      if (isPortable) pieces.bytes.push(bytes.slice());
      else pieces.texts.push(quoteBytes(Buffer.from(bytes).toString("latin1")).slice(1, -1));
    }
    if (slice.isOver) await slice.yield();
  }
  return joined(pieces, form, (before?.length ?? 0) + counts.perBlock.length);
}

const [QUOTES, BRACKETS] = ['""', "[]"];

/** Of a response: texts without what encloses them, or bytes. */
interface Pieces {
  readonly texts: (string | Buffer)[];
  readonly bytes: Uint8Array[];
}

function addBefore({ texts, bytes }: Pieces, { form }: Written): void {
  if (form instanceof Uint8Array) texts.push(form.subarray(1, -1));
  else bytes.push((form as { readonly value: Uint8Array }).value);
}

function joined({ texts, bytes }: Pieces, { encoding, isPortable }: CountsForm, length: number): Written {
  if (isPortable && encoding !== "decimal")
    return new Written(length, { type: "string", value: Buffer.concat(bytes) });
  const isList = encoding === "decimal";
  const [begin, end] = isList ? BRACKETS : QUOTES;
  return new Written(
    length,
    bytesOfText("contract", (out) => {
      out.text(begin!);
      texts.forEach((text, i) => {
        if (isList && i > 0) out.text(",");
        if (typeof text === "string") out.text(text);
        else out.bytes(text);
      });
      out.text(end!);
    }),
  );
}
