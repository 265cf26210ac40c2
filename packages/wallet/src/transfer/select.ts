/**
 * Which outputs to spend. Source for the privacy rules: wallet2.cpp `pick_preferred_rct_inputs`, `pop_best_value_from`.
 */
import type { RandomSource } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { ByAddress } from "./by-address.ts";
import { type Bound, boundOf, compareAmount, type OutputPool } from "./output-pool.ts";
import { randomIndex } from "./random.ts";

/** Pairs that are compared at most, so that no number of outputs delays a payment for long. */
const MAX_PAIRS = 2 ** 20;
/** Items between two pauses. */
const STEP = 1024;
/** Outputs that are tried before all of a pool are compared; one that nothing links to the others is the best there is. */
const TRIES = 64;
/** Of a larger pool, that many random outputs are compared. */
const MAX_COMPARED = 4096;

/** How much spending two outputs together reveals about their owner: from 0 (nothing) to 1 (everything). */
function relatedness(blocksApart: number, isSameTransaction: () => boolean): number {
  if (blocksApart === 0) return isSameTransaction() ? 1 : 0.9;
  if (blocksApart === 1) return 0.8;
  return blocksApart < 10 ? 0.2 : 0;
}

export function relatednessOf(a: OwnedOutput, b: OwnedOutput): number {
  return relatedness(Math.abs(a.height - b.height), () => equalBytes(a.txHash, b.txHash));
}

/** The greatest relatedness of an output of the pool to those already chosen. */
function greatestRelatedness(pool: OutputPool, index: number, selection: readonly OwnedOutput[]): number {
  const height = pool.heightAt(index);
  let nearest = Number.POSITIVE_INFINITY;
  for (const input of selection) nearest = Math.min(nearest, Math.abs(input.height - height));
  return relatedness(nearest, () => {
    const { txHash } = pool.at(index);
    return selection.some((input) => input.height === height && equalBytes(input.txHash, txHash));
  });
}

/**
 * Finds one output that is enough alone, otherwise the least related pair of one address that is enough, otherwise
 * nothing; pauses in between. `spendable`: in the order in which the wallet found them.
 */
export function* preferredInputs(spendable: OutputPool, needed: bigint): Generator<void, OwnedOutput[]> {
  const whole = spendable.firstAtLeast(0, boundOf(needed));
  if (whole !== -1) return [spendable.at(whole)];
  yield;
  const half = boundOf((needed + 1n) / 2n);
  if (spendable.firstAtLeast(0, half) === -1) return [];
  return yield* bestPair(spendable, { needed, half });
}

/** The outputs of one address that a pair may have. */
type Candidates = {
  /** What an output must have at least beside the greatest one of the address. */
  readonly least: Bound;
  readonly all: readonly number[];
  /** Those worth at least half of what is needed, as one of two that are enough must be. */
  readonly halves: readonly number[];
};

/** Of equally related pairs, the one found first. `half`: of what is needed. */
function* bestPair(
  spendable: OutputPool,
  { needed, half }: { readonly needed: bigint; readonly half: Bound },
): Generator<void, OwnedOutput[]> {
  const byAddress = new ByAddress(spendable.size, (index) => spendable.minorAt(index));
  const candidates = new Map<number, Candidates>();
  let [pair, best, pairsLeft]: [number[], number, number] = [[], 1, MAX_PAIRS];
  for (let first = 0; first < spendable.size && pairsLeft > 0 && best > 0; first++) {
    if (first % STEP === STEP - 1) yield;
    const minor = spendable.minorAt(first);
    const ofAddress =
      candidates.get(minor) ?? candidatesOf(spendable, yield* byAddress.indicesOf(minor), { needed, half });
    candidates.set(minor, ofAddress);
    if (compareAmount(spendable, first, ofAddress.least) < 0) continue;
    const seconds = compareAmount(spendable, first, half) >= 0 ? ofAddress.all : ofAddress.halves;
    const rest = boundOf(needed - spendable.amountAt(first));
    for (
      let at = placeAfter(seconds, first);
      at < seconds.length && pairsLeft > 0 && best > 0;
      at++, pairsLeft--
    ) {
      if (pairsLeft % STEP === 0) yield;
      const second = seconds[at]!;
      if (compareAmount(spendable, second, rest) < 0) continue;
      const related = relatednessIn(spendable, first, second);
      if (related < best) [pair, best] = [[first, second], related];
    }
  }
  return pair.map((i) => spendable.at(i));
}

function candidatesOf(
  spendable: OutputPool,
  indices: Uint32Array,
  { needed, half }: { readonly needed: bigint; readonly half: Bound },
): Candidates {
  let greatest = boundOf(-1n);
  for (const i of indices)
    if (compareAmount(spendable, i, greatest) > 0) greatest = boundOf(spendable.amountAt(i));
  const least = boundOf(needed - greatest.amount);
  const all: number[] = [];
  const halves: number[] = [];
  for (const i of indices) {
    if (compareAmount(spendable, i, least) < 0) continue;
    all.push(i);
    if (compareAmount(spendable, i, half) >= 0) halves.push(i);
  }
  return { least, all, halves };
}

/** Position of the first item above a value, in an ascending list. */
function placeAfter(ascending: readonly number[], value: number): number {
  let low = 0;
  for (let high = ascending.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function relatednessIn(pool: OutputPool, a: number, b: number): number {
  return relatedness(Math.abs(pool.heightAt(a) - pool.heightAt(b)), () =>
    equalBytes(pool.at(a).txHash, pool.at(b).txHash),
  );
}

/** Indices of the outputs that are least related to those already chosen. */
function leastRelated(
  pool: OutputPool,
  indices: Iterable<number>,
  selection: readonly OwnedOutput[],
): number[] {
  let best = 1;
  let least: number[] = [];
  for (const index of indices) {
    const related = greatestRelatedness(pool, index, selection);
    if (related < best) {
      best = related;
      least = [];
    }
    if (related === best) least.push(index);
  }
  return least;
}

function* everyIndex({ size }: OutputPool): IterableIterator<number> {
  for (let index = 0; index < size; index++) yield index;
}

/** Index of a random one of the outputs least related to those already chosen. The pool must not be empty. */
export function pickRandomInput(
  pool: OutputPool,
  selection: readonly OwnedOutput[],
  random: RandomSource,
): number {
  const any = () => randomIndex(random, pool.size);
  for (let attempt = 0; pool.size > TRIES && attempt < TRIES; attempt++) {
    const index = any();
    if (selection.length === 0 || greatestRelatedness(pool, index, selection) === 0) return index;
  }
  const compared = pool.size <= MAX_COMPARED ? everyIndex(pool) : Array.from({ length: MAX_COMPARED }, any);
  const candidates = leastRelated(pool, compared, selection);
  return candidates[randomIndex(random, candidates.length)]!;
}

/**
 * Finds the index of the smallest of the RingCT outputs least related to those already chosen; of equal ones, the
 * first. Undefined if there is no RingCT output. Pauses in between.
 */
export function* smallestInput(
  pool: OutputPool,
  selection: readonly OwnedOutput[],
): Generator<void, number | undefined> {
  let [smallest, best, amount] = [-1, 1, boundOf(-1n)];
  for (let index = 0; index < pool.size; index++) {
    if (index % STEP === STEP - 1) yield;
    if (!pool.isHiddenAt(index)) continue;
    const isSmaller = smallest === -1 || compareAmount(pool, index, amount) < 0;
    if (!isSmaller && best === 0) continue;
    const related = greatestRelatedness(pool, index, selection);
    if (related > best || (related === best && !isSmaller)) continue;
    [smallest, best, amount] = [index, related, boundOf(pool.amountAt(index))];
  }
  return smallest === -1 ? undefined : smallest;
}
