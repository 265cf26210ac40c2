/** A wallet's addresses in two bytes each and a filter, which both the wallet and its scan thread read. */
import { subaddressSpendPublicKeys, type ViewKeys } from "@anulo/crypto";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import {
  type AddressRange,
  AddressRuns,
  type Lookahead,
  type MissingRange,
  type RecognisedAddresses,
} from "./address-runs.ts";
import { DEFAULT_LOOKAHEAD } from "./subaddress-table.ts";

const KEY_BYTES = 32;
/** Number of keys computed at once for `entries`. */
const KEYS_AT_ONCE = 64;
/**
 * With more addresses the filter lets most keys pass, and a look-up, which then reads all marks, would take longer than
 * deriving an output's spend key; such a wallet has a table of whole keys.
 */
const MAX_MARKS = 32_768;
/** The filter: a bit for each value of two further bytes of a key, 8 KB before the marks, in words of 16 bits. */
const FILTER_WORDS = 4096;

/** The memory of filter and marks: shared between threads, so that a wallet has them once. */
export type SharedMarks = Uint16Array<SharedArrayBuffer>;

/** Whether marks are the smaller table and fast enough, for so many addresses in use and this look-ahead. */
export function fitsMarks(used: readonly SubaddressIndex[], { accounts, addresses }: Lookahead): boolean {
  const inUse = used.reduce((sum, { minor }) => sum + minor, 0);
  return (used.length + accounts) * addresses + inUse <= MAX_MARKS;
}

/** Memory for the marks of a wallet that begins with these addresses in use. */
export function reserveMarks(used: readonly SubaddressIndex[], lookahead: Lookahead): SharedMarks {
  const accounts = Math.max(0, used.length - 1) + lookahead.accounts;
  const inUse = used.reduce((sum, { minor }) => sum + minor, 0);
  return createMarks(accounts * lookahead.addresses + inUse);
}

/** Bytes of the filter and so many marks. */
export const bytesOfMarks = (count: number): number => Uint16Array.BYTES_PER_ELEMENT * (FILTER_WORDS + count);

function createMarks(count: number): SharedMarks {
  return new Uint16Array(new SharedArrayBuffer(bytesOfMarks(count)));
}

/**
 * For each address the first two bytes of its spend key, in insertion order, after a filter of the next two bytes of all
 * keys. The filter refuses six of seven strangers' keys for 10,000 addresses; for the others all marks are compared, and
 * where they agree (by chance once in 65,536 comparisons) the address's key is computed again and compared. In blocks
 * with view tags look-ups are few; in older ones every output is looked up.
 */
export class AddressMarks implements RecognisedAddresses {
  lookahead: Lookahead;
  readonly #keys: ViewKeys;
  readonly #runs = new AddressRuns();
  #marks: SharedMarks;

  /** `marks`: the memory; what is in it already is taken up by `adopt`. */
  constructor(keys: ViewKeys, lookahead: Lookahead = DEFAULT_LOOKAHEAD, marks: SharedMarks = createMarks(0)) {
    this.#keys = keys;
    this.lookahead = lookahead;
    this.#marks = marks;
  }

  get size(): number {
    return this.#runs.count;
  }

  indexOf(keys: Uint8Array, at = 0): SubaddressIndex | undefined {
    const marks = this.#marks;
    const bit = markAt(keys, at + 2);
    if ((marks[bit >>> 4]! & (1 << (bit & 15))) === 0) return undefined;
    const mark = markAt(keys, at);
    const end = FILTER_WORDS + this.#runs.count;
    for (
      let place = marks.indexOf(mark, FILTER_WORDS);
      place >= 0 && place < end;
      place = marks.indexOf(mark, place + 1)
    ) {
      const index = this.#runs.indexAt(place - FILTER_WORDS);
      if (isSameKey(this.#keysOf({ major: index.major, fromMinor: index.minor, count: 1 }), keys, at))
        return index;
    }
    return undefined;
  }

  *entries(): Iterable<{ readonly key: Uint8Array; readonly index: SubaddressIndex }> {
    const end = this.size;
    for (let place = 0; place < end; ) {
      const { major, minor: fromMinor } = this.#runs.indexAt(place);
      let count = 1;
      while (place + count < end && count < KEYS_AT_ONCE) {
        const next = this.#runs.indexAt(place + count);
        if (next.major !== major || next.minor !== fromMinor + count) break;
        count += 1;
      }
      const keys = this.#keysOf({ major, fromMinor, count });
      for (let i = 0; i < count; i++)
        yield {
          key: keys.slice(KEY_BYTES * i, KEY_BYTES * (i + 1)),
          index: { major, minor: fromMinor + i },
        };
      place += count;
    }
  }

  /** The ranges to be added before `index` is in use with the whole look-ahead beyond it. */
  missingFor(index: SubaddressIndex): MissingRange[] {
    return this.#runs.missingFor(index, this.lookahead);
  }

  /** Computes addresses and adds them; returns the memory if it is another than before. */
  extend(range: AddressRange): SharedMarks | undefined {
    const keys = this.#keysOf(range);
    const first = this.size;
    const needed = first + range.count;
    const replaced = FILTER_WORDS + needed > this.#marks.length ? this.#grow(needed) : undefined;
    const marks = this.#marks;
    for (let i = 0; i < range.count; i++) {
      const bit = markAt(keys, KEY_BYTES * i + 2);
      marks[bit >>> 4]! |= 1 << (bit & 15);
      marks[FILTER_WORDS + first + i] = markAt(keys, KEY_BYTES * i);
    }
    this.#runs.add(range);
    return replaced;
  }

  /** The marks with the filter before them, copied, and the addresses they are of, in their order. */
  get kept(): {
    readonly marks: Uint16Array;
    readonly ranges: readonly AddressRange[];
    readonly lookahead: Lookahead;
  } {
    const marks = this.#marks.slice(0, FILTER_WORDS + this.size);
    return { marks, ranges: this.#runs.ranges, lookahead: this.lookahead };
  }

  /** Takes up addresses whose marks another thread has written, or that were kept. */
  adopt(range: AddressRange, marks: SharedMarks | undefined): void {
    if (marks !== undefined) this.#marks = marks;
    this.#runs.add(range);
  }

  #keysOf({ major, fromMinor, count }: AddressRange): Uint8Array {
    return subaddressSpendPublicKeys({ keys: this.#keys, major, fromMinor, count });
  }

  #grow(count: number): SharedMarks {
    const longer = createMarks(Math.max(count, Math.ceil(1.125 * this.size)));
    longer.set(this.#marks.subarray(0, FILTER_WORDS + this.size));
    this.#marks = longer;
    return longer;
  }
}

/** Keys are points, so any of their bytes serve as a mark, but for the last. */
function markAt(keys: Uint8Array, at: number): number {
  return keys[at]! | (keys[at + 1]! << 8);
}

function isSameKey(key: Uint8Array, keys: Uint8Array, at: number): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (key[i] !== keys[at + i]) return false;
  return true;
}
