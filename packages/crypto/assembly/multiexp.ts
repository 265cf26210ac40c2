/** Σ s_i·P_i on encoded points and range proof generators. */
import { AFFINE1, PT, decompress, encode, scatterAffine, toAffine } from "./point";
import { pippenger } from "./buckets";
import { straus } from "./straus";
import { generatorSummands } from "./generators";
import { alloc } from "./arena";

const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16), SPARE: usize = memory.data(32, 16);

/** From here on buckets need fewer additions than windows of single points (measured: 490 µs against 547). */
const LEAST_FOR_BUCKETS: i32 = 72;

/**
 * o (lane 0, with T) = Σ s_i·P_i; `points` holds n addresses of affine summands, and room for one more; scalars < 2^255.
 * Variable time.
 */
export function sumTerms(o: usize, scalars: usize, points: usize, n: i32): void {
  if (n < LEAST_FOR_BUCKETS) straus(o, scalars, points, n, false);
  else pippenger(o, scalars, points, n);
}

/** Decompresses n points into affine summands, AFFINE1 bytes apart (n + 1 places). Returns 0 where one is invalid. */
export function summandsOf(out: usize, points: usize, n: i32): i32 {
  let valid = 3;
  for (let i = 0; i < n; i += 2) {
    valid &= decompress(P, points + 32 * i, points + 32 * (i + 1 < n ? i + 1 : i));
    toAffine(Q, P);
    scatterAffine(out + AFFINE1 * i, out + AFFINE1 * (i + 1), Q);
  }
  return i32(valid == 3);
}

/** points[i] = address of the i-th of n summands from `summands` on. */
export function listSummands(points: usize, summands: usize, n: i32): void {
  for (let i = 0; i < n; ++i) store<u32>(points + 4 * i, <u32>(summands + AFFINE1 * i));
}

/** Lists the summands of n encoded points and of the first m generators; 0 where a point is invalid. */
function listTerms(list: usize, points: usize, n: i32, m: i32, plus: i32): i32 {
  const summands = alloc(AFFINE1 * (n + 1));
  if (!summandsOf(summands, points, n)) return 0;
  listSummands(list, summands, n);
  if (m) listSummands(list + 4 * n, generatorSummands(plus, m), m);
  return 1;
}

/**
 * out = Σ s_i·P_i + Σ s_(n+k)·generator_k for n encoded points and m generators; the n + m scalars end to end.
 * Returns 0 where a point is invalid. Memory stays reserved until the next call.
 */
export function multiexpVartime(out: usize, scalars: usize, points: usize, n: i32, m: i32, plus: i32): i32 {
  const list = alloc(4 * (n + m + 1));
  if (!listTerms(list, points, n, m, plus)) return 0;
  sumTerms(P, scalars, list, n + m);
  encode(out, SPARE, P);
  return 1;
}

/** As `multiexpVartime`; neither time nor addresses depend on the scalars. */
export function multiexp(out: usize, scalars: usize, points: usize, n: i32, m: i32, plus: i32): i32 {
  const list = alloc(4 * (n + m + 1));
  if (!listTerms(list, points, n, m, plus)) return 0;
  straus(P, scalars, list, n + m, true);
  encode(out, SPARE, P);
  return 1;
}

/** Overwrites what the constant-time form leaves. */
export function wipeMultiexp(): void {
  memory.fill(P, 0, PT);
  memory.fill(SPARE, 0, 32);
}
