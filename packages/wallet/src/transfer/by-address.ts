/** Divides many outputs by address without an object for any of them. */

/** Addresses that are looked for by a walk over all outputs; for more of them, all outputs are divided once. */
const FEW = 4;
/** Addresses below this number are looked up in an array. */
const DIRECT = 2 ** 20;
/** Outputs between two pauses. */
const STEP = 4096;

export class ByAddress {
  readonly #size: number;
  readonly #minorAt: (index: number) => number;
  readonly #placesByMinor = new Map<number, Uint32Array>();
  #all: ReadonlyMap<number, Uint32Array> | undefined;

  /** `size` outputs; `minorAt` returns the address number of each, below 2^32. */
  constructor(size: number, minorAt: (index: number) => number) {
    this.#size = size;
    this.#minorAt = minorAt;
  }

  /** Finds the outputs of an address, ascending; pauses in between. */
  *indicesOf(minor: number): Generator<void, Uint32Array> {
    const cached = this.#all?.get(minor) ?? this.#placesByMinor.get(minor);
    if (cached !== undefined) return cached;
    if (this.#all === undefined && this.#placesByMinor.size === FEW) this.#all = yield* this.#divided();
    const places = this.#all === undefined ? yield* this.#search(minor) : this.#all.get(minor);
    this.#placesByMinor.set(minor, places ?? new Uint32Array(0));
    return places ?? new Uint32Array(0);
  }

  *#search(minor: number): Generator<void, Uint32Array> {
    const minorAt = this.#minorAt;
    const places: number[] = [];
    for (let from = 0; from < this.#size; from += STEP) {
      const to = Math.min(from + STEP, this.#size);
      for (let index = from; index < to; index++) if (minorAt(index) === minor) places.push(index);
      yield;
    }
    return Uint32Array.from(places);
  }

  *#divided(): Generator<void, Map<number, Uint32Array>> {
    const numbers = new Numbers();
    const numberOf = new Uint32Array(this.#size);
    for (let index = 0; index < this.#size; index++) {
      numberOf[index] = numbers.of(this.#minorAt(index));
      if (index % STEP === 0) yield;
    }
    const starts = new Uint32Array(numbers.keys.length + 1);
    for (const number of numberOf) starts[number + 1]! += 1;
    for (let number = 0; number < numbers.keys.length; number++) starts[number + 1]! += starts[number]!;
    const ends = starts.slice();
    const indices = new Uint32Array(this.#size);
    for (let index = 0; index < this.#size; index++) {
      indices[ends[numberOf[index]!]!++] = index;
      if (index % STEP === 0) yield;
    }
    return new Map(
      numbers.keys.map((minor, number) => [minor, indices.subarray(starts[number], starts[number + 1])]),
    );
  }
}

/** Numbers keys in the order in which they first appear. */
class Numbers {
  readonly keys: number[] = [];
  /** By key: its number + 1. */
  #small = new Uint32Array(256);
  readonly #large = new Map<number, number>();

  of(key: number): number {
    const slot = key < DIRECT ? this.#small[key] : this.#large.get(key);
    return slot === undefined || slot === 0 ? this.#add(key) : slot - 1;
  }

  #add(key: number): number {
    const slot = this.keys.push(key);
    if (key >= DIRECT) this.#large.set(key, slot);
    else {
      if (key >= this.#small.length) {
        const larger = new Uint32Array(Math.min(DIRECT, 2 * (key + 1)));
        larger.set(this.#small);
        this.#small = larger;
      }
      this.#small[key] = slot;
    }
    return slot - 1;
  }
}
