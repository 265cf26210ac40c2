/** Outputs of which one or two may pay everything, by keys that ascend in the order in which the wallet found them. */
import { type FreePart, placesIn } from "../outputs/free-places.ts";
import type { FreeFilter } from "../outputs/free-summary.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { type Bound, compareAmount, createPlaceCheck } from "./output-pool.ts";

/** Where they are: at places of a wallet's book, or in a list. */
export type PreferableSource = {
  /** Those of all addresses, or of one (its number in the account), ascending. */
  parts(minor?: number): readonly FreePart[];
  /** The only addresses that may have any; undefined for all. */
  readonly minors: readonly number[] | undefined;
  /** No address has more than that. */
  mostOf(minor: number): number;
  at(key: number): OwnedOutput;
  heightAt(key: number): number;
  minorAt(key: number): number;
  amountAt(key: number): bigint;
  /** The nearest number to the amount. */
  amountNumberAt(key: number): number;
};

/** Outputs that are looked at to find out which addresses have large ones. */
const MAX_LOOKED_AT = 4096;

export class Preferable {
  readonly source: PreferableSource;
  readonly #parts = new Map<number | undefined, readonly FreePart[]>();

  constructor(source: PreferableSource) {
    this.source = source;
  }

  /** Those of a list. */
  static of(outputs: readonly OwnedOutput[]): Preferable {
    const minorAt = (key: number) => outputs[key]!.subaddress.minor;
    return new Preferable({
      parts(minor) {
        const keys = Uint32Array.from(outputs.keys());
        const places = minor === undefined ? keys : keys.filter((key) => minorAt(key) === minor);
        const bounds = { least: 0, greatest: Number.POSITIVE_INFINITY, hasHidden: true };
        const summary = { count: places.length, mask: undefined, ...bounds };
        return [{ places, from: 0, to: places.length, summary }];
      },
      minors: undefined,
      mostOf: () => outputs.length,
      at: (key) => outputs[key]!,
      heightAt: (key) => outputs[key]!.height,
      minorAt,
      amountAt: (key) => outputs[key]!.amount,
      amountNumberAt: (key) => Number(outputs[key]!.amount),
    });
  }

  /** The first that is worth as much as the bound. */
  first(least: Bound): number | undefined {
    const { minors } = this.source;
    if (minors === undefined) return this.#firstOf(undefined, least);
    let first: number | undefined;
    for (const minor of minors) {
      const key = this.#firstOf(minor, least);
      if (key !== undefined && (first === undefined || key < first)) first = key;
    }
    return first;
  }

  #firstOf(minor: number | undefined, least: Bound): number | undefined {
    for (const key of this.keys({ minor, least })) return key;
    return undefined;
  }

  /** Those of an address, or all, behind a key, some at a time; only parts without any worth as much as the bound are left out. */
  *runs(of: { readonly minor: number | undefined; readonly least: Bound; readonly after?: number }) {
    const { minor, least, after = -1 } = of;
    const parts = this.#partsOf(minor);
    for (let number = firstPartBehind(parts, after); number < parts.length; number++) {
      const part = parts[number]!;
      if (part.summary.greatest >= least.near) yield placesIn(part);
    }
  }

  /** Those of an address, or all, that are worth as much as the bound, in order. */
  *keys(of: { readonly minor: number | undefined; readonly least: Bound }): Generator<number> {
    const { minors } = this.source;
    const minorSet = of.minor === undefined && minors !== undefined ? new Set(minors) : undefined;
    for (const run of this.runs(of))
      for (const key of run)
        if (
          compareAmount(this.source, key, of.least) >= 0 &&
          minorSet?.has(this.source.minorAt(key)) !== false
        )
          yield key;
  }

  /** The greatest amount of an address, or of all. */
  greatest(minor?: number): bigint {
    const parts = this.#partsOf(minor);
    const near = parts.reduce((most, { summary }) => Math.max(most, summary.greatest), -1);
    if (near <= Number.MAX_SAFE_INTEGER) return BigInt(near);
    let greatest = -1n;
    for (const part of parts) {
      if (part.summary.greatest < near) continue;
      for (const key of placesIn(part)) {
        const amount = this.source.amountAt(key);
        if (amount > greatest) greatest = amount;
      }
    }
    return greatest;
  }

  /** Addresses with outputs worth as much as the bound; undefined if there are more than `most`, or it takes long to tell. */
  minorsWith(least: Bound, most: number): readonly number[] | undefined {
    const { minors } = this.source;
    const foundMinors = new Set<number>();
    if (minors !== undefined) {
      for (const minor of minors) if (this.#firstOf(minor, least) !== undefined) foundMinors.add(minor);
      return foundMinors.size > most ? undefined : [...foundMinors];
    }
    let lookedAt = 0;
    for (const key of this.keys({ minor: undefined, least })) {
      foundMinors.add(this.source.minorAt(key));
      lookedAt += 1;
      if (foundMinors.size > most || lookedAt > MAX_LOOKED_AT) return undefined;
    }
    return [...foundMinors];
  }

  #partsOf(minor: number | undefined): readonly FreePart[] {
    const parts = this.#parts.get(minor) ?? this.source.parts(minor);
    this.#parts.set(minor, parts);
    return parts;
  }
}

/** Number of the first part that has a key behind one. */
function firstPartBehind(parts: readonly FreePart[], key: number): number {
  let low = 0;
  for (let high = parts.length; low < high; ) {
    const middle = (low + high) >> 1;
    const { places, to } = parts[middle]!;
    if (places[to - 1]! <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Owned = {
  readonly account: number;
  /** Address numbers; none for all. */
  readonly minors: readonly number[];
  /** Those of the account, once they are found. */
  readonly ofAccount?: readonly FreePart[] | undefined;
};

/**
 * Those of an account, or of some of its addresses. Its methods throw `WalletRefusal` once a reorganisation has given
 * places to other outputs.
 */
export function preferableIn(
  book: OutputBook,
  { account, minors, ofAccount }: Owned,
  filter: FreeFilter,
): Preferable {
  const check = createPlaceCheck(book);
  const checked =
    <T>(read: (key: number) => T) =>
    (key: number): T => {
      check();
      return read(key);
    };
  const only = minors.length === 1 ? minors[0] : undefined;
  return new Preferable({
    parts(minor = only) {
      check();
      return minor === undefined
        ? (ofAccount ?? book.freeOfAccount(account, filter))
        : book.freeOfAddress({ major: account, minor }, filter);
    },
    minors: minors.length === 0 ? undefined : [...new Set(minors)],
    mostOf: (minor) => book.sumsOf(account).get(minor)?.freeCount ?? 0,
    at: checked((key) => book.at(key)!),
    heightAt: checked((key) => book.heightOf(key)),
    minorAt: checked((key) => book.minorOf(key)),
    amountAt: checked((key) => book.amountOf(key)),
    amountNumberAt: checked((key) => book.amountNumberOf(key)),
  });
}
