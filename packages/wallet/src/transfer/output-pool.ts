/** Outputs of which inputs are taken, one by one: however many there are, none is copied before it is taken. */
import { type FreePart, placesIn } from "../outputs/free-places.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";

/** Outputs by index; the order changes when one is removed. */
export type OutputPool = {
  readonly size: number;
  at(index: number): OwnedOutput;
  txHashAt(index: number): Uint8Array;
  heightAt(index: number): number;
  amountAt(index: number): bigint;
  /** The nearest number to the amount, for quick comparisons. */
  amountNumberAt(index: number): number;
  /** Whether it is a RingCT output. */
  isHiddenAt(index: number): boolean;
  /** All indices in ascending runs, with what is known of the outputs in each. */
  runs(): readonly Run[];
  /** -1 for an output that is not there. */
  indexOf(output: OwnedOutput): number;
  /** Moves the last one to the index, which decides between equal ones. Source: wallet2.cpp `pop_index`. */
  removeAt(index: number): void;
};

/** Some outputs of a pool, from one index to before another. */
export type Run = {
  readonly from: number;
  readonly to: number;
  /** No amount is nearer to a lesser or a greater number. */
  readonly least: number;
  readonly greatest: number;
  /** False only if none is a RingCT output. */
  readonly mayHaveHidden: boolean;
};

/** An amount (atomic units), and the number nearest to it, for quick comparisons. */
export type Bound = { readonly amount: bigint; readonly near: number };

export const boundOf = (amount: bigint): Bound => ({ amount, near: Number(amount) });

/** Compares an amount with a bound; below 0 if it is smaller. */
export function compareAmount(
  pool: Pick<OutputPool, "amountAt" | "amountNumberAt">,
  index: number,
  bound: Bound,
): number {
  const number = pool.amountNumberAt(index);
  // Up to there, numbers are exact.
  if (number !== bound.near || number < Number.MAX_SAFE_INTEGER) return number - bound.near;
  const amount = pool.amountAt(index);
  return amount < bound.amount ? -1 : amount > bound.amount ? 1 : 0;
}

/** A pool of some outputs; the list is not changed. */
export function poolOf(outputs: readonly OwnedOutput[]): OutputPool {
  const remaining = [...outputs];
  return {
    get size() {
      return remaining.length;
    },
    at: (index) => remaining[index]!,
    txHashAt: (index) => remaining[index]!.txHash,
    heightAt: (index) => remaining[index]!.height,
    amountAt: (index) => remaining[index]!.amount,
    amountNumberAt: (index) => Number(remaining[index]!.amount),
    isHiddenAt: (index) => remaining[index]!.rct,
    runs: () => wholeRun(remaining.length),
    indexOf: (output) => remaining.indexOf(output),
    removeAt(index) {
      const last = remaining.pop();
      if (index < remaining.length) remaining[index] = last!;
    },
  };
}

/** One run of which nothing is known; none if there is nothing in it. */
function wholeRun(to: number): Run[] {
  const run = { from: 0, to, least: 0, greatest: Number.POSITIVE_INFINITY, mayHaveHidden: true };
  return to === 0 ? [] : [run];
}

/**
 * A pool of the outputs at some places, of which none is created before it is taken. Its methods throw `WalletRefusal`
 * once a reorganisation has given places to other outputs.
 */
export function poolOfPlaces(book: OutputBook, places: Uint32Array): OutputPool {
  const remaining = places.slice();
  let size = remaining.length;
  const check = createPlaceCheck(book);
  const placeAt = (index: number): number => {
    check();
    return remaining[index]!;
  };
  return {
    get size() {
      return size;
    },
    at: (index) => book.at(placeAt(index))!,
    txHashAt: (index) => book.txHashAt(placeAt(index)),
    heightAt: (index) => book.heightOf(placeAt(index)),
    amountAt: (index) => book.amountOf(placeAt(index)),
    amountNumberAt: (index) => book.amountNumberOf(placeAt(index)),
    isHiddenAt: (index) => book.isHidden(placeAt(index)),
    runs: () => wholeRun(size),
    indexOf({ oneTimeKey }) {
      check();
      const place = book.placeOfKey(oneTimeKey);
      return place === undefined ? -1 : remaining.subarray(0, size).indexOf(place);
    },
    removeAt(index) {
      size -= 1;
      remaining[index] = remaining[size]!;
    },
  };
}

const outputsHaveChanged = () =>
  new WalletRefusal("GENERIC_TRANSFER_ERROR", "the wallet's outputs have changed: try again");

/** The same steps, which throw `WalletRefusal` once a reorganisation in a pause has given places to other outputs. */
export function* whileUnchanged<T>(book: OutputBook, steps: Generator<void, T>): Generator<void, T> {
  const { version } = book;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield;
    if (book.version !== version) throw outputsHaveChanged();
  }
}

/** A check for such a reorganisation since this call. */
export function createPlaceCheck(book: OutputBook): () => void {
  const { version } = book;
  return () => {
    if (book.version !== version) throw outputsHaveChanged();
  };
}

/**
 * A pool of outputs of one address of a wallet. Its methods throw `WalletRefusal` once a reorganisation has given places
 * to other outputs.
 */
export function poolOfParts(book: OutputBook, parts: readonly FreePart[]): OutputPool {
  return new PlacePool(book, parts);
}

class PlacePool implements OutputPool {
  readonly #book: OutputBook;
  readonly #check: () => void;
  readonly #parts: readonly FreePart[];
  /** Number of outputs before each part, and at last of all. */
  readonly #starts: Uint32Array;
  /** The places in a part that match, once they were looked at. */
  readonly #placesOf = new Map<number, Uint32Array>();
  /** By index: the place that was moved there. */
  readonly #moved = new Map<number, number>();
  #size: number;

  constructor(book: OutputBook, parts: readonly FreePart[]) {
    this.#book = book;
    this.#check = createPlaceCheck(book);
    this.#parts = parts;
    this.#starts = new Uint32Array(parts.length + 1);
    for (const [number, { summary }] of parts.entries())
      this.#starts[number + 1] = this.#starts[number]! + summary.count;
    this.#size = this.#starts[parts.length]!;
  }

  get size(): number {
    return this.#size;
  }

  at(index: number): OwnedOutput {
    return this.#book.at(this.#placeAt(index))!;
  }

  txHashAt(index: number): Uint8Array {
    return this.#book.txHashAt(this.#placeAt(index));
  }

  heightAt(index: number): number {
    return this.#book.heightOf(this.#placeAt(index));
  }

  amountAt(index: number): bigint {
    return this.#book.amountOf(this.#placeAt(index));
  }

  amountNumberAt(index: number): number {
    return this.#book.amountNumberOf(this.#placeAt(index));
  }

  isHiddenAt(index: number): boolean {
    return this.#book.isHidden(this.#placeAt(index));
  }

  runs(): readonly Run[] {
    this.#check();
    const runs: Run[] = [];
    for (const [number, { summary }] of this.#parts.entries()) {
      const [from, to] = [this.#starts[number]!, Math.min(this.#starts[number + 1]!, this.#size)];
      if (from >= to) break;
      const { least, greatest, hasHidden: mayHaveHidden } = summary;
      runs.push({ from, to, least, greatest, mayHaveHidden });
    }
    if (this.#moved.size > 0) this.#widen(runs);
    return runs;
  }

  /** Has the runs tell of what was moved into them, too. */
  #widen(runs: Run[]): void {
    for (const [index, place] of this.#moved) {
      const number = this.#partAt(index);
      const { least, greatest, mayHaveHidden, ...range } = runs[number]!;
      const amount = this.#book.amountNumberOf(place);
      runs[number] = {
        ...range,
        least: Math.min(least, amount),
        greatest: Math.max(greatest, amount),
        mayHaveHidden: mayHaveHidden || this.#book.isHidden(place),
      };
    }
  }

  indexOf({ oneTimeKey }: OwnedOutput): number {
    this.#check();
    const place = this.#book.placeOfKey(oneTimeKey);
    if (place === undefined) return -1;
    for (const [index, moved] of this.#moved) if (moved === place) return index;
    const number = lastWhere(this.#parts.length, (each) => firstOf(this.#parts[each]!) <= place);
    const at = number === -1 ? -1 : this.#placesIn(number).indexOf(place);
    const index = at === -1 ? -1 : this.#starts[number]! + at;
    return index < this.#size && !this.#moved.has(index) ? index : -1;
  }

  removeAt(index: number): void {
    const last = this.#size - 1;
    if (index !== last) this.#moved.set(index, this.#placeAt(last));
    this.#moved.delete(last);
    this.#size = last;
  }

  #placeAt(index: number): number {
    this.#check();
    const moved = this.#moved.get(index);
    if (moved !== undefined) return moved;
    const number = this.#partAt(index);
    return this.#placesIn(number)[index - this.#starts[number]!]!;
  }

  #partAt(index: number): number {
    return lastWhere(this.#parts.length, (number) => this.#starts[number]! <= index);
  }

  #placesIn(number: number): Uint32Array {
    const places = this.#placesOf.get(number) ?? placesIn(this.#parts[number]!);
    this.#placesOf.set(number, places);
    return places;
  }
}

const firstOf = ({ places, from }: FreePart): number => places[from]!;

/** The last number below `count` of which something is true that is true of all before it; -1 if there is none. */
function lastWhere(count: number, isTrue: (number: number) => boolean): number {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (isTrue(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
