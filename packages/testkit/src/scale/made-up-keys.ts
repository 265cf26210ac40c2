/**
 * Keys of 32 bytes that look random and are known in the order in which they sort, so that a table of any number of
 * them is written without holding or sorting them.
 */

const KEY_BYTES = 32;
/** Bytes at the front of a key that place it. */
const PREFIX_BYTES = 6;
const PREFIXES = 2 ** 48;
const ROUNDS = 4;

/** A mix of 32 bits. Source: the finalizer of MurmurHash3, whose constants are public domain. */
function mix(value: number): number {
  let x = value ^ (value >>> 16);
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Fills bytes with values that follow from a label and a number. */
export function fillRandom(bytes: Uint8Array, label: number, index: number): void {
  let state = mix(mix(label) ^ (index >>> 0)) ^ Math.floor(index / 2 ** 32);
  for (let at = 0; at < bytes.length; at += 4) {
    state = (state + 0x9e3779b9) >>> 0;
    const word = mix(state ^ label);
    bytes[at] = word;
    bytes[at + 1] = word >>> 8;
    bytes[at + 2] = word >>> 16;
    bytes[at + 3] = word >>> 24;
  }
}

/** `count` keys, each by its number and by its rank among all. */
export class MadeUpKeys {
  readonly #label: number;
  readonly #count: number;
  readonly #halfBits: number;
  readonly #mask: number;

  constructor(label: number, count: number) {
    this.#label = label;
    this.#count = count;
    this.#halfBits = Math.max(1, Math.ceil(Math.log2(Math.max(2, count)) / 2));
    this.#mask = 2 ** this.#halfBits - 1;
  }

  /** The key of a number below the count. */
  key(number: number): Uint8Array {
    return this.#atRank(this.#rankOf(number));
  }

  /** All keys, ascending, with their numbers. */
  *ascending(): Generator<readonly [Uint8Array, number]> {
    for (let rank = 0; rank < this.#count; rank++) yield [this.#atRank(rank), this.#numberAt(rank)];
  }

  /** The ranks divide all prefixes evenly, and each key lies anywhere in its part. */
  #atRank(rank: number): Uint8Array {
    const key = new Uint8Array(KEY_BYTES);
    fillRandom(key, this.#label, rank);
    const part = PREFIXES / this.#count;
    const within = mix(this.#label ^ rank) / 2 ** 32;
    let prefix = Math.floor(rank * part) + Math.floor(within * Math.floor(part));
    for (let at = PREFIX_BYTES - 1; at >= 0; at--) {
      key[at] = prefix % 256;
      prefix = Math.floor(prefix / 256);
    }
    return key;
  }

  /**
   * A permutation of the numbers: a Feistel network over the least even number of bits, repeated until it is below the
   * count. Source: Black and Rogaway, Ciphers with Arbitrary Finite Domains, "cycle walking".
   */
  #rankOf(number: number): number {
    let rank = number;
    do rank = this.#permute(rank, 1);
    while (rank >= this.#count);
    return rank;
  }

  #numberAt(rank: number): number {
    let number = rank;
    do number = this.#permute(number, -1);
    while (number >= this.#count);
    return number;
  }

  #permute(value: number, direction: 1 | -1): number {
    const base = this.#mask + 1;
    let remaining = Math.floor(value / base);
    let right = value % base;
    for (let step = 0; step < ROUNDS; step++) {
      const round = direction === 1 ? step : ROUNDS - 1 - step;
      if (direction === 1) [remaining, right] = [right, (remaining ^ this.#round(right, round)) & this.#mask];
      else [remaining, right] = [(right ^ this.#round(remaining, round)) & this.#mask, remaining];
    }
    return remaining * base + right;
  }

  #round(half: number, round: number): number {
    return mix(half ^ Math.imul(this.#label + round + 1, 0x9e3779b9));
  }
}
