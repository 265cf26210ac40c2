/** The packed parts of a wallet's ledger as rows of a store: outputs, receipts, payments, transaction keys. */

import { wipe } from "@anulo/crypto";
import { Fenced, type Table, type WalletStore } from "@anulo/store";
import { type NamesRead, type Plain, readCbor, writeCbor } from "../cbor.ts";
import { COLD_OUTPUTS, pageOfFormer } from "../outputs/cold-outputs.ts";
import { splitFormerRow } from "../outputs/output-row.ts";
import { LazySet } from "../packed/lazy-map.ts";
import { PAYMENTS_PER_ROW } from "../packed/payments.ts";
import { PAGE_RECEIPTS } from "../packed/receipt-pages.ts";
import { ownedElsewhere, UnreadStore } from "../refusal.ts";
import type { OutgoingPayment, WalletState } from "../state.ts";
import type { Cells } from "./cells.ts";
import { DamagedJournal } from "./journal.ts";
import {
  coldOutputTable,
  livePaymentTable,
  outputTable,
  packedPaymentTable,
  receiptTable,
  rowKey,
  txKeyTable,
} from "./ledger-tables.ts";

const missing = (what: string) => new DamagedJournal(`rows of the wallet's store are missing: ${what}`);

/** Throws `WalletRefusal`: `UnreadStore`, unless another service has opened the wallet. */
function pageNow(store: WalletStore, table: Table, page: number): Uint8Array {
  try {
    const bytes = store.readNow(table, rowKey([page]));
    if (bytes === undefined) throw missing(`table ${table.number}`);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  } catch (error) {
    throw error instanceof Fenced ? ownedElsewhere() : new UnreadStore((error as Error).message);
  }
}

export class PackedRows {
  readonly #state: WalletState;
  readonly #cells: Cells;
  /** Places of the payments that have a row of their own. */
  readonly #live = new LazySet<number>();

  constructor(state: WalletState, cells: Cells) {
    this.#state = state;
    this.#cells = cells;
  }

  /** Puts the rows that have changed since the last call, in steps between which nothing may change. */
  *put(): Generator<void> {
    const { outputs, incoming, outgoing, txKeys } = this.#state;
    yield* this.#putAll(outputTable, outputs.takeChangedRows(), (row) => outputs.rowBytes(row));
    yield* this.#putAll(coldOutputTable, outputs.cold.takeChanged(), (row) => outputs.cold.pageBytes(row));
    yield* this.#putAll(receiptTable, incoming.pages.takeChanged(), (row) => incoming.rowBytes(row));
    yield* this.#putAll(txKeyTable, txKeys.takeChangedRows(), (row) => txKeys.rowBytes(row));
    const places = outgoing.takeChanged();
    const rows = new Set(Array.from(places, (place) => Math.floor(place / PAYMENTS_PER_ROW)));
    yield* this.#putAll(packedPaymentTable, rows, (row) => outgoing.rowBytes(row));
    for (const place of places) {
      yield;
      const payment = outgoing.liveAt(place);
      if (payment !== undefined) {
        this.#live.add(place);
        this.#cells.put(livePaymentTable, [place], writeCbor(payment as unknown as Plain));
      } else if (this.#live.delete(place)) this.#cells.delete(livePaymentTable, [place]);
    }
  }

  *#putAll(
    table: Table,
    rows: Iterable<number>,
    bytesOf: (row: number) => Uint8Array | undefined,
  ): Generator<void> {
    for (const row of rows) {
      yield;
      const bytes = bytesOf(row);
      if (bytes === undefined) this.#cells.delete(table, [row]);
      else this.#cells.put(table, [row], bytes);
    }
  }

  /**
   * Loads the rows; `isFormer`: outputs are in rows of version 2, and have to be written. Throws `DamagedJournal`.
   */
  async load(
    store: WalletStore,
    { names, isFormer }: { readonly names: NamesRead; readonly isFormer: boolean },
  ): Promise<void> {
    const { incoming, outgoing, txKeys } = this.#state;
    if (isFormer) await this.#loadFormerOutputs(store);
    else await this.#loadOutputs(store);
    // Rows that are read when they are needed are counted in already.
    const first = incoming.length / PAGE_RECEIPTS;
    if (store.readsNow) this.#readReceiptsFrom(store);
    await this.#loadAll(store, receiptTable, (bytes) => incoming.addRow(bytes), first);
    await this.#loadAll(store, txKeyTable, (bytes) => {
      txKeys.addRow(bytes);
      wipe(bytes);
    });
    for await (const { places, value } of this.#cells.read(store, packedPaymentTable))
      outgoing.addRow(places[0]!, value);
    for await (const { places, value } of this.#cells.read(store, livePaymentTable)) {
      outgoing.addLive(places[0]!, readCbor(value, names) as unknown as OutgoingPayment);
      this.#live.add(places[0]!);
    }
  }

  async #loadOutputs(store: WalletStore): Promise<void> {
    const { outputs } = this.#state;
    await this.#loadAll(store, outputTable, (bytes) => outputs.addRow(bytes));
    const { cold, count } = outputs;
    const countOf = (page: number) => Math.min(COLD_OUTPUTS, count - page * COLD_OUTPUTS);
    if (store.readsNow) {
      cold.readFrom((page) => pageNow(store, coldOutputTable, page));
      for (let page = 0; page * COLD_OUTPUTS < count; page++) cold.addWritten(page, { count: countOf(page) });
    } else {
      let next = 0;
      await this.#loadAll(store, coldOutputTable, (bytes) => {
        cold.addWritten(next, { count: countOf(next), bytes });
        next += 1;
      });
      if (countOf(next) > 0) throw missing("outputs");
    }
  }

  async #loadFormerOutputs(store: WalletStore): Promise<void> {
    const { outputs } = this.#state;
    for await (const { places, value } of this.#cells.read(store, outputTable)) {
      const { row, keys } = splitFormerRow(value);
      const rest = await store.read(coldOutputTable, rowKey(places));
      if (rest === undefined) throw missing("outputs");
      const count = outputs.addRow(row);
      outputs.cold.addWritten(places[0]!, { count, bytes: pageOfFormer(rest, keys) });
    }
    outputs.changeAll();
  }

  /** Reads a table whose rows are numbered without a gap. */
  async #loadAll(
    store: WalletStore,
    table: Table,
    add: (bytes: Uint8Array) => void,
    first = 0,
  ): Promise<void> {
    let next = first;
    for await (const { places, value } of this.#cells.read(store, table, first)) {
      if (places[0] !== next++) throw missing(`table ${table.number}`);
      add(value);
    }
  }

  /** Tells that all rows put so far are in the store; where it can, what is seldom needed is read there from now on. */
  written(store: WalletStore): void {
    const { cold } = this.#state.outputs;
    if (store.readsNow) {
      cold.readFrom((page) => pageNow(store, coldOutputTable, page));
      this.#readReceiptsFrom(store);
    }
    cold.written();
    this.#state.incoming.pages.written();
  }

  #readReceiptsFrom(store: WalletStore): void {
    this.#state.incoming.pages.readFrom((page) => pageNow(store, receiptTable, page));
  }
}
