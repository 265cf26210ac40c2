import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { NewBlock, RemovedBlock, TransactionFacts } from "./block-changes.ts";
import { applyBlock, undoBlock } from "./block-changes.ts";
import { type ChainCheck, checkChain, type FactReader } from "./check-chain.ts";
import { isSystemFault, writeFailed } from "./damage.ts";
import type { Environment } from "./environment.ts";
import type { Flusher } from "./flusher.ts";
import type { PageCheck } from "./page-walk.ts";
import { createPrefetcher, type Prefetch } from "./prefetch.ts";
import { type PruneStep, pruneOn, startPruning } from "./prune.ts";
import type { CachedCounts, ChainReader } from "./reader.ts";
import { createReader } from "./reader.ts";
import type { Recovery } from "./recover.ts";
import { checkOpenFile } from "./structure-check.ts";
import type { AlternativeBlock, PoolTransaction } from "./tables.ts";

/** A reader that sees one state of the chain until it is closed, whatever is written meanwhile. */
export interface ChainSnapshot extends ChainReader {
  close(): void;
}

/** The changes possible inside one write transaction. */
export interface ChainWriter {
  appendBlock(block: NewBlock): void;
  /** Removes the newest block of the chain; returns undefined when the chain is empty. */
  popBlock(factsOf: (pruned: Uint8Array) => TransactionFacts): RemovedBlock | undefined;
  putAlternativeBlock(hash: Uint8Array, block: AlternativeBlock): void;
  removeAlternativeBlock(hash: Uint8Array): void;
  putPoolTransaction(hash: Uint8Array, transaction: PoolTransaction): void;
  removePoolTransaction(hash: Uint8Array): void;
  /** Enables pruning with this seed; throws RangeError if the database has another seed. */
  startPruning(seed: number): void;
  /** Continues pruning, until about `maxTransactions` transactions lost their prunable part. */
  pruneOn(maxTransactions: number): PruneStep;
}

/** An open chain database: any number of readers, in any thread, and one writer. */
export interface ChainStore {
  /** Reads the newest commit; inside `write`, also what was written so far. */
  readonly read: ChainReader;
  /** Opens a reader of the current state; it should be closed soon, since old pages are kept for it. */
  snapshot(): ChainSnapshot;
  /** To be awaited before many rows at random places are read: see `Prefetch`. */
  readonly prefetch: Prefetch;
  /**
   * Runs `change` as one transaction: when this returns, all of it is written and survives the end of the process; when
   * it throws, nothing is written. Nested calls become part of the outer transaction, and are rolled back alone when
   * they throw. Throws WriteFailed if the disk fails, and an Error while a change is being written in turns.
   */
  write<T>(change: (writer: ChainWriter) => T): T;
  /**
   * The same for a long change, which yields wherever the event loop may take a turn. In the turns between, all readers
   * see the chain as it was before; `onWritten` is called in the turn in which that ends.
   */
  writeInTurns<T>(
    change: (writer: ChainWriter) => Generator<void, T>,
    onWritten: (result: T) => void,
  ): Promise<T>;
  /** Runs a function that writes as soon as no change is being written in turns, which usually is at once. */
  whenWritable<T>(change: () => T): Promise<T>;
  /** Number of rows that were read in this thread since the file was opened. */
  rowsRead(): number;
  /** Runs synchronous work whose rows do not count, since what it reads is kept for everybody. */
  withoutCounting<T>(work: () => T): T;
  /** Resolves once what was written may be reported: at once, or when flushed, depending on the sync mode. */
  settled(): Promise<void>;
  /** Resolves once what was written survives a loss of power; rejects with WriteFailed. */
  flush(): Promise<void>;
  /** Path of the database file, for `openReader` in another thread. */
  readonly path: string;
  /** Compares all tables with the bytes of the blocks, see `checkChain`; there must be no writes meanwhile. */
  check(facts: FactReader): Generator<number, ChainCheck>;
  /** The recovery that took place when the file was opened; undefined for a new file. */
  readonly recovery: Recovery | undefined;
  /**
   * Checks the structure of the current file, in slices, for some 200 ms of work, which covers small files completely.
   * Damage is reported as a fault. Resolves with the number of pages checked; undefined if the store was closed before.
   */
  checkStructure(): Promise<PageCheck | undefined>;
  /** Bytes of the database file. */
  fileSize(): number;
  /** Bytes that are free on the disk. */
  freeSpace(): bigint;
  close(): Promise<void>;
}

/** Bytes of a block's rows besides its own bytes and those of its transactions, estimated. */
const ROW_BYTES_PER_BLOCK = 400;
const ROW_BYTES_PER_TRANSACTION = 500;

function bytesOf({ blob, transactions }: NewBlock): number {
  const sizeOf = ({ pruned, prunable }: NewBlock["transactions"][number]) =>
    pruned.length + (prunable?.length ?? 0) + ROW_BYTES_PER_TRANSACTION;
  return transactions.reduce((sum, tx) => sum + sizeOf(tx), blob.length + ROW_BYTES_PER_BLOCK);
}

/** What a transaction has written so far, counted for the flusher. */
interface WrittenCounts {
  blocks: number;
  bytes: number;
}

function clearCounts(cachedCounts: CachedCounts): void {
  cachedCounts.height = undefined;
  cachedCounts.ringCtOutputs = undefined;
}

interface Counts {
  readonly counts: WrittenCounts;
  readonly cachedCounts: CachedCounts;
}

function createWriter({ tables }: Environment, { counts, cachedCounts }: Counts): ChainWriter {
  const read = createReader(tables);
  return {
    appendBlock(block) {
      clearCounts(cachedCounts);
      applyBlock(tables, block);
      counts.blocks++;
      counts.bytes += bytesOf(block);
    },
    popBlock(factsOf) {
      clearCounts(cachedCounts);
      return undoBlock(tables, factsOf);
    },
    putAlternativeBlock: (hash, block) => tables.alternativeBlocks.put(hash, block),
    removeAlternativeBlock: (hash) => tables.alternativeBlocks.remove(hash),
    putPoolTransaction(hash, transaction) {
      tables.poolTransactions.put(hash, transaction);
      counts.bytes += transaction.blob.length;
    },
    removePoolTransaction: (hash) => tables.poolTransactions.remove(hash),
    startPruning: (seed) => startPruning(tables, read, seed),
    pruneOn: (maxTransactions) => pruneOn(tables, read, maxTransactions),
  };
}

/** Bytes that are free on the disk of a file. */
function freeSpaceAt(path: string): bigint {
  const { bavail, bsize } = statfsSync(dirname(path), { bigint: true });
  return bavail * bsize;
}

type Writing = Pick<ChainStore, "write" | "writeInTurns" | "whenWritable">;

/** Runs changes as transactions, reports each to the flusher, and turns faults of the disk into WriteFailed. */
function createWriting(opened: OpenDatabase, cachedCounts: CachedCounts): Writing {
  const { environment, flusher, onFault } = opened;
  const { root, longWrite } = environment;
  const counts: WrittenCounts = { blocks: 0, bytes: 0 };
  const writer = createWriter(environment, { counts, cachedCounts });
  let depth = 0;
  let busy: Promise<void> | undefined;
  const resetWritten = () => Object.assign(counts, { blocks: 0, bytes: 0 });
  const failed = (error: unknown): unknown => {
    clearCounts(cachedCounts);
    if (!isSystemFault(error)) return error;
    const fault = writeFailed("the database could not be written", error, () => freeSpaceAt(opened.path));
    onFault(fault);
    return fault;
  };
  const runInTurns: Writing["writeInTurns"] = async (change, onWritten) => {
    try {
      const result = await longWrite.run(change(writer), () => clearCounts(cachedCounts));
      onWritten(result);
      flusher?.written(counts);
      return result;
    } catch (error) {
      throw failed(error);
    } finally {
      resetWritten();
    }
  };
  return {
    write(change) {
      if (longWrite.isOpen) throw new Error("the database is being written in turns");
      depth++;
      try {
        const result = root.transactionSync(() => change(writer));
        if (depth === 1) flusher?.written(counts);
        return result;
      } catch (error) {
        throw failed(error);
      } finally {
        depth--;
        if (depth === 0) resetWritten();
      }
    },
    async writeInTurns(change, onWritten) {
      while (busy !== undefined) await busy;
      const running = runInTurns(change, onWritten);
      const over = () => {
        busy = undefined;
      };
      busy = running.then(over, over);
      return running;
    },
    async whenWritable(change) {
      while (busy !== undefined) await busy;
      return change();
    },
  };
}

/** A database file that is open and checked. */
export interface OpenDatabase {
  readonly path: string;
  readonly environment: Environment;
  readonly recovery: Recovery | undefined;
  /** Undefined for a temporary file. */
  readonly flusher: Flusher | undefined;
  /** Bytes of memory for the system and its programs. */
  readonly memoryBytes: number;
  readonly onFault: (fault: Error) => void;
  afterClose(): void;
}

/** A check of the structure that ends when the store is closed. */
function createStructureCheck({ path, environment, onFault }: OpenDatabase) {
  const closing = new AbortController();
  let running: Promise<PageCheck | undefined> = Promise.resolve(undefined);
  const check = async () => {
    try {
      return await checkOpenFile(path, environment, closing.signal);
    } catch (error) {
      if (!closing.signal.aborted) onFault(error as Error);
      return undefined;
    }
  };
  return {
    run() {
      running = check();
      return running;
    },
    async end() {
      closing.abort();
      await running;
    },
  };
}

/** Creates the store of an open file. */
export function createStore(opened: OpenDatabase): ChainStore {
  const { path, environment, recovery, flusher, memoryBytes } = opened;
  const { root, tables, rowsRead } = environment;
  const cachedCounts: CachedCounts = { height: undefined, ringCtOutputs: undefined };
  const writing = createWriting(opened, cachedCounts);
  const structureCheck = createStructureCheck(opened);
  const fileSize = () => statSync(path).size;
  const prefetcher = createPrefetcher({ tables, fileSize, memoryBytes });
  return {
    read: createReader(tables, undefined, cachedCounts),
    snapshot() {
      const transaction = root.useReadTransaction();
      return { ...createReader(tables, transaction), close: () => transaction.done() };
    },
    prefetch: prefetcher.prefetch,
    ...writing,
    rowsRead: () => rowsRead.count,
    withoutCounting(work) {
      const before = rowsRead.count;
      try {
        return work();
      } finally {
        rowsRead.count = before;
      }
    },
    settled: () => flusher?.settled() ?? Promise.resolve(),
    flush: () => flusher?.flush() ?? Promise.resolve(),
    path,
    check: (facts) => checkChain(tables, facts),
    recovery,
    checkStructure: structureCheck.run,
    fileSize,
    freeSpace: () => freeSpaceAt(path),
    async close() {
      await structureCheck.end();
      await prefetcher.end();
      await writing.whenWritable(() => {});
      await flusher?.close();
      await root.close();
      opened.afterClose();
    },
  };
}
