/** Outputs of which inputs are taken, one by one: however many there are, none is copied before it is taken. */
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";

/** Outputs by index; the order changes when one is removed. */
export type OutputPool = {
  readonly size: number;
  at(index: number): OwnedOutput;
  heightAt(index: number): number;
  amountAt(index: number): bigint;
  /** The nearest number to the amount, for quick comparisons. */
  amountNumberAt(index: number): number;
  minorAt(index: number): number;
  /** Whether it is a RingCT output. */
  isHiddenAt(index: number): boolean;
  /** Index of the first output from an index on that is worth as much as the bound; -1 if there is none. */
  firstAtLeast(from: number, least: Bound): number;
  /** -1 for an output that is not there. */
  indexOf(output: OwnedOutput): number;
  /** Moves the last one to the index, which decides between equal ones. Source: wallet2.cpp `pop_index`. */
  removeAt(index: number): void;
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
    heightAt: (index) => remaining[index]!.height,
    amountAt: (index) => remaining[index]!.amount,
    amountNumberAt: (index) => Number(remaining[index]!.amount),
    minorAt: (index) => remaining[index]!.subaddress.minor,
    isHiddenAt: (index) => remaining[index]!.rct,
    firstAtLeast: (from, { amount }) =>
      remaining.findIndex((output, at) => at >= from && output.amount >= amount),
    indexOf: (output) => remaining.indexOf(output),
    removeAt(index) {
      const last = remaining.pop();
      if (index < remaining.length) remaining[index] = last!;
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

/**
 * A pool of a wallet's outputs, by their places in its book. Its methods throw `WalletRefusal` once a reorganisation
 * has given places to other outputs.
 */
export function poolOfPlaces(book: OutputBook, places: Uint32Array): OutputPool {
  return new PlacePool(book, places);
}

class PlacePool implements OutputPool {
  readonly #book: OutputBook;
  readonly #version: number;
  #places: Uint32Array;
  #isOwn = false;

  constructor(book: OutputBook, places: Uint32Array) {
    this.#book = book;
    this.#version = book.version;
    this.#places = places;
  }

  get size(): number {
    return this.#places.length;
  }

  at(index: number): OwnedOutput {
    return this.#book.at(this.#placeAt(index))!;
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

  minorAt(index: number): number {
    return this.#book.minorOf(this.#placeAt(index));
  }

  isHiddenAt(index: number): boolean {
    return this.#book.isHidden(this.#placeAt(index));
  }

  firstAtLeast(from: number, least: Bound): number {
    for (let index = from; index < this.size; ) {
      const { end, greatest } = this.#book.pageAt(this.#placeAt(index));
      const isBelow = greatest < least.near;
      for (; index < this.size && this.#places[index]! < end; index++)
        if (!isBelow && compareAmount(this, index, least) >= 0) return index;
    }
    return -1;
  }

  indexOf({ oneTimeKey }: OwnedOutput): number {
    const place = this.#book.placeOfKey(oneTimeKey);
    return place === undefined ? -1 : this.#places.indexOf(place);
  }

  removeAt(index: number): void {
    // Other pools may read the same places.
    if (!this.#isOwn) this.#places = this.#places.slice();
    this.#isOwn = true;
    this.#places[index] = this.#places.at(-1)!;
    this.#places = this.#places.subarray(0, -1);
  }

  #placeAt(index: number): number {
    if (this.#book.version !== this.#version) throw outputsHaveChanged();
    return this.#places[index]!;
  }
}
