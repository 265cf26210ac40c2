/** Opens the store in which a service keeps the ledgers of its wallets. */
import { resolve } from "node:path";
import { type Engine, openLmdbEngine, openPostgresEngine, StoreUnavailable } from "@anulo/store";
import { WalletRefusal } from "../refusal.ts";
import { readServiceKey } from "./service-key.ts";
import type { LedgerStore } from "./stored-ledger.ts";

export type LedgerStoreOptions = {
  /** `postgres://..`, or the path of an LMDB file, which is created where it is missing. */
  readonly location: string;
  /** Of this process, outside the engine: the keys of secret rows, and how far each wallet had come. */
  readonly folder: string;
  /** A file with the key that opens the stores of all wallets, created where it is missing; their passwords do without. */
  readonly serviceKeyFile?: string | undefined;
  /** Whether a wallet whose store is an older copy than was seen here is opened all the same. */
  readonly acceptsOlder?: boolean | undefined;
};

/** Throws a refusal where the store, or the service's key, can't be had. */
export async function openLedgerStore(options: LedgerStoreOptions): Promise<LedgerStore> {
  const { location, folder, serviceKeyFile, acceptsOlder = false } = options;
  const serviceKey = serviceKeyFile === undefined ? undefined : await readServiceKey(serviceKeyFile);
  const engine = await openEngine(location);
  return { engine, folder, serviceKey, acceptsOlder };
}

/** Closes its engine, once all wallets are closed, and wipes the service's key. */
export async function closeLedgerStore({ engine, serviceKey }: LedgerStore): Promise<void> {
  serviceKey?.fill(0);
  await engine.close();
}

async function openEngine(location: string): Promise<Engine> {
  try {
    if (/^postgres(?:ql)?:\/\//.test(location)) return await openPostgresEngine(location);
    return openLmdbEngine(resolve(location));
  } catch (error) {
    // The address of a database may hold a password.
    const why = error instanceof StoreUnavailable ? "the database does not answer" : (error as Error).message;
    throw new WalletRefusal("UNKNOWN_ERROR", `The wallets' store can't be opened: ${why}`);
  }
}
