/** Values of any length in the rows of a store, and the rows that a change of them writes. */

import type { Table, WalletKey, WalletRow, WalletStore } from "@anulo/store";
import { LazyMap } from "../packed/lazy-map.ts";
import { DamagedJournal } from "./journal.ts";
import { placesOf, rowKey } from "./ledger-tables.ts";

/** Size (bytes) of one part, below the maximum value of a row. */
const PART_BYTES = 1024 * 1024;

/** Rows to be written in one transaction. */
export type RowChange = { readonly puts: WalletRow[]; readonly deletes: WalletKey[] };

const nameOf = (table: Table, places: readonly number[]): string => `${table.number}/${places.join("/")}`;

export class Cells {
  #change: RowChange = { puts: [], deletes: [] };
  /** Number of parts of the values that have several. */
  readonly #parts = new LazyMap<string, number>();

  /** Stores a value. */
  put(table: Table, places: readonly number[], value: Uint8Array): void {
    const count = Math.max(1, Math.ceil(value.length / PART_BYTES));
    for (let part = 0; part < count; part++) {
      const bytes = value.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      this.#change.puts.push({ table, key: rowKey(places, part), value: bytes });
    }
    this.#dropParts(table, places, count);
  }

  /** Deletes a value. */
  delete(table: Table, places: readonly number[]): void {
    this.#change.deletes.push({ table, key: rowKey(places) });
    this.#dropParts(table, places, 1);
  }

  #dropParts(table: Table, places: readonly number[], count: number): void {
    const name = nameOf(table, places);
    for (let part = count; part < (this.#parts.get(name) ?? 1); part++)
      this.#change.deletes.push({ table, key: rowKey(places, part) });
    if (count > 1) this.#parts.set(name, count);
    else this.#parts.delete(name);
  }

  /** Returns the rows put and deleted since the last call. */
  take(): RowChange {
    const change = this.#change;
    this.#change = { puts: [], deletes: [] };
    return change;
  }

  /** The values of a table from a row on, in key order. Throws `DamagedJournal` if a part is missing. */
  async *read(
    store: WalletStore,
    table: Table,
    from = 0,
  ): AsyncGenerator<{ places: readonly number[]; value: Uint8Array }> {
    let places: readonly number[] = [];
    let parts: Uint8Array[] = [];
    const range = from === 0 ? {} : { from: rowKey([from]) };
    for await (const { key, value } of store.range(table, range)) {
      const row = placesOf(key);
      if (row.part === 0) {
        if (parts.length > 0) yield { places, value: joined(parts) };
        places = row.places;
        parts = [];
      } else this.#parts.set(nameOf(table, places), row.part + 1);
      if (row.part !== parts.length || nameOf(table, row.places) !== nameOf(table, places))
        throw new DamagedJournal("a part of the wallet's store is missing");
      parts.push(value);
    }
    if (parts.length > 0) yield { places, value: joined(parts) };
  }
}

/** Joins the parts of a value, not as a Buffer, since the state is compared and copied as Uint8Array. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const { buffer, byteOffset, length } = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  return new Uint8Array(buffer, byteOffset, length);
}
