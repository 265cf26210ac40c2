/** Which addresses a wallet recognises, in the order in which they were added. */
import type { SubaddressIndex } from "../outputs/owned-output.ts";

/** Number of accounts and addresses recognised beyond those in use. */
export type Lookahead = { readonly accounts: number; readonly addresses: number };

/** The addresses that a wallet recognises, by their spend public keys. */
export interface RecognisedAddresses {
  lookahead: Lookahead;
  /** Number of entries. */
  readonly size: number;
  /** Index of the address whose spend public key (32 bytes) is at this offset; undefined if it is not the wallet's. */
  indexOf(keys: Uint8Array, at?: number): SubaddressIndex | undefined;
  /** The spend public keys (32 bytes each) with their indices, of the entries up to now, in insertion order. */
  entries(): Iterable<{ readonly key: Uint8Array; readonly index: SubaddressIndex }>;
}

/** Addresses `fromMinor ≤ minor < toMinor` of one account that are not recognised yet. */
export type MissingRange = { readonly major: number; readonly fromMinor: number; readonly toMinor: number };

/** Addresses `fromMinor …` of one account. */
export type AddressRange = { readonly major: number; readonly fromMinor: number; readonly count: number };

/** Consecutive entries: consecutive addresses of one account. */
type Run = { readonly first: number; readonly major: number; readonly fromMinor: number };

/**
 * The entries begin with a grid: as many addresses of each of the first accounts. Most wallets never have more, so that
 * two numbers describe theirs.
 */
export class AddressRuns {
  #gridAccounts = 0;
  #gridAddresses = 0;
  /** Entries after the grid. */
  #runs: Run[] | undefined;
  /** Number of addresses covered, by account, once that differs from the grid. */
  #covered: number[] | undefined;
  #count = 0;

  /** Number of entries. */
  get count(): number {
    return this.#count;
  }

  /** Index of an entry, by its position in insertion order. */
  indexAt(place: number): SubaddressIndex {
    if (place < this.#gridAccounts * this.#gridAddresses) {
      const minor = place % this.#gridAddresses;
      return { major: (place - minor) / this.#gridAddresses, minor };
    }
    const runs = this.#runs!;
    let low = 0;
    let high = runs.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (runs[middle]!.first <= place) low = middle;
      else high = middle - 1;
    }
    const { major, first, fromMinor } = runs[low]!;
    return { major, minor: fromMinor + (place - first) };
  }

  /** The entries as ranges, in insertion order. */
  get ranges(): AddressRange[] {
    const grid = Array.from({ length: this.#gridAccounts }, (_, major) => {
      return { major, fromMinor: 0, count: this.#gridAddresses };
    });
    const runs = this.#runs ?? [];
    const others = runs.map(({ first, major, fromMinor }, i) => {
      return { major, fromMinor, count: (runs[i + 1]?.first ?? this.#count) - first };
    });
    return [...grid, ...others];
  }

  /** Adds entries. Ranges must join: an account's next range begins where its last ended. */
  add({ major, fromMinor, count }: AddressRange): void {
    const first = this.#count;
    this.#count += count;
    const continuesGrid = this.#runs === undefined && major === this.#gridAccounts && fromMinor === 0;
    if (continuesGrid && count > 0 && (major === 0 || count === this.#gridAddresses)) {
      this.#gridAccounts += 1;
      this.#gridAddresses = count;
      return;
    }
    this.#runs ??= [];
    this.#covered ??= Array.from({ length: this.#gridAccounts }, () => this.#gridAddresses);
    const last = this.#runs.at(-1);
    const isNext = last?.major === major && last.fromMinor + (first - last.first) === fromMinor;
    if (!isNext) this.#runs.push({ first, major, fromMinor });
    this.#covered[major] = Math.max(this.#covered[major] ?? 0, fromMinor + count);
  }

  /** The ranges to be added before `index` is in use with the whole look-ahead beyond it. */
  missingFor(index: SubaddressIndex, lookahead: Lookahead): MissingRange[] {
    const missing: MissingRange[] = [];
    const accountCount = this.#covered?.length ?? this.#gridAccounts;
    const accounts = Math.max(accountCount, clamp(index.major + lookahead.accounts));
    for (let major = 0; major < accounts; major++) {
      const fromMinor = this.coveredOf(major);
      const used = major === index.major ? index.minor : 0;
      const toMinor = clamp(used + lookahead.addresses);
      if (fromMinor < toMinor) missing.push({ major, fromMinor, toMinor });
    }
    return missing;
  }

  /** Number of addresses of an account. */
  coveredOf(major: number): number {
    if (this.#covered !== undefined) return this.#covered[major] ?? 0;
    return major < this.#gridAccounts ? this.#gridAddresses : 0;
  }
}

function clamp(count: number): number {
  return Math.min(count, 0xffff_ffff);
}
