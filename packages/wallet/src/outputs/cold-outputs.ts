/**
 * What no change and no choice of inputs needs of the outputs: 120 bytes of each, in pages. Where they can be read again
 * from a store, only pages with changes and some that were read lately are in memory.
 */
import type { OwnedOutput } from "./owned-output.ts";

/** Outputs of a page, which is a row of a store. */
export const COLD_OUTPUTS = 256;
const KEY_BYTES = 32;
const ITEM_BYTES = 3 * KEY_BYTES + 8 + 8 + 4 + 4;
const LEAST_OUTPUTS = 8;
/** Pages in memory beside those with changes: 2 MB. */
const MAX_RECENT = 64;
const ALL_ONES = 0xffff_ffff;

export type ColdOutput = Pick<
  OwnedOutput,
  "txHash" | "mask" | "txPublicKey" | "timestamp" | "globalIndex" | "txSize" | "outputIndex"
>;

/** Reads a page from where it was written, at once. */
export type ReadPage = (page: number) => Uint8Array;

export class ColdOutputs {
  #count = 0;
  /** Pages that may have changed since they were written, or that can't be read again. */
  readonly #pinnedPages = new Map<number, Uint8Array>();
  /** The others, those used last at the end. */
  readonly #recent = new Map<number, Uint8Array>();
  #changed = new Set<number>();
  /** Pages that were taken and may not be written yet. */
  #takenPages = new Set<number>();
  #readPage: ReadPage | undefined;

  /** Writes an output at a place, at most one behind the last. Throws `RangeError` for what does not fit. */
  write(place: number, output: ColdOutput): void {
    const page = Math.floor(place / COLD_OUTPUTS);
    const index = place % COLD_OUTPUTS;
    for (const name of ["txHash", "mask", "txPublicKey"] as const)
      if (output[name].length !== KEY_BYTES)
        throw new RangeError(`${name} of an output: ${output[name].length} bytes`);
    for (const name of ["txSize", "outputIndex"] as const)
      if (!(output[name] >= 0 && output[name] < ALL_ONES))
        throw new RangeError(`${name} of an output: ${output[name]}`);
    const bytes = this.#pageToWrite(page, index);
    bytes.set(output.txHash, ITEM_BYTES * index);
    bytes.set(output.mask, ITEM_BYTES * index + KEY_BYTES);
    bytes.set(output.txPublicKey, ITEM_BYTES * index + 2 * KEY_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset + ITEM_BYTES * index + 3 * KEY_BYTES);
    view.setFloat64(0, output.timestamp);
    view.setBigUint64(8, output.globalIndex);
    view.setUint32(16, output.txSize);
    view.setUint32(20, output.outputIndex);
    this.#count = Math.max(this.#count, place + 1);
  }

  /** Copies of what was written at a place. */
  read(place: number): ColdOutput {
    const bytes = this.#page(Math.floor(place / COLD_OUTPUTS));
    const at = ITEM_BYTES * (place % COLD_OUTPUTS);
    const view = new DataView(bytes.buffer, bytes.byteOffset + at + 3 * KEY_BYTES);
    const key = (number: number) =>
      new Uint8Array(bytes.subarray(at + number * KEY_BYTES, at + (number + 1) * KEY_BYTES));
    return {
      txHash: key(0),
      mask: key(1),
      txPublicKey: key(2),
      timestamp: view.getFloat64(0),
      globalIndex: view.getBigUint64(8),
      txSize: view.getUint32(16),
      outputIndex: view.getUint32(20),
    };
  }

  /** Removes the outputs from a place on. */
  truncate(count: number): void {
    const last = Math.ceil(this.#count / COLD_OUTPUTS) - 1;
    for (let page = last; page >= Math.floor(count / COLD_OUTPUTS); page--) {
      this.#changed.add(page);
      if (page * COLD_OUTPUTS < count) continue;
      this.#pinnedPages.delete(page);
      this.#recent.delete(page);
    }
    this.#count = count;
  }

  /** The pages that have changed since the last call; those without outputs are among them. */
  takeChanged(): ReadonlySet<number> {
    const changed = this.#changed;
    for (const page of changed) this.#takenPages.add(page);
    this.#changed = new Set();
    return changed;
  }

  /** A copy of a page, to be written; undefined if it has no outputs. */
  pageBytes(page: number): Uint8Array | undefined {
    const count = Math.min(COLD_OUTPUTS, this.#count - page * COLD_OUTPUTS);
    return count <= 0 ? undefined : this.#page(page).slice(0, ITEM_BYTES * count);
  }

  /** Tells that all pages taken so far are written. */
  written(): void {
    const pages = this.#takenPages;
    this.#takenPages = new Set();
    if (this.#readPage === undefined) return;
    for (const page of pages) {
      const bytes = this.#pinnedPages.get(page);
      if (bytes === undefined || this.#changed.has(page)) continue;
      this.#pinnedPages.delete(page);
      this.#keepRecent(page, bytes);
    }
  }

  /** Adds the outputs of a page that is written already; without bytes it is read when it is needed. */
  addWritten(page: number, { count, bytes }: { readonly count: number; readonly bytes?: Uint8Array }): void {
    if (bytes !== undefined) this.#pinnedPages.set(page, bytes);
    this.#count = page * COLD_OUTPUTS + count;
  }

  /** From now on, pages that are written are read again when they are needed. */
  readFrom(readPage: ReadPage): void {
    this.#readPage = readPage;
  }

  #page(page: number): Uint8Array {
    const pinned = this.#pinnedPages.get(page);
    if (pinned !== undefined) return pinned;
    const recent = this.#recent.get(page) ?? this.#readPage?.(page);
    if (recent === undefined) throw new RangeError(`no outputs on page ${page}`);
    this.#keepRecent(page, recent);
    return recent;
  }

  #keepRecent(page: number, bytes: Uint8Array): void {
    this.#recent.delete(page);
    this.#recent.set(page, bytes);
    if (this.#recent.size <= MAX_RECENT) return;
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest);
      return;
    }
  }

  /** A page with room at an index, which stays in memory until it is written. */
  #pageToWrite(page: number, index: number): Uint8Array {
    this.#changed.add(page);
    const isNew = page * COLD_OUTPUTS >= this.#count;
    const former = isNew ? new Uint8Array(0) : this.#page(page);
    const needed = ITEM_BYTES * (index + 1);
    let bytes = former;
    if (former.length < needed) {
      const capacity = Math.min(COLD_OUTPUTS, Math.max(LEAST_OUTPUTS, 2 * (index + 1)));
      bytes = new Uint8Array(ITEM_BYTES * capacity);
      bytes.set(former);
    }
    this.#recent.delete(page);
    this.#pinnedPages.set(page, bytes);
    return bytes;
  }
}
