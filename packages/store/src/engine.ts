/**
 * The database interface of the store: rows of bytes, separate for each wallet, changed all or nothing by the wallet's
 * one owner. Engines see no key and no value in plain text; `wallet-store.ts`, above them, encrypts.
 */

/** 16 bytes that identify a wallet, in every table of every engine. */
export type WalletId = Uint8Array;

/** The number of a wallet's table, 0 to 254. */
export type TableNumber = number;

/** The place of a row: keys are 1 to `MAX_KEY_BYTES` bytes, ordered byte by byte. */
export interface RowKey {
  readonly table: TableNumber;
  readonly key: Uint8Array;
}

/** A row of a change: values are 0 to `MAX_VALUE_BYTES` bytes. */
export interface NewRow extends RowKey {
  readonly value: Uint8Array;
}

/** A row as it was read. */
export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A change of a wallet's rows in one step: first the deletes, then the puts. Deleting a missing row is allowed. */
export interface Change {
  /** The epoch that `fence` returned to the writer. */
  readonly epoch: number;
  /** Number of the wallet's last change as its writer knows it; if left out, it is not compared. */
  readonly after?: number;
  readonly puts: readonly NewRow[];
  readonly deletes: readonly RowKey[];
}

/** Rows of a table from `from` (inclusive) to `to` (exclusive), backwards when `reverse`, `limit` at most. */
export interface KeyRange {
  readonly from?: Uint8Array;
  readonly to?: Uint8Array;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** The position in a wallet's history: later owners have later epochs, and each change has the next sequence number. */
export interface Mark {
  readonly epoch: number;
  readonly sequence: number;
}

/** A database that holds the rows of many wallets. */
export interface Engine {
  /**
   * Acquires ownership of a wallet: returns its next epoch, above `above`, and the number of its last change. From then
   * on the engine refuses every change of an earlier epoch.
   */
  fence(wallet: WalletId, above?: number): Promise<Mark>;
  /** Current epoch and sequence; undefined for a wallet that was never fenced. */
  markOf(wallet: WalletId): Promise<Mark | undefined>;
  /**
   * Applies a change, all of it or nothing, and returns its sequence number once it survives a loss of power. Changes
   * of a wallet are applied in the order of the calls. Throws `Fenced`, `RolledBack`, `ChangeTooLarge`,
   * `StoreUnavailable` (nothing was applied) or `OutcomeUnknown`.
   */
  apply(wallet: WalletId, change: Change): Promise<number>;
  /** The value of a row; undefined if there is none. */
  read(wallet: WalletId, row: RowKey): Promise<Uint8Array | undefined>;
  /** The same at once, in engines that need not wait for it. */
  readNow?(wallet: WalletId, row: RowKey): Uint8Array | undefined;
  /**
   * The first rows of a range, from one state of the database: all of it, or as many as a page holds (`MAX_PAGE_ROWS`,
   * `MAX_PAGE_BYTES`), and at least one. `rangeOf` reads a range page by page.
   */
  page(wallet: WalletId, table: TableNumber, range: KeyRange): Promise<Page>;
  /**
   * The mark and all rows of a wallet, by table and key, from one state of the database, in engines in which each read is
   * a round trip; `rows` is undefined where they are more than one answer should have.
   */
  readAhead?(wallet: WalletId): Promise<WalletRows>;
  /** Drops the rows that were read ahead (`readingAhead`), if there are any: later reads are of the present state. */
  forget?(): void;
  /** All rows of a wallet in the database's present state, however it changes meanwhile; undefined if there are none. */
  snapshot(wallet: WalletId): Promise<WalletSnapshot | undefined>;
  /** Refuses later calls, and resolves once earlier calls have settled. */
  close(): Promise<void>;
}

/** All rows of a wallet that has few, and its mark, of one state of its database. */
export interface WalletRows {
  /** Undefined for a wallet that was never fenced. */
  readonly mark: Mark | undefined;
  readonly rows: readonly NewRow[] | undefined;
}

/** A state of a wallet's rows, which the database keeps until it is closed: it should be read soon. */
export interface WalletSnapshot {
  readonly mark: Mark;
  /** By table and key, as many at once as a page holds; to be read once. */
  readonly pages: AsyncIterable<readonly NewRow[]>;
  close(): Promise<void>;
}

export interface Page {
  readonly rows: readonly Row[];
  /** Whether the range ends here. */
  readonly isLast: boolean;
}

export const WALLET_ID_BYTES = 16;
export const MAX_TABLE_NUMBER = 254;
export const MAX_KEY_BYTES = 255;
export const MAX_VALUE_BYTES = 4 * 1024 * 1024;
/** Limits of one change; the writer divides larger ones, at places where each part is consistent. */
export const MAX_CHANGE_ROWS = 8192;
export const MAX_CHANGE_BYTES = 16 * 1024 * 1024;
export const MAX_PAGE_ROWS = 256;
export const MAX_PAGE_BYTES = 1024 * 1024;
