import { mapSliced } from "@anulo/limits";
import type { Change, Engine, KeyRange, Mark, Row, WalletId } from "../engine.ts";
import { DamagedStore, Fenced, OutcomeUnknown, RolledBack, StoreUnavailable } from "../errors.ts";
import { rangeOf } from "../range.ts";
import { nextDataKeyRow, wrapDataKey } from "./data-key.ts";
import type { KeySlot, KeySlots, SlotReference } from "./key-slots.ts";
import { epochOf, RowSealer, slotOf } from "./rows.ts";
import { keyedHash } from "./seal.ts";
import { RowKeys, type Table } from "./tables.ts";
import { wipe } from "./wipe.ts";
import type { Witness } from "./witness.ts";

/** Whether a wallet has to be opened again after an error of its engine. */
const isFinal = (error: unknown): error is Error =>
  error instanceof Fenced || error instanceof RolledBack || error instanceof OutcomeUnknown;

/** The place of a wallet's row. */
export interface WalletKey {
  readonly table: Table;
  readonly key: Uint8Array;
}

/** A row for a wallet. */
export interface WalletRow extends WalletKey {
  readonly value: Uint8Array;
}

/** A change of a wallet's rows in one step: first the deletes, then the puts. Deleting a missing row is allowed. */
export interface WalletChange {
  readonly puts?: readonly WalletRow[];
  readonly deletes?: readonly WalletKey[];
}

export interface WalletStoreParts {
  readonly engine: Engine;
  readonly wallet: WalletId;
  /** The mark of this ownership. */
  readonly mark: Mark;
  /** 32 bytes; wiped when the store is closed. */
  readonly dataKey: Buffer;
  readonly slots: KeySlots;
  readonly witness: Witness;
  /** Why nothing can be written, for a reader that does not own the wallet; undefined for its owner. */
  readonly unwritable?: Error | undefined;
}

/**
 * The rows of one wallet, for its owner: they are encrypted before they reach the engine, so that a reader of the
 * engine sees only what docs/store.md lists.
 */
export class WalletStore {
  readonly #parts: WalletStoreParts;
  readonly #subkeys: { readonly values: Buffer; readonly keys: Buffer };
  readonly #keys: RowKeys;
  readonly #sealer: RowSealer;
  #mark: Mark;
  #last: Promise<void> = Promise.resolve();
  #ended: Error | undefined;
  #isClosed = false;

  constructor(parts: WalletStoreParts) {
    this.#parts = parts;
    this.#mark = parts.mark;
    this.#subkeys = {
      values: keyedHash(parts.dataKey, "values"),
      keys: keyedHash(parts.dataKey, "row keys"),
    };
    this.#keys = new RowKeys(this.#subkeys.keys);
    this.#sealer = new RowSealer({ wallet: parts.wallet, key: this.#subkeys.values, keys: this.#keys });
  }

  /** Whether nothing can be written, and rows of secret tables read as deleted. */
  get isForReading(): boolean {
    return this.#parts.unwritable !== undefined;
  }

  /** Epoch of this ownership, and number of the last change. */
  get mark(): Mark {
    return this.#mark;
  }

  /**
   * Applies a change, all of it or nothing; once this resolves it survives a loss of power, and what it deleted from
   * secret tables, or replaced there, is destroyed. Changes are applied one after another; if one fails, those that
   * wait behind it fail too. Throws `Fenced`, `RolledBack`, `ChangeTooLarge`, `StoreUnavailable` (nothing was applied)
   * or `OutcomeUnknown`; after that, `Fenced` and `RolledBack` the store has to be opened again.
   */
  async apply(change: WalletChange): Promise<void> {
    await this.#inTurn(() => this.#apply(change));
  }

  /** The value of a row; undefined if there is none. Throws `DamagedStore`. */
  async read(table: Table, key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#checkOpen();
    const hidden = this.#keys.hide(table, key);
    const value = await this.#parts.engine.read(this.#parts.wallet, { table: table.number, key: hidden });
    if (value === undefined) return undefined;
    const row = await this.#unseal(table, { key: hidden, value });
    // Two keys have the same hash.
    if (row !== undefined && Buffer.compare(row.key, key) !== 0)
      throw new DamagedStore("a row has another's key");
    return row?.value;
  }

  /** Whether `readNow` can read. */
  get readsNow(): boolean {
    return this.#parts.engine.readNow !== undefined;
  }

  /**
   * The value of a row of a table that is not secret, at once. Throws `DamagedStore`, and `Fenced` if another owner has
   * written the row.
   */
  readNow(table: Table, key: Uint8Array): Uint8Array | undefined {
    const { engine, wallet } = this.#parts;
    if (table.isSecret === true || engine.readNow === undefined)
      throw new TypeError(`rows of table ${table.number} can't be read at once`);
    this.#checkOpen();
    const hidden = this.#keys.hide(table, key);
    const value = engine.readNow(wallet, { table: table.number, key: hidden });
    if (value === undefined) return undefined;
    const row = this.#sealer.unseal(table, { key: hidden, value });
    if (Buffer.compare(row.key, key) !== 0) throw new DamagedStore("a row has another's key");
    const epoch = epochOf(value);
    if (epoch > this.#mark.epoch) throw new Fenced(this.#mark.epoch, epoch);
    return row.value;
  }

  /**
   * Reads a range of a table, some hundred rows at a time, each as it is when it is read: in order of the bytes that
   * the table keeps in order, which are the only possible bounds, within one group. Throws a RangeError for other
   * bounds, and `DamagedStore`.
   */
  async *range(table: Table, range: KeyRange = {}): AsyncGenerator<Row, void> {
    this.#checkOpen();
    const { engine, wallet } = this.#parts;
    const hidden = { ...this.#keys.hideRange(table, range), table: table.number };
    for await (const row of rangeOf(engine, wallet, hidden)) {
      const unsealed = await this.#unseal(table, row);
      if (unsealed !== undefined) yield unsealed;
    }
  }

  /** To be called once what opening the wallet needs is read: rows that were read ahead for it are dropped. */
  endOpening(): void {
    this.#parts.engine.forget?.();
  }

  /**
   * Wraps the data key by another key (32 bytes) from now on. Engines keep old bytes for a while: with the former key
   * and a copy of those bytes it can still be unwrapped.
   */
  async wrapBy(key: Uint8Array): Promise<void> {
    await this.#wrap(key, { isNext: false });
  }

  /**
   * Lets another key (32 bytes) open the store as well, until `wrapBy` or the next opening ends that: the source of the
   * key may change elsewhere in between, and after a crash the store opens with either key.
   */
  async wrapAlsoBy(key: Uint8Array): Promise<void> {
    await this.#wrap(key, { isNext: true });
  }

  async #wrap(key: Uint8Array, { isNext }: { readonly isNext: boolean }): Promise<void> {
    const { dataKey, wallet } = this.#parts;
    await this.#inTurn(async () => {
      const deletes = isNext ? [] : [nextDataKeyRow];
      await this.#write({ puts: [wrapDataKey(dataKey, { key, wallet, isNext })], deletes });
      this.#note();
    });
  }

  /** Waits for the changes under way and wipes the keys. The engine remains open. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#last.catch(() => {});
    try {
      if (this.#ended === undefined && !this.isForReading) await this.#parts.witness.keep(this.#mark);
    } finally {
      this.#ended ??= new StoreUnavailable("the wallet's store is closed");
      wipe(this.#parts.dataKey, this.#subkeys.values, this.#subkeys.keys);
      await this.#parts.slots.close();
    }
  }

  /** The change is applied even if the witness cannot be written, which is then behind. */
  #note(): void {
    try {
      this.#parts.witness.note(this.#mark);
    } catch {
      // It is written with the next change, or when the store is closed.
    }
  }

  async #inTurn(step: () => Promise<void>): Promise<void> {
    if (this.#isClosed) throw new StoreUnavailable("the wallet's store is closed");
    if (this.#parts.unwritable !== undefined) throw this.#parts.unwritable;
    const attempt = this.#last.then(step, (cause: unknown) => {
      throw this.#ended ?? new StoreUnavailable("a change before it failed", { cause });
    });
    this.#last = attempt;
    try {
      await attempt;
    } finally {
      if (this.#last === attempt) this.#last = Promise.resolve();
    }
  }

  #checkOpen(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Opens a row; undefined if its key was destroyed: it counts as deleted. */
  async #unseal(table: Table, row: Row): Promise<Row | undefined> {
    // The store may have been closed while the row was read, and its keys wiped.
    this.#checkOpen();
    if (table.isSecret !== true) return this.#sealer.unseal(table, row);
    const rowKey = await this.#parts.slots.read(slotOf(row.value));
    if (rowKey === undefined) return undefined;
    try {
      this.#checkOpen();
      return this.#sealer.unseal(table, row, rowKey);
    } finally {
      wipe(rowKey);
    }
  }

  async #apply({ puts = [], deletes = [] }: WalletChange): Promise<void> {
    this.#checkOpen();
    const { slots } = this.#parts;
    const former = await this.#slotsUnder([...puts, ...deletes]);
    const taken = await slots.take(puts.filter(({ table }) => table.isSecret).length);
    try {
      await this.#write({ puts: await this.#seal(puts, taken), deletes: this.#hide(deletes) });
    } catch (error) {
      // If the outcome is unknown, the rows may need them; the next opening destroys those that no row needs.
      if (!(error instanceof OutcomeUnknown)) await slots.destroy(taken.map(({ reference }) => reference));
      throw error;
    }
    await this.#destroy(former);
    this.#note();
  }

  async #write(change: Omit<Change, "epoch">): Promise<void> {
    const { engine, wallet } = this.#parts;
    const { epoch, sequence } = this.#mark;
    try {
      const next = await engine.apply(wallet, { ...change, epoch, after: sequence });
      this.#mark = { epoch, sequence: next };
    } catch (error) {
      if (isFinal(error)) this.#ended = error;
      throw error;
    }
  }

  /** The slots of the secret rows that a change deletes or replaces. */
  async #slotsUnder(keys: readonly WalletKey[]): Promise<SlotReference[]> {
    const found: SlotReference[] = [];
    for (const { table, key } of keys) {
      if (table.isSecret !== true) continue;
      const row = { table: table.number, key: this.#keys.hide(table, key) };
      const value = await this.#parts.engine.read(this.#parts.wallet, row);
      if (value !== undefined) found.push(slotOf(value));
    }
    return found;
  }

  async #destroy(former: readonly SlotReference[]): Promise<void> {
    try {
      await this.#parts.slots.destroy(former);
    } catch (cause) {
      this.#ended = new OutcomeUnknown("what was deleted may still be on disk", { cause });
      throw this.#ended;
    }
  }

  async #seal(puts: readonly WalletRow[], taken: readonly KeySlot[]) {
    const { epoch } = this.#mark;
    let used = 0;
    return await mapSliced(puts, ({ table, ...row }) => {
      const slot = table.isSecret === true ? taken[used++] : undefined;
      const sealed = this.#sealer.seal(table, row, { epoch, slot });
      wipe(slot?.rowKey);
      return sealed;
    });
  }

  #hide(deletes: readonly WalletKey[]) {
    return deletes.map(({ table, key }) => ({ table: table.number, key: this.#keys.hide(table, key) }));
  }
}
