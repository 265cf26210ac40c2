/**
 * Which spend public keys are ours. The table reaches some accounts and addresses beyond those in use (the
 * look-ahead), so that money sent to an address another copy of the wallet handed out is still found.
 */
import { toHex } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { SubaddressIndex } from "../state.ts";

/** How far beyond those in use accounts and addresses are recognised. */
export type Lookahead = { readonly accounts: number; readonly addresses: number };

/** Source: wallet2.h SUBADDRESS_LOOKAHEAD_MAJOR, SUBADDRESS_LOOKAHEAD_MINOR. */
export const DEFAULT_LOOKAHEAD: Lookahead = { accounts: 50, addresses: 200 };
/** Entries of a table: some 300 bytes each. */
const MAX_LOOKAHEAD_KEYS = 2_000_000;

/** A look-ahead that is wished for, as far as memory goes; `undefined` where it is none. */
export function checkLookahead(accounts: unknown, addresses: unknown): Lookahead | undefined {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
  if (!isCount(accounts) || !isCount(addresses)) return undefined;
  const most = Math.min(accounts, MAX_LOOKAHEAD_KEYS);
  return { accounts: most, addresses: Math.min(addresses, Math.floor(MAX_LOOKAHEAD_KEYS / most)) };
}

/** A look-ahead that a caller sets; throws WalletRefusal where it is none, or memory would not go as far. */
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

/** As a keys file has it. Source: wallet2.cpp `get_keys_file_data`. */
export function settingsOf({ accounts, addresses }: Lookahead): readonly (readonly [string, number])[] {
  return [
    ["subaddress_lookahead_major", accounts],
    ["subaddress_lookahead_minor", addresses],
  ];
}

/** Keys of addresses `fromMinor …` of one account: 32 bytes each, packed. */
export type KeyRange = { readonly major: number; readonly fromMinor: number; readonly keys: Uint8Array };
/** Addresses `fromMinor ≤ minor < toMinor` of one account that the table lacks. */
export type MissingRange = { readonly major: number; readonly fromMinor: number; readonly toMinor: number };

export type SubaddressTable = {
  /** Index by hex spend public key. */
  readonly byKey: Map<string, SubaddressIndex>;
  /** Number of addresses covered, by account. */
  readonly covered: number[];
  lookahead: Lookahead;
};

export function createSubaddressTable(lookahead: Lookahead = DEFAULT_LOOKAHEAD): SubaddressTable {
  return { byKey: new Map(), covered: [], lookahead };
}

/** What must be added for `index` to be in use with the whole look-ahead beyond it. */
export function missingFor(table: SubaddressTable, index: SubaddressIndex): MissingRange[] {
  const missing: MissingRange[] = [];
  const accounts = Math.max(table.covered.length, clamp(index.major + table.lookahead.accounts));
  for (let major = 0; major < accounts; major++) {
    const fromMinor = table.covered[major] ?? 0;
    const used = major === index.major ? index.minor : 0;
    const toMinor = clamp(used + table.lookahead.addresses);
    if (fromMinor < toMinor) missing.push({ major, fromMinor, toMinor });
  }
  return missing;
}

function clamp(count: number): number {
  return Math.min(count, 0xffff_ffff);
}

/** Ranges must join: an account's next range begins where its last ended. */
export function addRange(table: SubaddressTable, { major, fromMinor, keys }: KeyRange): void {
  const count = keys.length / 32;
  const names = toHex(keys);
  for (let i = 0; i < count; i++) {
    table.byKey.set(names.slice(64 * i, 64 * i + 64), { major, minor: fromMinor + i });
  }
  table.covered[major] = Math.max(table.covered[major] ?? 0, fromMinor + count);
}
