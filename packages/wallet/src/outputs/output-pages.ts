/** The columns of a wallet's outputs, as they are read: no output object is created to read one column. */
import { Column } from "../packed/column.ts";
import { type FreePart, FreePlaces } from "./free-places.ts";
import type { FreeFilter } from "./free-summary.ts";
import {
  isSpendable,
  type Lock,
  type OutputPage,
  PAGE_OUTPUTS,
  type SpendableQuestion,
} from "./output-page.ts";
import { OutputStates } from "./output-states.ts";
import type { SubaddressIndex } from "./owned-output.ts";

/** From this number of outputs on the free ones are found before they are asked for. */
const MANY_OUTPUTS = 8192;

export type At = { readonly page: OutputPage; readonly index: number };

export class OutputPages {
  protected readonly pages: OutputPage[] = [];
  protected end = 0;
  protected imageCount = 0;
  /** Undefined until they are asked for, or many. */
  #free: FreePlaces | undefined;
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

  /** Places of all outputs of an account. */
  *placesOf(account: number): IterableIterator<number> {
    for (let number = 0; number < this.pages.length; number++) {
      const page = this.pages[number]!;
      const length = this.#lengthOf(number);
      for (let index = 0; index < length; index++)
        if (page.columns.majors[index] === account) yield number * PAGE_OUTPUTS + index;
    }
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

  majorOf(place: number): number {
    return this.pageOf(place).columns.majors[place % PAGE_OUTPUTS]!;
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

  /** What may change of the outputs while they stay in their places, as it is now. */
  states(): OutputStates {
    return new OutputStates(this.pages);
  }

  /** Whether the output at a place may be spent. */
  isSpendable(place: number, question: SpendableQuestion): boolean {
    return isSpendable(this.pageOf(place), place % PAGE_OUTPUTS, question);
  }

  /**
   * Finds the places of an account's outputs that may be spent, ascending; pauses in between. Changes in a pause are not
   * seen.
   */
  *spendable(account: number, question: SpendableQuestion): Generator<void, Uint32Array> {
    const places = new Column();
    for (const part of this.#freePlaces.places(account)) {
      for (const place of part) if (this.isSpendable(place, question)) places.push(place);
      yield;
    }
    return places.slice(0, places.length);
  }

  /** The same as `freeOfAccount`, as it is when the last step returns; pauses in between. */
  findFreeOfAccount(account: number, filter: FreeFilter): Generator<void, FreePart[]> {
    return this.#freePlaces.findOfAccount(account, filter);
  }

  /** Those of an account's outputs that a payment may spend, as they are now; all that are asked for match the filter. */
  freeOfAccount(account: number, filter: FreeFilter): FreePart[] {
    return this.#freePlaces.ofAccount(account, filter);
  }

  /** The same of an address. */
  freeOfAddress(address: SubaddressIndex, filter: FreeFilter): FreePart[] {
    return this.#freePlaces.ofAddress(address, filter);
  }

  /** Places of the outputs in blocks of this height and above, ascending. */
  placesFrom(height: number): number[] {
    const places: number[] = [];
    for (let number = 0; number < this.pages.length; number++) {
      const page = this.pages[number]!;
      if (page.greatestHeight < height) continue;
      const { heights } = page.columns;
      const length = this.#lengthOf(number);
      for (let index = 0; index < length; index++)
        if (heights[index]! >= height) places.push(number * PAGE_OUTPUTS + index);
    }
    return places;
  }

  /**
   * How many outputs each block from one height to before another has brought or spent, what higher ones have among that
   * of the last.
   */
  countsByHeight(from: number, to: number): Uint32Array {
    const counts = new Uint32Array(Math.max(0, to - from));
    const count = (height: number) => {
      if (height >= from) counts[Math.min(height, to - 1) - from]! += 1;
    };
    for (const [number, { columns, greatestHeight, greatestSpend }] of this.pages.entries()) {
      if (greatestHeight < from && greatestSpend <= from) continue;
      const length = this.#lengthOf(number);
      for (let index = 0; index < length; index++) {
        count(columns.heights[index]!);
        count(columns.spends[index]! - 1);
      }
    }
    return counts;
  }

  /** Places of the outputs that their owner has frozen, ascending. */
  *frozen(): IterableIterator<number> {
    for (let place = 0; place < this.end; place++) if (this.isFrozen(place)) yield place;
  }

  /** Places of the outputs that blocks of this height and above spend. */
  *spentFrom(height: number): IterableIterator<number> {
    for (let number = 0; number < this.pages.length; number++) {
      const page = this.pages[number]!;
      if (page.greatestSpend <= height) continue;
      const { spends } = page.columns;
      const length = this.#lengthOf(number);
      for (let index = 0; index < length; index++)
        if (spends[index]! > height) yield number * PAGE_OUTPUTS + index;
    }
  }

  /** Has many outputs found by account and address, after rows were added, in steps between which nothing may change. */
  protected *indexFree(): Generator<void, void> {
    if (this.end >= MANY_OUTPUTS) this.#free = yield* FreePlaces.of(this.pages, this.end);
  }

  /** Tells that rows were added. */
  protected forgetFree(): void {
    this.#free = undefined;
  }

  /** Counts an output in (`by` 1), or out before it changes. */
  protected countFree(place: number, by: 1 | -1): void {
    // With so many it takes a moment to find all; those of smaller wallets are found for their first payment.
    if (this.#free === undefined) {
      if (by === 1 && place === MANY_OUTPUTS) resultOf(this.indexFree());
      return;
    }
    if (!this.pageOf(place).isFree(place % PAGE_OUTPUTS)) return;
    if (by === 1) this.#free.add(place);
    else this.#free.delete(place);
  }

  /** Drops all pages. */
  protected dropPages(): void {
    this.pages.length = 0;
    [this.end, this.imageCount, this.visible] = [0, 0, 0];
    this.forgetFree();
  }

  protected touchFree(place: number): void {
    this.#free?.touch(place);
  }

  get #freePlaces(): FreePlaces {
    this.#free ??= resultOf(FreePlaces.of(this.pages, this.end));
    return this.#free;
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
    for (let number = 0; number < this.pages.length; number++) {
      const page = this.pages[number]!;
      if (page.opensBy <= height) continue;
      const { spends } = page.columns;
      const length = this.#lengthOf(number);
      for (let index = 0; index < length; index++)
        if (spends[index] === 0 && page.mayBeLocked(index, height)) yield number * PAGE_OUTPUTS + index;
    }
  }

  /** Number of outputs of a page. */
  #lengthOf(number: number): number {
    return Math.min(PAGE_OUTPUTS, this.end - number * PAGE_OUTPUTS);
  }
}

/** The result of steps without their pauses. */
function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
