/**
 * Which outputs to spend. Source for the privacy rules: wallet2.cpp `pick_preferred_rct_inputs`, `pop_best_value_from`.
 */
import type { RandomSource } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { type Bound, boundOf, compareAmount, type OutputPool, type Run } from "./output-pool.ts";
import type { Preferable, PreferableSource } from "./preferable.ts";
import { randomIndex } from "./random.ts";

/** Pairs that are compared at most, so that no number of outputs delays a payment for long. */
const MAX_PAIRS = 2 ** 20;
/** Items between two pauses. */
const STEP = 1024;
/** Addresses whose outputs are walked beside each other. */
const FEW_ADDRESSES = 16;
/** Parts of a pool that are looked at for the smallest output before all are. */
const FIRST_RUNS = 8;
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
    const txHash = pool.txHashAt(index);
    return selection.some((input) => input.height === height && equalBytes(input.txHash, txHash));
  });
}

/**
 * Finds one output that is enough alone, otherwise the least related pair of one address that is enough, otherwise
 * nothing; pauses in between.
 */
export function* preferredInputs(preferable: Preferable, needed: bigint): Generator<void, OwnedOutput[]> {
  const whole = preferable.first(boundOf(needed));
  if (whole !== undefined) return [preferable.source.at(whole)];
  yield;
  const half = boundOf((needed + 1n) / 2n);
  if (preferable.first(half) === undefined) return [];
  return yield* bestPair(preferable, { needed, half });
}

type Half = { readonly needed: bigint; readonly half: Bound };

/** Of equally related pairs, the one found first. `half`: of what is needed. */
function* bestPair(preferable: Preferable, { needed, half }: Half): Generator<void, OwnedOutput[]> {
  const { source } = preferable;
  const leastOf = createLeastOf(preferable, { needed, half });
  let [pair, best, pairsLeft, looks]: [number[], number, number, number] = [[], 1, MAX_PAIRS, 0];
  for (const first of firstOfPairs(preferable, { needed, half }, leastOf)) {
    if (pairsLeft <= 0 || best <= 0) break;
    if (looks++ % STEP === STEP - 1) yield;
    const minor = source.minorAt(first);
    const least = leastOf(minor);
    if (least === undefined || compareAmount(source, first, least) < 0) continue;
    // One of two that are enough is worth at least half.
    const bound = compareAmount(source, first, half) >= 0 ? least : half;
    const rest = boundOf(needed - source.amountAt(first));
    for (const run of preferable.runs({ minor, least: bound, after: first })) {
      yield;
      for (let at = indexBehind(run, first); at < run.length && pairsLeft > 0 && best > 0; at++) {
        const second = run[at]!;
        if (compareAmount(source, second, bound) < 0) continue;
        pairsLeft -= 1;
        if (compareAmount(source, second, rest) < 0) continue;
        const related = relatednessIn(source, first, second);
        if (related < best) [pair, best] = [[first, second], related];
      }
      if (pairsLeft <= 0 || best <= 0) break;
    }
  }
  return pair.map((key) => source.at(key));
}

/** What an output must be worth beside the greatest one of its address; undefined where no pair can be enough. */
type LeastOf = (minor: number) => Bound | undefined;

function createLeastOf(preferable: Preferable, { needed, half }: Half): LeastOf {
  const bounds = new Map<number, Bound | undefined>();
  const find = (minor: number): Bound | undefined => {
    if (preferable.source.mostOf(minor) < 2) return undefined;
    const greatest = preferable.greatest(minor);
    return greatest < half.amount ? undefined : boundOf(needed - greatest);
  };
  return (minor) => {
    if (!bounds.has(minor)) bounds.set(minor, find(minor));
    return bounds.get(minor);
  };
}

/** Keys in order, among which are all that come first in a pair that is enough. */
function firstOfPairs(preferable: Preferable, { needed, half }: Half, leastOf: LeastOf): Iterable<number> {
  const minors = preferable.minorsWith(half, FEW_ADDRESSES);
  if (minors === undefined)
    return preferable.keys({ minor: undefined, least: boundOf(needed - preferable.greatest()) });
  return merged(
    minors.flatMap((minor) => {
      const least = leastOf(minor);
      return least === undefined ? [] : [preferable.keys({ minor, least })];
    }),
  );
}

/** The numbers of some ascending lists, ascending. */
function* merged(lists: readonly Iterator<number>[]): Generator<number> {
  const heads = lists.map((list) => list.next());
  for (;;) {
    let least = -1;
    for (const [i, { done, value }] of heads.entries())
      if (done !== true && (least === -1 || value < heads[least]!.value)) least = i;
    if (least === -1) return;
    yield heads[least]!.value;
    heads[least] = lists[least]!.next();
  }
}

/** Index of the first item above a value, in an ascending list. */
function indexBehind(ascending: Uint32Array, value: number): number {
  let low = 0;
  for (let high = ascending.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function relatednessIn(source: PreferableSource, a: number, b: number): number {
  return relatedness(Math.abs(source.heightAt(a) - source.heightAt(b)), () =>
    equalBytes(source.at(a).txHash, source.at(b).txHash),
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
  const best = new SmallestInput(pool, selection);
  const runs = pool.runs().filter(({ mayHaveHidden }) => mayHaveHidden);
  const left = new Set(runs);
  // Unless it is related to those chosen, the smallest one decides at once what else has to be looked at.
  for (let i = 0; i < FIRST_RUNS && left.size > 0 && !best.isLinkedToNone; i++) {
    const smallest = [...left].reduce((least, run) => (run.least < least.least ? run : least));
    left.delete(smallest);
    yield* best.lookAt(smallest);
  }
  for (const run of left) if (best.mayBeIn(run)) yield* best.lookAt(run);
  return best.index;
}

class SmallestInput {
  index: number | undefined;
  readonly #pool: OutputPool;
  readonly #selection: readonly OwnedOutput[];
  #related = 1;
  #amount = boundOf(-1n);

  constructor(pool: OutputPool, selection: readonly OwnedOutput[]) {
    this.#pool = pool;
    this.#selection = selection;
  }

  get isLinkedToNone(): boolean {
    return this.index !== undefined && this.#related === 0;
  }

  /** Whether a run may have a better one. */
  mayBeIn({ from, least }: Run): boolean {
    if (!this.isLinkedToNone || least < this.#amount.near) return true;
    return least === this.#amount.near && (from < this.index! || least >= Number.MAX_SAFE_INTEGER);
  }

  *lookAt({ from, to }: Run): Generator<void> {
    for (let index = from; index < to; index++) {
      if (index % STEP === STEP - 1) yield;
      if (!this.#pool.isHiddenAt(index)) continue;
      const isBefore = this.#isBefore(index);
      if (!isBefore && this.#related === 0) continue;
      const related = greatestRelatedness(this.#pool, index, this.#selection);
      if (related > this.#related || (related === this.#related && !isBefore)) continue;
      this.index = index;
      this.#related = related;
      this.#amount = boundOf(this.#pool.amountAt(index));
    }
  }

  /** Whether an output would be taken before the best one so far if both were as related. */
  #isBefore(index: number): boolean {
    if (this.index === undefined) return true;
    const order = compareAmount(this.#pool, index, this.#amount);
    return order < 0 || (order === 0 && index < this.index);
  }
}
