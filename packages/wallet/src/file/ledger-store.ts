/** Opens the store in which a service keeps the ledgers of its wallets. */
import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Engine, openLmdbEngine, openPostgresEngine, StoreUnavailable } from "@anulo/store";
import { WalletRefusal } from "../refusal.ts";
import { syncDirectory } from "./journal.ts";
import type { LedgerStore } from "./stored-ledger.ts";

const KEY_BYTES = 32;

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

/** The key in a file: 32 bytes, random where the file is made. Throws `WalletRefusal`. */
async function readServiceKey(path: string): Promise<Uint8Array> {
  const refuse = (why: string) =>
    new WalletRefusal("UNKNOWN_ERROR", `The service's key can't be had: ${why}`);
  try {
    const key = await readFile(path);
    if (key.length !== KEY_BYTES) throw refuse(`${path} has ${key.length} bytes, not ${KEY_BYTES}`);
    return key;
  } catch (error) {
    if (error instanceof WalletRefusal) throw error;
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw refuse((error as Error).message);
  }
  const key = randomBytes(KEY_BYTES);
  const file = await open(path, "wx", 0o600).catch((error: Error) => {
    throw refuse(error.message);
  });
  try {
    await file.writeFile(key);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
  return key;
}
