import { totalmem } from "node:os";
import type { TableHandle, Tables } from "./environment.ts";
import type { OutputName } from "./output-batch.ts";
import { ReadThreads, THREADS, type ThreadShare } from "./read-threads.ts";

/** Rows at random places of the file that are going to be read. */
export interface RandomRows {
  readonly outputs?: readonly OutputName[];
  /** 32 bytes each. */
  readonly keyImages?: readonly Uint8Array[];
  /** Ids of transactions, 32 bytes each: all rows of those that there are. */
  readonly transactions?: readonly Uint8Array[];
}

export interface PrefetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether a stranger has named the rows, who waits behind those of others. */
  readonly isStranger?: boolean | undefined;
}

/**
 * Brings the pages of these rows into memory in threads of the system, several at a time, so that reading them then
 * does not stop the event loop for each of them until the disk answers; undefined where the file fits into memory.
 * Rejects with the reason of the signal.
 */
export type Prefetch = (rows: () => RandomRows, options?: PrefetchOptions) => Promise<void> | undefined;

export interface PrefetcherOptions {
  readonly tables: Tables;
  /** Bytes of the file. */
  readonly fileSize: () => number;
  /** Bytes of memory for the system and its programs. */
  readonly memoryBytes: number;
  /** How many threads of the system it may use at once; by default all of them. */
  readonly share?: ThreadShare | undefined;
}

export interface Prefetcher {
  readonly prefetch: Prefetch;
  /** Starts nothing more: what is under way rejects; resolves once no thread reads any more. */
  end(): Promise<void>;
}

/** The threads flush the file, too: none is kept for long. */
const ROWS_PER_TASK = 64;
/** Their ids are looked up in one turn of the event loop. */
const TRANSACTIONS_AT_ONCE = 64;
/** Tables with a row for each transaction. */
const TRANSACTION_TABLES = [
  "transactionInfo",
  "prunedTransactions",
  "prunableParts",
  "outputIndices",
] as const;
/** The rest of the memory is for programs and for other files. */
const SHARE_OF_MEMORY = 0.5;
/** The file grows, but asking for its size takes as long as a few rows. */
const CALLS_PER_SIZE = 1000;

/** Bytes of memory that this process may use, with the pages of files that the system keeps for it. */
export function memoryOfProcess(): number {
  // 0 or more than there is where the process is in no group with a limit.
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

export function createPrefetcher({ tables, fileSize, memoryBytes, share }: PrefetcherOptions): Prefetcher {
  let calls = 0;
  let isLong = false;
  const closing = new AbortController();
  const threads = new ReadThreads(share);
  const running = new Set<Promise<void>>();
  const isLongerThanMemory = () => {
    if (calls++ % CALLS_PER_SIZE === 0) isLong = fileSize() > SHARE_OF_MEMORY * memoryBytes;
    return isLong;
  };
  return {
    prefetch(rows, { signal, isStranger = false } = {}) {
      if (!isLongerThanMemory()) return undefined;
      const signals = signal === undefined ? [closing.signal] : [closing.signal, signal];
      const inThread: InThread = (read) => {
        const readUnlessOver = async () => {
          for (const each of signals) each.throwIfAborted();
          await read();
        };
        return threads.run(readUnlessOver, { isStranger });
      };
      const run = prefetchAll(rowsOf(tables, rows()), inThread).finally(() => running.delete(run));
      running.add(run);
      return run;
    },
    async end() {
      closing.abort(new Error("the database was closed"));
      await Promise.allSettled(running);
    },
  };
}

/** Rows of one table. */
interface RowsOfTable {
  readonly count: number;
  /** Reads the pages of the rows from `from` (inclusive) to `to` (exclusive) in one thread. */
  prefetch(from: number, to: number): Promise<void>;
}

/** The rows, some of which are only known once those before them are there. */
function* rowsOf(
  tables: Tables,
  { outputs = [], keyImages = [], transactions = [] }: RandomRows,
): Generator<RowsOfTable> {
  const named = outputs
    .filter(({ index }) => index <= BigInt(Number.MAX_SAFE_INTEGER))
    .map(({ amount, index }) => ({ amount, index: Number(index) }));
  yield rowsBy(
    tables.ringCtOutputs,
    named.filter(({ amount }) => amount === 0n).map(({ index }) => index),
  );
  yield rowsBy(
    tables.outputs,
    named.filter(({ amount }) => amount !== 0n),
  );
  yield rowsBy(tables.keyImages, keyImages);
  for (let from = 0; from < transactions.length; from += TRANSACTIONS_AT_ONCE)
    yield* rowsOfTransactions(tables, transactions.slice(from, from + TRANSACTIONS_AT_ONCE));
}

function* rowsOfTransactions(tables: Tables, hashes: readonly Uint8Array[]): Generator<RowsOfTable> {
  yield rowsBy(tables.transactionIds, hashes);
  const ids = hashes.map((hash) => tables.transactionIds.get(hash)).filter((id) => id !== undefined);
  for (const name of TRANSACTION_TABLES) yield rowsBy(tables[name], ids);
  const infos = ids.map((id) => tables.transactionInfo.get(id)).filter((info) => info !== undefined);
  yield rowsBy(
    tables.blockInfo,
    infos.map(({ height }) => height),
  );
}

function rowsBy<K>({ prefetch }: Pick<TableHandle<K, unknown>, "prefetch">, keys: readonly K[]): RowsOfTable {
  return { count: keys.length, prefetch: (from, to) => prefetch(keys.slice(from, to)) };
}

/** Reads in a thread once one is free. Rejects with the reason of a signal. */
type InThread = (read: () => Promise<void>) => Promise<void>;

async function prefetchAll(all: Iterable<RowsOfTable>, inThread: InThread): Promise<void> {
  for (const { count, prefetch } of all) {
    const perTask = Math.min(ROWS_PER_TASK, Math.ceil(count / THREADS));
    for (let from = 0; from < count; from += THREADS * perTask) {
      const starts = Array.from({ length: THREADS }, (_, task) => from + task * perTask);
      const read = (start: number) => inThread(() => prefetch(start, Math.min(count, start + perTask)));
      await allDone(starts.filter((start) => start < count).map(read));
    }
  }
}

/** Waits for all, also after one has failed: no thread reads any more once this settles. Throws the first error. */
async function allDone(runs: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(runs)) if (result.status === "rejected") throw result.reason;
}
