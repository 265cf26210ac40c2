import type { PoolView } from "@anulo/consensus";
import { keyImagesOf, readTransactionPrefix, type TransactionPrefix, toHex } from "@anulo/protocol";
import type { ChainReader, ChainWriter, PoolTransaction } from "@anulo/storage";
import { isPublic, type PoolEntry } from "./entry.ts";
import { createPoolHistory, type PoolHistory } from "./pool-history.ts";
import { createSortedList, type SortedList } from "./sorted-list.ts";
import { compareTableOrder } from "./table-order.ts";

/** The changes that an update of the chain makes to the pool. */
export interface PoolChanges {
  get(key: string): PoolEntry | undefined;
  /** In the order of the original's table. */
  entries(): PoolEntry[];
  /** `prefix`: that of the row's transaction, where it was read already. */
  add(writer: ChainWriter, id: Uint8Array, row: PoolTransaction, prefix?: TransactionPrefix): void;
  remove(writer: ChainWriter, key: string): PoolEntry | undefined;
}

/**
 * Changes that are written step by step and appear in memory all at once, with `apply`; there must be no other writer
 * meanwhile.
 */
export interface PoolDraft extends PoolChanges {
  apply(): void;
}

/** The pool in memory, equal to its rows in the store. */
export interface Pool extends PoolView, PoolChanges {
  /** A number that is different after every change. */
  readonly cookie: number;
  readonly size: number;
  readonly history: Pick<PoolHistory, "since">;
  /** Bytes. */
  readonly totalWeight: number;
  /** Sum of the times (Unix seconds) at which its transactions were received. */
  readonly totalReceiveTime: number;
  /** Above it (bytes) the cheapest transactions are dropped. */
  readonly maxWeight: number;
  /** Highest fee per byte first, then the oldest. */
  byFeeRate(): PoolEntry[];
  /** The reverse order; the pool must not change while it is iterated. */
  cheapestFirst(): Iterable<PoolEntry>;
  /** Every key image spent in the pool with the transactions that spend it, the newest first. */
  spentKeyImages(): { readonly image: string; readonly spenders: readonly string[] }[];
  spendersOf(image: string): readonly string[];
  update(writer: ChainWriter, key: string, change: Partial<PoolTransaction>): void;
  draft(): PoolDraft;
  /** Records a transaction that waited too long, so that it is not added again. */
  markExpired(key: string): void;
  hasExpired(key: string): boolean;
  /** Runs `change`; when it throws, the state in memory is as it was before. May be nested. */
  undoable<T>(change: () => T): T;
}

function entryOf(
  id: Uint8Array,
  row: PoolTransaction,
  prefix: TransactionPrefix = readTransactionPrefix(row.blob),
): PoolEntry {
  const keyImages = keyImagesOf(prefix).map(toHex);
  return { id, key: toHex(id), row, keyImages };
}

/** The entries in memory with their indices; independent of the store. */
interface PoolIndex {
  readonly entries: Map<string, PoolEntry>;
  readonly spenders: Map<string, readonly string[]>;
  readonly byFeeRate: SortedList<PoolEntry>;
  readonly inTableOrder: SortedList<PoolEntry>;
  readonly history: PoolHistory;
  cookie: number;
  totalWeight: number;
  totalReceiveTime: number;
}

function insert(index: PoolIndex, entry: PoolEntry): void {
  const { entries, spenders } = index;
  entries.set(entry.key, entry);
  index.byFeeRate.add(entry);
  index.inTableOrder.add(entry);
  index.history.recordAdded(entry.key);
  index.totalWeight += entry.row.weight;
  index.totalReceiveTime += entry.row.receiveTime;
  for (const image of entry.keyImages) spenders.set(image, [...(spenders.get(image) ?? []), entry.key]);
  index.cookie++;
}

function drop(index: PoolIndex, entry: PoolEntry): void {
  const { entries, spenders } = index;
  entries.delete(entry.key);
  index.byFeeRate.remove(entry);
  index.inTableOrder.remove(entry);
  index.history.recordRemoved(entry.key, { id: entry.id, isHidden: !isPublic(entry.row) });
  index.totalWeight -= entry.row.weight;
  index.totalReceiveTime -= entry.row.receiveTime;
  for (const image of entry.keyImages) {
    const others = (spenders.get(image) ?? []).filter((key) => key !== entry.key);
    if (others.length === 0) spenders.delete(image);
    else spenders.set(image, others);
  }
  index.cookie++;
}

/** Replaces an entry by one with the same id and the same inputs. */
function replace(index: PoolIndex, old: PoolEntry, entry: PoolEntry): void {
  index.entries.set(entry.key, entry);
  for (const list of [index.byFeeRate, index.inTableOrder]) {
    list.remove(old);
    list.add(entry);
  }
  index.totalReceiveTime += entry.row.receiveTime - old.row.receiveTime;
  if (isPublic(entry.row) && !isPublic(old.row)) index.history.recordAdded(entry.key);
  index.cookie++;
}

function inTableOrder(a: PoolEntry, b: PoolEntry): number {
  return compareTableOrder(a.id, b.id);
}

function loadAll(read: ChainReader, now: () => number): PoolIndex {
  const rows = read.poolTransactions().sort((a, b) => a.receiveTime - b.receiveTime);
  const all = rows.map(({ hash, ...row }) => entryOf(hash, row));
  const spenders = new Map<string, readonly string[]>();
  for (const { key, keyImages } of all) {
    for (const image of keyImages) spenders.set(image, [...(spenders.get(image) ?? []), key]);
  }
  return {
    entries: new Map(all.map((entry) => [entry.key, entry])),
    spenders,
    byFeeRate: createSortedList(compareFeeRate, all),
    inTableOrder: createSortedList(inTableOrder, all),
    history: createPoolHistory(
      all.map(({ key }) => key),
      now,
    ),
    cookie: 0,
    totalWeight: all.reduce((sum, { row }) => sum + row.weight, 0),
    totalReceiveTime: all.reduce((sum, { row }) => sum + row.receiveTime, 0),
  };
}

/** The functions that undo each change made inside an undoable one, in the order of the changes. */
interface UndoLog {
  depth: number;
  readonly steps: (() => void)[];
}

function runUndoable<T>(undoing: UndoLog, change: () => T): T {
  const before = undoing.steps.length;
  undoing.depth++;
  try {
    return change();
  } catch (error) {
    for (const step of undoing.steps.splice(before).reverse()) step();
    throw error;
  } finally {
    undoing.depth--;
    if (undoing.depth === 0) undoing.steps.length = 0;
  }
}

/** The draft is not in the index before it is applied. */
function createDraft(index: PoolIndex): PoolDraft {
  /** By id; undefined for removed transactions. */
  const changes = new Map<string, PoolEntry | undefined>();
  const get = (key: string) => (changes.has(key) ? changes.get(key) : index.entries.get(key));
  return {
    get,
    entries() {
      const unchanged = index.inTableOrder.toArray().filter(({ key }) => !changes.has(key));
      return [...unchanged, ...changes.values()].filter((entry) => entry !== undefined).sort(inTableOrder);
    },
    add(writer, id, row, prefix) {
      writer.putPoolTransaction(id, row);
      const entry = entryOf(id, row, prefix);
      changes.set(entry.key, entry);
    },
    remove(writer, key) {
      const entry = get(key);
      if (entry === undefined) return undefined;
      writer.removePoolTransaction(entry.id);
      changes.set(key, undefined);
      return entry;
    },
    apply() {
      for (const [key, entry] of changes) {
        const old = index.entries.get(key);
        if (old !== undefined) drop(index, old);
        if (entry !== undefined) insert(index, entry);
      }
    },
  };
}

/** Source: cryptonote_config.h `DEFAULT_TXPOOL_MAX_WEIGHT`. */
const DEFAULT_MAX_WEIGHT = 648_000_000;
/** Number of expired transactions remembered; beyond it the oldest are forgotten. */
const MAX_EXPIRED = 100_000;

export interface PoolOptions {
  /** Bytes. */
  readonly maxWeight?: number | undefined;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Loads the pool of a store. */
export function createPool(read: ChainReader, { maxWeight = DEFAULT_MAX_WEIGHT, now }: PoolOptions): Pool {
  const index = loadAll(read, now);
  const { entries, spenders } = index;
  const expired = new Set<string>();
  const undoing: UndoLog = { depth: 0, steps: [] };
  const addUndoStep = (step: () => void) => {
    if (undoing.depth > 0) undoing.steps.push(step);
  };
  return {
    maxWeight,
    history: index.history,
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
    get totalReceiveTime() {
      return index.totalReceiveTime;
    },
    get: (key) => entries.get(key),
    entries: () => index.inTableOrder.toArray(),
    byFeeRate: () => index.byFeeRate.toArray(),
    cheapestFirst: () => index.byFeeRate.backwards(),
    spentKeyImages: () => [...spenders].reverse().map(([image, keys]) => ({ image, spenders: keys })),
    spendersOf: (image) => spenders.get(image) ?? [],
    isKeyImageInPool: (image) => spenders.has(toHex(image)),
    add(writer, id, row, prefix) {
      writer.putPoolTransaction(id, row);
      const entry = entryOf(id, row, prefix);
      insert(index, entry);
      addUndoStep(() => drop(index, entry));
    },
    update(writer, key, change) {
      const old = entries.get(key);
      if (old === undefined) return;
      const entry = { ...old, row: { ...old.row, ...change } };
      writer.putPoolTransaction(entry.id, entry.row);
      replace(index, old, entry);
      addUndoStep(() => replace(index, entry, old));
    },
    remove(writer, key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      writer.removePoolTransaction(entry.id);
      drop(index, entry);
      addUndoStep(() => insert(index, entry));
      return entry;
    },
    undoable: (change) => runUndoable(undoing, change),
    draft: () => createDraft(index),
  };
}

/** Source: tx_pool.h `txCompare`. Fees per byte are compared without dividing. */
function compareFeeRate(a: PoolEntry, b: PoolEntry): number {
  const left = a.row.fee * BigInt(b.row.weight);
  const right = b.row.fee * BigInt(a.row.weight);
  if (left !== right) return left > right ? -1 : 1;
  return a.row.receiveTime - b.row.receiveTime || Buffer.compare(a.id, b.id);
}
