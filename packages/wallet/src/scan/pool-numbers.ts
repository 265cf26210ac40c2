/**
 * The transactions in pools that the wallets of a scan thread have looked at: each has a number, and a wallet remembers
 * a bit of each. A pool of 100,000 transactions takes 12 KiB of every wallet, instead of several MiB.
 */

const WORD_BITS = 32;
const FIRST_WORDS = 8;

/** A set of small numbers. */
export class NumberSet {
  #words = new Uint32Array(0);

  has(number: number): boolean {
    return ((this.#words[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0;
  }

  add(number: number): void {
    const word = number >>> 5;
    if (word >= this.#words.length) {
      const words = new Uint32Array(Math.max(FIRST_WORDS, 2 * this.#words.length, word + 1));
      words.set(this.#words);
      this.#words = words;
    }
    this.#words[word]! |= 1 << (number & 31);
  }

  delete(number: number): void {
    if (this.has(number)) this.#words[number >>> 5]! &= ~(1 << (number & 31));
  }

  clear(): void {
    this.#words = new Uint32Array(0);
  }

  /** Those that are in this set, and in another if there is one, ascending; others may be deleted meanwhile. */
  *values(other?: NumberSet): Generator<number, void> {
    for (let word = 0; word < this.#words.length; word++) {
      let bits = this.#words[word]!;
      if (other !== undefined) bits &= other.#words[word] ?? 0;
      for (; bits !== 0; bits &= bits - 1) yield word * WORD_BITS + 31 - Math.clz32(bits & -bits);
    }
  }

  /** Those that are in all of some sets. */
  static shared(sets: readonly NumberSet[]): NumberSet {
    const shared = new NumberSet();
    const [first, ...others] = sets;
    if (first === undefined) return shared;
    const words = first.#words.slice();
    for (const other of others) for (let i = 0; i < words.length; i++) words[i]! &= other.#words[i] ?? 0;
    shared.#words = words;
    return shared;
  }
}

export class PoolNumbers {
  readonly #numbers = new Map<string, number>();
  /** By number: the id (hex), and how many wallets remember it. */
  readonly #ids: string[] = [];
  readonly #holders: number[] = [];
  readonly #free: number[] = [];
  /** The numbers that were not in a pool when it was asked about. */
  readonly #absent = new WeakMap<ReadonlySet<string>, NumberSet>();

  /** How many transactions are remembered. */
  get size(): number {
    return this.#numbers.size;
  }

  /** Undefined for a transaction (hex) that no wallet remembers. */
  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  idOf(number: number): string {
    return this.#ids[number]!;
  }

  /** Remembers a transaction (hex) for one more wallet, which has to release its number. */
  take(id: string): number {
    const number = this.#numbers.get(id) ?? this.#free.pop() ?? this.#ids.length;
    this.#numbers.set(id, number);
    this.#ids[number] = id;
    this.#holders[number] = (this.#holders[number] ?? 0) + 1;
    return number;
  }

  release(number: number): void {
    this.#holders[number]! -= 1;
    if (this.#holders[number]! > 0) return;
    this.#numbers.delete(this.#ids[number]!);
    this.#ids[number] = "";
    this.#free.push(number);
  }

  /** The numbers of transactions that are not among these, which are looked through once for wallets that ask in turn. */
  absentFrom(present: ReadonlySet<string>): NumberSet {
    const before = this.#absent.get(present);
    if (before !== undefined) return before;
    const absent = new NumberSet();
    for (const [id, number] of this.#numbers) if (!present.has(id)) absent.add(number);
    this.#absent.set(present, absent);
    return absent;
  }
}
