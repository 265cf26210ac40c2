/** The tables of a wallet's ledger in a store. */
import type { Table, WalletStore } from "@anulo/store";
import type { ListName, MapName } from "../ledger/touched.ts";

/** Bytes of a row's number in its key: rows are numbered, and read in that order. */
const PLACE_BYTES = 4;
/** Bytes of a part's number, after the row's number: a value longer than a row may be is split into several parts. */
const PART_BYTES = 2;

const inOrder = (number: number, places = 1): Table => ({
  number,
  orderedBytes: places * PLACE_BYTES + PART_BYTES,
});

/** The data that is in neither a list nor a map: one row. */
export const headTable = inOrder(1);
/** Lists of the state, with their numbers; each row has some items. */
export const listTables: { readonly [L in ListName]: Table } = {
  intents: inOrder(4),
  pool: inOrder(5),
  addressBook: inOrder(6),
  frozenBefore: inOrder(7),
  backgroundTransactions: inOrder(8),
};
/** Items per row: a row is rewritten whole when one of them changes. */
export const itemsPerRow: { readonly [L in ListName]: number } = {
  intents: 1,
  pool: 64,
  addressBook: 16,
  frozenBefore: 64,
  backgroundTransactions: 16,
};
/** Packed parts of the state, some hundred items per row: the columns of outputs, what else they have, and receipts. */
export const outputTable = inOrder(9);
export const coldOutputTable = inOrder(10);
export const receiptTable = inOrder(11);
/** Segments of what finds outputs and receipts, by index and number: they follow from these. */
export const segmentTable = inOrder(12, 2);
export const receiptSegmentTable = inOrder(13, 2);
/** Payments by place: packed ones some per row, the others one per row. */
export const packedPaymentTable = inOrder(29);
export const livePaymentTable = inOrder(30);
export const txKeyTable = inOrder(31);
/** Where version 1 had them: 16 items per row of the lists, an entry per row of the maps. */
export const formerTables = {
  outputs: inOrder(2),
  incoming: inOrder(3),
  outgoing: inOrder(20),
  txKeys: inOrder(21),
} as const;
/** Maps of the state, one entry per row, numbered in the order of the map. */
export const mapTables: { readonly [M in MapName]: Table } = {
  accountTags: inOrder(22),
  notes: inOrder(23),
  attributes: inOrder(24),
  coldKeyImages: inOrder(25),
  rings: inOrder(26),
  // If a nonce that has signed can be read again, it reveals the spend key.
  multisigNonces: { ...inOrder(27), isSecret: true },
  multisigInfos: inOrder(28),
};
/** Tags of accounts, and the number of addresses of each: one row per account. */
export const accountTable = inOrder(40);
/** Labels of addresses, some per row, by account and then by index. */
export const labelTable = inOrder(41, 2);
export const LABELS_PER_ROW = 64;
/** Ids of recent blocks, some per row, by height. */
export const recentTable = inOrder(42);
export const IDS_PER_ROW = 128;
/** Events that an event log has not confirmed, in the order of the changes that caused them. */
export const outboxTable = inOrder(50);
/** Rows of a change that is too large for one transaction, until all of them are written. */
export const unfinishedTable = inOrder(60);

export const ledgerTables: readonly Table[] = [
  headTable,
  ...Object.values(listTables),
  ...Object.values(mapTables),
  ...Object.values(formerTables),
  outputTable,
  coldOutputTable,
  receiptTable,
  segmentTable,
  receiptSegmentTable,
  packedPaymentTable,
  livePaymentTable,
  txKeyTable,
  accountTable,
  labelTable,
  recentTable,
  outboxTable,
  unfinishedTable,
];

/** The key of a part of the row with these numbers. */
export function rowKey(places: readonly number[], part = 0): Buffer {
  const key = Buffer.alloc(PLACE_BYTES * places.length + PART_BYTES);
  for (const [i, place] of places.entries()) key.writeUInt32BE(place, PLACE_BYTES * i);
  key.writeUInt16BE(part, PLACE_BYTES * places.length);
  return key;
}

/** The numbers and the part that a key contains. */
export function placesOf(key: Uint8Array): { readonly places: number[]; readonly part: number } {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const places: number[] = [];
  for (let at = 0; at + PLACE_BYTES + PART_BYTES <= key.length; at += PLACE_BYTES)
    places.push(view.getUint32(at));
  return { places, part: view.getUint16(key.length - PART_BYTES) };
}

/** One more than the highest number of a table's rows. */
export async function countRows(store: WalletStore, table: Table): Promise<number> {
  for await (const { key } of store.range(table, { reverse: true, limit: 1 }))
    return placesOf(key).places[0]! + 1;
  return 0;
}
