/** Opens the store of the ledgers of a service's wallets. */
import { resolve } from "node:path";
import { type Engine, openLmdbEngine, openPostgresEngine, StoreUnavailable } from "@anulo/store";
import { WalletRefusal } from "../refusal.ts";
import { readServiceKey } from "./service-key.ts";
import type { LedgerStore } from "./stored-ledger.ts";
import { exists } from "./wallet-files.ts";

export type LedgerStoreOptions = {
  /** `postgres://..`, or the path of an LMDB file, which is created if missing. */
  readonly location: string;
  /**
   * Folder of this process, outside the database: the keys of secret rows, and the last known position of each wallet.
   */
  readonly folder: string;
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
export async function openLedgerStore(options: LedgerStoreOptions): Promise<LedgerStore> {
  const { location, folder, serviceKeyFile, acceptsOlder = false, watch = (engine) => engine } = options;
  const serviceKey = serviceKeyFile === undefined ? undefined : await readServiceKey(serviceKeyFile);
  const engine = watch(await openEngine(location));
  return { engine, folder, serviceKey, acceptsOlder };
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
    // The database's message is not passed on, since its address may contain a password.
    const why = error instanceof StoreUnavailable ? "the database does not answer" : (error as Error).message;
    throw new WalletRefusal("UNKNOWN_ERROR", `The wallets' store can't be opened: ${why}`);
  }
}
