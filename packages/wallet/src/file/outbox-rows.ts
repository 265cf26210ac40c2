/** The outbox of a wallet whose ledger is in a store: rows that are written together with those of its changes. */
import type { WalletStore } from "@anulo/store";
import { type Plain, readCbor, writeCbor } from "../cbor.ts";
import type { Entry, Outbox, OutboxSpan } from "../events/outbox.ts";
import type { Cells } from "./cells.ts";
import { outboxTable } from "./ledger-tables.ts";

/** Maximum number of events that wait in the rows of a wallet: some 40 MB. */
const MAX_EVENTS = 100_000;

/** A row, which has the events of all changes of one write. */
type Row = { readonly number: number; readonly lastChange: number; readonly events: number };

const eventsOf = (items: readonly { readonly events: { readonly length: number } }[]): number =>
  items.reduce((sum, { events }) => sum + events.length, 0);

export class OutboxRows implements Outbox {
  readonly #maxEvents: number;
  #stored: { readonly store: WalletStore; readonly cells: Cells } | undefined;
  #span: OutboxSpan | undefined;
  /** Whether the events of all changes are added. */
  #isWhole = false;
  readonly #rows: Row[] = [];
  #nextRow = 0;
  /** Entries that are in no row yet. */
  #added: Entry[] = [];
  /** Number of events in rows, and in `#added`. */
  #inRows = 0;
  #inAdded = 0;
  #confirmed = -1;

  /** `maxEvents`: how many events may wait. */
  constructor(maxEvents: number = MAX_EVENTS) {
    this.#maxEvents = maxEvents;
  }

  get span(): OutboxSpan | undefined {
    return this.#span;
  }

  /** Goes on with the rows of a store; `span` is what was stored with them. */
  continueFrom(store: WalletStore, cells: Cells, span: OutboxSpan): void {
    this.#stored = { store, cells };
    this.#span = span;
  }

  async *stored(): AsyncGenerator<Entry> {
    for await (const { number, entries } of this.#read()) {
      this.#keep(number, entries);
      yield* entries;
    }
  }

  async discard(): Promise<void> {
    for await (const { number } of this.#read()) this.#rows.push({ number, lastChange: -1, events: 0 });
  }

  async *#read(): AsyncGenerator<{ readonly number: number; readonly entries: readonly Entry[] }> {
    if (this.#stored === undefined) return;
    const { store, cells } = this.#stored;
    for await (const { places, value } of cells.read(store, outboxTable)) {
      this.#nextRow = places[0]! + 1;
      yield { number: places[0]!, entries: readCbor(value) as unknown as readonly Entry[] };
    }
  }

  #keep(number: number, entries: readonly Entry[]): void {
    const events = eventsOf(entries);
    this.#rows.push({ number, lastChange: entries.at(-1)!.change, events });
    this.#inRows += events;
  }

  begin(span: OutboxSpan): void {
    this.#span = span;
    this.#isWhole = true;
    // A log that is ahead has changes of another copy of this wallet, whose numbers come again.
    if (span.after < span.start) this.#confirmed = Math.min(this.#confirmed, span.after);
  }

  add(entry: Entry): void {
    const { change, events } = entry;
    if (!this.#isWhole || events.length === 0 || change <= this.#confirmed) return;
    if (!this.#hasRoom(events.length)) this.#drop();
    if (this.#hasRoom(events.length)) {
      this.#added.push(entry);
      this.#inAdded += events.length;
    } else {
      this.#isWhole = false;
      this.#span = { ...this.#span!, upTo: change - 1 };
    }
  }

  #hasRoom(count: number): boolean {
    return this.#inRows + this.#inAdded + count <= this.#maxEvents;
  }

  confirm(change: number): void {
    this.#confirmed = Math.max(this.#confirmed, change);
  }

  /** Forgets the added entries that a log has by now. */
  #drop(): void {
    this.#added = this.#added.filter(({ change }) => change > this.#confirmed);
    this.#inAdded = eventsOf(this.#added);
  }

  /** Puts the rows that make a store's outbox what it is after `changeCount` changes; returns its span. */
  put(cells: Cells, changeCount: number): OutboxSpan {
    for (
      let row = this.#rows[0];
      row !== undefined && row.lastChange <= this.#confirmed;
      row = this.#rows[0]
    ) {
      cells.delete(outboxTable, [row.number]);
      this.#inRows -= row.events;
      this.#rows.shift();
    }
    this.#drop();
    if (this.#added.length > 0) {
      const number = this.#nextRow++;
      cells.put(outboxTable, [number], writeCbor(this.#added as unknown as Plain));
      this.#keep(number, this.#added);
    }
    this.#added = [];
    this.#inAdded = 0;
    const { start, after, upTo } = this.#span ?? { start: 0, after: changeCount, upTo: changeCount };
    this.#span = {
      start,
      after: Math.max(after, Math.min(this.#confirmed, changeCount)),
      upTo: this.#isWhole ? changeCount : upTo,
    };
    return this.#span;
  }
}
