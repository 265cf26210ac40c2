/**
 * What no choice of inputs needs of the outputs, and a change only of those it touches: 184 bytes of each, in pages.
 * Where they can be read again from a store, only pages with changes and some that were read lately are in memory.
 */
import { StoredPages } from "../packed/stored-pages.ts";
import type { KeyAt } from "./key-index.ts";
import type { OwnedOutput } from "./owned-output.ts";

/** Outputs of a page, which is a row of a store. */
export const COLD_OUTPUTS = 256;
const KEY_BYTES = 32;
/** What an output has of 32 bytes, in the order of a page; a key image that is not known is all zero. */
const keyNames = ["txHash", "mask", "txPublicKey", "oneTimeKey", "keyImage"] as const;
type KeyName = (typeof keyNames)[number];
const NUMBERS_AT = keyNames.length * KEY_BYTES;
const ITEM_BYTES = NUMBERS_AT + 8 + 8 + 4 + 4;
const LEAST_OUTPUTS = 8;
/** Pages in memory beside those with changes: 3 MB. */
const MAX_RECENT = 64;
const ALL_ONES = 0xffff_ffff;

export type ColdOutput = Pick<OwnedOutput, KeyName | "timestamp" | "globalIndex" | "txSize" | "outputIndex">;

const NO_KEY = new Uint8Array(KEY_BYTES);

/** Reads a page from where it was written, at once. */
export type ReadPage = (page: number) => Uint8Array;

export class ColdOutputs {
  #count = 0;
  readonly #pages = new StoredPages<Uint8Array>(MAX_RECENT);

  /** Writes an output at a place, at most one behind the last. Throws `RangeError` for what does not fit. */
  write(place: number, output: ColdOutput): void {
    const page = Math.floor(place / COLD_OUTPUTS);
    const index = place % COLD_OUTPUTS;
    const { txHash, mask, txPublicKey, oneTimeKey, keyImage = NO_KEY } = output;
    const keys = [txHash, mask, txPublicKey, oneTimeKey, keyImage];
    for (let i = 0; i < keys.length; i++) checkKey(keyNames[i]!, keys[i]!);
    const { txSize, outputIndex } = output;
    if (!(txSize >= 0 && txSize < ALL_ONES && outputIndex >= 0 && outputIndex < ALL_ONES))
      throw new RangeError(`size or index of an output: ${txSize}, ${outputIndex}`);
    const bytes = this.#pageToWrite(page, index);
    for (let i = 0; i < keys.length; i++) bytes.set(keys[i]!, ITEM_BYTES * index + KEY_BYTES * i);
    const view = new DataView(bytes.buffer, bytes.byteOffset + ITEM_BYTES * index + NUMBERS_AT);
    view.setFloat64(0, output.timestamp);
    view.setBigUint64(8, output.globalIndex);
    view.setUint32(16, output.txSize);
    view.setUint32(20, output.outputIndex);
    this.#count = Math.max(this.#count, place + 1);
  }

  /** Writes the key image of an output that is there. Throws `RangeError`. */
  writeKeyImage(place: number, keyImage: Uint8Array): void {
    checkKey("keyImage", keyImage);
    const index = place % COLD_OUTPUTS;
    const bytes = this.#pageToWrite(Math.floor(place / COLD_OUTPUTS), index);
    bytes.set(keyImage, ITEM_BYTES * index + KEY_BYTES * keyNames.indexOf("keyImage"));
  }

  /** One of the keys at a place; not a copy, and valid until the next change. */
  keyAt(place: number, name: KeyName): KeyAt {
    const bytes = this.#pages.get(Math.floor(place / COLD_OUTPUTS));
    return { bytes, at: ITEM_BYTES * (place % COLD_OUTPUTS) + KEY_BYTES * keyNames.indexOf(name) };
  }

  /** Copies of one of the keys of the outputs of a page that are wanted, one after the other; the page is not kept. */
  keysOn(page: number, name: KeyName, isWanted: (place: number) => boolean): Uint8Array {
    const bytes = this.#pages.peek(page);
    const first = page * COLD_OUTPUTS;
    const count = Math.min(COLD_OUTPUTS, this.#count - first);
    const keys = new Uint8Array(KEY_BYTES * count);
    let end = 0;
    for (let index = 0; index < count; index++) {
      if (!isWanted(first + index)) continue;
      const at = ITEM_BYTES * index + KEY_BYTES * keyNames.indexOf(name);
      keys.set(bytes.subarray(at, at + KEY_BYTES), end);
      end += KEY_BYTES;
    }
    return keys.subarray(0, end);
  }

  /** Copies of what was written at a place. */
  read(place: number): ColdOutput {
    const bytes = this.#pages.get(Math.floor(place / COLD_OUTPUTS));
    const at = ITEM_BYTES * (place % COLD_OUTPUTS);
    const view = new DataView(bytes.buffer, bytes.byteOffset + at + NUMBERS_AT);
    const key = (number: number) =>
      new Uint8Array(bytes.subarray(at + number * KEY_BYTES, at + (number + 1) * KEY_BYTES));
    return {
      txHash: key(0),
      mask: key(1),
      txPublicKey: key(2),
      oneTimeKey: key(3),
      keyImage: key(4),
      timestamp: view.getFloat64(0),
      globalIndex: view.getBigUint64(8),
      txSize: view.getUint32(16),
      outputIndex: view.getUint32(20),
    };
  }

  /** Removes the outputs from a place on. */
  truncate(count: number): void {
    const end = Math.ceil(this.#count / COLD_OUTPUTS);
    const firstGone = Math.ceil(count / COLD_OUTPUTS);
    if (count % COLD_OUTPUTS !== 0) this.#pages.change(firstGone - 1, firstGone);
    for (let page = firstGone; page < end; page++) this.#pages.remove(page);
    this.#count = count;
  }

  /** Marks all pages as changed. */
  changeAll(): void {
    this.#pages.change(0, Math.ceil(this.#count / COLD_OUTPUTS));
  }

  /** The pages that have changed since the last call; those without outputs are among them. */
  takeChanged(): ReadonlySet<number> {
    return this.#pages.takeChanged();
  }

  /** A copy of a page, to be written; undefined if it has no outputs. */
  pageBytes(page: number): Uint8Array | undefined {
    const count = Math.min(COLD_OUTPUTS, this.#count - page * COLD_OUTPUTS);
    return count <= 0 ? undefined : this.#pages.peek(page).slice(0, ITEM_BYTES * count);
  }

  /** Tells that all pages taken so far are written. */
  written(): void {
    this.#pages.written();
  }

  /** Adds the outputs of a page that is written already; without bytes it is read when it is needed. */
  addWritten(page: number, { count, bytes }: { readonly count: number; readonly bytes?: Uint8Array }): void {
    if (bytes !== undefined) this.#pages.addWritten(page, bytes);
    this.#count = page * COLD_OUTPUTS + count;
  }

  /** From now on, pages that are written are read again when they are needed. */
  readFrom(readPage: ReadPage): void {
    this.#pages.readFrom(readPage);
  }

  /** A page with room at an index, which stays in memory until it is written. */
  #pageToWrite(page: number, index: number): Uint8Array {
    const isNew = page * COLD_OUTPUTS >= this.#count;
    const former = isNew ? new Uint8Array(0) : this.#pages.get(page);
    const needed = ITEM_BYTES * (index + 1);
    let bytes = former;
    if (former.length < needed) {
      const capacity = Math.min(COLD_OUTPUTS, Math.max(LEAST_OUTPUTS, 2 * (index + 1)));
      bytes = new Uint8Array(ITEM_BYTES * capacity);
      bytes.set(former);
    }
    this.#pages.put(page, bytes);
    return bytes;
  }
}

function checkKey(name: KeyName, key: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new RangeError(`${name} of an output: ${key.length} bytes`);
}

/** The page that a row of version 2 is today: it had three keys, the others were with the columns (`keys`, 64 bytes each). */
export function pageOfFormer(
  bytes: Uint8Array,
  keys: { readonly oneTime: Uint8Array; readonly images: Uint8Array },
) {
  const count = keys.oneTime.length / KEY_BYTES;
  const formerBytes = ITEM_BYTES - 2 * KEY_BYTES;
  if (bytes.length !== formerBytes * count) throw new RangeError("a row of outputs that was cut off");
  const page = new Uint8Array(ITEM_BYTES * count);
  for (let i = 0; i < count; i++) {
    const item = bytes.subarray(formerBytes * i, formerBytes * (i + 1));
    const at = ITEM_BYTES * i;
    page.set(item.subarray(0, 3 * KEY_BYTES), at);
    page.set(keys.oneTime.subarray(KEY_BYTES * i, KEY_BYTES * (i + 1)), at + 3 * KEY_BYTES);
    page.set(keys.images.subarray(KEY_BYTES * i, KEY_BYTES * (i + 1)), at + 4 * KEY_BYTES);
    page.set(item.subarray(3 * KEY_BYTES), at + NUMBERS_AT);
  }
  return page;
}
