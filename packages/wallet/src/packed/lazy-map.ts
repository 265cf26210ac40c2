/**
 * A map and a set without memory of their own while they are empty: a wallet at rest has some fifty such, and an empty
 * one of JavaScript's takes up to 190 bytes.
 */

const NO_ENTRIES = new Map<never, never>();
const NO_VALUES = new Set<never>();

export class LazyMap<K, V> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  has(key: K): boolean {
    return this.#map?.has(key) === true;
  }

  set(key: K, value: V): this {
    this.#map ??= new Map();
    this.#map.set(key, value);
    return this;
  }

  delete(key: K): boolean {
    if (this.#map?.delete(key) !== true) return false;
    if (this.#map.size === 0) this.#map = undefined;
    return true;
  }

  clear(): void {
    this.#map?.clear();
    this.#map = undefined;
  }

  /** An iteration sees later changes until the map has been empty. */
  keys(): IterableIterator<K> {
    return (this.#map ?? NO_ENTRIES).keys();
  }

  values(): IterableIterator<V> {
    return (this.#map ?? NO_ENTRIES).values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return (this.#map ?? NO_ENTRIES).entries();
  }
}

export class LazySet<T> {
  #set: Set<T> | undefined;

  get size(): number {
    return this.#set?.size ?? 0;
  }

  has(value: T): boolean {
    return this.#set?.has(value) === true;
  }

  add(value: T): this {
    this.#set ??= new Set();
    this.#set.add(value);
    return this;
  }

  delete(value: T): boolean {
    if (this.#set?.delete(value) !== true) return false;
    if (this.#set.size === 0) this.#set = undefined;
    return true;
  }

  clear(): void {
    this.#set?.clear();
    this.#set = undefined;
  }

  /** The values, which are no longer in this set. */
  take(): ReadonlySet<T> {
    const values = this.#set ?? NO_VALUES;
    this.#set = undefined;
    return values;
  }

  /** An iteration sees later changes until the set has been empty. */
  [Symbol.iterator](): IterableIterator<T> {
    return (this.#set ?? NO_VALUES).values();
  }
}
