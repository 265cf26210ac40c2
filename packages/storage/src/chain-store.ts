import { mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { NewBlock, RemovedBlock, TransactionFacts } from "./block-changes.ts";
import { applyBlock, undoBlock } from "./block-changes.ts";
import type { Environment } from "./environment.ts";
import { openEnvironment } from "./environment.ts";
import type { ChainReader } from "./reader.ts";
import { createReader } from "./reader.ts";
import type { AlternativeBlock, PoolTransaction } from "./tables.ts";
import { SCHEMA_VERSION } from "./tables.ts";

/** Thrown when a database file belongs to another network or to another version of the schema. */
export class WrongDatabase extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "WrongDatabase";
  }
}

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
}

/** An open chain database: any number of readers, in any thread, and one writer. */
export interface ChainStore {
  /** Reads the newest commit; inside `write`, what was written so far. */
  readonly read: ChainReader;
  /** Opens a reader of this very moment; close it soon, old pages are kept for it. */
  snapshot(): ChainSnapshot;
  /**
   * Runs `change` as one transaction: all of it is on disk when this returns, none of it when it throws.
   * Nested calls become part of the outer transaction, and are rolled back alone when they throw.
   */
  write<T>(change: (writer: ChainWriter) => T): T;
  /** Where the database file is, for `openReader` in another thread. */
  readonly path: string;
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
}

function checkIdentity({ root, tables }: Environment, network: string): void {
  const known = (name: string) => {
    const bytes = tables.properties.get(name);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  };
  const schema = known("schema");
  if (schema === undefined) {
    root.transactionSync(() => {
      tables.properties.put("schema", Buffer.from(String(SCHEMA_VERSION)));
      tables.properties.put("network", Buffer.from(network));
    });
    return;
  }
  if (schema !== String(SCHEMA_VERSION)) {
    throw new WrongDatabase(`the database has schema ${schema}, this program reads ${SCHEMA_VERSION}`);
  }
  if (known("network") !== network) {
    throw new WrongDatabase(`the database belongs to ${known("network")}, not to ${network}`);
  }
}

function createWriter({ tables }: Environment): ChainWriter {
  return {
    appendBlock: (block) => applyBlock(tables, block),
    popBlock: (factsOf) => undoBlock(tables, factsOf),
    putAlternativeBlock: (hash, block) => tables.alternativeBlocks.put(hash, block),
    removeAlternativeBlock: (hash) => tables.alternativeBlocks.remove(hash),
    putPoolTransaction: (hash, transaction) => tables.poolTransactions.put(hash, transaction),
    removePoolTransaction: (hash) => tables.poolTransactions.remove(hash),
  };
}

/** Opens or creates a chain database; throws WrongDatabase for a file of another network or schema. */
export async function openStore({ path: wanted, network }: StoreOptions): Promise<ChainStore> {
  const path = wanted ?? join(mkdtempSync(join(tmpdir(), "anulo-")), "chain.mdb");
  const environment = openEnvironment(path, { transient: wanted === undefined });
  try {
    checkIdentity(environment, network);
  } catch (error) {
    await environment.root.close();
    throw error;
  }
  const { root, tables } = environment;
  const writer = createWriter(environment);
  return {
    read: createReader(tables),
    snapshot() {
      const transaction = root.useReadTransaction();
      return { ...createReader(tables, transaction), close: () => transaction.done() };
    },
    write: (change) => root.transactionSync(() => change(writer)),
    path,
    fileSize: () => statSync(path).size,
    freeSpace() {
      const { bavail, bsize } = statfsSync(dirname(path), { bigint: true });
      return bavail * bsize;
    },
    async close() {
      await root.close();
      if (wanted === undefined) rmSync(dirname(path), { recursive: true, force: true });
    },
  };
}

/** Opens an existing chain database for reading alone, for instance in a worker thread. */
export function openReader(path: string): ChainSnapshot {
  const { root, tables } = openEnvironment(path, { readOnly: true });
  return { ...createReader(tables), close: () => void root.close() };
}
