import { mkdirSync, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { NewBlock, RemovedBlock, TransactionFacts } from "./block-changes.ts";
import { applyBlock, undoBlock } from "./block-changes.ts";
import { type ChainCheck, checkChain, type FactReader } from "./check-chain.ts";
import { DamagedDatabase, DatabaseInUse, isSystemFault, WrongDatabase, writeFailed } from "./damage.ts";
import type { Environment, Tables } from "./environment.ts";
import { openEnvironment } from "./environment.ts";
import { createFlusher, type Flusher } from "./flusher.ts";
import { lockForProcess } from "./process-lock.ts";
import { type PruneStep, pruneOn, startPruning } from "./prune.ts";
import type { ChainReader } from "./reader.ts";
import { createReader } from "./reader.ts";
import { type Recovery, recoverFile } from "./recover.ts";
import { defaultSyncMode, type SyncMode } from "./sync-mode.ts";
import type { AlternativeBlock, PoolTransaction } from "./tables.ts";
import { SCHEMA_VERSION } from "./tables.ts";

/** A reader that sees one moment of the chain until it is closed, whatever is written meanwhile. */
export interface ChainSnapshot extends ChainReader {
  close(): void;
}

/** What may be changed inside one write transaction. */
export interface ChainWriter {
  appendBlock(block: NewBlock): void;
  /** Takes the newest block off the chain; undefined when the chain is empty. */
  popBlock(factsOf: (pruned: Uint8Array) => TransactionFacts): RemovedBlock | undefined;
  putAlternativeBlock(hash: Uint8Array, block: AlternativeBlock): void;
  removeAlternativeBlock(hash: Uint8Array): void;
  putPoolTransaction(hash: Uint8Array, transaction: PoolTransaction): void;
  removePoolTransaction(hash: Uint8Array): void;
  /** Has the database pruned from now on; throws RangeError for another seed than it has. */
  startPruning(seed: number): void;
  /** Prunes on, until about so many transactions lost their prunable part. */
  pruneOn(maxTransactions: number): PruneStep;
}

/** An open chain database: any number of readers, in any thread, and one writer. */
export interface ChainStore {
  /** Reads the newest commit; inside `write`, what was written so far. */
  readonly read: ChainReader;
  /** Opens a reader of this very moment; close it soon, old pages are kept for it. */
  snapshot(): ChainSnapshot;
  /**
   * Runs `change` as one transaction: all of it is written when this returns, and survives the end of the
   * process; none of it when it throws. Nested calls become part of the outer transaction, and are rolled
   * back alone when they throw. Throws WriteFailed where the disk does not take it.
   */
  write<T>(change: (writer: ChainWriter) => T): T;
  /** Resolves once what was written may be told to others: at once, or when flushed, as the sync mode says. */
  settled(): Promise<void>;
  /** Resolves once what was written survives a loss of power; rejects with WriteFailed. */
  flush(): Promise<void>;
  /** Where the database file is, for `openReader` in another thread. */
  readonly path: string;
  /** Compares all tables with the bytes of the blocks, see `checkChain`; nothing may be written meanwhile. */
  check(facts: FactReader): Generator<number, ChainCheck>;
  /** What was found when it was opened; undefined for a new file. */
  readonly recovery: Recovery | undefined;
  /** Bytes of the database file. */
  fileSize(): number;
  /** Bytes the disk can still take. */
  freeSpace(): bigint;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The database file, created when missing; left out: a temporary one, never flushed, deleted when closed. */
  readonly path?: string | undefined;
  /** Name of the network the file belongs to. */
  readonly network: string;
  /** Look through the whole structure of the file, however long that takes. */
  readonly checkAll?: boolean | undefined;
  /** When writes are flushed; by default soon after, without waiting. */
  readonly syncMode?: SyncMode | undefined;
  /** Told when the disk fails to take a write, or a row turns out to be damaged: it is time to stop. */
  readonly onFault?: ((fault: Error) => void) | undefined;
}

/** Milliseconds an opening may spend on the structure of the file; small files are looked through whole. */
const CHECK_BUDGET_MS = 200;

interface Identity {
  readonly network: string;
  readonly recovery: Recovery | undefined;
}

/** Names the file's schema and network where it is new, else checks them. */
function checkIdentity({ root, tables }: Environment, { network, recovery }: Identity): void {
  const schema = readProperty(tables, "schema");
  if (schema === undefined) {
    if (tables.blocks.count() > 0) throw new DamagedDatabase("it does not say what it is");
    root.transactionSync(() => {
      tables.properties.put("schema", Buffer.from(String(SCHEMA_VERSION)));
      tables.properties.put("network", Buffer.from(network));
    });
    return;
  }
  if (schema !== String(SCHEMA_VERSION)) throw otherSchema(schema);
  const found = readProperty(tables, "network");
  if (found !== network) throw new WrongDatabase(`the database belongs to ${found}, not to ${network}`);
  if (recovery?.isNew === true && tables.blocks.count() > 0) {
    throw new DamagedDatabase("the marks of its last flush are gone");
  }
}

function otherSchema(schema: string): WrongDatabase {
  return new WrongDatabase(
    `the database has schema ${schema}, this program reads ${SCHEMA_VERSION}: move it away and sync again`,
  );
}

/** Rows of schema 1 had no checksums. */
function readProperty(tables: Tables, name: string): string | undefined {
  try {
    const bytes = tables.properties.get(name);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  } catch (error) {
    if (error instanceof DamagedDatabase && tables.ringCtOutputs.count() === 0) throw otherSchema("1");
    throw error;
  }
}

/** Rows of a block beside its bytes and those of its transactions, roughly. */
const ROW_BYTES_PER_BLOCK = 400;
const ROW_BYTES_PER_TRANSACTION = 500;

function bytesOf({ blob, transactions }: NewBlock): number {
  const sizeOf = ({ pruned, prunable }: NewBlock["transactions"][number]) =>
    pruned.length + (prunable?.length ?? 0) + ROW_BYTES_PER_TRANSACTION;
  return transactions.reduce((sum, tx) => sum + sizeOf(tx), blob.length + ROW_BYTES_PER_BLOCK);
}

/** What a transaction has written so far, for the flusher's count. */
interface Written {
  blocks: number;
  bytes: number;
}

function createWriter({ tables }: Environment, written: Written): ChainWriter {
  const read = createReader(tables);
  return {
    appendBlock(block) {
      applyBlock(tables, block);
      written.blocks++;
      written.bytes += bytesOf(block);
    },
    popBlock: (factsOf) => undoBlock(tables, factsOf),
    putAlternativeBlock: (hash, block) => tables.alternativeBlocks.put(hash, block),
    removeAlternativeBlock: (hash) => tables.alternativeBlocks.remove(hash),
    putPoolTransaction(hash, transaction) {
      tables.poolTransactions.put(hash, transaction);
      written.bytes += transaction.blob.length;
    },
    removePoolTransaction: (hash) => tables.poolTransactions.remove(hash),
    startPruning: (seed) => startPruning(tables, read, seed),
    pruneOn: (maxTransactions) => pruneOn(tables, read, maxTransactions),
  };
}

/** Runs changes as transactions, tells the flusher of each, and turns faults of the disk into WriteFailed. */
function createWrite(
  environment: Environment,
  parts: Pick<Opened, "flusher" | "onFault">,
): ChainStore["write"] {
  const { flusher, onFault } = parts;
  const written: Written = { blocks: 0, bytes: 0 };
  const writer = createWriter(environment, written);
  let depth = 0;
  return (change) => {
    depth++;
    try {
      const result = environment.root.transactionSync(() => change(writer));
      if (depth === 1) flusher?.wrote(written);
      return result;
    } catch (error) {
      if (!isSystemFault(error)) throw error;
      const fault = writeFailed("the database could not be written", error);
      onFault(fault);
      throw fault;
    } finally {
      depth--;
      if (depth === 0) {
        written.blocks = 0;
        written.bytes = 0;
      }
    }
  };
}

interface Opened {
  readonly environment: Environment;
  readonly recovery: Recovery | undefined;
  readonly flusher: Flusher | undefined;
  readonly onFault: (fault: Error) => void;
}

/** Opens a file that nobody else has open; the first flush is done before anything is written. */
async function openFile(
  path: string,
  { network, syncMode, onFault = () => {} }: StoreOptions,
): Promise<Opened> {
  const recovery = recoverFile(path, CHECK_BUDGET_MS);
  const environment = openEnvironment(path, { onDamage: onFault });
  try {
    checkSoleUse(environment, path);
    const flusher = createFlusher({ environment, path, mode: syncMode ?? defaultSyncMode, onFault });
    await flusher.flush();
    checkIdentity(environment, { network, recovery });
    return { environment, recovery, flusher, onFault };
  } catch (error) {
    await environment.root.close();
    throw error;
  }
}

/** A file in the folder for temporary files, flushed by nobody. */
function openTransient(network: string): Opened & { readonly path: string } {
  const path = join(mkdtempSync(join(tmpdir(), "anulo-")), "chain.mdb");
  const environment = openEnvironment(path);
  checkIdentity(environment, { network, recovery: undefined });
  return { path, environment, recovery: undefined, flusher: undefined, onFault: () => {} };
}

/** Throws DatabaseInUse where another process reads the file: the one that has it open always does. */
function checkSoleUse({ root }: Environment, path: string): void {
  root.readerCheck();
  for (const line of root.readerList().split("\n")) {
    const processId = Number(/^\s*(\d+)\s/.exec(line)?.[1] ?? process.pid);
    if (processId !== process.pid) throw new DatabaseInUse(path, processId);
  }
}

/**
 * Opens or creates a chain database; throws WrongDatabase for a file of another network or schema, DatabaseInUse
 * where another process has it open, DamagedDatabase where its bytes cannot be right.
 */
export async function openStore(options: StoreOptions): Promise<ChainStore> {
  if (options.path === undefined) {
    const opened = openTransient(options.network);
    const remove = async () => rmSync(dirname(opened.path), { recursive: true, force: true });
    return createStore(opened, { path: opened.path, afterClose: remove });
  }
  const { path } = options;
  mkdirSync(dirname(path), { recursive: true });
  const lock = await lockForProcess(path);
  try {
    return createStore(await openFile(path, options), { path, afterClose: async () => lock.release() });
  } catch (error) {
    lock.release();
    throw error instanceof DamagedDatabase ? new DamagedDatabase(error.detail, path) : error;
  }
}

interface Place {
  readonly path: string;
  afterClose(): Promise<void>;
}

function createStore(opened: Opened, { path, afterClose }: Place): ChainStore {
  const { environment, recovery, flusher } = opened;
  const { root, tables } = environment;
  return {
    read: createReader(tables),
    snapshot() {
      const transaction = root.useReadTransaction();
      return { ...createReader(tables, transaction), close: () => transaction.done() };
    },
    write: createWrite(environment, opened),
    settled: () => flusher?.settled() ?? Promise.resolve(),
    flush: () => flusher?.flush() ?? Promise.resolve(),
    path,
    check: (facts) => checkChain(tables, facts),
    recovery,
    fileSize: () => statSync(path).size,
    freeSpace() {
      const { bavail, bsize } = statfsSync(dirname(path), { bigint: true });
      return bavail * bsize;
    },
    async close() {
      await flusher?.close();
      await root.close();
      await afterClose();
    },
  };
}

/** Opens an existing chain database for reading alone, for instance in a worker thread. */
export function openReader(path: string): ChainSnapshot {
  const { root, tables } = openEnvironment(path, { readOnly: true });
  return { ...createReader(tables), close: () => void root.close() };
}
