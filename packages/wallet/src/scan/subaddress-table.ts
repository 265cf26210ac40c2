/**
 * The spend public keys of the wallet's addresses. The table contains some accounts and addresses beyond those in use
 * (the look-ahead), so that payments to an address that another copy of the wallet created are still found.
 */

import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import { AddressRuns, type Lookahead, type MissingRange, type RecognisedAddresses } from "./address-runs.ts";

/** Source: wallet2.h SUBADDRESS_LOOKAHEAD_MAJOR, SUBADDRESS_LOOKAHEAD_MINOR. */
export const DEFAULT_LOOKAHEAD: Lookahead = { accounts: 50, addresses: 200 };
/** Entries of a table: some 50 bytes each. */
const MAX_LOOKAHEAD_KEYS = 2_000_000;

/** A requested look-ahead, limited by memory; `undefined` if it is invalid. */
export function checkLookahead(accounts: unknown, addresses: unknown): Lookahead | undefined {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
  if (!isCount(accounts) || !isCount(addresses)) return undefined;
  const most = Math.min(accounts, MAX_LOOKAHEAD_KEYS);
  return { accounts: most, addresses: Math.min(addresses, Math.floor(MAX_LOOKAHEAD_KEYS / most)) };
}

/** A look-ahead set by a caller; throws WalletRefusal if it is invalid or takes too much memory. */
export function demandLookahead(accounts: number, addresses: number): Lookahead {
  for (const [name, count] of [
    ["major", accounts],
    ["minor", addresses],
  ] as const) {
    if (count === 0) throw new WalletRefusal("UNKNOWN_ERROR", `Subaddress ${name} lookahead may not be zero`);
  }
  if (accounts * addresses > MAX_LOOKAHEAD_KEYS)
    throw new WalletRefusal(
      "UNKNOWN_ERROR",
      `Subaddress lookahead is too large: at most ${MAX_LOOKAHEAD_KEYS} addresses of all accounts`,
    );
  return { accounts, addresses };
}

/** The settings as a keys file stores them. Source: wallet2.cpp `get_keys_file_data`. */
export function settingsOf({ accounts, addresses }: Lookahead): readonly (readonly [string, number])[] {
  return [
    ["subaddress_lookahead_major", accounts],
    ["subaddress_lookahead_minor", addresses],
  ];
}

/** Keys of addresses `fromMinor …` of one account: 32 bytes each, packed. */
export type KeyRange = { readonly major: number; readonly fromMinor: number; readonly keys: Uint8Array };

const KEY_BYTES = 32;
const LEAST_SLOTS = 64;
/** Minimum number of slots per entry: then few of them are adjacent. */
const SLOTS_PER_ENTRY = 2;

/**
 * Spend public keys with their indices, all in memory: for wallets with very many addresses, of which each look-up
 * takes the same time. The others have an `AddressMarks`, which is smaller.
 */
export class SubaddressTable implements RecognisedAddresses {
  lookahead: Lookahead;
  /** Keys of all entries, concatenated. */
  #keys = new Uint8Array(0);
  /** Entries by the first bytes of their keys: index + 1, or 0 if the slot is free. */
  #slots = new Uint32Array(LEAST_SLOTS);
  readonly #runs = new AddressRuns();

  constructor(lookahead: Lookahead = DEFAULT_LOOKAHEAD) {
    this.lookahead = lookahead;
  }

  get size(): number {
    return this.#runs.count;
  }

  indexOf(keys: Uint8Array, at = 0): SubaddressIndex | undefined {
    const slots = this.#slots;
    for (let slot = slotOf(keys, at, slots); slots[slot] !== 0; slot = (slot + 1) & (slots.length - 1)) {
      const place = slots[slot]! - 1;
      if (this.#isAt(place, keys, at)) return this.#runs.indexAt(place);
    }
    return undefined;
  }

  *entries(): Iterable<{ readonly key: Uint8Array; readonly index: SubaddressIndex }> {
    const count = this.size;
    for (let place = 0; place < count; place++) {
      const key = this.#keys.slice(KEY_BYTES * place, KEY_BYTES * (place + 1));
      yield { key, index: this.#runs.indexAt(place) };
    }
  }

  /** The ranges to be added before `index` is in use with the whole look-ahead beyond it. */
  missingFor(index: SubaddressIndex): MissingRange[] {
    return this.#runs.missingFor(index, this.lookahead);
  }

  /** Ranges must join: an account's next range begins where its last ended. */
  add({ major, fromMinor, keys }: KeyRange): void {
    const count = keys.length / KEY_BYTES;
    const first = this.size;
    this.#reserve(first + count);
    this.#keys.set(keys, KEY_BYTES * first);
    this.#runs.add({ major, fromMinor, count });
    for (let place = first; place < this.size; place++) this.#enter(place);
  }

  #reserve(count: number): void {
    if (KEY_BYTES * count > this.#keys.length) {
      const longer = new Uint8Array(KEY_BYTES * Math.max(count, Math.ceil(1.125 * this.size)));
      longer.set(this.#keys);
      this.#keys = longer;
    }
    let slots = this.#slots.length;
    while (slots < SLOTS_PER_ENTRY * count) slots *= 2;
    if (slots === this.#slots.length) return;
    this.#slots = new Uint32Array(slots);
    for (let place = 0; place < this.size; place++) this.#enter(place);
  }

  #enter(place: number): void {
    const slots = this.#slots;
    let slot = slotOf(this.#keys, KEY_BYTES * place, slots);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = place + 1;
  }

  #isAt(place: number, keys: Uint8Array, at: number): boolean {
    const own = this.#keys;
    const from = KEY_BYTES * place;
    for (let i = 0; i < KEY_BYTES; i++) if (own[from + i] !== keys[at + i]) return false;
    return true;
  }
}

/** The slot of a key. Keys are points, so any of their bytes serve as a hash. */
function slotOf(keys: Uint8Array, at: number, slots: Uint32Array): number {
  const word = keys[at]! | (keys[at + 1]! << 8) | (keys[at + 2]! << 16) | (keys[at + 3]! << 24);
  return (word >>> 0) & (slots.length - 1);
}
