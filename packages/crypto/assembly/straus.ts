/**
 * Σ s_i·P_i over affine summands of one lane with windows of four bits, the doublings shared by all points; lanes hold
 * two points. For few points, and for secret scalars. Source: Straus, "Addition chains of vectors", 1964.
 */
import { IDENTITY, PT, addAffine, addCached, dbl, gatherAffineSigned, multiples, setIdentity, swapPoint, toCached } from "./point";
import { addIndexed, addScanned } from "./mult";
import { radix16 } from "./digits";
import { alloc, arenaMark, arenaRewind } from "./arena";

const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16), RESULT: usize = memory.data(4 * 160, 16);

/**
 * o (both lanes, with T) = Σ s_i·P_i; `points` holds n addresses, and room for one more; scalars < 2^255. Where `isSecret`,
 * neither time nor addresses depend on the scalars.
 */
export function straus(o: usize, scalars: usize, points: usize, n: i32, isSecret: bool): void {
  const mark = arenaMark(), pairs = (n + 1) >> 1, tables = alloc(8 * PT * pairs), digits = alloc(64 * (n + 1));
  for (let i = 0; i < n; ++i) radix16(digits + 64 * i, scalars + 32 * i);
  if (n & 1) {
    store<u32>(points + 4 * n, load<u32>(points)); // an absent last point counts 0 times
    memory.fill(digits + 64 * n, 0, 64);
  }
  for (let i = 0; i < pairs; ++i) {
    gatherAffineSigned(Q, load<u32>(points + 8 * i), load<u32>(points + 8 * i, 4), 0, 0);
    addAffine(P, IDENTITY, Q, true);
    multiples(tables + 8 * PT * i, P, 8);
  }
  setIdentity(RESULT);
  for (let w = 63; w >= 0; --w) {
    if (w < 63) for (let i = 1; i <= 4; ++i) dbl(RESULT, RESULT, i == 4);
    for (let i = 0; i < pairs; ++i) {
      const at = digits + 128 * i + w, table = tables + 8 * PT * i, d = <i32>load<i8>(at), e = <i32>load<i8>(at, 64);
      if (isSecret) addScanned(RESULT, table, d, e, true);
      else addIndexed(RESULT, table, d, e, true);
    }
  }
  swapPoint(P, RESULT);
  toCached(Q, P);
  addCached(o, RESULT, Q, true);
  arenaRewind(mark);
}

/** Overwrites what secret scalars leave. */
export function wipeStraus(): void {
  memory.fill(P, 0, PT);
  memory.fill(Q, 0, PT);
  memory.fill(RESULT, 0, PT);
}
