/** Values of any length in the rows of a store, and the rows that a change of them makes. */
import type { Table, WalletKey, WalletRow, WalletStore } from "@anulo/store";
import { DamagedJournal } from "./journal.ts";
import { placesOf, rowKey } from "./ledger-tables.ts";

/** Below the longest value of a row. */
const PART_BYTES = 1024 * 1024;

/** Rows to be written in one step. */
export type RowChange = { readonly puts: WalletRow[]; readonly deletes: WalletKey[] };

const nameOf = (table: Table, places: readonly number[]): string => `${table.number}/${places.join("/")}`;

export class Cells {
  #change: RowChange = { puts: [], deletes: [] };
  /** Parts of the values that have several. */
  readonly #parts = new Map<string, number>();

  /** Puts a value in its place. */
  put(table: Table, places: readonly number[], value: Uint8Array): void {
    const count = Math.max(1, Math.ceil(value.length / PART_BYTES));
    for (let part = 0; part < count; part++) {
      const bytes = value.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      this.#change.puts.push({ table, key: rowKey(places, part), value: bytes });
    }
    this.#dropParts(table, places, count);
  }

  /** Deletes the value of a place. */
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

  /** What was put and deleted since it was last taken. */
  take(): RowChange {
    const change = this.#change;
    this.#change = { puts: [], deletes: [] };
    return change;
  }

  /** The values of a table, in order of their places. Throws `DamagedJournal` where a part is missing. */
  async *read(
    store: WalletStore,
    table: Table,
  ): AsyncGenerator<{ places: readonly number[]; value: Uint8Array }> {
    let places: readonly number[] = [];
    let parts: Uint8Array[] = [];
    for await (const { key, value } of store.range(table)) {
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

/** One value of its parts, no Buffer, which state is compared and copied with. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const { buffer, byteOffset, length } = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  return new Uint8Array(buffer, byteOffset, length);
}
