/** The table of a wallet's addresses: of marks, or of whole keys for wallets with very many addresses. */
import { subaddressSpendPublicKeys, type ViewKeys } from "@anulo/crypto";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { AddressMarks, fitsMarks, reserveMarks, type SharedMarks } from "./address-marks.ts";
import type { AddressRange, Lookahead } from "./address-runs.ts";
import { SubaddressTable } from "./subaddress-table.ts";

export type AddressTable = AddressMarks | SubaddressTable;

/** Memory for the marks of a wallet with these addresses in use; undefined if a table of whole keys serves it better. */
export function marksFor(used: readonly SubaddressIndex[], lookahead: Lookahead): SharedMarks | undefined {
  return fitsMarks(used, lookahead) ? reserveMarks(used, lookahead) : undefined;
}

export function createAddresses(
  keys: ViewKeys,
  lookahead: Lookahead,
  marks: SharedMarks | undefined,
): AddressTable {
  return marks === undefined ? new SubaddressTable(lookahead) : new AddressMarks(keys, lookahead, marks);
}

/** Computes addresses and adds them; returns what another thread needs to add them too, beside the range. */
export function extendAddresses(
  table: AddressTable,
  keys: ViewKeys,
  range: AddressRange,
): Uint8Array | SharedMarks | undefined {
  if (table instanceof AddressMarks) return table.extend(range);
  const spendKeys = subaddressSpendPublicKeys({ keys, ...range });
  table.add({ ...range, keys: spendKeys });
  return spendKeys;
}

/** Adds addresses that another thread has computed. */
export function adoptAddresses(
  table: AddressTable,
  range: AddressRange,
  added: Uint8Array | SharedMarks | undefined,
): void {
  if (table instanceof AddressMarks) table.adopt(range, added as SharedMarks | undefined);
  else table.add({ ...range, keys: added as Uint8Array });
}
