/** The columns of some outputs as one value: copied as they are, in the order of bytes of this program's processors. */
import { type Plain, readCbor, writeCbor } from "../cbor.ts";
import { type Columns, type OutputPage, PAGE_OUTPUTS } from "./output-page.ts";
import type { OwnedOutput } from "./owned-output.ts";

/** Outputs of a row. */
export const ROW_OUTPUTS = 256;
/** Number of outputs (2 bytes), and whether unlock times and a rest follow. */
const HEAD_BYTES = 3;
const HAS_UNLOCK_TIMES = 1;
const HAS_REST = 2;

/** Bytes of an output in each column, in the order of the row. */
const widths = {
  amounts: 8,
  heights: 4,
  spends: 4,
  majors: 4,
  minors: 4,
  flags: 1,
} as const satisfies Partial<Record<keyof Columns, number>>;
const UNLOCK_TIME_BYTES = 8;

/** What few outputs of a row have, by index in the row: who spends them, and what they replace. */
export type RestOfRow = {
  readonly pending: [number, string][];
  readonly replaced: [number, OwnedOutput][];
};

/** The page with a row, and the index of the row's first output in it. */
type RowAt = { readonly page: OutputPage; readonly index: number };

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function checkOrder(): void {
  if (!isLittleEndian) throw new Error("outputs can't be stored on a big-endian processor");
}

/** The bytes of some outputs of a column; not a copy. */
function bytesOf(
  { page, index }: RowAt,
  name: keyof Columns,
  { width, count }: { width: number; count: number },
) {
  const { buffer, byteOffset } = page.columns[name];
  return new Uint8Array(buffer, byteOffset + width * index, width * count);
}

function columnsIn(hasUnlockTimes: boolean): [keyof Columns, number][] {
  const columns = Object.entries(widths) as [keyof Columns, number][];
  return hasUnlockTimes ? [...columns, ["unlockTimes", UNLOCK_TIME_BYTES]] : columns;
}

export function writeOutputRow(
  at: RowAt,
  { count, rest }: { readonly count: number; readonly rest: RestOfRow },
): Uint8Array {
  checkOrder();
  const { hasUnlockTimes } = at.page;
  const hasRest = rest.pending.length + rest.replaced.length > 0;
  const flags = (hasUnlockTimes ? HAS_UNLOCK_TIMES : 0) | (hasRest ? HAS_REST : 0);
  const parts: Uint8Array[] = [Uint8Array.of(count & 0xff, count >> 8, flags)];
  for (const [name, width] of columnsIn(hasUnlockTimes)) parts.push(bytesOf(at, name, { width, count }));
  if (hasRest) parts.push(writeRest(rest));
  return Buffer.concat(parts);
}

/** Reads a row into a page, after the rows before it. Throws `RangeError` if these are not the bytes of one. */
export function readOutputRow(
  at: RowAt,
  bytes: Uint8Array,
): { readonly count: number; readonly rest: RestOfRow } {
  checkOrder();
  const [low = 0, high = 0, flags = 0] = bytes;
  const count = low | (high << 8);
  if (count === 0 || count > ROW_OUTPUTS) throw new RangeError(`a row of ${count} outputs`);
  // Behind a full row others follow.
  at.page.reserve(count === ROW_OUTPUTS ? PAGE_OUTPUTS - 1 : at.index + count - 1);
  if ((flags & HAS_UNLOCK_TIMES) !== 0) at.page.reserveUnlockTimes();
  let from = HEAD_BYTES;
  for (const [name, width] of columnsIn((flags & HAS_UNLOCK_TIMES) !== 0)) {
    const part = bytes.subarray(from, from + width * count);
    if (part.length !== width * count) throw new RangeError("a row of outputs that was cut off");
    bytesOf(at, name, { width, count }).set(part);
    from += width * count;
  }
  at.page.noteColumns(at.index, at.index + count);
  const hasRest = (flags & HAS_REST) !== 0;
  return { count, rest: hasRest ? readRest(bytes.subarray(from)) : { pending: [], replaced: [] } };
}

function writeRest({ pending, replaced }: RestOfRow): Uint8Array {
  return writeCbor([
    pending,
    replaced.map(([index, output]) => [index, chainOf(output)]),
  ] as unknown as Plain);
}

function readRest(bytes: Uint8Array): RestOfRow {
  const [pending, replaced] = readCbor(bytes) as unknown as [[number, string][], [number, Link[]][]];
  return { pending, replaced: replaced.map(([index, chain]) => [index, joined(chain)]) };
}

const KEY_BYTES = 32;

/** A row of version 2 without its keys, which were columns after the others; and these. Throws `RangeError`. */
export function splitFormerRow(bytes: Uint8Array) {
  const count = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8);
  const from = HEAD_BYTES + count * Object.values(widths).reduce((sum, width) => sum + width, 0);
  const [images, to] = [from + KEY_BYTES * count, from + 2 * KEY_BYTES * count];
  if (count === 0 || bytes.length < to) throw new RangeError("a row of outputs that was cut off");
  return {
    row: Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]),
    keys: { oneTime: bytes.subarray(from, images), images: bytes.subarray(images, to) },
  };
}

type Link = Omit<OwnedOutput, "replaces">;

/** An output and all that it replaces: a flat list, since a sender may have any number of them replaced. */
function chainOf(output: OwnedOutput): Link[] {
  const chain: Link[] = [];
  for (let each: OwnedOutput | undefined = output; each !== undefined; each = each.replaces) {
    const { replaces: _, ...link } = each;
    chain.push(link);
  }
  return chain;
}

function joined(chain: readonly Link[]): OwnedOutput {
  let output: OwnedOutput | undefined;
  for (const link of chain.toReversed()) output = { ...link, replaces: output };
  if (output === undefined) throw new RangeError("a replaced output that is missing");
  return output;
}
