/**
 * Wallets whose ledgers are in a store (@anulo/store): in place of a journal there is a file with the wallet's id in
 * the store. A journal is imported when its wallet is opened with a store.
 */
import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { equalBytes } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import {
  DamagedStore,
  type Engine,
  openWalletStore,
  removeWalletRows,
  type WalletId,
  type WalletStore,
  WrongStoreKey,
} from "@anulo/store";
import type { Follower } from "../events/follower.ts";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { failedToOpen } from "../refusal.ts";
import type { NetworkName, WalletKeys, WalletSettings } from "../state.ts";
import { DamagedJournal, syncDirectory } from "./journal.ts";
import { LedgerRows } from "./ledger-rows.ts";
import { ledgerTables } from "./ledger-tables.ts";
import { OutboxRows } from "./outbox-rows.ts";
import { finishRows, RowLog, writeRows } from "./row-log.ts";
import { type ChangeLog, openStore, settleNextStore } from "./store.ts";
import { withStore } from "./store-secret.ts";
import { exists, type WalletPaths } from "./wallet-files.ts";
import type { WalletLocks } from "./wallet-lock.ts";

const MAGIC = Buffer.from("ANULOID\x01", "latin1");
const ID_BYTES = 16;
const KEY_PURPOSE = "anulo wallet store of a password";
const ID_PURPOSE = "anulo id of a wallet of a fleet";

/** The store of the ledgers of a service's wallets. */
export type LedgerStore = {
  readonly engine: Engine;
  /** Folder outside the database: the keys of secret rows, and the last known position of each wallet. */
  readonly folder: string;
  /** 32 bytes that open the stores of all wallets; undefined if each wallet's password opens its own. */
  readonly serviceKey: Uint8Array | undefined;
  /** Whether a wallet is opened although its store is an older copy. */
  readonly acceptsOlder: boolean;
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

export type OpenLedger = {
  readonly ledger: Ledger;
  readonly log: ChangeLog;
  /**
   * Calls `write` to replace the keys file by one whose password yields another key; after a crash, the keys file on
   * disk still opens the store.
   */
  readonly changeKey: (to: StoreSecrets, write: () => Promise<void>) => Promise<void>;
};

const nextOf = ({ store }: WalletPaths): string => `${store}.next`;

/** The id of the wallet in a file; undefined if there is none, or if the file has other content. */
export async function readName(path: string): Promise<WalletId | undefined> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const bytes = new Uint8Array(MAGIC.length + ID_BYTES + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const isName = bytesRead === MAGIC.length + ID_BYTES && MAGIC.equals(bytes.subarray(0, MAGIC.length));
    return isName ? bytes.slice(MAGIC.length, bytesRead) : undefined;
  } finally {
    await file.close();
  }
}

/** Writes the file with the id of a wallet in its store, in one step. */
export async function writeName(path: string, wallet: WalletId): Promise<void> {
  // No other process writes this file, even if it was suspended in the middle and continues.
  const next = `${path.replace(/\.anulo(?:\.next)?$/, `.${randomBytes(4).toString("hex")}$&`)}.new`;
  const file = await open(next, "w", 0o600);
  try {
    await file.writeFile(Buffer.concat([MAGIC, wallet]));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
  await syncDirectory(dirname(path));
}

/** Throws `WalletRefusal` if a service without a store cannot open this wallet. */
export async function refuseStored(paths: WalletPaths): Promise<void> {
  for (const path of [paths.store, nextOf(paths)])
    if ((await readName(path)) !== undefined)
      throw failedToOpen("its history is in a store: start the service with the --store it was opened with");
}

/**
 * The ledger of a wallet in a store: created, continued, or imported from its journal. Throws `WalletRefusal`,
 * `DamagedJournal`.
 */
export async function openStoredLedger(wallet: StoredWallet, store: LedgerStore): Promise<OpenLedger> {
  const { paths, follower } = wallet;
  await settleNextName(wallet, store);
  const id = await readName(paths.store);
  if (id !== undefined) return await continueLedger(wallet, { store, id });
  const outbox = new OutboxRows();
  follower?.useOutbox(outbox);
  const ledger = await ledgerToStore(wallet);
  return await createStoredLedger(wallet, { store, ledger, outbox, path: paths.store });
}

/** The ledger of a wallet that is in no store yet: that of its journal, or an empty one. */
async function ledgerToStore({ paths, keys, network, settings, follower }: StoredWallet): Promise<Ledger> {
  if (await exists(paths.store))
    return await withStore(paths, keys, network, async (options) => {
      await settleNextStore(options);
      const journal = await openStore(options, settings, follower);
      await journal.log.close();
      return journal.ledger;
    });
  const ledger = createLedger(network, settings);
  await follower?.begin(ledger);
  return ledger;
}

/** Creates the ledger that replaces the wallet's once a keys file with these keys exists. */
export async function prepareNextStoredLedger(
  wallet: StoredWallet,
  store: LedgerStore,
  ledger: Ledger,
): Promise<void> {
  const next = await createStoredLedger(wallet, { store, ledger, path: nextOf(wallet.paths) });
  await next.log.close();
}

/**
 * Activates the next ledger if it belongs to these keys; otherwise a crash happened before the keys were replaced, and
 * its file is deleted.
 */
async function settleNextName(wallet: StoredWallet, store: LedgerStore): Promise<void> {
  const path = nextOf(wallet.paths);
  const id = await readName(path);
  if (id === undefined) return;
  try {
    await (await openRows(wallet, { store, id, isNamed: true })).close();
  } catch (error) {
    if (!(error instanceof WrongStoreKey)) throw error;
    // Deleted only if the current ledger opens: otherwise the cause is a different service key.
    const current = await readName(wallet.paths.store);
    if (current !== undefined) {
      await (await openNamed(wallet, { store, id: current })).close();
      await removeRows(wallet, { store, id });
    }
    return await rm(path, { force: true });
  }
  // The keys that are on disk by now do not open the former ledger.
  const former = await readName(wallet.paths.store);
  if (former !== undefined && !equalBytes(former, id)) await removeRows(wallet, { store, id: former });
  await rename(path, wallet.paths.store);
  await syncDirectory(dirname(path));
}

/** Removes the rows of a ledger that no file of the wallet names any more. */
async function removeRows(
  { paths }: StoredWallet,
  { store, id }: { readonly store: LedgerStore; readonly id: WalletId },
): Promise<void> {
  await removeWalletRows(store.shared?.engineFor(paths) ?? store.engine, id, store.folder);
}

async function createStoredLedger(
  wallet: StoredWallet,
  {
    store,
    ledger,
    outbox,
    path,
  }: {
    readonly store: LedgerStore;
    readonly ledger: Ledger;
    readonly outbox?: OutboxRows;
    readonly path: string;
  },
): Promise<OpenLedger> {
  const id = idOf(wallet, { store, path });
  const opened = await openRows(wallet, { store, id, isNamed: false });
  try {
    const loaded = await loadWritten(wallet, { store, opened });
    const rows = loaded?.rows ?? LedgerRows.of(ledger, outbox);
    if (loaded === undefined) await writeRows(opened, await rows.takeAll());
    await writeName(path, id);
    return openLedgerOf(wallet, { store, id, opened, ledger: loaded?.ledger ?? ledger, rows });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * If several services share a wallet, its id is derived from its name and keys: a service that was suspended while it
 * created the ledger, and continues once another has created it, gets the same id.
 */
function idOf(
  { paths, keys }: StoredWallet,
  { store, path }: { readonly store: LedgerStore; readonly path: string },
): WalletId {
  const { shared, serviceKey } = store;
  if (shared === undefined || serviceKey === undefined || path !== paths.store) return randomBytes(ID_BYTES);
  const kind = keys.spendSecret === undefined ? 0 : 1;
  const hash = createHmac("sha256", serviceKey).update(ID_PURPOSE).update(keys.spendPublic);
  return hash
    .update(keys.viewPublic)
    .update(Uint8Array.of(kind))
    .update(basename(path))
    .digest()
    .subarray(0, ID_BYTES);
}

/**
 * Loads a ledger that exists under an id already: if several services share a wallet, another one may have created it.
 */
async function loadWritten(
  wallet: StoredWallet,
  { store, opened }: { readonly store: LedgerStore; readonly opened: WalletStore },
) {
  if (store.shared === undefined) return undefined;
  return await loadAsToday(opened, wallet);
}

/** Loads a ledger; rows of an earlier version are replaced, all or nothing. */
async function loadAsToday(opened: WalletStore, wallet: StoredWallet) {
  await finishRows(opened);
  // In a category that is logged by default: with many outputs this takes long.
  const log = wallet.log?.in("global");
  const onFormer = (rows: number, all: number) =>
    log?.info("takes over a wallet's rows of an earlier version", { rows, all });
  const loaded = await LedgerRows.load(opened, { ...wallet, onFormer });
  if (loaded?.isFormer === true) {
    await writeRows(opened, await loaded.rows.takeAll());
    log?.info("a wallet's rows are those of this version");
  }
  if (loaded !== undefined) {
    wallet.follower?.useOutbox(loaded.rows.outbox);
    await wallet.follower?.begin(loaded.ledger);
  }
  return loaded;
}

async function continueLedger(
  wallet: StoredWallet,
  { store, id }: { readonly store: LedgerStore; readonly id: WalletId },
): Promise<OpenLedger> {
  const opened = await openNamed(wallet, { store, id });
  try {
    const loaded = await loadAsToday(opened, wallet);
    if (loaded === undefined) throw new DamagedJournal("the wallet's store is empty");
    return openLedgerOf(wallet, { store, id, opened, ...loaded });
  } catch (error) {
    await opened.close();
    throw error instanceof DamagedStore ? new DamagedJournal(error.message) : error;
  }
}

function openLedgerOf(
  wallet: StoredWallet,
  parts: {
    readonly store: LedgerStore;
    readonly id: WalletId;
    readonly opened: WalletStore;
    readonly ledger: Ledger;
    readonly rows: LedgerRows;
  },
): OpenLedger {
  const { store, id, opened, ledger, rows } = parts;
  return {
    ledger,
    log: new RowLog(opened, rows),
    changeKey: async (to, write) => {
      if (store.serviceKey !== undefined) return await write();
      const key = wrappingKey(to.cacheKey, id, to);
      try {
        await opened.wrapAlsoBy(key);
        await write();
        // The new password is valid from here on; the next opening of the wallet retries what fails here.
        await opened.wrapBy(key).catch((error: Error) => {
          wallet.log?.warn("the former password opens a wallet's store until that is opened again", {
            reason: error.message,
          });
        });
      } finally {
        key.fill(0);
      }
    },
  };
}

/**
 * The key that wraps a wallet's data key: it differs for other keys, so that no ledger is taken for another wallet's.
 * It includes the view secret since a password may be empty, and id and public key are visible in the database.
 */
function wrappingKey(secret: Uint8Array, id: WalletId, { keys }: Pick<StoredWallet, "keys">): Uint8Array {
  const info = Buffer.concat([Buffer.from(KEY_PURPOSE), keys.spendPublic]);
  const secrets = Buffer.concat([secret, keys.viewSecret]);
  try {
    return new Uint8Array(hkdfSync("sha256", secrets, id, info, 32));
  } finally {
    secrets.fill(0);
  }
}

/** Throws `WalletRefusal` if the store belongs to another key. */
async function openNamed(
  wallet: StoredWallet,
  { store, id }: { readonly store: LedgerStore; readonly id: WalletId },
): Promise<WalletStore> {
  return await openRows(wallet, { store, id, isNamed: true }).catch((error: Error) => {
    if (error instanceof DamagedStore) throw new DamagedJournal(error.message);
    if (!(error instanceof WrongStoreKey)) throw error;
    throw failedToOpen("its store opens with another key: it was last opened with a --service-key-file");
  });
}

/** `isNamed`: a file contains its id, so it must exist. */
async function openRows(
  wallet: StoredWallet,
  { store, id, isNamed }: { readonly store: LedgerStore; readonly id: WalletId; readonly isNamed: boolean },
): Promise<WalletStore> {
  const { folder, serviceKey } = store;
  const engine = store.shared?.engineFor(wallet.paths) ?? store.engine;
  if (isNamed && (await engine.markOf(id)) === undefined)
    throw failedToOpen("it is not in this --store: is that the one it was last opened with?");
  const ofPassword = wrappingKey(wallet.cacheKey, id, wallet);
  const ofService = serviceKey === undefined ? undefined : wrappingKey(serviceKey, id, wallet);
  try {
    const found = await openWalletStore({
      engine,
      wallet: id,
      tables: ledgerTables,
      folder,
      wrappingKey: ofService ?? ofPassword,
      ...(ofService !== undefined && { formerKeys: [ofPassword] }),
    });
    if (found.kind === "unwitnessed")
      wallet.log?.warn(
        "whether a wallet's store is an older copy can't be known: nothing here has seen it before",
      );
    if (found.kind !== "rolledBack") return found.store;
    const { found: there, witnessed } = found;
    const age = { epoch: there.epoch, sequence: there.sequence, seen: witnessed };
    if (!store.acceptsOlder) {
      throw failedToOpen(
        "its store is an older copy than the one this service has written: --accept-older-store opens it all the same",
      );
    }
    wallet.log?.warn("opened an older copy of a wallet's store", age);
    return await found.accept();
  } finally {
    ofPassword.fill(0);
    ofService?.fill(0);
  }
}
