/**
 * Wallets whose ledgers are in a store (@anulo/store): in place of a journal there is a file with the wallet's id in
 * the store. A journal is imported when its wallet is opened with a store.
 */

import { createHmac, randomBytes } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { wipe } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import { DamagedStore, type WalletId, type WalletStore, WrongStoreKey } from "@anulo/store";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { DamagedJournal, syncDirectory } from "./journal.ts";
import { LedgerRows } from "./ledger-rows.ts";
import {
  engineOf,
  type LedgerStore,
  openNamed,
  openRows,
  type RowsPlace,
  type StoredWallet,
  type StoreSecrets,
  wrappingKey,
} from "./open-rows.ts";
import { OutboxRows } from "./outbox-rows.ts";
import { finishRows, RowLog, writeRows } from "./row-log.ts";
import { type ChangeLog, openStore, settleNextStore } from "./store.ts";
import { ID_BYTES, nextNameOf, readName, removeStored, writeName } from "./store-name.ts";
import { withStore } from "./store-secret.ts";
import { exists } from "./wallet-files.ts";

const ID_PURPOSE = "anulo id of a wallet of a fleet";

export type OpenLedger = {
  readonly ledger: Ledger;
  readonly log: ChangeLog;
  /**
   * Calls `write` to replace the keys file by one whose password yields another key; after a crash, the keys file on
   * disk still opens the store.
   */
  readonly changeKey: (to: StoreSecrets, write: () => Promise<void>) => Promise<void>;
};

/**
 * The ledger of a wallet in a store: created, continued, or imported from its journal. Throws `WalletRefusal`,
 * `DamagedJournal`.
 */
export async function openStoredLedger(wallet: StoredWallet, store: LedgerStore): Promise<OpenLedger> {
  const { paths, follower } = wallet;
  await settleNextName(wallet, store);
  const id = await readName(paths.store);
  if (id !== undefined) return await continueLedger(wallet, { store, id });
  const make = async () => {
    const outbox = new OutboxRows();
    follower?.useOutbox(outbox);
    const ledger = await ledgerToStore(wallet);
    return { ledger, rows: LedgerRows.of(ledger, outbox) };
  };
  return await createStoredLedger(wallet, { store, path: paths.store, make });
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
  const make = async () => ({ ledger, rows: LedgerRows.of(ledger) });
  const next = await createStoredLedger(wallet, { store, path: nextNameOf(wallet.paths), make });
  await next.log.close();
}

/**
 * Activates the next ledger if it belongs to these keys; otherwise a crash happened before the keys were replaced, and
 * its file is deleted.
 */
export async function settleNextName(wallet: StoredWallet, store: LedgerStore): Promise<void> {
  const path = nextNameOf(wallet.paths);
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
async function removeRows({ paths }: StoredWallet, { store, id }: RowsPlace): Promise<void> {
  await removeStored(engineOf(store, paths), id, store.folder);
}

type LedgerInRows = { readonly ledger: Ledger; readonly rows: LedgerRows };

/** `make` is called once the store has shown that it can be written; if anything fails, no rows are left. */
async function createStoredLedger(
  wallet: StoredWallet,
  {
    store,
    path,
    make,
  }: {
    readonly store: LedgerStore;
    readonly path: string;
    readonly make: () => Promise<LedgerInRows>;
  },
): Promise<OpenLedger> {
  const id = idOf(wallet, { store, path });
  const opened = await openRows(wallet, { store, id, isNamed: false });
  try {
    const loaded = await loadWritten(wallet, { store, opened });
    const { ledger, rows } = loaded ?? (await make());
    if (loaded === undefined) await writeRows(opened, await rows.takeAll());
    await writeName(path, id);
    return openLedgerOf(wallet, { store, id, opened, ledger, rows });
  } catch (error) {
    await opened.close();
    // The name may be in its place although writing it has failed.
    const named = await readName(path).catch(() => id);
    const isLeft = store.shared === undefined && (named === undefined || !equalBytes(named, id));
    if (isLeft) await removeRows(wallet, { store, id }).catch(() => undefined);
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
export async function loadAsToday(opened: WalletStore, wallet: StoredWallet) {
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
  opened.endOpening();
  return loaded;
}

async function continueLedger(wallet: StoredWallet, { store, id }: RowsPlace): Promise<OpenLedger> {
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
      // The password does not open it.
      if (store.serviceKey !== undefined || store.role !== undefined) return await write();
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
        wipe(key);
      }
    },
  };
}
