/** The rows of one wallet, without any database. */
import type { KeyRange, Table, WalletChange, WalletKey, WalletRow, WalletStore } from "@anulo/store";

/** Table and key of a row. */
export const nameOf = ({ table, key }: WalletKey) => `${table.number} ${Buffer.from(key).toString("hex")}`;

/** A store in memory, of which the next changes may fail. */
export class MemoryStore {
  readonly rows = new Map<string, WalletRow>();
  readonly changes: WalletChange[] = [];
  readonly failures: unknown[] = [];
  isClosed = false;

  async apply(change: WalletChange): Promise<void> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    this.changes.push(change);
    for (const row of change.deletes ?? []) this.rows.delete(nameOf(row));
    for (const row of change.puts ?? []) this.rows.set(nameOf(row), row);
  }

  async *range(table: Table, { from = new Uint8Array(0) }: KeyRange = {}): AsyncGenerator<WalletRow> {
    const rows = [...this.rows.values()].filter(
      (row) => row.table.number === table.number && Buffer.compare(row.key, from) >= 0,
    );
    yield* rows.sort((a, b) => Buffer.compare(a.key, b.key));
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** What the class and its users take it for. */
  get store(): WalletStore {
    return this as unknown as WalletStore;
  }
}
