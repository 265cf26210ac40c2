/** Opens the rows of wallets in the store of a service. */

import { hkdfSync } from "node:crypto";
import { wipe } from "@anulo/crypto";
import type { Logger } from "@anulo/rpc";
import {
  DamagedStore,
  type Engine,
  openStoreForReading,
  openWalletStore,
  readingAhead,
  StoreUnavailable,
  type WalletId,
  type WalletStore,
  type WalletStoreOptions,
  WrongStoreKey,
} from "@anulo/store";
import type { Follower } from "../events/follower.ts";
import { failedToOpen } from "../refusal.ts";
import type { NetworkName, WalletKeys, WalletSettings } from "../state.ts";
import { DamagedJournal } from "./journal.ts";
import { ledgerTables } from "./ledger-tables.ts";
import { whyUnwritten } from "./unwritten.ts";
import type { WalletPaths } from "./wallet-files.ts";
import type { WalletLocks } from "./wallet-lock.ts";

const KEY_PURPOSE = "anulo wallet store of a password";

/**
 * What a store is for its service: `folder` is the folder's own, which nobody has named: files of wallets may come to the
 * folder without it. From a store to `leave`, wallets go back into journals as they are opened. Otherwise it was named.
 */
export type StoreRole = "folder" | "leave";

/** The store of the ledgers of a service's wallets. */
export type LedgerStore = {
  readonly engine: Engine;
  /** Folder outside the database: the keys of secret rows, and the last known position of each wallet. */
  readonly folder: string;
  /** 32 bytes that open the stores of all wallets; undefined if each wallet's password opens its own. */
  readonly serviceKey: Uint8Array | undefined;
  /** Whether a wallet is opened although its store is an older copy. */
  readonly acceptsOlder: boolean;
  readonly role?: StoreRole | undefined;
  /** Tells other processes that this one uses the store no more. */
  readonly leave?: (() => Promise<void>) | undefined;
  /** Why the folder's own store is not used, if it is not. */
  readonly unused?: string | undefined;
  /** Set for a wallet that is to be opened only if it can be written; otherwise it can be read all the same. */
  readonly mustWrite?: boolean | undefined;
  /** Set if the service shares the wallets with others; undefined if it has them for itself. */
  readonly shared?: SharedWallets | undefined;
};

/** What a service that shares its wallets provides for each wallet. */
export interface SharedWallets {
  readonly locks: WalletLocks;
  /** The database connection, on which ownership of this wallet is taken only while its lock is held. */
  engineFor(paths: WalletPaths): Engine;
}

/** A wallet with files, as far as its store is concerned. */
export type StoredWallet = {
  readonly paths: WalletPaths;
  readonly keys: WalletKeys;
  /** Derived from the wallet's password, 32 bytes. */
  readonly cacheKey: Uint8Array;
  readonly network: NetworkName;
  readonly settings: WalletSettings;
  readonly log?: Logger | undefined;
  /** Receives the events of the wallet's changes, those included that no event log has heard yet. */
  readonly follower?: Follower | undefined;
};

/** The secrets that open a wallet's store. */
export type StoreSecrets = Pick<StoredWallet, "keys" | "cacheKey">;

/**
 * The key that wraps a wallet's data key: it differs for other keys, so that no ledger is taken for another wallet's.
 * It includes the view secret since a password may be empty, and id and public key are visible in the database.
 */
export function wrappingKey(
  secret: Uint8Array,
  id: WalletId,
  { keys }: Pick<StoredWallet, "keys">,
): Uint8Array {
  const info = Buffer.concat([Buffer.from(KEY_PURPOSE), keys.spendPublic]);
  const secrets = Buffer.concat([secret, keys.viewSecret]);
  try {
    return new Uint8Array(hkdfSync("sha256", secrets, id, info, 32));
  } finally {
    wipe(secrets);
  }
}

/** A wallet's rows in a store. */
export type RowsPlace = { readonly store: LedgerStore; readonly id: WalletId };

/** Throws `WalletRefusal` if the store belongs to another key. */
export async function openNamed(wallet: StoredWallet, place: RowsPlace): Promise<WalletStore> {
  return await openRows(wallet, { ...place, isNamed: true }).catch((error: Error) => {
    if (error instanceof DamagedStore) throw new DamagedJournal(error.message);
    if (!(error instanceof WrongStoreKey)) throw error;
    throw failedToOpen("its store opens with another key: it was last opened with a --service-key-file");
  });
}

/** The database of a wallet's rows. */
export const engineOf = (store: LedgerStore, paths: WalletPaths): Engine =>
  store.shared?.engineFor(paths) ?? store.engine;

/**
 * `isNamed`: a file contains its id, so it must exist; where it can't be written it is opened for reading, unless the
 * store says otherwise.
 */
export async function openRows(
  wallet: StoredWallet,
  { store, id, isNamed }: RowsPlace & { readonly isNamed: boolean },
): Promise<WalletStore> {
  const engine = readingAhead(engineOf(store, wallet.paths), id);
  if (isNamed && (await engine.markOf(id)) === undefined)
    throw failedToOpen("it is not in this --store: is that the one it was last opened with?");
  return await withKeys(wallet, { store, id }, async (unread) => {
    const options = { ...unread, engine };
    try {
      return await takeRows(options, wallet, store);
    } catch (error) {
      const isForGood = error instanceof StoreUnavailable && !error.mayPass;
      if (!isForGood || !isNamed || store.mustWrite === true || store.shared !== undefined) throw error;
      const reader = await openStoreForReading(options, error);
      if (reader === undefined) throw error;
      wallet.log?.warn("a wallet can only be read, since its store can't be written", {
        file: wallet.paths.base,
        reason: whyUnwritten(error),
      });
      return reader;
    }
  });
}

/** Runs a task with what opens a wallet's rows; its keys are wiped afterwards. */
export async function withKeys<T>(
  wallet: StoredWallet,
  { store, id }: RowsPlace,
  task: (options: WalletStoreOptions) => Promise<T>,
): Promise<T> {
  const { folder, serviceKey } = store;
  const { viewSecret, spendSecret } = wallet.keys;
  // The original program may change the password: a folder's own store is opened by what the journals were opened by.
  const ofKeys = store.role === undefined ? [] : [spendSecret, viewSecret];
  const wrappingKeys = [serviceKey, ...ofKeys, wallet.cacheKey].flatMap((secret) =>
    secret === undefined ? [] : [wrappingKey(secret, id, wallet)],
  );
  const [current, ...formerKeys] = wrappingKeys;
  try {
    return await task({
      engine: engineOf(store, wallet.paths),
      wallet: id,
      tables: ledgerTables,
      folder,
      wrappingKey: current!,
      formerKeys,
    });
  } finally {
    wipe(...wrappingKeys);
  }
}

/** Becomes the owner of a wallet's rows. */
async function takeRows(
  options: WalletStoreOptions,
  { log }: StoredWallet,
  { acceptsOlder }: LedgerStore,
): Promise<WalletStore> {
  const found = await openWalletStore(options);
  if (found.kind === "unwitnessed")
    log?.warn("whether a wallet's store is an older copy can't be known: nothing here has seen it before");
  if (found.kind !== "rolledBack") return found.store;
  const { found: there, witnessed } = found;
  const age = { epoch: there.epoch, sequence: there.sequence, seen: witnessed };
  if (!acceptsOlder)
    throw failedToOpen(
      "its store is an older copy than the one this service has written: --accept-older-store opens it all the same",
    );
  log?.warn("opened an older copy of a wallet's store", age);
  return await found.accept();
}
