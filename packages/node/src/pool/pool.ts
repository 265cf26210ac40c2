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
  /** Reads all rows again: for the start, and after a write was rolled back. */
  reload(): void;
}

function entryOf(id: Uint8Array, row: PoolTransaction): PoolEntry {
  const keyImages = keyImagesOf({ prefix: readTransactionPrefix(row.blob) }).map(toHex);
  return { id, key: toHex(id), row, keyImages };
}

/** Loads the pool of a store. */
export function createPool(read: ChainReader): Pool {
  const entries = new Map<string, PoolEntry>();
  const spenders = new Map<string, string[]>();
  let sorted: readonly PoolEntry[] | undefined;
  let cookie = 0;
  let totalWeight = 0;
  const changed = () => {
    cookie++;
    sorted = undefined;
  };
  const insert = (entry: PoolEntry) => {
    entries.set(entry.key, entry);
    totalWeight += entry.row.weight;
    for (const image of entry.keyImages) spenders.set(image, [...(spenders.get(image) ?? []), entry.key]);
    changed();
  };
  const drop = (entry: PoolEntry) => {
    entries.delete(entry.key);
    totalWeight -= entry.row.weight;
    for (const image of entry.keyImages) {
      const others = (spenders.get(image) ?? []).filter((key) => key !== entry.key);
      if (others.length === 0) spenders.delete(image);
      else spenders.set(image, others);
    }
    changed();
  };
  const pool: Pool = {
    get cookie() {
      return cookie;
    },
    get size() {
      return entries.size;
    },
    get totalWeight() {
      return totalWeight;
    },
    get: (key) => entries.get(key),
    entries: () => [...entries.values()].sort((a, b) => compareTableOrder(a.id, b.id)),
    byFeeRate() {
      sorted ??= [...entries.values()].sort(compareFeeRate);
      return sorted;
    },
    spentKeyImages: () => [...spenders].reverse().map(([image, keys]) => ({ image, spenders: keys })),
    spendersOf: (image) => spenders.get(image) ?? [],
    isKeyImageInPool: (image) => spenders.has(toHex(image)),
    add(writer, id, row) {
      writer.putPoolTransaction(id, row);
      insert(entryOf(id, row));
    },
    update(writer, key, change) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      const row = { ...entry.row, ...change };
      writer.putPoolTransaction(entry.id, row);
      entries.set(key, { ...entry, row });
      changed();
    },
    remove(writer, key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      writer.removePoolTransaction(entry.id);
      drop(entry);
      return entry;
    },
    reload() {
      for (const entry of [...entries.values()]) drop(entry);
      const rows = read.poolTransactions().sort((a, b) => a.receiveTime - b.receiveTime);
      for (const { hash, ...row } of rows) insert(entryOf(hash, row));
    },
  };
  pool.reload();
  return pool;
}

/** Source: tx_pool.h `txCompare`. Fees per byte are compared without dividing. */
function compareFeeRate(a: PoolEntry, b: PoolEntry): number {
  const left = a.row.fee * BigInt(b.row.weight);
  const right = b.row.fee * BigInt(a.row.weight);
  if (left !== right) return left > right ? -1 : 1;
  return a.row.receiveTime - b.row.receiveTime || Buffer.compare(a.id, b.id);
}
