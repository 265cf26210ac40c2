/**
 * What the store asks of a database: rows of bytes, kept apart by wallet, changed all or nothing by the one owner a
 * wallet has. Engines see no key and no value in the clear; the sealing is above them (`wallet-store.ts`).
 */

/** 16 bytes that name a wallet, in every table of every engine. */
export type WalletId = Uint8Array;

/** Tables of a wallet are numbered, 0 to 254. */
export type TableNumber = number;

/** Where a row is: keys are 1 to `MAX_KEY_BYTES` bytes, ordered byte by byte. */
export interface RowKey {
  readonly table: TableNumber;
  readonly key: Uint8Array;
}

/** A row of a change: values are up to `MAX_VALUE_BYTES` bytes, also none. */
export interface NewRow extends RowKey {
  readonly value: Uint8Array;
}

/** A row as it was read. */
export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** What becomes of a wallet's rows in one step: first the deletes, then the puts. A missing row may be deleted. */
export interface Change {
  /** The epoch its writer got from `fence`. */
  readonly epoch: number;
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

/** How far a wallet's history has come: later ownerships have later epochs, each change the next sequence number. */
export interface Mark {
  readonly epoch: number;
  readonly sequence: number;
}

/** A database that holds the rows of many wallets. */
export interface Engine {
  /**
   * Takes ownership of a wallet: returns its next epoch, above `above`, and the number of its last change. From then
   * on the engine refuses every change of an earlier epoch.
   */
  fence(wallet: WalletId, above?: number): Promise<Mark>;
  /** Epoch and sequence as they are; undefined for a wallet that was never fenced. */
  markOf(wallet: WalletId): Promise<Mark | undefined>;
  /**
   * Applies a change, all of it or nothing, and returns its sequence number once it survives a loss of power. Changes
   * of a wallet are applied in the order of the calls. Throws `Fenced`, `ChangeTooLarge`, `StoreUnavailable` (nothing
   * was applied) or `OutcomeUnknown`.
   */
  apply(wallet: WalletId, change: Change): Promise<number>;
  /** The value of a row; undefined where there is none. */
  read(wallet: WalletId, row: RowKey): Promise<Uint8Array | undefined>;
  /**
   * The first rows of a range, from one state of the database: all of it, or as many as a page holds
   * (`MAX_PAGE_ROWS`, `MAX_PAGE_BYTES`), and one at least. `rangeOf` walks page by page.
   */
  page(wallet: WalletId, table: TableNumber, range: KeyRange): Promise<Page>;
  /** Refuses what comes after, and resolves once what came before has settled. */
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
/** Of one change; larger ones are for their writer to divide, at places where each part is consistent. */
export const MAX_CHANGE_ROWS = 8192;
export const MAX_CHANGE_BYTES = 16 * 1024 * 1024;
export const MAX_PAGE_ROWS = 256;
export const MAX_PAGE_BYTES = 1024 * 1024;
