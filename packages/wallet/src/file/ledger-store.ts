/** Opens the store of the ledgers of a service's wallets. */
import { resolve } from "node:path";
import type { Logger } from "@anulo/rpc";
import {
  createMemoryEngine,
  type Engine,
  openLater,
  openLmdbEngine,
  openPostgresEngine,
  StoreUnavailable,
} from "@anulo/store";
import { mayBeWrittenLater, WalletRefusal } from "../refusal.ts";
import { remoteFileSystemOf } from "./file-system.ts";
import type { LedgerStore, StoreRole } from "./open-rows.ts";
import { readServiceKey } from "./service-key.ts";
import { exists } from "./wallet-files.ts";

export type LedgerStoreOptions = {
  /** `postgres://..`, or the path of an LMDB file, which is created if missing. */
  readonly location: string;
  /**
   * Folder of this process, outside the database: the keys of secret rows, and the last known position of each wallet.
   */
  readonly folder: string;
  /**
   * `folder`: the store of the folder of the wallets, an LMDB file that nobody has named. Files of wallets may come to the
   * folder without it; where the disk is full it is created later, and on a network file system there are journals.
   * `leave`: wallets are put back from it into journals as they are opened. If left out, the store was named.
   */
  readonly role?: StoreRole | undefined;
  /**
   * A file with the key that opens the stores of all wallets, created if missing; without it, the wallets' passwords
   * open them.
   */
  readonly serviceKeyFile?: string | undefined;
  /** Whether a wallet is opened although its store is an older copy than was seen here. */
  readonly acceptsOlder?: boolean | undefined;
  /** Puts something between the wallets and the database, as tests do that make it fail; if left out, nothing. */
  readonly watch?: ((engine: Engine) => Engine) | undefined;
};

/** Throws `WalletRefusal` if the store, or the service's key, cannot be opened. */
export async function openLedgerStore(
  options: LedgerStoreOptions,
  log?: Logger,
  fileSystemOf: (path: string) => Promise<string | undefined> = remoteFileSystemOf,
): Promise<LedgerStore> {
  const { location, folder, serviceKeyFile, acceptsOlder = false, watch = (engine) => engine } = options;
  const serviceKey = serviceKeyFile === undefined ? undefined : await readServiceKey(serviceKeyFile);
  const fileSystem = isPostgres(location) ? undefined : await fileSystemOf(location);
  const isRemote = fileSystem !== undefined;
  if (isRemote && options.role !== "leave")
    log
      ?.in("global")
      .warn(
        options.role === "folder"
          ? "wallets are kept in journals: a store is not safe on this file system"
          : "the store is on a file system where it is not safe",
        { fileSystem, location },
      );
  const unused = options.role === "folder" && isRemote ? `on ${fileSystem}` : undefined;
  const role = unused === undefined ? options.role : "leave";
  const engine = watch(unused === undefined ? await openFor(location, role) : createMemoryEngine());
  return { engine, folder, serviceKey, acceptsOlder, role, unused };
}

async function openFor(location: string, role: StoreRole | undefined): Promise<Engine> {
  if (role === undefined) return await openEngine(location);
  // Nothing can be taken out of one that is not there.
  if (role === "leave" && !(await exists(location))) return createMemoryEngine();
  const open = () => openLmdbEngine(resolve(location));
  try {
    return open();
  } catch (error) {
    if (mayBeWrittenLater(error)) return openLater(open, error);
    throw failedOpening(error);
  }
}

/**
 * Opens the database of a store, for copies of its wallets; a file that is missing is created only where copies are put
 * back. Throws `WalletRefusal`.
 */
export async function openStoreForCopies(location: string, mayCreate: boolean): Promise<Engine> {
  if (!mayCreate && !isPostgres(location) && !(await exists(resolve(location))))
    throw new WalletRefusal(
      "UNKNOWN_ERROR",
      `The wallets' store can't be opened: there is no file ${location}`,
    );
  return await openEngine(location);
}

const isPostgres = (location: string): boolean => /^postgres(?:ql)?:\/\//.test(location);

/** Closes the database, once all wallets are closed, and wipes the service's key. */
export async function closeLedgerStore({ engine, serviceKey }: LedgerStore): Promise<void> {
  serviceKey?.fill(0);
  await engine.close();
}

async function openEngine(location: string): Promise<Engine> {
  try {
    if (isPostgres(location)) return await openPostgresEngine(location);
    return openLmdbEngine(resolve(location));
  } catch (error) {
    throw failedOpening(error);
  }
}

function failedOpening(error: unknown): WalletRefusal {
  // The database's message is not passed on, since its address may contain a password.
  const why = error instanceof StoreUnavailable ? "the database does not answer" : (error as Error).message;
  return new WalletRefusal("UNKNOWN_ERROR", `The wallets' store can't be opened: ${why}`);
}
