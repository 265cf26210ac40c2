/** The columns of a wallet's outputs, as they are read: no output object is created to read one column. */
import { SPENDABLE_AGE } from "./locked-places.ts";
import {
  isSpendable,
  type Lock,
  type OutputPage,
  PAGE_OUTPUTS,
  type SpendableQuestion,
} from "./output-page.ts";

export type At = { readonly page: OutputPage; readonly index: number };

export class OutputPages {
  protected readonly pages: OutputPage[] = [];
  protected end = 0;
  protected imageCount = 0;
  /** Number of outputs that are not RingCT outputs. */
  protected visible = 0;

  /** Number of outputs; their places are 0 and up. */
  get count(): number {
    return this.end;
  }

  /** Number of outputs whose key images are known. */
  get withKeyImage(): number {
    return this.imageCount;
  }

  /** Whether all are RingCT outputs. */
  get isAllHidden(): boolean {
    return this.visible === 0;
  }

  /** No amount is below this number, which is near to one. */
  get leastAmount(): number {
    return this.pages.reduce((least, page) => Math.min(least, page.leastAmount), Number.POSITIVE_INFINITY);
  }

  /** The place after the page that has a place, and the number nearest to the greatest unspent amount on it. */
  pageAt(place: number): { readonly end: number; readonly greatest: number } {
    const first = place - (place % PAGE_OUTPUTS);
    const greatest = this.pageOf(place).greatestUnspent(Math.min(PAGE_OUTPUTS, this.end - first));
    return { end: first + PAGE_OUTPUTS, greatest };
  }

  /** Places of outputs that nothing spends, frozen ones included. */
  *unspentPlaces(): IterableIterator<number> {
    for (const { page, first, length } of this.#filled()) {
      if (page.unspent === 0) continue;
      for (let index = 0; index < length; index++) if (page.isUnspent(index)) yield first + index;
    }
  }

  /** Places of all outputs of an account. */
  *placesOf(account: number): IterableIterator<number> {
    for (const { page, first, length } of this.#filled())
      for (let index = 0; index < length; index++)
        if (page.columns.majors[index] === account) yield first + index;
  }

  /** True while an output is not spent, neither in a block nor by an unconfirmed transaction. */
  isUnspent(place: number): boolean {
    return this.pageOf(place).isUnspent(place % PAGE_OUTPUTS);
  }

  hasKeyImage(place: number): boolean {
    return this.pageOf(place).is("keyImage", place % PAGE_OUTPUTS);
  }

  isFrozen(place: number): boolean {
    return this.pageOf(place).is("frozen", place % PAGE_OUTPUTS);
  }

  heightOf(place: number): number {
    return this.pageOf(place).columns.heights[place % PAGE_OUTPUTS]!;
  }

  minorOf(place: number): number {
    return this.pageOf(place).columns.minors[place % PAGE_OUTPUTS]!;
  }

  /** Atomic units. */
  amountOf(place: number): bigint {
    return this.pageOf(place).columns.amounts[place % PAGE_OUTPUTS]!;
  }

  /** The number nearest to the amount, which takes less time. */
  amountNumberOf(place: number): number {
    return this.pageOf(place).amountNumber(place % PAGE_OUTPUTS);
  }

  /** Whether it is a RingCT output. */
  isHidden(place: number): boolean {
    return this.pageOf(place).is("rct", place % PAGE_OUTPUTS);
  }

  /** Whether the output at a place may be spent. */
  isSpendable(place: number, question: SpendableQuestion): boolean {
    return isSpendable(this.pageOf(place), place % PAGE_OUTPUTS, question);
  }

  /**
   * Finds the places of an account's outputs that may be spent, ascending; pauses between pages. Changes in a pause are
   * seen from the page reached on.
   */
  *spendable(account: number, question: SpendableQuestion): Generator<void, Uint32Array> {
    const places = new Uint32Array(this.pages.reduce((sum, { unspent }) => sum + unspent, 0));
    let count = 0;
    for (let number = 0; number < this.pages.length && count < places.length; number++) {
      count = this.#spendableOn(number, { account, question }, { places, count });
      yield;
    }
    return places.subarray(0, Math.min(count, places.length));
  }

  /** Writes the spendable places of a page behind those found before; returns the number of all. */
  #spendableOn(
    number: number,
    { account, question }: { readonly account: number; readonly question: SpendableQuestion },
    { places, count }: { readonly places: Uint32Array; readonly count: number },
  ): number {
    const page = this.pages[number]!;
    if (page.unspent === 0) return count;
    const { majors } = page.columns;
    const first = number * PAGE_OUTPUTS;
    const length = Math.min(PAGE_OUTPUTS, this.end - first);
    let end = count;
    for (let index = 0; index < length; index++)
      if (majors[index] === account && isSpendable(page, index, question)) places[end++] = first + index;
    return end;
  }

  /** First place whose output is in a block of this height or above. */
  firstFrom(height: number): number | undefined {
    for (const { page, first, length } of this.#filled()) {
      if (page.greatestHeight < height) continue;
      const at = page.columns.heights.subarray(0, length).findIndex((each) => each >= height);
      if (at !== -1) return first + at;
    }
    return undefined;
  }

  /** Places of the outputs that blocks of this height and above spend. */
  *spentFrom(height: number): IterableIterator<number> {
    for (const { page, first, length } of this.#filled()) {
      if (page.greatestSpend <= height) continue;
      for (let index = 0; index < length; index++)
        if (page.columns.spends[index]! > height) yield first + index;
    }
  }

  protected pageOf(place: number): OutputPage {
    return this.pages[Math.floor(place / PAGE_OUTPUTS)]!;
  }

  protected locate(place: number): At {
    return { page: this.pageOf(place), index: place % PAGE_OUTPUTS };
  }

  protected lockAt(place: number): Lock {
    return this.pageOf(place).lockAt(place % PAGE_OUTPUTS);
  }

  /** Places of unspent outputs that may be locked at a height, or have an unlock time. */
  protected *maybeLocked(height: number): Generator<number> {
    for (const { page, first, length } of this.#filled()) {
      const isOld = page.greatestHeight + SPENDABLE_AGE <= height && !page.hasUnlockTimes;
      if (isOld) continue;
      for (let index = 0; index < length; index++) if (page.columns.spends[index] === 0) yield first + index;
    }
  }

  /** The pages, with the place of the first output and the number of outputs of each. */
  *#filled(): Generator<{ readonly page: OutputPage; readonly first: number; readonly length: number }> {
    for (const [number, page] of this.pages.entries()) {
      const first = number * PAGE_OUTPUTS;
      yield { page, first, length: Math.min(PAGE_OUTPUTS, this.end - first) };
    }
  }
}
