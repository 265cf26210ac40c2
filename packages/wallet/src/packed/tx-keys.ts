/** The secret keys of the transactions that a wallet has made: packed, in the order in which they were first recorded. */

import { toHex } from "@anulo/protocol";
import { Column } from "./column.ts";
import { LazySet } from "./lazy-map.ts";
import { KeyHash, NOWHERE, PlaceIndex } from "./place-index.ts";
import { RecordReader, RecordWriter } from "./record-bytes.ts";
import { readRecordRow, writeRecordRow } from "./record-row.ts";
import { offsetOf, Records } from "./records.ts";

const ID_BYTES = 32;
const KEY_BYTES = 32;
/** Transactions of a row of a store. */
const ROW_ITEMS = 64;
const NO_ZONE = { lowest: 0, highest: 0, latestUnlock: 0 };

export class TxKeys implements Iterable<[string, readonly Uint8Array[]]> {
  readonly #records = new Records();
  readonly #writer = new RecordWriter();
  /** Address of each record, by place. */
  readonly #addresses = new Column();
  readonly #hash = new KeyHash();
  readonly #byId = new PlaceIndex({
    hashOf: (place) => this.#hash.ofBytes(this.#idAt(place), 0),
    isSame: (place, other) => Buffer.compare(this.#idAt(place), this.#idAt(other)) === 0,
  });
  readonly #changedRows = new LazySet<number>();

  static of(entries: Iterable<readonly [string, readonly Uint8Array[]]>): TxKeys {
    const txKeys = new TxKeys();
    for (const [id, keys] of entries) txKeys.set(id, keys);
    return txKeys;
  }

  get size(): number {
    return this.#addresses.length;
  }

  has(id: string): boolean {
    return this.#placeOf(id) !== NOWHERE;
  }

  /** Copies of a transaction's keys, the main one first. */
  get(id: string): readonly Uint8Array[] | undefined {
    const place = this.#placeOf(id);
    return place === NOWHERE ? undefined : this.#keysAt(place);
  }

  /** Id (32 bytes) and copies of the keys of the transaction at a place; undefined if there is none. */
  at(place: number): readonly [Uint8Array, readonly Uint8Array[]] | undefined {
    return place < this.size ? [this.#idAt(place).slice(), this.#keysAt(place)] : undefined;
  }

  /** `id`: the transaction's, in hex; one that is there already keeps its place in the order. */
  set(id: string, keys: readonly Uint8Array[]): this {
    const txHash = Buffer.from(id, "hex");
    if (txHash.length !== ID_BYTES || keys.some(({ length }) => length !== KEY_BYTES))
      throw new RangeError("not the keys of a transaction");
    const out = this.#writer.begin();
    out.bytes(txHash);
    out.number(keys.length);
    for (const key of keys) out.bytes(key);
    const existing = this.#placeOf(id);
    const place = existing === NOWHERE ? this.size : existing;
    if (existing !== NOWHERE) this.#wipe(place);
    this.#addresses.set(place, this.#records.add(this.#writer.record));
    this.#writer.record.fill(0);
    if (existing === NOWHERE) this.#byId.add(place);
    this.#changedRows.add(Math.floor(place / ROW_ITEMS));
    return this;
  }

  /** Overwrites all keys, and removes them. */
  clear(): void {
    for (let row = 0; row * ROW_ITEMS < this.size; row++) this.#changedRows.add(row);
    for (let place = 0; place < this.size; place++) this.#wipe(place);
    this.#records.clear();
    this.#addresses.removeFrom(0);
    this.#byId.clear();
  }

  *keys(): Generator<string, undefined> {
    for (let place = 0; place < this.size; place++) yield toHex(this.#idAt(place));
  }

  *[Symbol.iterator](): Generator<[string, readonly Uint8Array[]]> {
    for (let place = 0; place < this.size; place++) yield [toHex(this.#idAt(place)), this.#keysAt(place)];
  }

  /** The rows that have changed since the last call; those without keys are among them. */
  takeChangedRows(): ReadonlySet<number> {
    return this.#changedRows.take();
  }

  /** A copy of the keys of a row; undefined if there are none. */
  rowBytes(row: number): Uint8Array | undefined {
    const first = row * ROW_ITEMS;
    if (first >= this.size) return undefined;
    const records: Uint8Array[] = [];
    for (let place = first; place < Math.min(first + ROW_ITEMS, this.size); place++) {
      const address = this.#addresses.at(place);
      const [chunk, at] = [this.#records.chunkOf(address), offsetOf(address)];
      records.push(chunk.subarray(at, endOf(chunk, at)));
    }
    return writeRecordRow(records, NO_ZONE);
  }

  /** Adds the keys of the next row, found by their transactions once `index` has run. Throws `RangeError`. */
  addRow(bytes: Uint8Array): void {
    if (this.size % ROW_ITEMS !== 0) throw new RangeError("a row behind one that is not full");
    const { records, lengths } = readRecordRow(bytes);
    this.#records.addAll(records, lengths, (address) => this.#addresses.push(address));
  }

  /** Makes what finds keys by their transactions, after rows were added; pauses in between. */
  index(): Generator<void> {
    return this.#byId.addAll(this.size);
  }

  #keysAt(place: number): readonly Uint8Array[] {
    const address = this.#addresses.at(place);
    const record = new RecordReader(this.#records.chunkOf(address), offsetOf(address) + ID_BYTES);
    return Array.from({ length: record.number() }, () => record.bytes(KEY_BYTES));
  }

  #wipe(place: number): void {
    const address = this.#addresses.at(place);
    const [chunk, at] = [this.#records.chunkOf(address), offsetOf(address)];
    chunk.fill(0, at + ID_BYTES, endOf(chunk, at));
  }

  #idAt(place: number): Uint8Array {
    const address = this.#addresses.at(place);
    const at = offsetOf(address);
    return this.#records.chunkOf(address).subarray(at, at + ID_BYTES);
  }

  #placeOf(id: string): number {
    const txHash = Buffer.from(id, "hex");
    if (txHash.length !== ID_BYTES) return NOWHERE;
    const isWanted = (place: number) => Buffer.compare(this.#idAt(place), txHash) === 0;
    return this.#byId.newest(this.#hash.ofBytes(txHash, 0), isWanted);
  }
}

/** Index of the byte after a record. */
function endOf(chunk: Uint8Array, at: number): number {
  const record = new RecordReader(chunk, at + ID_BYTES);
  const count = record.number();
  return record.at + KEY_BYTES * count;
}
