/** A list of numbers below 2^32, four bytes each. */

const FIRST_LENGTH = 4;
/** Shared by all that are empty: a wallet has some twenty, most of them empty. */
export const NO_NUMBERS: Uint32Array = new Uint32Array(0);

export class Column {
  #values = NO_NUMBERS;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The number at an index below `length`. */
  at(index: number): number {
    return this.#values[index]!;
  }

  /** Makes room for some numbers in all, and some more, so that adding them copies none. */
  reserve(length: number): void {
    this.#grow(length);
  }

  /** A copy of the numbers from one index to before another. */
  slice(from: number, to: number): Uint32Array {
    return this.#values.slice(from, Math.min(to, this.#length));
  }

  push(value: number): void {
    this.#grow(this.#length + 1);
    this.#values[this.#length++] = value;
  }

  /** Sets the number at an index; those left out before it are 0. */
  set(index: number, value: number): void {
    if (index >= this.#length) {
      this.#grow(index + 1);
      this.#length = index + 1;
    }
    this.#values[index] = value;
  }

  /** Inserts a number before the one at an index. */
  insert(index: number, value: number): void {
    this.#grow(this.#length + 1);
    this.#values.copyWithin(index + 1, index, this.#length);
    this.#values[index] = value;
    this.#length += 1;
  }

  remove(index: number): void {
    this.#values.copyWithin(index, index + 1, this.#length);
    this.#length -= 1;
  }

  /** Removes the numbers from an index on. */
  removeFrom(index: number): void {
    if (index >= this.#length) return;
    this.#values.fill(0, index, this.#length);
    this.#length = index;
    if (index === 0) this.#values = NO_NUMBERS;
  }

  #grow(length: number): void {
    if (length <= this.#values.length) return;
    // An eighth more at a time: columns are a large part of a wallet's memory.
    const larger = new Uint32Array(Math.max(FIRST_LENGTH, length + (length >> 3)));
    larger.set(this.#values.subarray(0, this.#length));
    this.#values = larger;
  }
}
