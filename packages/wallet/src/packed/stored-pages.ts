/**
 * Pages of a list that is stored in rows. Where they can be read again from a store, only pages with changes and some
 * that were read lately are in memory.
 */
import { LazyMap, LazySet } from "./lazy-map.ts";

export class StoredPages<P> {
  /** Pages that may have changed since they were written, or that can't be read again. */
  readonly #pinned = new LazyMap<number, P>();
  /** The others, those used last at the end. */
  readonly #recent = new LazyMap<number, P>();
  readonly #changed = new LazySet<number>();
  /** Pages that were taken and may not be written yet. */
  readonly #takenPages = new LazySet<number>();
  readonly #mostRecent: number;
  #read: ((page: number) => P) | undefined;
  /** The page asked for last, which usually is asked for again. */
  #latest: { readonly page: number; readonly content: P } | undefined;

  /** `mostRecent`: pages in memory beside those with changes. */
  constructor(mostRecent: number) {
    this.#mostRecent = mostRecent;
  }

  /** The page with a number, which stays in memory for a while. Throws `RangeError` if there is none. */
  get(page: number): P {
    if (this.#latest?.page === page) return this.#latest.content;
    const content = this.peek(page);
    if (!this.#pinned.has(page)) this.#keepRecent(page, content);
    this.#latest = { page, content };
    return content;
  }

  /** The same for a walk over many pages, which drives no other page out of memory. */
  peek(page: number): P {
    return this.#pinned.get(page) ?? this.#recent.get(page) ?? this.#readAgain(page);
  }

  /** Puts a page with changes; it stays in memory until it is written. */
  put(page: number, content: P): void {
    this.#changed.add(page);
    this.#recent.delete(page);
    this.#pinned.set(page, content);
    this.#latest = { page, content };
  }

  /** Marks pages as changed, from one to before another. */
  change(from: number, to: number): void {
    for (let page = from; page < to; page++) this.#changed.add(page);
  }

  /** Removes a page, which its row still has. */
  remove(page: number): void {
    this.#changed.add(page);
    this.#pinned.delete(page);
    this.#recent.delete(page);
    this.#latest = undefined;
  }

  /** Adds a page that is written already. */
  addWritten(page: number, content: P): void {
    if (this.#read === undefined) this.#pinned.set(page, content);
    else this.#keepRecent(page, content);
  }

  /** The pages that have changed since the last call; those that were removed are among them. */
  takeChanged(): ReadonlySet<number> {
    const changed = this.#changed.take();
    for (const page of changed) this.#takenPages.add(page);
    return changed;
  }

  /** Tells that all pages taken so far are written. */
  written(): void {
    const pages = this.#takenPages.take();
    if (this.#read === undefined) return;
    for (const page of pages) {
      const content = this.#pinned.get(page);
      if (content === undefined || this.#changed.has(page)) continue;
      this.#pinned.delete(page);
      this.#keepRecent(page, content);
    }
  }

  /** From now on, pages that are written are read again when they are needed. */
  readFrom(read: (page: number) => P): void {
    this.#read = read;
  }

  #readAgain(page: number): P {
    const content = this.#read?.(page);
    if (content === undefined) throw new RangeError(`no page ${page}`);
    return content;
  }

  #keepRecent(page: number, content: P): void {
    this.#recent.delete(page);
    this.#recent.set(page, content);
    if (this.#recent.size <= this.#mostRecent) return;
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest);
      return;
    }
  }
}
