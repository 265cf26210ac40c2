/**
 * A wallet's outputs, in the order in which it found them: with all look-up tables some 60 bytes each, and 184 more of
 * what `cold` holds. Every change of one goes through a method of the book, which keeps sums and tables right; what it
 * returns are copies.
 */

import { randomFillSync } from "node:crypto";
import { equalBytes } from "@anulo/protocol";
import { SEGMENT_PLACES } from "../packed/hash-segment.ts";
import { LazyMap, LazySet } from "../packed/lazy-map.ts";
import { type AddressSum, AddressSums } from "./address-sums.ts";
import { COLD_OUTPUTS, ColdOutputs } from "./cold-outputs.ts";
import { ImageHashes } from "./image-hashes.ts";
import { KeyIndex } from "./key-index.ts";
import { LockedPlaces, SPENDABLE_AGE, waitsForTime } from "./locked-places.ts";
import { type HotOutput, OutputPage, PAGE_OUTPUTS } from "./output-page.ts";
import { type At, OutputPages } from "./output-pages.ts";
import { type RestOfRow, ROW_OUTPUTS, readOutputRow, writeOutputRow } from "./output-row.ts";
import type { OwnedOutput } from "./owned-output.ts";

export class OutputBook extends OutputPages implements Iterable<OwnedOutput> {
  readonly #cold = new ColdOutputs();
  readonly #pending = new LazyMap<number, string>();
  readonly #replaced = new LazyMap<number, OwnedOutput>();
  readonly #byOneTimeKey: KeyIndex;
  readonly #byKeyImage: KeyIndex;
  /** Hashes of the key images that are known. */
  readonly images = new ImageHashes(this);
  readonly #sums = new AddressSums();
  readonly #locked = new LockedPlaces();
  /** Rows whose columns have changed since they were taken. */
  readonly #changedRows = new LazySet<number>();
  #version = 0;
  #timed = 0;

  constructor() {
    super();
    this.#byOneTimeKey = new KeyIndex((place) => this.#cold.keyAt(place, "oneTimeKey"), randomFillSync);
    this.#byKeyImage = new KeyIndex((place) => this.#cold.keyAt(place, "keyImage"), randomFillSync);
  }

  static of(outputs: Iterable<OwnedOutput>): OutputBook {
    const book = new OutputBook();
    for (const output of outputs) book.push(output);
    return book;
  }

  /** Changes whenever a place gets another output, or loses the one it had. */
  get version(): number {
    return this.#version;
  }

  /** Number of outputs that unlock at a time, passed or not. */
  get timed(): number {
    return this.#timed;
  }

  /** Accounts that have received outputs. */
  get accounts(): IterableIterator<number> {
    return this.#sums.accounts;
  }

  /** What each address of an account holds, by its number; addresses that never received anything are left out. */
  sumsOf(account: number): ReadonlyMap<number, Readonly<AddressSum>> {
    return this.#sums.ofAccount(account);
  }

  at(place: number): OwnedOutput | undefined {
    if (!(place >= 0 && place < this.end)) return undefined;
    const { page, index } = this.locate(place);
    const cold = this.#cold.read(place);
    // Spreading takes over ten times as long as assigning, and all outputs may be asked for.
    return Object.assign(cold, page.read(index), {
      keyImage: page.is("keyImage", index) ? cold.keyImage : undefined,
      pendingSpend: this.#pending.get(place),
      replaces: this.#replaced.get(place),
    });
  }

  /** What changes and choices of inputs need of an output, at a place below `count`. */
  hotAt(place: number): HotOutput {
    const { page, index } = this.locate(place);
    return { pendingSpend: this.#pending.get(place), ...page.read(index) };
  }

  *[Symbol.iterator](): IterableIterator<OwnedOutput> {
    for (let place = 0; place < this.end; place++) yield this.at(place)!;
  }

  /** The outputs from one place to before another. */
  slice(from: number, to = this.end): OwnedOutput[] {
    const part: OwnedOutput[] = [];
    for (let place = from; place < Math.min(to, this.end); place++) part.push(this.at(place)!);
    return part;
  }

  /** Id of the transaction that has brought the output at a place, 32 bytes. */
  txHashAt(place: number): Uint8Array {
    const { bytes, at } = this.#cold.keyAt(place, "txHash");
    return bytes.slice(at, at + 32);
  }

  /** Whether the output at a place has replaced one with the same one-time key. */
  hasReplaced(place: number): boolean {
    return this.#replaced.has(place);
  }

  /** Place of the output with a one-time key (32 bytes). */
  placeOfKey(oneTimeKey: Uint8Array): number | undefined {
    return this.#byOneTimeKey.find(oneTimeKey);
  }

  /** Place of the output with a key image (32 bytes). */
  placeOfImage(keyImage: Uint8Array): number | undefined {
    return this.#byKeyImage.find(keyImage);
  }

  withKey(oneTimeKey: Uint8Array): OwnedOutput | undefined {
    const place = this.placeOfKey(oneTimeKey);
    return place === undefined ? undefined : this.at(place);
  }

  withImage(keyImage: Uint8Array): OwnedOutput | undefined {
    const place = this.placeOfImage(keyImage);
    return place === undefined ? undefined : this.at(place);
  }

  /** Outputs of an account that may be locked at a height, and all of its unspent ones that unlock at a time. */
  *lockedOf(account: number, height: number): IterableIterator<HotOutput> {
    if (height < this.#locked.passed) this.#lockAgain(height);
    for (const place of this.#locked.ofAccount(account)) yield this.hotAt(place);
  }

  /** Adds an output; returns its place. */
  push(output: OwnedOutput): number {
    const place = this.end;
    if (place % PAGE_OUTPUTS === 0) this.pages.push(new OutputPage());
    this.end += 1;
    this.locate(place).page.reserve(place % PAGE_OUTPUTS);
    this.#write(place, output);
    this.#byOneTimeKey.add(place);
    if (output.keyImage !== undefined) this.#byKeyImage.add(place);
    return place;
  }

  /** Puts another output in the place of one. */
  replace(place: number, output: OwnedOutput): void {
    this.#version += 1;
    const { oneTimeKey, keyImage } = this.at(place)!;
    const isSameKey = equalBytes(oneTimeKey, output.oneTimeKey);
    const isSameImage =
      keyImage !== undefined && output.keyImage !== undefined && equalBytes(keyImage, output.keyImage);
    if (!isSameKey) this.#byOneTimeKey.remove(place);
    if (!isSameImage && keyImage !== undefined) this.#byKeyImage.remove(place);
    this.#forget(place);
    this.#write(place, output);
    if (!isSameKey) this.#byOneTimeKey.add(place);
    if (!isSameImage && output.keyImage !== undefined) this.#byKeyImage.add(place);
  }

  /** Removes the outputs from a place on. */
  truncate(count: number): void {
    if (count >= this.end) return;
    this.#version += 1;
    this.#byOneTimeKey.truncate(count);
    this.#byKeyImage.truncate(count);
    while (this.end > count) {
      this.#forget(this.end - 1);
      this.end -= 1;
      if (this.end % PAGE_OUTPUTS === 0) this.pages.pop();
    }
    this.#cold.truncate(count);
  }

  /** Removes all outputs at once: to remove one after the other takes a second for half a million. */
  clear(): void {
    if (this.end === 0) return;
    this.#version += 1;
    for (let row = 0; row * ROW_OUTPUTS < this.end; row++) this.#changedRows.add(row);
    this.#byOneTimeKey.truncate(0);
    this.#byKeyImage.truncate(0);
    this.#cold.truncate(0);
    this.#pending.clear();
    this.#replaced.clear();
    this.#sums.clear();
    this.#locked.restart(this.#locked.passed);
    this.#timed = 0;
    this.dropPages();
  }

  /** Sets the height of the block that spends an output; undefined if none does. */
  spend(place: number, height: number | undefined): void {
    this.#change(place, ({ page, index }) => page.setSpentHeight(index, height));
  }

  /** Sets the hex id of the unconfirmed transaction that spends an output, or `SOMEBODY`; undefined if none does. */
  reserve(place: number, by: string | undefined): void {
    this.#change(place, ({ page, index }) => {
      page.mark("pending", index, by !== undefined);
      if (by === undefined) this.#pending.delete(place);
      else this.#pending.set(place, by);
    });
  }

  freeze(place: number, isFrozen: boolean): void {
    this.#change(place, ({ page, index }) => page.mark("frozen", index, isFrozen));
  }

  learnKeyImage(place: number, keyImage: Uint8Array): void {
    const { page, index } = this.locate(place);
    if (page.is("keyImage", index)) this.#byKeyImage.remove(place);
    else this.imageCount += 1;
    this.#cold.writeKeyImage(place, keyImage);
    page.mark("keyImage", index, true);
    this.#byKeyImage.add(place);
    this.touchFree(place);
    this.#markRow(place);
  }

  /** What finds places by one-time key, and by key image. */
  get indices(): readonly KeyIndex[] {
    return [this.#byOneTimeKey, this.#byKeyImage];
  }

  /** Marks all rows as changed. */
  changeAll(): void {
    for (let row = 0; row * ROW_OUTPUTS < this.end; row++) this.#changedRows.add(row);
    this.#cold.changeAll();
  }

  /** What the rows of a store have of the outputs, beside their columns. */
  get cold(): ColdOutputs {
    return this.#cold;
  }

  /** The rows whose columns have changed since the last call; those without outputs are among them. */
  takeChangedRows(): ReadonlySet<number> {
    return this.#changedRows.take();
  }

  /** The columns of a row; undefined if it has no outputs. */
  rowBytes(row: number): Uint8Array | undefined {
    const first = row * ROW_OUTPUTS;
    const count = Math.min(ROW_OUTPUTS, this.end - first);
    if (count <= 0) return undefined;
    const rest: RestOfRow = { pending: [], replaced: [] };
    for (let place = first; place < first + count; place++) {
      const [by, older] = [this.#pending.get(place), this.#replaced.get(place)];
      if (by !== undefined) rest.pending.push([place - first, by]);
      if (older !== undefined) rest.replaced.push([place - first, older]);
    }
    return writeOutputRow(this.locate(first), { count, rest });
  }

  /** Adds the outputs of the next row, which are found by their keys once `index` has run. Throws `RangeError`. */
  addRow(bytes: Uint8Array): number {
    const first = this.end;
    if (first % ROW_OUTPUTS !== 0) throw new RangeError("a row behind one that is not full");
    if (first % PAGE_OUTPUTS === 0) this.pages.push(new OutputPage());
    const { count, rest } = readOutputRow(this.locate(first), bytes);
    for (const [index, by] of rest.pending) this.#pending.set(first + index, by);
    for (const [index, older] of rest.replaced) this.#replaced.set(first + index, older);
    this.end += count;
    this.forgetFree();
    this.#tallyRow(first, count);
    return count;
  }

  /** Has all outputs found by their keys, after rows were added, where no segment of an index does; pauses in between. */
  *index(): Generator<void> {
    for (let first = 0; first < this.end; first += SEGMENT_PLACES) {
      const isMissing = (index: KeyIndex) => !index.hasSegment(first / SEGMENT_PLACES);
      const [needsKeys, needsImages] = this.indices.map(isMissing);
      if (!needsKeys && !needsImages) continue;
      for (let place = first; place < Math.min(first + SEGMENT_PLACES, this.end); place++) {
        if (place % COLD_OUTPUTS === 0) yield;
        if (needsKeys) this.#byOneTimeKey.add(place);
        if (needsImages && this.hasKeyImage(place)) this.#byKeyImage.add(place);
      }
    }
    for (const index of this.indices) {
      yield;
      index.markSegments();
    }
    yield* this.indexFree();
  }

  /** Tells the height the wallet has reached: what that unlocks need not be looked at any more. */
  pass(height: number): void {
    this.#locked.pass(height, (place) => this.lockAt(place));
  }

  #write(place: number, output: OwnedOutput): void {
    const { page, index } = this.locate(place);
    this.#cold.write(place, output);
    page.write(index, output);
    this.#markRow(place);
    if (output.pendingSpend !== undefined) this.#pending.set(place, output.pendingSpend);
    if (output.replaces !== undefined) this.#replaced.set(place, output.replaces);
    if (waitsForTime(output)) this.#timed += 1;
    if (output.keyImage !== undefined) this.imageCount += 1;
    this.#tally(place, 1);
  }

  /** Reverts `#write`, but for the keys. */
  #forget(place: number): void {
    this.#markRow(place);
    this.#tally(place, -1);
    if (waitsForTime(this.lockAt(place))) this.#timed -= 1;
    if (this.hasKeyImage(place)) this.imageCount -= 1;
    this.#pending.delete(place);
    this.#replaced.delete(place);
  }

  #change(place: number, change: (at: At) => void): void {
    this.#tally(place, -1);
    change(this.locate(place));
    this.#tally(place, 1);
    this.#markRow(place);
  }

  #markRow(place: number): void {
    this.#changedRows.add(Math.floor(place / ROW_OUTPUTS));
  }

  /** Counts an output in, or out before it changes. */
  #tally(place: number, by: 1 | -1): void {
    const { page, index } = this.locate(place);
    const { columns } = page;
    const major = columns.majors[index]!;
    const isSpent = columns.spends[index] !== 0;
    const isPending = page.is("pending", index);
    this.#sums.count(
      {
        major,
        minor: columns.minors[index]!,
        amount: columns.amounts[index]!,
        isFrozen: page.is("frozen", index),
        isPending,
        isSpent,
      },
      by,
    );
    this.countFree(place, by);
    if (!page.is("rct", index)) this.visible += by;
    if (isSpent) return;
    if (by === 1) this.#locked.add(major, place, this.lockAt(place));
    else this.#locked.delete(major, place);
  }

  /** Counts in outputs of one page that were put into its columns, as `#tally` and `#write` do each. */
  #tallyRow(first: number, count: number): void {
    const { page, index: from } = this.locate(first);
    const { majors, minors, heights, spends, amounts } = page.columns;
    const unlockedUpTo = this.#locked.passed - SPENDABLE_AGE;
    for (let index = from; index < from + count; index++) {
      const isTimed = page.is("unlockTime", index) && waitsForTime(this.lockAt(first - from + index));
      if (isTimed) this.#timed += 1;
      if (page.is("keyImage", index)) this.imageCount += 1;
      if (!page.is("rct", index)) this.visible += 1;
      const sum = this.#sums.toCount(majors[index]!, minors[index]!);
      sum.outputs += 1;
      if (spends[index] !== 0) continue;
      const isPending = page.is("pending", index);
      const isFrozen = page.is("frozen", index);
      if (!isPending) sum.unspent += 1;
      if (isPending && !isFrozen) {
        sum.reservedCount += 1;
        sum.reserved += amounts[index]!;
      } else if (!isFrozen) {
        sum.freeCount += 1;
        sum.free += amounts[index]!;
      }
      if (heights[index]! <= unlockedUpTo && !page.is("unlockTime", index)) continue;
      this.#locked.add(majors[index]!, first - from + index, this.lockAt(first - from + index));
    }
  }

  #lockAgain(height: number): void {
    this.#locked.restart(height);
    for (const place of this.maybeLocked(height)) {
      const { page, index } = this.locate(place);
      this.#locked.add(page.columns.majors[index]!, place, this.lockAt(place));
    }
  }
}
