/**
 * Ids of the newest blocks of wallets. Those that have seen the same blocks hold the same bytes: ids lie in runs, in
 * which what was written never changes, so that a wallet on another branch has runs of its own from there on.
 */
import { equalBytes } from "@anulo/protocol";
import { packedKeys } from "../scan/packed-lists.ts";

const ID_BYTES = 32;
/** Heights of a run: 8 KB of ids. */
const RUN_BLOCKS = 256;
/** Number of newest ids without gaps, before they become sparse. Source: wallet2.cpp `get_short_chain_history`. */
const DENSE = 10;

const rowOf = (height: number): number => Math.floor(height / RUN_BLOCKS);

/** Ids of consecutive blocks within one row of heights, for all wallets that have them. */
class Run {
  readonly #start: number;
  readonly #bytes = new Uint8Array(ID_BYTES * RUN_BLOCKS);
  /** Height of the first id that was written, and of the first behind the last. */
  #from: number;
  #to: number;

  constructor(row: number) {
    this.#start = RUN_BLOCKS * row;
    this.#from = this.#start;
    this.#to = this.#start;
  }

  /** Whether it has any id of these heights. */
  hasAnyOf(from: number, to: number): boolean {
    return Math.max(from, this.#from) < Math.min(to, this.#to);
  }

  /**
   * Adds ids (32 bytes each) from a height on, which join those it has. Returns false, and adds nothing, if it has
   * another id of one of these blocks.
   */
  add(from: number, ids: Uint8Array): boolean {
    const to = from + ids.length / ID_BYTES;
    const [first, end] = [Math.max(from, this.#from), Math.min(to, this.#to)];
    for (let at = ID_BYTES * (first - from), own = this.#at(first); own < this.#at(end); )
      if (ids[at++] !== this.#bytes[own++]) return false;
    this.#bytes.set(ids, this.#at(from));
    const isEmpty = this.#from === this.#to;
    this.#from = isEmpty ? from : Math.min(from, this.#from);
    this.#to = Math.max(to, this.#to);
    return true;
  }

  /** A copy of the ids from one height to before another. */
  copy(from: number, to: number): Uint8Array {
    return this.#bytes.slice(this.#at(from), this.#at(to));
  }

  has(height: number, id: Uint8Array): boolean {
    const at = this.#at(height);
    for (let i = 0; i < ID_BYTES; i++) if (id[i] !== this.#bytes[at + i]) return false;
    return id.length === ID_BYTES;
  }

  #at(height: number): number {
    return ID_BYTES * (height - this.#start);
  }
}

type Span = {
  readonly offset: number;
  readonly end: number;
  readonly runs: readonly Run[];
  readonly genesis: Uint8Array;
};

const isSameSpan = (a: Span, b: Span): boolean =>
  a.offset === b.offset &&
  a.end === b.end &&
  equalBytes(a.genesis, b.genesis) &&
  a.runs.every((run, i) => run === b.runs[i]);

/** The runs of the wallets of a service, each for as long as a wallet holds it. */
export class SharedBlockIds {
  /** By row of heights. */
  readonly #runs = new Map<number, WeakRef<Run>[]>();
  #lastHistory: { readonly span: Span; readonly ids: readonly Uint8Array[] } | undefined;
  #lastPacked: { readonly ids: readonly Uint8Array[]; readonly bytes: Uint8Array } | undefined;

  /** Number of runs in memory. */
  get runs(): number {
    this.#forgetUnused();
    return [...this.#runs.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** The run that has these ids, all of one row, from a height on. */
  runOf(from: number, ids: Uint8Array): Run {
    const row = rowOf(from);
    const to = from + ids.length / ID_BYTES;
    for (const reference of this.#runs.get(row) ?? []) {
      const run = reference.deref();
      // Where no id is the same the chain may be another.
      if (run?.hasAnyOf(from, to) === true && run.add(from, ids)) return run;
    }
    this.#forgetUnused();
    const run = new Run(row);
    run.add(from, ids);
    this.#runs.set(row, [...(this.#runs.get(row) ?? []), new WeakRef(run)]);
    return run;
  }

  /** What `make` returns: the same object as for the last wallet, if that has the same ids. */
  historyOf(span: Span, make: () => readonly Uint8Array[]): readonly Uint8Array[] {
    if (this.#lastHistory === undefined || !isSameSpan(this.#lastHistory.span, span))
      this.#lastHistory = { span: { ...span, runs: [...span.runs] }, ids: make() };
    return this.#lastHistory.ids;
  }

  /** The ids in one array: the same object as for the last wallet, if that had the same list. */
  packed(ids: readonly Uint8Array[]): Uint8Array {
    if (this.#lastPacked?.ids !== ids) this.#lastPacked = { ids, bytes: packedKeys(ids) };
    return this.#lastPacked.bytes;
  }

  #forgetUnused(): void {
    for (const [row, references] of this.#runs) {
      const used = references.filter((reference) => reference.deref() !== undefined);
      if (used.length === 0) this.#runs.delete(row);
      else this.#runs.set(row, used);
    }
  }
}

/** Ids (32 bytes) of a wallet's newest scanned blocks, from `offset` to before `end`. */
export class RecentBlocks {
  #shared: SharedBlockIds;
  #offset: number;
  #end: number;
  /** From the row of `offset` on. */
  #runs: Run[] = [];

  constructor(offset = 1, shared = new SharedBlockIds()) {
    this.#shared = shared;
    this.#offset = offset;
    this.#end = offset;
  }

  /** The ids as they were stored. Throws `RangeError` for what is no list of ids. */
  static of({ offset, ids }: { readonly offset: number; readonly ids: readonly Uint8Array[] }): RecentBlocks {
    const isIds = ids.every((id) => id instanceof Uint8Array && id.length === ID_BYTES);
    if (!Number.isSafeInteger(offset) || offset < 0 || !isIds) throw new RangeError("not ids of blocks");
    const recent = new RecentBlocks(offset);
    recent.append(Buffer.concat(ids));
    return recent;
  }

  /** Height of the first. */
  get offset(): number {
    return this.#offset;
  }

  /** Height after the last. */
  get end(): number {
    return this.#end;
  }

  get length(): number {
    return this.#end - this.#offset;
  }

  /** A copy of the id of the newest block. */
  get last(): Uint8Array | undefined {
    return this.length === 0 ? undefined : this.#idAt(this.#end - 1);
  }

  /**
   * Newest first: ten consecutive ones, then ever farther apart, and last that of the first block of all. The same object
   * for wallets one after the other that share all ids.
   */
  historyFrom(genesis: Uint8Array): readonly Uint8Array[] {
    const span = { offset: this.#offset, end: this.#end, runs: this.#runs, genesis };
    return this.#shared.historyOf(span, () => {
      const ids: Uint8Array[] = [];
      let step = 1;
      for (let height = this.#end - 1; height >= this.#offset; height -= step) {
        ids.push(this.#idAt(height));
        if (ids.length >= DENSE) step *= 2;
      }
      ids.push(genesis);
      return ids;
    });
  }

  /** Whether the block at a height has this id. */
  has(height: number, id: Uint8Array): boolean {
    return height >= this.#offset && height < this.#end && this.#runAt(height).has(height, id);
  }

  /** Copies of the ids from one height to before another, as far as they are there. */
  slice(from = this.#offset, to = this.#end): Uint8Array[] {
    const ids: Uint8Array[] = [];
    const end = Math.min(to, this.#end);
    for (let height = Math.max(from, this.#offset); height < end; height++) ids.push(this.#idAt(height));
    return ids;
  }

  /** The same, one after the other. */
  bytes(from: number, to: number): Uint8Array {
    const parts: Uint8Array[] = [];
    const end = Math.min(to, this.#end);
    for (let height = Math.max(from, this.#offset); height < end; ) {
      const next = Math.min(end, RUN_BLOCKS * (rowOf(height) + 1));
      parts.push(this.#runAt(height).copy(height, next));
      height = next;
    }
    return Buffer.concat(parts);
  }

  copy(): RecentBlocks {
    const copy = new RecentBlocks(this.#offset, this.#shared);
    copy.#end = this.#end;
    copy.#runs = [...this.#runs];
    return copy;
  }

  /** Holds the ids together with other wallets from now on. */
  share(shared: SharedBlockIds): void {
    const ids = this.bytes(this.#offset, this.#end);
    this.#shared = shared;
    this.begin(this.#offset);
    this.append(ids);
  }

  /** Drops all ids; the next one is that of this height. */
  begin(offset: number): void {
    this.#offset = offset;
    this.#end = offset;
    this.#runs = [];
  }

  /** Adds the ids of the next blocks. */
  appendList(ids: readonly Uint8Array[]): void {
    this.append(this.#shared.packed(ids));
  }

  /** Adds the ids of the next blocks, 32 bytes each. */
  append(ids: Uint8Array): void {
    for (let at = 0; at < ids.length; ) {
      const bytes = ID_BYTES * (RUN_BLOCKS * (rowOf(this.#end) + 1) - this.#end);
      const some = ids.subarray(at, at + bytes);
      this.#appendToRow(some);
      at += some.length;
    }
  }

  /** All ids are of one row. */
  #appendToRow(ids: Uint8Array): void {
    const row = rowOf(this.#end);
    const from = Math.max(this.#offset, RUN_BLOCKS * row);
    const current = from < this.#end ? this.#runAt(from) : undefined;
    if (current?.add(this.#end, ids) !== true) {
      const all = current === undefined ? ids : Buffer.concat([current.copy(from, this.#end), ids]);
      this.#runs[row - rowOf(this.#offset)] = this.#shared.runOf(from, all);
    }
    this.#end += ids.length / ID_BYTES;
  }

  /** Drops the ids from a height on. */
  truncate(height: number): void {
    if (height >= this.#end) return;
    if (height > this.#offset) {
      this.#end = height;
      this.#runs.length = rowOf(height - 1) - rowOf(this.#offset) + 1;
    } else this.begin(Math.max(1, height));
  }

  /** Drops all ids but so many of the newest. */
  keepNewest(count: number): void {
    const offset = Math.max(this.#offset, this.#end - count);
    this.#runs.splice(0, Math.min(this.#runs.length, rowOf(offset) - rowOf(this.#offset)));
    this.#offset = offset;
  }

  #idAt(height: number): Uint8Array {
    return this.#runAt(height).copy(height, height + 1);
  }

  #runAt(height: number): Run {
    return this.#runs[rowOf(height) - rowOf(this.#offset)]!;
  }
}
