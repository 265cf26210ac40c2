/** Commitments to amounts everybody sees: multiples of H from a table of affine summands j·16^w·H, no doublings. */
import {
  AFFINE1, BASE, IDENTITY_AFFINE, PT, addAffine, copyPoint, decompress, encodeBatch, gatherAffineSigned, scatterAffine, setIdentity,
} from "./point";
import { buildTable } from "./base";
import { H_BYTES } from "./generators";
import { alloc, arenaMark, arenaRewind } from "./arena";

/** Sixteen digits of 64 bits and a carry. */
const DIGITS: i32 = 17;
/** Tables are built for pairs of windows. */
const WINDOWS: i32 = 18;
const ENTRIES: i32 = 8;
const TABLE: usize = memory.data(18 * 8 * 120, 16);
/** The identity of one lane, for digit 0. */
const NOTHING: usize = memory.data(120, 16);
const POINT: usize = memory.data(4 * 160, 16), ENTRY: usize = memory.data(3 * 160, 16);
let isReady: bool = false;

function prepareTable(): void {
  if (isReady) return;
  decompress(POINT, H_BYTES, H_BYTES);
  buildTable(TABLE, POINT, WINDOWS, ENTRIES, 4);
  scatterAffine(NOTHING, NOTHING, IDENTITY_AFFINE);
  isReady = true;
}

/** out_i = mask·G + a_i·H for n public amounts of 8 bytes and a mask of 0 or 1; `out` of 32·(n + n mod 2) bytes. */
export function commitAmounts(out: usize, amounts: usize, mask: i32, n: i32): void {
  prepareTable();
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) {
    const point = points + PT * (i >> 1);
    if (mask) copyPoint(point, BASE);
    else setIdentity(point);
    addMultiples(point, load<u64>(amounts + 8 * i), load<u64>(amounts + 8 * (i + 1 < n ? i + 1 : i)));
  }
  encodeBatch(out, points, (n + 1) >> 1);
  arenaRewind(mark);
}

/** o += a·H in lane 0, b·H in lane 1: radix 16 with digits in [−8, 8), as they are made. */
function addMultiples(o: usize, a: u64, b: u64): void {
  let aCarry: i32 = 0, bCarry: i32 = 0;
  for (let w: i32 = 0; w < DIGITS; ++w) {
    const x = <i32>(a & 15) + aCarry, y = <i32>(b & 15) + bCarry;
    aCarry = (x + 8) >> 4;
    bCarry = (y + 8) >> 4;
    const d = x - (aCarry << 4), e = y - (bCarry << 4), window = TABLE + AFFINE1 * ENTRIES * w;
    gatherAffineSigned(ENTRY, entryOf(window, d), entryOf(window, e), i32(d < 0), i32(e < 0));
    addAffine(o, o, ENTRY, true);
    a >>= 4;
    b >>= 4;
  }
}

@inline function entryOf(window: usize, digit: i32): usize {
  return digit ? window + AFFINE1 * (abs(digit) - 1) : NOTHING;
}
