/**
 * Which parts of a ledger have changed since it was last written to a store of rows. Outputs, receipts, payments and
 * transaction keys know that themselves.
 */
import { LazyMap, LazySet } from "../packed/lazy-map.ts";

/** Lists of the state that are stored in rows of some items each, by index. */
export type ListName = "intents" | "pool" | "addressBook" | "frozenBefore" | "backgroundTransactions";

/** Maps of the state that are stored in one row per entry. */
export type MapName =
  | "accountTags"
  | "notes"
  | "attributes"
  | "coldKeyImages"
  | "rings"
  | "multisigNonces"
  | "multisigInfos";

/** Addresses of an account, from `from` to before `to`. */
export type TouchedLabels = { readonly major: number; readonly from: number; readonly to: number };

/**
 * The marks for one write. Before `begin` nothing is marked: a store that writes changes rather than rows needs no
 * marks.
 */
export class Touched {
  #isKept = false;
  readonly items = new LazyMap<ListName, Set<number>>();
  /**
   * For each list, the index from which all items have changed; the writer finds out whether the list has become
   * shorter.
   */
  readonly tails = new LazyMap<ListName, number>();
  /** In the order in which entries were first put since the last write. */
  readonly keys = new LazyMap<MapName, Set<string>>();
  readonly deleted = new LazyMap<MapName, Set<string>>();
  /** Maps that were cleared: the order of their entries begins anew. */
  readonly emptied = new LazySet<MapName>();
  readonly accounts = new LazySet<number>();
  readonly labels: TouchedLabels[] = [];
  /** Height from which the ids of recent blocks have changed. */
  recentFrom = Number.POSITIVE_INFINITY;

  /** Starts marking. */
  begin(): void {
    this.#isKept = true;
  }

  /** Drops all marks, after everything marked was written. */
  clear(): void {
    for (const marks of [this.items, this.tails, this.keys, this.deleted, this.emptied, this.accounts])
      marks.clear();
    this.labels.length = 0;
    this.recentFrom = Number.POSITIVE_INFINITY;
  }

  item(list: ListName, place: number): void {
    if (!this.#isKept) return;
    const places = this.items.get(list) ?? new Set();
    this.items.set(list, places.add(place));
  }

  /** Marks all items from an index on as changed or removed. */
  from(list: ListName, place: number): void {
    if (!this.#isKept) return;
    this.tails.set(list, Math.min(place, this.tails.get(list) ?? place));
  }

  key(map: MapName, key: string): void {
    if (!this.#isKept) return;
    const keys = this.keys.get(map) ?? new Set();
    this.keys.set(map, keys.add(key));
  }

  /** Marks an entry as removed; a later entry with the same key is a new one, and the last of the map. */
  delete(map: MapName, key: string): void {
    if (!this.#isKept) return;
    this.keys.get(map)?.delete(key);
    const deleted = this.deleted.get(map) ?? new Set();
    this.deleted.set(map, deleted.add(key));
  }

  emptiedMap(map: MapName): void {
    if (this.#isKept) this.emptied.add(map);
  }

  account(major: number): void {
    if (this.#isKept) this.accounts.add(major);
  }

  addresses(major: number, from: number, to: number): void {
    if (!this.#isKept || from >= to) return;
    this.accounts.add(major);
    this.labels.push({ major, from, to });
  }

  recent(height: number): void {
    if (this.#isKept) this.recentFrom = Math.min(this.recentFrom, height);
  }
}
