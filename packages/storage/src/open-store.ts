import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SharedTurns } from "@anulo/limits";
import { type ChainStore, createStore, type OpenDatabase } from "./chain-store.ts";
import { DamagedDatabase, DatabaseInUse, WrongDatabase } from "./damage.ts";
import { type Environment, openEnvironment, type Tables } from "./environment.ts";
import { createFlusher, type Flusher } from "./flusher.ts";
import { type MigrationProgress, migrate, schemaTooOld } from "./migrate.ts";
import { memoryOfProcess } from "./prefetch.ts";
import { lockForProcess } from "./process-lock.ts";
import { putInPlace, syncFoldersAbove } from "./put-in-place.ts";
import { type Recovery, recoverFile } from "./recover.ts";
import { checkClosedFile } from "./structure-check.ts";
import { defaultSyncMode, type SyncMode } from "./sync-mode.ts";
import { SCHEMA_VERSION } from "./tables.ts";

export interface StoreOptions {
  /** The database file, created when missing; if left out, a temporary one, never flushed, deleted when closed. */
  readonly path?: string | undefined;
  /** Name of the network the file belongs to. */
  readonly network: string;
  /** Checks the whole structure of the file, however long that takes. */
  readonly checkAll?: boolean | undefined;
  /** Bytes of memory of the machine, or what this process may use of them; found out by default. */
  readonly memoryBytes?: number | undefined;
  /** The works beside which a write over many turns goes on. */
  readonly turns?: SharedTurns | undefined;
  /** When writes are flushed; by default soon after, without waiting. */
  readonly syncMode?: SyncMode | undefined;
  /** Called when a write to the disk fails, or a row is damaged: the node should stop. */
  readonly onFault?: ((fault: Error) => void) | undefined;
  /** Called while a file of an earlier schema is migrated. */
  readonly onMigration?: ((progress: MigrationProgress) => void) | undefined;
  /** Ends a migration early, so that the opening rejects with the signal's reason; the next opening goes on. */
  readonly signal?: AbortSignal | undefined;
}

interface Identity {
  readonly network: string;
  readonly recovery: Recovery | undefined;
}

/**
 * Stores schema and network in a new file; in an existing one, checks its network and returns its schema, which may
 * have to be migrated.
 */
function checkIdentity({ root, tables }: Environment, { network, recovery }: Identity): string {
  const schema = readProperty(tables, "schema");
  if (schema === undefined) {
    if (tables.blocks.count() > 0) throw new DamagedDatabase("it does not say what it is");
    root.transactionSync(() => {
      tables.properties.put("schema", Buffer.from(String(SCHEMA_VERSION)));
      tables.properties.put("network", Buffer.from(network));
    });
    return String(SCHEMA_VERSION);
  }
  const storedNetwork = readProperty(tables, "network");
  if (storedNetwork !== network)
    throw new WrongDatabase(`the database belongs to ${storedNetwork}, not to ${network}`);
  if (recovery?.isNew === true && tables.blocks.count() > 0) {
    throw new DamagedDatabase("the marks of its last flush are gone");
  }
  return schema;
}

/** Rows of schema 1 had no checksums. */
function readProperty(tables: Tables, name: string): string | undefined {
  try {
    const bytes = tables.properties.get(name);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  } catch (error) {
    if (error instanceof DamagedDatabase && tables.ringCtOutputs.count() === 0) throw schemaTooOld(1);
    throw error;
  }
}

/** Opens a file that no other process has open; the first flush is done before anything is written. */
async function openFile(path: string, options: StoreOptions): Promise<Omit<OpenDatabase, "afterClose">> {
  const { network, syncMode = defaultSyncMode, checkAll = false, onFault = () => {} } = options;
  const { memoryBytes = memoryOfProcess(), turns } = options;
  const recovery = recoverFile(path);
  if (recovery !== undefined) checkClosedFile(path, recovery.state, checkAll);
  const environment = openEnvironment(path, { onDamage: onFault, turns });
  let flusher: Flusher | undefined;
  try {
    checkSoleUse(environment, path);
    flusher = createFlusher({ environment, path, mode: syncMode, onFault });
    await flusher.flush();
    const schema = checkIdentity(environment, { network, recovery });
    const { onMigration: onProgress, signal } = options;
    await migrate({ environment, schema, flusher, onProgress, signal });
    return { path, environment, recovery, flusher, memoryBytes, onFault };
  } catch (error) {
    await flusher?.close();
    await environment.root.close();
    throw error;
  }
}

async function closeFile({ environment, flusher }: Omit<OpenDatabase, "afterClose">): Promise<void> {
  await flusher?.close();
  await environment.root.close();
}

/**
 * Creates the file under a temporary name first: at any time there is no file or a complete one, whatever writes the
 * disk loses.
 */
async function createFile(path: string, options: StoreOptions): Promise<void> {
  const draft = `${path}.new`;
  for (const file of [draft, `${draft}-lock`]) rmSync(file, { force: true });
  await closeFile(await openFile(draft, options));
  putInPlace(draft, path);
  rmSync(`${draft}-lock`, { force: true });
}

/** Opens a temporary file, which is never flushed. */
function openTransient({ memoryBytes = memoryOfProcess(), turns }: StoreOptions): OpenDatabase {
  const path = join(mkdtempSync(join(tmpdir(), "anulo-")), "chain.mdb");
  const environment = openEnvironment(path, { turns });
  const afterClose = () => rmSync(dirname(path), { recursive: true, force: true });
  const onFault = () => {};
  return { path, environment, recovery: undefined, flusher: undefined, memoryBytes, onFault, afterClose };
}

/**
 * Throws DatabaseInUse if another process reads the file: a process that has it open always reads it. This one has not
 * read yet, so whoever has its number is a process of another container, beside which LMDB could not read.
 */
function checkSoleUse({ root }: Environment, path: string): void {
  root.readerCheck();
  for (const line of root.readerList().split("\n")) {
    const processId = /^\s*(\d+)\s/.exec(line)?.[1];
    if (processId !== undefined) throw new DatabaseInUse(path, Number(processId));
  }
}

/**
 * Opens or creates a chain database, and migrates one of an earlier schema in place; throws WrongDatabase for a file of
 * another network, of a newer schema or of one too old, DatabaseInUse if another process has it open, DamagedDatabase
 * for a damaged file.
 */
export async function openStore(options: StoreOptions): Promise<ChainStore> {
  const { path } = options;
  if (path === undefined) return createStore(openTransient(options));
  const firstCreated = mkdirSync(dirname(path), { recursive: true });
  const lock = await lockForProcess(path);
  try {
    if (firstCreated !== undefined) syncFoldersAbove(dirname(path), firstCreated);
    // Throws if the system does not tell: a chain that is taken for missing would be replaced.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) await createFile(path, options);
    const opened = await openFile(path, options);
    try {
      // From here on whoever opens the file sees that this process reads it.
      lock.confirm();
    } catch (error) {
      await closeFile(opened);
      throw error;
    }
    return createStore({ ...opened, afterClose: lock.release });
  } catch (error) {
    lock.release();
    throw error instanceof DamagedDatabase ? new DamagedDatabase(error.detail, path) : error;
  }
}
