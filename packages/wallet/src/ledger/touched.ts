/** What of a ledger has changed since it was last written to a store that keeps it in rows. */

/** Lists of the state whose rows hold some items each, by place. */
export type ListName =
  | "outputs"
  | "incoming"
  | "intents"
  | "pool"
  | "addressBook"
  | "frozenBefore"
  | "backgroundTransactions";

/** Maps of the state whose rows hold an entry each. */
export type MapName =
  | "outgoing"
  | "txKeys"
  | "accountTags"
  | "notes"
  | "attributes"
  | "coldKeyImages"
  | "rings"
  | "multisigNonces"
  | "multisigInfos";

/** Addresses of an account, from `from` to before `to`. */
export type TouchedLabels = { readonly major: number; readonly from: number; readonly to: number };

/** Marks of one write. Until `begin` nothing is kept: who writes changes, not rows, needs no marks. */
export class Touched {
  #isKept = false;
  readonly items = new Map<ListName, Set<number>>();
  /** All items from a place on, and whether the list has become shorter is for the writer to see. */
  readonly tails = new Map<ListName, number>();
  /** In the order in which entries were first put since the last write. */
  readonly keys = new Map<MapName, Set<string>>();
  readonly deleted = new Map<MapName, Set<string>>();
  /** Maps that were emptied: their order begins anew. */
  readonly emptied = new Set<MapName>();
  readonly accounts = new Set<number>();
  readonly labels: TouchedLabels[] = [];
  /** Height from which ids of recent blocks are others. */
  recentFrom = Number.POSITIVE_INFINITY;

  /** From now on marks are kept. */
  begin(): void {
    this.#isKept = true;
  }

  /** All that was marked is written. */
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

  /** All items from a place on are others, or gone. */
  from(list: ListName, place: number): void {
    if (!this.#isKept) return;
    this.tails.set(list, Math.min(place, this.tails.get(list) ?? place));
  }

  key(map: MapName, key: string): void {
    if (!this.#isKept) return;
    const keys = this.keys.get(map) ?? new Set();
    this.keys.set(map, keys.add(key));
  }

  /** An entry is gone; one of its name that comes later is another, and the last of the map. */
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
