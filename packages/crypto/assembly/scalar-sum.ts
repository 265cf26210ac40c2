/**
 * Sums of products mod ℓ with one reduction for many: columns of 28-bit limb products are added up as they are.
 *
 * A factor is "unpacked": 9 limbs of 28 bits in 64-bit words, below ℓ. A product adds less than 2^60 to a column, so
 * up to MOST_PRODUCTS fit beside what `foldColumns` left there.
 */
import { fold, limb0, limb1, limb2, limb3, limb4, limb5, limb6, limb7, limb8 } from "./scalar";

/** Bytes of an unpacked factor. */
export const UNPACKED: usize = 72;
/** Bytes of the columns of a sum. */
export const COLUMNS: usize = 136;
/** Products between two folds: 7 × 2^59.2 + 2^28 < 2^62.1. */
export const MOST_PRODUCTS: i32 = 7;

/** o = the limbs of n canonical scalars. */
export function unpack(o: usize, a: usize, n: i32): void {
  for (let end = a + 32 * n; a < end; a += 32, o += UNPACKED) {
    store<u64>(o, limb0(a)); store<u64>(o, limb1(a), 8); store<u64>(o, limb2(a), 16);
    store<u64>(o, limb3(a), 24); store<u64>(o, limb4(a), 32); store<u64>(o, limb5(a), 40);
    store<u64>(o, limb6(a), 48); store<u64>(o, limb7(a), 56); store<u64>(o, limb8(a), 64);
  }
}

@inline function addTo(column: usize, value: u64): void { store<u64>(column, load<u64>(column) + value); }

/** Adds x·y, both unpacked. */
export function addProduct(columns: usize, x: usize, y: usize): void {
  const x0 = load<u64>(x), x1 = load<u64>(x, 8), x2 = load<u64>(x, 16), x3 = load<u64>(x, 24), x4 = load<u64>(x, 32);
  const x5 = load<u64>(x, 40), x6 = load<u64>(x, 48), x7 = load<u64>(x, 56), x8 = load<u64>(x, 64);
  const y0 = load<u64>(y), y1 = load<u64>(y, 8), y2 = load<u64>(y, 16), y3 = load<u64>(y, 24), y4 = load<u64>(y, 32);
  const y5 = load<u64>(y, 40), y6 = load<u64>(y, 48), y7 = load<u64>(y, 56), y8 = load<u64>(y, 64);
  addTo(columns, x0 * y0);
  addTo(columns + 8, x0 * y1 + x1 * y0);
  addTo(columns + 16, x0 * y2 + x1 * y1 + x2 * y0);
  addTo(columns + 24, x0 * y3 + x1 * y2 + x2 * y1 + x3 * y0);
  addTo(columns + 32, x0 * y4 + x1 * y3 + x2 * y2 + x3 * y1 + x4 * y0);
  addTo(columns + 40, x0 * y5 + x1 * y4 + x2 * y3 + x3 * y2 + x4 * y1 + x5 * y0);
  addTo(columns + 48, x0 * y6 + x1 * y5 + x2 * y4 + x3 * y3 + x4 * y2 + x5 * y1 + x6 * y0);
  addTo(columns + 56, x0 * y7 + x1 * y6 + x2 * y5 + x3 * y4 + x4 * y3 + x5 * y2 + x6 * y1 + x7 * y0);
  addTo(columns + 64, x0 * y8 + x1 * y7 + x2 * y6 + x3 * y5 + x4 * y4 + x5 * y3 + x6 * y2 + x7 * y1 + x8 * y0);
  addTo(columns + 72, x1 * y8 + x2 * y7 + x3 * y6 + x4 * y5 + x5 * y4 + x6 * y3 + x7 * y2 + x8 * y1);
  addTo(columns + 80, x2 * y8 + x3 * y7 + x4 * y6 + x5 * y5 + x6 * y4 + x7 * y3 + x8 * y2);
  addTo(columns + 88, x3 * y8 + x4 * y7 + x5 * y6 + x6 * y5 + x7 * y4 + x8 * y3);
  addTo(columns + 96, x4 * y8 + x5 * y7 + x6 * y6 + x7 * y5 + x8 * y4);
  addTo(columns + 104, x5 * y8 + x6 * y7 + x7 * y6 + x8 * y5);
  addTo(columns + 112, x6 * y8 + x7 * y7 + x8 * y6);
  addTo(columns + 120, x7 * y8 + x8 * y7);
  addTo(columns + 128, x8 * y8);
}

/** o = the sum mod ℓ, 32 bytes; the columns are left as they are. */
export function foldColumns(o: usize, columns: usize): void {
  fold(
    o, load<u64>(columns), load<u64>(columns, 8), load<u64>(columns, 16), load<u64>(columns, 24), load<u64>(columns, 32),
    load<u64>(columns, 40), load<u64>(columns, 48), load<u64>(columns, 56), load<u64>(columns, 64), load<u64>(columns, 72),
    load<u64>(columns, 80), load<u64>(columns, 88), load<u64>(columns, 96), load<u64>(columns, 104), load<u64>(columns, 112),
    load<u64>(columns, 120), load<u64>(columns, 128),
  );
}

const FOLDED: usize = memory.data(32, 16);

/** Reduces the sum in place, making room for MOST_PRODUCTS more. */
export function foldInPlace(columns: usize): void {
  foldColumns(FOLDED, columns);
  unpack(columns, FOLDED, 1);
  memory.fill(columns + UNPACKED, 0, COLUMNS - UNPACKED);
}
