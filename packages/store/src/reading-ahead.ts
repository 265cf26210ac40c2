import { checkRowKey, checkWallet } from "./check-change.ts";
import type { Change, Engine, KeyRange, Mark, NewRow, Page, Row, RowKey, WalletId } from "./engine.ts";
import { pageOf } from "./page.ts";

/** The rows of a wallet by table, in key order, of the state with this mark. */
type Ahead = { mark: Mark | undefined; readonly tables: ReadonlyMap<number, readonly Row[]> | undefined };

function byTable(rows: readonly NewRow[] | undefined): Ahead["tables"] {
  if (rows === undefined) return undefined;
  const tables = new Map<number, Row[]>();
  for (const { table, key, value } of rows) {
    const held = tables.get(table);
    if (held === undefined) tables.set(table, [{ key, value }]);
    else held.push({ key, value });
  }
  return tables;
}

function* within(rows: readonly Row[], { from, to, reverse = false }: KeyRange): Generator<Row> {
  const at = (i: number) => rows[reverse ? rows.length - 1 - i : i]!;
  for (let i = 0; i < rows.length; i++) {
    const row = at(i);
    const isBelow = from !== undefined && Buffer.compare(row.key, from) < 0;
    const isAbove = to !== undefined && Buffer.compare(row.key, to) >= 0;
    if (!isBelow && !isAbove) yield row;
  }
}

/**
 * An engine for opening one wallet: where the database reads ahead, all rows are read at once and reads are answered from
 * them, until the wallet is changed or `forget` is called. They are those of one state of the database, which is still
 * the present one once the wallet is fenced, if no change has come in between: otherwise they are read once more.
 */
export function readingAhead(engine: Engine, wallet: WalletId): Engine {
  checkWallet(wallet);
  const { readAhead } = engine;
  return readAhead === undefined ? engine : new ReadingAhead(engine, readAhead, wallet);
}

class ReadingAhead implements Engine {
  readonly #engine: Engine;
  readonly #readAhead: NonNullable<Engine["readAhead"]>;
  readonly #wallet: Buffer;
  #ahead: Promise<Ahead> | undefined;
  #isOver = false;

  constructor(engine: Engine, readAhead: NonNullable<Engine["readAhead"]>, wallet: WalletId) {
    this.#engine = engine;
    this.#readAhead = readAhead;
    this.#wallet = Buffer.from(wallet);
  }

  async fence(wallet: WalletId, above?: number): Promise<Mark> {
    const ahead = await this.#aheadOf(wallet);
    const mark = await this.#engine.fence(wallet, above);
    // Each change has a number, and none of an earlier owner comes after this.
    if (ahead !== undefined && (ahead.mark?.sequence ?? 0) === mark.sequence) ahead.mark = mark;
    else this.#ahead = undefined;
    return mark;
  }

  async markOf(wallet: WalletId): Promise<Mark | undefined> {
    const ahead = await this.#aheadOf(wallet);
    return ahead === undefined ? await this.#engine.markOf(wallet) : ahead.mark;
  }

  apply(wallet: WalletId, change: Change): Promise<number> {
    if (this.#wallet.equals(wallet)) this.forget();
    return this.#engine.apply(wallet, change);
  }

  async read(wallet: WalletId, row: RowKey): Promise<Uint8Array | undefined> {
    checkRowKey(row);
    const tables = (await this.#aheadOf(wallet))?.tables;
    if (tables === undefined) return await this.#engine.read(wallet, row);
    return tables.get(row.table)?.find(({ key }) => Buffer.compare(key, row.key) === 0)?.value;
  }

  async page(wallet: WalletId, table: number, range: KeyRange): Promise<Page> {
    const tables = (await this.#aheadOf(wallet))?.tables;
    if (tables === undefined) return await this.#engine.page(wallet, table, range);
    return pageOf(within(tables.get(table) ?? [], range), range.limit);
  }

  snapshot(wallet: WalletId): ReturnType<Engine["snapshot"]> {
    return this.#engine.snapshot(wallet);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  forget(): void {
    this.#isOver = true;
    this.#ahead = undefined;
  }

  async #aheadOf(wallet: WalletId): Promise<Ahead | undefined> {
    if (this.#isOver || !this.#wallet.equals(wallet)) return undefined;
    this.#ahead ??= this.#readAhead(wallet).then(({ mark, rows }) => ({ mark, tables: byTable(rows) }));
    const ahead = this.#ahead;
    // One that failed is asked for again by the next reader.
    void ahead.catch(() => {
      if (this.#ahead === ahead) this.#ahead = undefined;
    });
    const found = await ahead;
    return this.#isOver ? undefined : found;
  }
}
