/** Rows of version 1, which had outputs, receipts, payments and transaction keys as values of their own: read once. */
import type { Table, WalletStore } from "@anulo/store";
import { type NamesRead, readCbor } from "../cbor.ts";
import type { WalletState } from "../state.ts";
import type { Cells } from "./cells.ts";
import { DamagedJournal } from "./journal.ts";
import { countRows, formerTables } from "./ledger-tables.ts";
import { outputOf } from "./output-record.ts";

/** Items of a row of the former lists. */
const ITEMS = 16;

/** Rows between two reports of progress. */
const ROWS_PER_REPORT = 4096;

/** Told of the rows read so far, and of all. */
export type FormerProgress = (rows: number, all: number) => void;

/** Loads the rows of version 1, and deletes them with the next change. Throws `DamagedJournal` if one is missing. */
export async function loadFormer(
  store: WalletStore,
  parts: {
    readonly state: WalletState;
    readonly cells: Cells;
    readonly names: NamesRead;
    readonly onProgress: FormerProgress;
  },
): Promise<void> {
  const { state, cells, names, onProgress } = parts;
  const { outputs, incoming, outgoing, txKeys } = state;
  let [all, done] = [0, 0];
  for (const table of Object.values(formerTables)) all += await countRows(store, table);
  onProgress(0, all);
  const read = async (table: Table, add: (value: unknown, row: number) => void) => {
    for await (const { places, value } of cells.read(store, table)) {
      add(readCbor(value, names), places[0]!);
      cells.delete(table, [places[0]!]);
      if (++done % ROWS_PER_REPORT === 0) onProgress(done, all);
    }
  };
  const inOrder = (length: number, row: number) => {
    if (length !== row * ITEMS) throw new DamagedJournal("rows of the wallet's store are missing");
  };
  await read(formerTables.outputs, (items, row) => {
    inOrder(outputs.count, row);
    for (const item of items as unknown[]) outputs.push(outputOf(item));
  });
  await read(formerTables.incoming, (items, row) => {
    inOrder(incoming.length, row);
    for (const item of items as never[]) incoming.push(item);
  });
  await read(formerTables.outgoing, (entry) => {
    const [id, payment] = entry as [string, never];
    outgoing.set(id, payment);
  });
  await read(formerTables.txKeys, (entry) => {
    const [id, keys] = entry as [string, readonly Uint8Array[]];
    txKeys.set(id, keys);
  });
}
