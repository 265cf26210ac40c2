/**
 * A wallet's ledger as the rows of a store: which rows a change of it writes, and how the ledger is loaded from them.
 */

import { runSliced } from "@anulo/limits";
import type { WalletStore } from "@anulo/store";
import { type NamesRead, type Plain, readCbor, writeCbor } from "../cbor.ts";
import type { OutboxSpan } from "../events/outbox.ts";
import { createLedger, indexLedger, type Ledger } from "../ledger/ledger.ts";
import type { ListName, MapName } from "../ledger/touched.ts";
import { append } from "../lists.ts";
import { LazyMap } from "../packed/lazy-map.ts";
import type { Account, NetworkName, WalletSettings, WalletState } from "../state.ts";
import { Cells, type RowChange } from "./cells.ts";
import { type FormerProgress, loadFormer } from "./former-rows.ts";
import { type IndexHead, IndexRows, NO_INDICES } from "./index-rows.ts";
import { DamagedJournal, unreadableVersion } from "./journal.ts";
import {
  accountTable,
  headTable,
  IDS_PER_ROW,
  itemsPerRow,
  LABELS_PER_ROW,
  labelTable,
  listTables,
  mapTables,
  recentTable,
} from "./ledger-tables.ts";
import { OutboxRows } from "./outbox-rows.ts";
import { PackedRows } from "./packed-rows.ts";

/** Version 1 had no packed rows; in version 2 the keys of outputs were with what choices of inputs need. */
const FORMAT_VERSION = 3;
const ID_BYTES = 32;

const listNames = Object.keys(listTables) as ListName[];
const mapNames = Object.keys(mapTables) as MapName[];

type List = {
  readonly length: number;
  push(item: unknown): unknown;
  slice(from: number, to: number): unknown[];
};

/** The list of the state with a name; empty for background transactions if no background scan is under way. */
const listOf = (state: WalletState, name: ListName): List =>
  name === "backgroundTransactions" ? (state.background?.transactions ?? []) : (state[name] as List);

/** The parts of a state that are in no list, map or account. */
function headOf(state: WalletState, outbox: OutboxSpan, indices: IndexHead) {
  const { recent, background, outputs, incoming, intents, pool, addressBook, frozenBefore, ...others } =
    state;
  const { accounts, outgoing, txKeys, accountTags, notes, attributes, ...others2 } = others;
  const { coldKeyImages, rings, multisigNonces, multisigInfos, ...head } = others2;
  return {
    version: FORMAT_VERSION,
    outbox,
    indices,
    recentOffset: recent.offset,
    recentCount: recent.length,
    background: background && { ...background, transactions: [] },
    ...head,
  };
}

/** Rows of earlier programs have no outbox, and no indices; an earlier program that goes on from ours leaves its span as it is. */
type Head = Omit<ReturnType<typeof headOf>, "outbox" | "indices"> & {
  readonly outbox?: OutboxSpan;
  readonly indices?: IndexHead;
};

export type LoadOptions = {
  readonly network: NetworkName;
  readonly settings: WalletSettings;
  /** Told while rows of an earlier version are read. */
  readonly onFormer?: FormerProgress;
};

export class LedgerRows {
  /** Events of the ledger's changes that an event log has not confirmed. */
  readonly outbox: OutboxRows;
  readonly #ledger: Ledger;
  readonly #cells: Cells;
  readonly #packed: PackedRows;
  readonly #indices: IndexRows;
  /** Number of rows that each list has in the store. */
  readonly #rowsOf = new LazyMap<ListName, number>();
  /** Number of each entry of a map, and the next free number. */
  readonly #numbers = new LazyMap<MapName, Map<string, number>>();
  readonly #next = new LazyMap<MapName, number>();
  /** First and last row of the ids of recent blocks; there are none if the first is above the last. */
  #recent = { first: 0, last: -1 };

  private constructor(ledger: Ledger, cells: Cells, outbox: OutboxRows) {
    this.outbox = outbox;
    this.#ledger = ledger;
    this.#cells = cells;
    this.#packed = new PackedRows(ledger.state, cells);
    this.#indices = new IndexRows(ledger.state, cells);
    ledger.touched.begin();
  }

  /** For a ledger that is not in the store yet: all of it has to be written. */
  static of(ledger: Ledger, outbox = new OutboxRows()): LedgerRows {
    const rows = new LedgerRows(ledger, new Cells(), outbox);
    const { state, touched } = ledger;
    for (const list of listNames) touched.from(list, 0);
    for (const map of mapNames) for (const key of state[map].keys()) touched.key(map, key);
    for (const [major, { addresses }] of state.accounts.entries())
      touched.addresses(major, 0, addresses.length);
    touched.recent(0);
    return rows;
  }

  /**
   * Loads the ledger from a store; undefined if it was never written completely. If its rows are those of an earlier
   * version, they have to be written. Throws `DamagedJournal`.
   */
  static async load(
    store: WalletStore,
    { network, settings, onFormer = () => undefined }: LoadOptions,
  ): Promise<{ ledger: Ledger; rows: LedgerRows; isFormer: boolean } | undefined> {
    const cells = new Cells();
    const names: NamesRead = new Map();
    const ledger = createLedger(network, settings);
    const head = await readHead(store, cells);
    if (head === undefined) return undefined;
    if (head.network !== network) throw new DamagedJournal("the wallet's store is of another network");
    const { version, recentOffset, recentCount, outbox, indices = NO_INDICES, ...rest } = head;
    Object.assign(ledger.state, rest);
    ledger.state.outputs.pass(ledger.state.height);
    const rows = new LedgerRows(ledger, cells, new OutboxRows());
    const { changeCount } = ledger.state;
    rows.outbox.continueFrom(store, cells, outbox ?? { start: 0, after: changeCount, upTo: changeCount });
    const isFormer = version < FORMAT_VERSION;
    if (version === 1) await loadFormer(store, { state: ledger.state, cells, names, onProgress: onFormer });
    else await rows.#loadPacked(store, { names, indices, isFormer });
    for (const list of listNames) await rows.#loadList(store, list, names);
    for (const map of mapNames) await rows.#loadMap(store, map, names);
    await rows.#loadAccounts(store, names);
    await rows.#loadRecent(store, { offset: recentOffset, count: recentCount });
    indexLedger(ledger);
    return { ledger, rows, isFormer };
  }

  async #loadPacked(
    store: WalletStore,
    parts: { readonly names: NamesRead; readonly indices: IndexHead; readonly isFormer: boolean },
  ): Promise<void> {
    const { names, indices, isFormer } = parts;
    const { outputs, incoming, outgoing, txKeys } = this.#ledger.state;
    try {
      await this.#indices.loadReceipts(store, indices);
      await this.#packed.load(store, { names, isFormer });
      await this.#indices.loadOutputs(store, indices);
    } catch (error) {
      throw error instanceof RangeError ? new DamagedJournal(error.message) : error;
    }
    for (const part of [outputs, incoming, outgoing, txKeys]) await runSliced(part.index());
  }

  /** Makes the segments that are due, in slices while the ledger may change; the next rows taken have them. */
  async makeSegments(): Promise<void> {
    await runSliced(this.#ledger.state.incoming.makeSegments());
  }

  /** Tells that all rows taken so far are in this store. */
  written(store: WalletStore): void {
    this.#packed.written(store);
  }

  async #loadList(store: WalletStore, name: ListName, names: NamesRead): Promise<void> {
    for await (const { places, value } of this.#cells.read(store, listTables[name])) {
      const list = listOf(this.#ledger.state, name);
      if (list.length !== places[0]! * itemsPerRow[name]) throw missing(name);
      const items = readCbor(value, names) as unknown[];
      append(list as unknown[], items);
      this.#rowsOf.set(name, places[0]! + 1);
    }
  }

  async #loadMap(store: WalletStore, name: MapName, names: NamesRead): Promise<void> {
    const map = this.#ledger.state[name] as Map<string, unknown>;
    for await (const { places, value } of this.#cells.read(store, mapTables[name])) {
      const [key, entry] = readCbor(value, names) as [string, Plain];
      map.set(key, entry);
      this.#numbersOf(name).set(key, places[0]!);
      this.#next.set(name, places[0]! + 1);
    }
  }

  /** The numbers of a map's entries, to be changed. */
  #numbersOf(name: MapName): Map<string, number> {
    const numbers = this.#numbers.get(name) ?? new Map<string, number>();
    this.#numbers.set(name, numbers);
    return numbers;
  }

  async #loadAccounts(store: WalletStore, names: NamesRead): Promise<void> {
    const accounts: Account[] = [];
    const counts: number[] = [];
    for await (const { value } of this.#cells.read(store, accountTable)) {
      const { tag, addresses } = readCbor(value, names) as { tag: string; addresses: number };
      accounts.push({ tag, addresses: [] });
      counts.push(addresses);
    }
    for await (const { places, value } of this.#cells.read(store, labelTable)) {
      const addresses = accounts[places[0]!]?.addresses;
      if (addresses?.length !== places[1]! * LABELS_PER_ROW) throw missing("addresses");
      for (const label of readCbor(value, names) as string[]) addresses.push({ label });
    }
    if (accounts.some(({ addresses }, major) => addresses.length !== counts[major]))
      throw missing("addresses");
    this.#ledger.state.accounts.length = 0;
    append(this.#ledger.state.accounts, accounts);
  }

  async #loadRecent(
    store: WalletStore,
    { offset, count }: { readonly offset: number; readonly count: number },
  ): Promise<void> {
    const { recent } = this.#ledger.state;
    recent.begin(offset);
    this.#recent = { first: rowOfHeight(offset), last: rowOfHeight(offset) - 1 };
    for await (const { places, value } of this.#cells.read(store, recentTable)) {
      const [row] = places as [number];
      if (row < this.#recent.first) continue;
      const height = new DataView(value.buffer, value.byteOffset).getUint32(0);
      const ids = value.subarray(4);
      // Those beyond are ids of blocks that were dropped at either end: only rows with new ids are rewritten.
      const from = Math.max(height, offset);
      const to = Math.min(height + Math.ceil(ids.length / ID_BYTES), offset + count);
      if (from < to && from !== recent.end) throw missing("recent blocks");
      if (from < to) recent.append(ids.slice(ID_BYTES * (from - height), ID_BYTES * (to - height)));
      this.#recent.last = row;
    }
    if (recent.length !== count) throw missing("recent blocks");
  }

  /** The rows that update the store to the ledger's current state; this clears the marks. */
  take(): RowChange {
    for (const _ of this.#packed.put());
    // One at a time: making a segment takes some milliseconds.
    for (const _ of this.#indices.put(1));
    return this.#takeOthers();
  }

  /** The same in slices, for a ledger that is not in use yet and of which all is written. */
  async takeAll(): Promise<RowChange> {
    await runSliced(this.#packed.put());
    await runSliced(this.#ledger.state.incoming.makeSegments());
    await runSliced(this.#indices.put(Number.POSITIVE_INFINITY));
    return this.#takeOthers();
  }

  #takeOthers(): RowChange {
    const { state, touched } = this.#ledger;
    const head = headOf(state, this.outbox.put(this.#cells, state.changeCount), this.#indices.head);
    this.#cells.put(headTable, [0], writeCbor(head as unknown as Plain));
    for (const list of listNames) this.#takeList(list);
    for (const map of mapNames) this.#takeMap(map);
    this.#takeAccounts();
    this.#takeRecent();
    touched.clear();
    return this.#cells.take();
  }

  #takeList(name: ListName): void {
    const { state, touched } = this.#ledger;
    const [items, tail] = [touched.items.get(name), touched.tails.get(name)];
    if (items === undefined && tail === undefined) return;
    const list = listOf(state, name);
    const perRow = itemsPerRow[name];
    const count = Math.ceil(list.length / perRow);
    const before = this.#rowsOf.get(name) ?? 0;
    const changed = new Set<number>();
    for (const place of items ?? []) if (place < list.length) changed.add(Math.floor(place / perRow));
    if (tail !== undefined) for (let row = Math.floor(tail / perRow); row < count; row++) changed.add(row);
    for (const row of changed) {
      const items = list.slice(row * perRow, (row + 1) * perRow);
      this.#cells.put(listTables[name], [row], writeCbor(items as Plain));
    }
    for (let row = count; row < before; row++) this.#cells.delete(listTables[name], [row]);
    if (count > 0) this.#rowsOf.set(name, count);
    else this.#rowsOf.delete(name);
  }

  #takeMap(name: MapName): void {
    const { state, touched } = this.#ledger;
    const map = state[name] as Map<string, Plain>;
    const isEmptied = touched.emptied.has(name);
    if (!isEmptied && !touched.deleted.has(name) && !touched.keys.has(name)) return;
    const numbers = this.#numbersOf(name);
    if (isEmptied) {
      for (const number of numbers.values()) this.#cells.delete(mapTables[name], [number]);
      numbers.clear();
    }
    for (const key of touched.deleted.get(name) ?? []) {
      const number = numbers.get(key);
      if (number !== undefined) this.#cells.delete(mapTables[name], [number]);
      numbers.delete(key);
    }
    for (const key of isEmptied ? map.keys() : (touched.keys.get(name) ?? [])) {
      const value = map.get(key);
      if (value === undefined) continue;
      let number = numbers.get(key);
      if (number === undefined) {
        number = this.#next.get(name) ?? 0;
        this.#next.set(name, number + 1);
        numbers.set(key, number);
      }
      this.#cells.put(mapTables[name], [number], writeCbor([key, value]));
    }
  }

  #takeAccounts(): void {
    const { state, touched } = this.#ledger;
    for (const major of touched.accounts) {
      const { tag, addresses } = state.accounts[major]!;
      this.#cells.put(accountTable, [major], writeCbor({ tag, addresses: addresses.length }));
    }
    const rows = new Map<string, [number, number]>();
    for (const { major, from, to } of touched.labels) {
      const last = Math.floor((to - 1) / LABELS_PER_ROW);
      for (let row = Math.floor(from / LABELS_PER_ROW); row <= last; row++)
        rows.set(`${major}/${row}`, [major, row]);
    }
    for (const [major, row] of rows.values()) {
      const labels = state.accounts[major]!.addresses.slice(row * LABELS_PER_ROW, (row + 1) * LABELS_PER_ROW);
      this.#cells.put(labelTable, [major, row], writeCbor(labels.map(({ label }) => label)));
    }
  }

  #takeRecent(): void {
    const { state, touched } = this.#ledger;
    const { recent } = state;
    const { offset, end } = recent;
    const first = rowOfHeight(offset);
    const last = recent.length === 0 ? first - 1 : rowOfHeight(end - 1);
    const before = this.#recent;
    for (let row = before.first; row <= before.last; row++)
      if (row < first || row > last) this.#cells.delete(recentTable, [row]);
    this.#recent = { first, last };
    if (touched.recentFrom >= end) return;
    for (let row = rowOfHeight(Math.max(offset, touched.recentFrom)); row <= last; row++) {
      const from = Math.max(offset, row * IDS_PER_ROW);
      const ids = recent.bytes(from, (row + 1) * IDS_PER_ROW);
      const value = Buffer.alloc(4 + ids.length);
      value.writeUInt32BE(from);
      value.set(ids, 4);
      this.#cells.put(recentTable, [row], value);
    }
  }
}

const rowOfHeight = (height: number): number => Math.floor(height / IDS_PER_ROW);

const missing = (what: string) => new DamagedJournal(`rows of the wallet's store are missing: ${what}`);

async function readHead(store: WalletStore, cells: Cells): Promise<Head | undefined> {
  for await (const { value } of cells.read(store, headTable)) {
    const head = readCbor(value) as unknown as Head;
    if (head.version >= 1 && head.version <= FORMAT_VERSION) return head;
    throw new DamagedJournal(unreadableVersion(head.version, FORMAT_VERSION));
  }
  return undefined;
}
