/** The marks of a wallet's addresses as bytes, so that the addresses need not be computed again at the next opening. */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import {
  type AddressMarks,
  bytesOfMarks,
  fitsMarks,
  reserveMarks,
  type SharedMarks,
} from "./address-marks.ts";
import { type AddressRange, AddressRuns, type Lookahead } from "./address-runs.ts";

/** Marks of addresses that were computed earlier, and which addresses these are, in the order of the marks. */
export type KeptMarks = { readonly marks: SharedMarks; readonly ranges: readonly AddressRange[] };

/** Of what the bytes mean, and of how addresses and marks are computed. */
const VERSION = 1;
const NUMBER_BYTES = 4;
/** Version, accounts and addresses of the look-ahead, number of ranges. */
const HEAD_NUMBERS = 4;
const RANGE_NUMBERS = 3;

/** The table as bytes: numbers of 32 bits, then the marks, all of them little-endian. */
export function writeMarks(table: AddressMarks): Uint8Array {
  const { ranges, marks, lookahead } = table.kept;
  const numbers = [VERSION, lookahead.accounts, lookahead.addresses, ranges.length];
  for (const { major, fromMinor, count } of ranges) numbers.push(major, fromMinor, count);
  const headBytes = NUMBER_BYTES * numbers.length;
  const bytes = new Uint8Array(headBytes + marks.byteLength);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setUint32(NUMBER_BYTES * i, number, true);
  bytes.set(new Uint8Array(marks.buffer, marks.byteOffset, marks.byteLength), headBytes);
  return bytes;
}

/**
 * The marks in these bytes, for a wallet with these addresses in use; undefined if they are of another version or
 * look-ahead, or if the wallet would recognise more addresses by them than it should.
 */
export function readMarks(
  bytes: Uint8Array,
  used: readonly SubaddressIndex[],
  lookahead: Lookahead,
): KeptMarks | undefined {
  if (!fitsMarks(used, lookahead)) return undefined;
  const ranges = readRanges(bytes, lookahead);
  if (ranges === undefined || !isWithin(ranges, used, lookahead)) return undefined;
  const image = bytes.subarray(NUMBER_BYTES * (HEAD_NUMBERS + RANGE_NUMBERS * ranges.length));
  const count = ranges.reduce((sum, range) => sum + range.count, 0);
  const marks = reserveMarks(used, lookahead);
  if (image.length !== bytesOfMarks(count) || image.length > marks.byteLength) return undefined;
  new Uint8Array(marks.buffer).set(image);
  return { marks, ranges };
}

function readRanges(bytes: Uint8Array, lookahead: Lookahead): AddressRange[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numberAt = (place: number) => view.getUint32(NUMBER_BYTES * place, true);
  if (bytes.length < NUMBER_BYTES * HEAD_NUMBERS || numberAt(0) !== VERSION) return undefined;
  if (numberAt(1) !== lookahead.accounts || numberAt(2) !== lookahead.addresses) return undefined;
  const count = numberAt(3);
  if (bytes.length < NUMBER_BYTES * (HEAD_NUMBERS + RANGE_NUMBERS * count)) return undefined;
  return Array.from({ length: count }, (_, i) => {
    const place = HEAD_NUMBERS + RANGE_NUMBERS * i;
    return { major: numberAt(place), fromMinor: numberAt(place + 1), count: numberAt(place + 2) };
  });
}

/** Whether the ranges join, and none reaches beyond what a wallet computes that begins with these addresses in use. */
function isWithin(
  ranges: readonly AddressRange[],
  used: readonly SubaddressIndex[],
  lookahead: Lookahead,
): boolean {
  const reach = new AddressRuns();
  for (const index of used)
    for (const { major, fromMinor, toMinor } of reach.missingFor(index, lookahead))
      reach.add({ major, fromMinor, count: toMinor - fromMinor });
  const covered = new Map<number, number>();
  for (const { major, fromMinor, count } of ranges) {
    if (count === 0 || fromMinor !== (covered.get(major) ?? 0)) return false;
    covered.set(major, fromMinor + count);
  }
  return [...covered].every(([major, end]) => end <= reach.coveredOf(major));
}
