/** What each address of a wallet holds, kept up with every change so that a balance walks no outputs. */
import { LazyMap } from "../packed/lazy-map.ts";

/** Amounts in atomic units. Frozen outputs are in none of them but the numbers of outputs. */
export type AddressSum = {
  /** Number of outputs it has ever received. */
  outputs: number;
  /** Number of outputs that nothing spends, frozen ones included. */
  unspent: number;
  /** Outputs that nothing spends. */
  freeCount: number;
  free: bigint;
  /** Outputs that an unconfirmed transaction spends. */
  reservedCount: number;
  reserved: bigint;
};

/** How one output counts. */
export type Counted = {
  readonly major: number;
  readonly minor: number;
  readonly amount: bigint;
  readonly isFrozen: boolean;
  readonly isPending: boolean;
  /** Whether a block spends it. */
  readonly isSpent: boolean;
};

const NONE: ReadonlyMap<number, AddressSum> = new Map();

export class AddressSums {
  readonly #accounts = new LazyMap<number, Map<number, AddressSum>>();

  /** By address number. */
  ofAccount(major: number): ReadonlyMap<number, Readonly<AddressSum>> {
    return this.#accounts.get(major) ?? NONE;
  }

  /** Accounts that have received outputs. */
  get accounts(): IterableIterator<number> {
    return this.#accounts.keys();
  }

  /** What an address holds, to be counted up. */
  toCount(major: number, minor: number): AddressSum {
    return this.#sumAt(major, minor);
  }

  /** Counts an output in (`by` 1) or out again (`by` -1). */
  count(output: Counted, by: 1 | -1): void {
    const { major, minor, amount, isFrozen, isPending, isSpent } = output;
    const sum = this.#sumAt(major, minor);
    sum.outputs += by;
    if (!isSpent) {
      const signed = by === 1 ? amount : -amount;
      if (!isPending) sum.unspent += by;
      if (!isFrozen && !isPending) {
        sum.freeCount += by;
        sum.free += signed;
      } else if (!isFrozen) {
        sum.reservedCount += by;
        sum.reserved += signed;
      }
    }
    if (sum.outputs === 0) this.#drop(major, minor);
  }

  /** Counts nothing any more. */
  clear(): void {
    this.#accounts.clear();
  }

  #sumAt(major: number, minor: number): AddressSum {
    const account = this.#accounts.get(major) ?? new Map<number, AddressSum>();
    this.#accounts.set(major, account);
    const sum = account.get(minor) ?? {
      outputs: 0,
      unspent: 0,
      freeCount: 0,
      free: 0n,
      reservedCount: 0,
      reserved: 0n,
    };
    account.set(minor, sum);
    return sum;
  }

  #drop(major: number, minor: number): void {
    const account = this.#accounts.get(major)!;
    account.delete(minor);
    if (account.size === 0) this.#accounts.delete(major);
  }
}
