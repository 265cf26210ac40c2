import type { PoolView } from "@anulo/consensus";
import { readTransactionPrefix, toHex } from "@anulo/protocol";
import type { ChainReader, ChainWriter, PoolTransaction } from "@anulo/storage";
import { keyImagesOf } from "../chain/stored-transaction.ts";
import { compareTableOrder } from "./table-order.ts";

/** A transaction waiting for a block. */
export interface PoolEntry {
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** The id in hexadecimal. */
  readonly key: string;
  readonly row: PoolTransaction;
  /** Key images it spends, in hexadecimal, in the order of its inputs. */
  readonly keyImages: readonly string[];
}

/** The pool in memory, kept in step with its rows in the store. */
export interface Pool extends PoolView {
  /** Another number after every change. */
  readonly cookie: number;
  readonly size: number;
  /** Bytes. */
  readonly totalWeight: number;
  /** Above it (bytes) the cheapest transactions are dropped. */
  readonly maxWeight: number;
  get(key: string): PoolEntry | undefined;
  /** In the order of the original's table. */
  entries(): PoolEntry[];
  /** Highest fee per byte first, then the oldest. */
  byFeeRate(): readonly PoolEntry[];
  /** Every key image spent here with the transactions that spend it, the newest first. */
  spentKeyImages(): { readonly image: string; readonly spenders: readonly string[] }[];
  spendersOf(image: string): readonly string[];
  add(writer: ChainWriter, id: Uint8Array, row: PoolTransaction): void;
  update(writer: ChainWriter, key: string, change: Partial<PoolTransaction>): void;
  remove(writer: ChainWriter, key: string): PoolEntry | undefined;
  /** Remembers a transaction that waited too long, so that it is not taken again. */
  markExpired(key: string): void;
  hasExpired(key: string): boolean;
  /** Reads all rows again: for the start, and after a write was rolled back. */
  reload(): void;
}

function entryOf(id: Uint8Array, row: PoolTransaction): PoolEntry {
  const keyImages = keyImagesOf({ prefix: readTransactionPrefix(row.blob) }).map(toHex);
  return { id, key: toHex(id), row, keyImages };
}

/** The entries in memory with what is looked up in them; knows nothing of the store. */
interface PoolIndex {
  readonly entries: Map<string, PoolEntry>;
  readonly spenders: Map<string, readonly string[]>;
  cookie: number;
  totalWeight: number;
  /** Entries by fee, until something changes. */
  sorted: readonly PoolEntry[] | undefined;
}

function changed(index: PoolIndex): void {
  index.cookie++;
  index.sorted = undefined;
}

function insert(index: PoolIndex, entry: PoolEntry): void {
  const { entries, spenders } = index;
  entries.set(entry.key, entry);
  index.totalWeight += entry.row.weight;
  for (const image of entry.keyImages) spenders.set(image, [...(spenders.get(image) ?? []), entry.key]);
  changed(index);
}

function drop(index: PoolIndex, entry: PoolEntry): void {
  const { entries, spenders } = index;
  entries.delete(entry.key);
  index.totalWeight -= entry.row.weight;
  for (const image of entry.keyImages) {
    const others = (spenders.get(image) ?? []).filter((key) => key !== entry.key);
    if (others.length === 0) spenders.delete(image);
    else spenders.set(image, others);
  }
  changed(index);
}

function loadAll(index: PoolIndex, read: ChainReader): void {
  for (const entry of [...index.entries.values()]) drop(index, entry);
  const rows = read.poolTransactions().sort((a, b) => a.receiveTime - b.receiveTime);
  for (const { hash, ...row } of rows) insert(index, entryOf(hash, row));
}

/** Source: cryptonote_config.h `DEFAULT_TXPOOL_MAX_WEIGHT`. */
const DEFAULT_MAX_WEIGHT = 648_000_000;
/** Expired transactions remembered; beyond it the oldest are forgotten. */
const MAX_EXPIRED = 100_000;

/** Loads the pool of a store; `maxWeight` in bytes. */
export function createPool(read: ChainReader, maxWeight: number = DEFAULT_MAX_WEIGHT): Pool {
  const index: PoolIndex = {
    entries: new Map(),
    spenders: new Map(),
    cookie: 0,
    totalWeight: 0,
    sorted: undefined,
  };
  const { entries, spenders } = index;
  const expired = new Set<string>();
  loadAll(index, read);
  return {
    maxWeight,
    markExpired(key) {
      expired.add(key);
      if (expired.size > MAX_EXPIRED) for (const oldest of expired) return void expired.delete(oldest);
    },
    hasExpired: (key) => expired.has(key),
    get cookie() {
      return index.cookie;
    },
    get size() {
      return entries.size;
    },
    get totalWeight() {
      return index.totalWeight;
    },
    get: (key) => entries.get(key),
    entries: () => [...entries.values()].sort((a, b) => compareTableOrder(a.id, b.id)),
    byFeeRate() {
      index.sorted ??= [...entries.values()].sort(compareFeeRate);
      return index.sorted;
    },
    spentKeyImages: () => [...spenders].reverse().map(([image, keys]) => ({ image, spenders: keys })),
    spendersOf: (image) => spenders.get(image) ?? [],
    isKeyImageInPool: (image) => spenders.has(toHex(image)),
    add(writer, id, row) {
      writer.putPoolTransaction(id, row);
      insert(index, entryOf(id, row));
    },
    update(writer, key, change) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      const row = { ...entry.row, ...change };
      writer.putPoolTransaction(entry.id, row);
      entries.set(key, { ...entry, row });
      changed(index);
    },
    remove(writer, key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      writer.removePoolTransaction(entry.id);
      drop(index, entry);
      return entry;
    },
    reload: () => loadAll(index, read),
  };
}

/** Source: tx_pool.h `txCompare`. Fees per byte are compared without dividing. */
function compareFeeRate(a: PoolEntry, b: PoolEntry): number {
  const left = a.row.fee * BigInt(b.row.weight);
  const right = b.row.fee * BigInt(a.row.weight);
  if (left !== right) return left > right ? -1 : 1;
  return a.row.receiveTime - b.row.receiveTime || Buffer.compare(a.id, b.id);
}
