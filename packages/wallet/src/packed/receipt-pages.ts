/** The records of receipts, in pages of some hundred: those that can be read again from a store are not kept in memory. */
import { LazySet } from "./lazy-map.ts";
import { readRecordRow, writeRecordRow } from "./record-row.ts";
import { StoredPages } from "./stored-pages.ts";
import { ZONE_ITEMS, type Zone } from "./zones.ts";

/** Receipts of a page, which is a row of a store and a zone. */
export const PAGE_RECEIPTS = ZONE_ITEMS;
/** Pages in memory beside those with changes: some 16 KB each. */
const MAX_RECENT = 64;
const FIRST_BYTES = 512;

/** Records one after the other; nothing that was written to a page is changed in place. */
type ReceiptPage = {
  bytes: Uint8Array;
  /** Index of the first byte of each record, and of the byte after the last. */
  starts: Uint32Array;
};

/** Where a record begins. */
export type RecordAt = { readonly chunk: Uint8Array; readonly at: number };

/** Receipts as they were at one moment. */
export interface ReceiptView {
  /** The record of a receipt that was there at that moment. */
  at(place: number): RecordAt;
}

class PageView implements ReceiptView {
  readonly #pages: StoredPages<ReceiptPage>;
  /** Pages that have been removed or cut off since. */
  readonly #keptPages = new Map<number, ReceiptPage>();
  readonly #wantedPages: ReadonlySet<number>;

  constructor(pages: StoredPages<ReceiptPage>, wantedPages: ReadonlySet<number>) {
    this.#pages = pages;
    this.#wantedPages = wantedPages;
  }

  at(place: number): RecordAt {
    const page = Math.floor(place / PAGE_RECEIPTS);
    return recordOn(this.#keptPages.get(page) ?? this.#pages.get(page), place);
  }

  /** Keeps the pages from one on as they are: they are about to be removed. */
  keepFrom(first: number): void {
    for (const page of this.#wantedPages)
      if (page >= first && !this.#keptPages.has(page)) this.#keptPages.set(page, this.#pages.peek(page));
  }
}

const recordOn = ({ bytes, starts }: ReceiptPage, place: number): RecordAt => ({
  chunk: bytes,
  at: starts[place % PAGE_RECEIPTS]!,
});

export class ReceiptPages {
  readonly #pages = new StoredPages<ReceiptPage>(MAX_RECENT);
  #count = 0;
  /** Those that somebody still reads. */
  readonly #views = new LazySet<WeakRef<PageView>>();

  /** Number of receipts. */
  get count(): number {
    return this.#count;
  }

  at(place: number): RecordAt {
    return recordOn(this.#pages.get(Math.floor(place / PAGE_RECEIPTS)), place);
  }

  /** Adds a copy of a record at the end. */
  push(record: Uint8Array): void {
    const page = Math.floor(this.#count / PAGE_RECEIPTS);
    const index = this.#count % PAGE_RECEIPTS;
    const { bytes, starts } = index === 0 ? emptyPage() : this.#pages.get(page);
    const from = starts[index]!;
    const content = {
      bytes: withRoom(bytes, from + record.length),
      starts: starts.length > PAGE_RECEIPTS ? starts : withAllStarts(starts),
    };
    content.bytes.set(record, from);
    content.starts[index + 1] = from + record.length;
    if (index === PAGE_RECEIPTS - 1) content.bytes = content.bytes.slice(0, from + record.length);
    this.#pages.put(page, content);
    this.#count += 1;
  }

  /** Removes the receipts from a place on. */
  truncate(count: number): void {
    const end = Math.ceil(this.#count / PAGE_RECEIPTS);
    const cut = Math.floor(count / PAGE_RECEIPTS);
    for (const view of this.#liveViews()) view.keepFrom(cut);
    for (let page = Math.ceil(count / PAGE_RECEIPTS); page < end; page++) this.#pages.remove(page);
    if (count % PAGE_RECEIPTS !== 0) {
      // A copy, since views have the page.
      const { bytes, starts } = this.#pages.get(cut);
      this.#pages.put(cut, { bytes: bytes.slice(), starts: withAllStarts(starts) });
    }
    this.#count = count;
  }

  /** The receipts as they are now, for as long as the view is used: to read those at some places. */
  view(places: ArrayLike<number>): ReceiptView {
    const wantedPages = new Set<number>();
    let last = -1;
    for (let i = 0; i < places.length; i++) {
      const page = Math.floor(places[i]! / PAGE_RECEIPTS);
      if (page !== last) wantedPages.add(page);
      last = page;
    }
    const view = new PageView(this.#pages, wantedPages);
    this.#liveViews();
    this.#views.add(new WeakRef(view));
    return view;
  }

  /** Forgets the views that nobody uses any more. */
  #liveViews(): PageView[] {
    const live: PageView[] = [];
    for (const reference of [...this.#views]) {
      const view = reference.deref();
      if (view === undefined) this.#views.delete(reference);
      else live.push(view);
    }
    return live;
  }

  /** The pages that have changed since the last call; those without receipts are among them. */
  takeChanged(): ReadonlySet<number> {
    return this.#pages.takeChanged();
  }

  /** A page as the bytes of a row, with what is true of its receipts; undefined if it has none. */
  rowBytes(page: number, zone: Readonly<Zone>): Uint8Array {
    const { bytes, starts } = this.#pages.peek(page);
    const records: Uint8Array[] = [];
    for (let index = 0; index < Math.min(PAGE_RECEIPTS, this.#count - page * PAGE_RECEIPTS); index++)
      records.push(bytes.subarray(starts[index], starts[index + 1]));
    return writeRecordRow(records, zone);
  }

  /** Adds the receipts of the next row, which is written already; returns what is true of them. Throws `RangeError`. */
  addRow(bytes: Uint8Array): Zone {
    if (this.#count % PAGE_RECEIPTS !== 0) throw new RangeError("a row behind one that is not full");
    const { zone, page } = readPage(bytes);
    this.#pages.addWritten(this.#count / PAGE_RECEIPTS, page);
    this.#count += page.starts.length - 1;
    return zone;
  }

  /** Counts in full rows that are read when they are needed. */
  addUnread(rows: number): void {
    this.#count += rows * PAGE_RECEIPTS;
  }

  /** Tells that all pages taken so far are written. */
  written(): void {
    this.#pages.written();
  }

  /** From now on, pages that are written are read again when they are needed: the bytes of their rows, at once. */
  readFrom(read: (page: number) => Uint8Array): void {
    this.#pages.readFrom((page) => readPage(read(page)).page);
  }
}

/** Throws `RangeError`. */
function readPage(bytes: Uint8Array): { readonly zone: Zone; readonly page: ReceiptPage } {
  const { zone, lengths, records } = readRecordRow(bytes);
  if (lengths.length > PAGE_RECEIPTS) throw new RangeError("a row of too many receipts");
  const starts = new Uint32Array(lengths.length + 1);
  for (const [i, length] of lengths.entries()) starts[i + 1] = starts[i]! + length;
  return { zone, page: { bytes: records, starts } };
}

const emptyPage = (): ReceiptPage => ({
  bytes: new Uint8Array(FIRST_BYTES),
  starts: new Uint32Array(PAGE_RECEIPTS + 1),
});

function withRoom(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length >= length) return bytes;
  const larger = new Uint8Array(2 * length);
  larger.set(bytes);
  return larger;
}

function withAllStarts(starts: Uint32Array): Uint32Array {
  const all = new Uint32Array(PAGE_RECEIPTS + 1);
  all.set(starts);
  return all;
}
