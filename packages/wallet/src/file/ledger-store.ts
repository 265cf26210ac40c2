/** Opens the store of the ledgers of a service's wallets. */

import { dirname, resolve } from "node:path";
import { wipe } from "@anulo/crypto";
import type { Logger } from "@anulo/rpc";
import {
  createMemoryEngine,
  type Engine,
  openLater,
  openLmdbEngine,
  openPostgresEngine,
  StoreUnavailable,
} from "@anulo/store";
import { WalletRefusal } from "../refusal.ts";
import { remoteFileSystemOf } from "./file-system.ts";
import type { LedgerStore, StoreRole } from "./open-rows.ts";
import { isNumberTaken, takeNumber } from "./process-number.ts";
import { readServiceKey } from "./service-key.ts";
import { mayBeWrittenLater } from "./unwritten.ts";
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

/** What the system tells of the places of stores. */
export type StoreSystem = {
  readonly fileSystemOf: (path: string) => Promise<string | undefined>;
  readonly takeNumber: (folder: string) => Promise<(() => Promise<void>) | undefined>;
};

/** Throws `WalletRefusal` if the store, or the service's key, cannot be opened. */
export async function openLedgerStore(
  options: LedgerStoreOptions,
  log?: Logger,
  { fileSystemOf, takeNumber: take }: StoreSystem = { fileSystemOf: remoteFileSystemOf, takeNumber },
): Promise<LedgerStore> {
  const { location, folder, serviceKeyFile, acceptsOlder = false, watch = (engine) => engine } = options;
  const serviceKey = serviceKeyFile === undefined ? undefined : await readServiceKey(serviceKeyFile);
  const keep = { folder, serviceKey, acceptsOlder };
  const fileSystem = isPostgres(location) ? undefined : await fileSystemOf(location);
  if (options.role === undefined) {
    if (fileSystem !== undefined)
      log?.in("global").warn("the store is on a file system where it is not safe", { fileSystem, location });
    return { ...keep, engine: watch(await openEngine(location)) };
  }
  const isLeft = options.role === "leave";
  const leave = fileSystem === undefined || isLeft ? await take(folder) : undefined;
  if (leave !== undefined) {
    try {
      return { ...keep, role: options.role, engine: watch(await openOwn(location, options.role)), leave };
    } catch (error) {
      await leave();
      throw error;
    }
  }
  const unused =
    fileSystem === undefined || isLeft
      ? "because a process in another container uses it under the same number"
      : `on ${fileSystem}`;
  log
    ?.in("global")
    .warn("wallets are kept in journals: the folder's store is not used", { unused, location });
  return { ...keep, role: "leave", unused, engine: watch(createMemoryEngine()) };
}

async function openOwn(location: string, role: StoreRole): Promise<Engine> {
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
  if (!isPostgres(location) && (await isNumberTaken(dirname(resolve(location)))))
    throw new WalletRefusal(
      "UNKNOWN_ERROR",
      "The wallets' store can't be opened: a process in another container uses it under the same number",
    );
  return await openEngine(location);
}

const isPostgres = (location: string): boolean => /^postgres(?:ql)?:\/\//.test(location);

/** Closes the database, once all wallets are closed, and wipes the service's key. */
export async function closeLedgerStore({ engine, serviceKey, leave }: LedgerStore): Promise<void> {
  wipe(serviceKey);
  await engine.close();
  await leave?.();
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
