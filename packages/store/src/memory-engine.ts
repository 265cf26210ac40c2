import { checkRowKey, checkWallet, markAfter } from "./check-change.ts";
import {
  type Change,
  type Engine,
  type KeyRange,
  MAX_PAGE_ROWS,
  type Mark,
  type Row,
  type RowKey,
  type TableNumber,
  type WalletId,
} from "./engine.ts";
import { GroupCommit, type Outcome, type Waiting } from "./group-commit.ts";
import { pageOf } from "./page.ts";

/** Each byte becomes a character, so that strings have the order of their bytes. */
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));

class Table {
  readonly #rows = new Map<string, Uint8Array>();
  #sorted: readonly string[] | undefined;

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#rows.get(textOf(key))?.slice();
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#rows.set(textOf(key), value);
    this.#sorted = undefined;
  }

  delete(key: Uint8Array): void {
    if (this.#rows.delete(textOf(key))) this.#sorted = undefined;
  }

  *rowsIn({ from, to, reverse = false }: KeyRange): Generator<Row> {
    this.#sorted ??= [...this.#rows.keys()].sort((a, b) => (a < b ? -1 : 1));
    const [start, end] = [from && textOf(from), to && textOf(to)];
    const found = this.#sorted.filter(
      (key) => (start === undefined || key >= start) && (end === undefined || key < end),
    );
    for (const key of reverse ? found.reverse() : found) {
      yield { key: bytesOf(key), value: this.#rows.get(key)!.slice() };
    }
  }
}

interface Wallet {
  mark: Mark;
  readonly tables: Map<TableNumber, Table>;
}

function applyTo(wallet: Wallet | undefined, change: Change): Outcome {
  const { puts, deletes } = change;
  const next = markAfter(wallet?.mark, change);
  if (wallet === undefined || next instanceof Error) return next as Error;
  const tableOf = (number: TableNumber) => {
    const table = wallet.tables.get(number) ?? new Table();
    wallet.tables.set(number, table);
    return table;
  };
  // All of it is read before any of it is written.
  const rows = puts.map(({ table, key, value }) => ({ table, key, value: value.slice() }));
  for (const { table, key } of deletes) tableOf(table).delete(key);
  for (const { table, key, value } of rows) tableOf(table).put(key, value);
  wallet.mark = next;
  return next.sequence;
}

/** An engine for tests: all data is lost when it is closed; reading a range costs as much as its table is long. */
export function createMemoryEngine(): Engine {
  const wallets = new Map<string, Wallet>();
  const commit = async (group: readonly Waiting[]) =>
    group.map(({ wallet, change }) => applyTo(wallets.get(textOf(wallet)), change));
  const changes = new GroupCommit(commit);
  const readNow = (id: WalletId, row: RowKey) => {
    checkRowKey(row);
    changes.checkOpen();
    return wallets.get(textOf(id))?.tables.get(row.table)?.get(row.key);
  };
  return {
    async fence(id, above = 0) {
      checkWallet(id);
      changes.checkOpen();
      const wallet = wallets.get(textOf(id)) ?? { mark: { epoch: 0, sequence: 0 }, tables: new Map() };
      wallets.set(textOf(id), wallet);
      wallet.mark = { ...wallet.mark, epoch: Math.max(wallet.mark.epoch, above) + 1 };
      return wallet.mark;
    },
    async markOf(id) {
      changes.checkOpen();
      return wallets.get(textOf(id))?.mark;
    },
    apply: (wallet, change) => changes.submit(wallet, change),
    readNow,
    read: async (id, row) => readNow(id, row),
    async page(id, number, range) {
      changes.checkOpen();
      const table = wallets.get(textOf(id))?.tables.get(number);
      return pageOf(table?.rowsIn(range) ?? [], range.limit);
    },
    async snapshot(id) {
      changes.checkOpen();
      const wallet = wallets.get(textOf(id));
      if (wallet === undefined) return undefined;
      const rows = [...wallet.tables]
        .sort(([a], [b]) => a - b)
        .flatMap(([table, held]) => [...held.rowsIn({})].map((row) => ({ table, ...row })));
      async function* pages() {
        for (let at = 0; at < rows.length; at += MAX_PAGE_ROWS) yield rows.slice(at, at + MAX_PAGE_ROWS);
      }
      return { mark: wallet.mark, pages: pages(), close: async () => {} };
    },
    close: () => changes.close(),
  };
}
