/**
 * Wallets and the folder's own store, which nobody has named: users copy, move and restore the files of single wallets,
 * and a journal came along with them. Also what puts wallets back from it into journals.
 */
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { equalBytes, toHex } from "@anulo/protocol";
import { openStoreForReading, StoreUnavailable, WrongStoreKey } from "@anulo/store";
import type { Ledger } from "../ledger/ledger.ts";
import { failedToOpen } from "../refusal.ts";
import { LedgerRows } from "./ledger-rows.ts";
import { type LedgerStore, openNamed, type RowsPlace, type StoredWallet, withKeys } from "./open-rows.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { createStore } from "./store.ts";
import {
  hasOtherKeys,
  nextNameOf,
  noteAccount,
  readName,
  readOwner,
  removeStored,
  writeOwner,
} from "./store-name.ts";
import { withStore } from "./store-secret.ts";
import { loadAsToday, settleNextName } from "./stored-ledger.ts";
import { exists, pathsOfFile, putStoreAside } from "./wallet-files.ts";

/** Number of attempts to read the rows of a wallet that is being changed. */
const ATTEMPTS = 3;

/**
 * Puts aside the name of a wallet whose rows are not here, because its files were copied from elsewhere without them;
 * what it knows then comes from the original's cache. Throws `WalletRefusal` if its rows should be here.
 */
export async function forgetElsewhere(
  { paths, log }: StoredWallet,
  { engine, folder, acceptsOlder, unused }: LedgerStore,
): Promise<void> {
  for (const path of [nextNameOf(paths), paths.store]) {
    const id = await readName(path);
    if (id === undefined || (await engine.markOf(id)) !== undefined) continue;
    const wasHere = await exists(join(folder, `${toHex(id)}.witness`));
    if (wasHere && unused !== undefined)
      throw failedToOpen(`its history is in the folder's store, which is not used ${unused}`);
    if (wasHere && !acceptsOlder)
      throw failedToOpen(
        "its history is not in the folder's store: start the service with the --store it was opened with, or, if that is gone, with --accept-older-store",
      );
    if (path !== paths.store) {
      await rm(path, { force: true });
      continue;
    }
    await putStoreAside(paths);
    const hasCache = await exists(paths.base);
    log
      ?.in("global")
      .warn(
        hasCache
          ? "a wallet's files came without the store: it goes on from the original program's cache, without what that does not hold (payments' idempotency keys, events, frozen outputs of another computer's, what was done after it was written)"
          : "a wallet's files came without the store, and without the original program's cache: it begins anew with its keys, without notes, labels, contacts and transaction keys",
        { file: paths.base },
      );
  }
}

/**
 * Notes whose rows these are. Returns true if they are another wallet's, from whose files those of this one were copied.
 */
async function isCopy({ paths }: StoredWallet, { store, id }: RowsPlace): Promise<boolean> {
  const name = basename(paths.base);
  const owner = await readOwner(store.folder, id);
  if (owner === name) return false;
  // A loss of power may have left anything in the place of a name.
  if (owner !== undefined && owner !== "" && basename(owner) === owner && !owner.includes("\0")) {
    const theirs = pathsOfFile(join(dirname(paths.base), owner));
    const named = await readName(theirs.store);
    if (named !== undefined && equalBytes(named, id) && (await exists(theirs.keys))) return true;
  }
  await noteOwner(paths.base, { store, id });
  return false;
}

/** Where it can't be noted, files that are copied are not told from those that were moved. */
async function noteOwner(base: string, { store, id }: RowsPlace): Promise<void> {
  await writeOwner(store.folder, id, basename(base)).catch(() => undefined);
}

/** Notes which wallet, with which keys, has the rows that its file names. */
export async function noteOwnRows({ paths, keys }: StoredWallet, store: LedgerStore): Promise<void> {
  const id = await readName(paths.store);
  if (id === undefined) return;
  if ((await readOwner(store.folder, id)) === undefined) await noteOwner(paths.base, { store, id });
  await noteAccount(store.folder, id, keys);
}

/**
 * Puts aside the name of a wallet whose keys file another program has replaced by one of other keys, as the original does
 * in a key exchange of multisig: what the wallet knows then comes from the original's cache.
 */
export async function forgetOtherKeys({ paths, keys, log }: StoredWallet, store: LedgerStore): Promise<void> {
  const id = await readName(paths.store);
  if (id === undefined || (await exists(nextNameOf(paths)))) return;
  if (!(await hasOtherKeys(store.folder, id, keys))) return;
  await putStoreAside(paths);
  log
    ?.in("global")
    .warn("a wallet's keys were replaced by another program: it goes on from the original program's cache", {
      file: paths.base,
    });
}

/**
 * Gives a wallet a journal of its own if its files are copies of those of another wallet in the folder: the ledger as it
 * is now, without the nonces of multisig, of which no two wallets may have the same. Throws `WalletRefusal`.
 */
export async function divideCopy(wallet: StoredWallet, store: LedgerStore): Promise<void> {
  const { paths, log } = wallet;
  const id = await readName(paths.store);
  if (id === undefined || !(await isCopy(wallet, { store, id }))) return;
  try {
    await writeCopy(wallet, { store, id });
    log?.in("global").info("a copied wallet has a history of its own from now on", { file: paths.base });
  } catch (error) {
    if (!(error instanceof WrongStoreKey)) throw error;
    // The other wallet has another password by now.
    await putStoreAside(paths);
    log?.in("global").warn("a copied wallet goes on from the original program's cache", { file: paths.base });
  }
}

async function writeCopy(wallet: StoredWallet, { store, id }: RowsPlace): Promise<void> {
  const readOnly = new StoreUnavailable("another wallet has the rows");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await store.engine.markOf(id);
    const isWritten = await withKeys(wallet, { store, id }, async (options) => {
      // All is read before it is compared: nothing is left to be read when it is needed.
      const { readNow: _, ...engine } = options.engine;
      const reader = await openStoreForReading({ ...options, engine }, readOnly);
      try {
        const ledger = reader && (await LedgerRows.load(reader, wallet))?.ledger;
        if (ledger === undefined) throw failedToOpen("the wallet it was copied from has no history");
        // What was read is of one state if that has not changed meanwhile.
        const isSame = async () => (await store.engine.markOf(id))?.sequence === before?.sequence;
        if (!(await isSame())) return false;
        await writeJournal(wallet, ledger);
        return true;
      } finally {
        await reader?.close();
      }
    });
    if (isWritten) return;
  }
  throw failedToOpen("the wallet it was copied from is being changed: try again");
}

/** Puts a journal in the place of the file that names the wallet. */
async function writeJournal({ paths, keys, network }: StoredWallet, ledger: Ledger): Promise<void> {
  await withStore(paths, keys, network, async (options) => {
    await (await createStore(options, ledger)).close();
  });
}

/**
 * Puts a wallet's ledger back into a journal, and removes its rows. Throws `WalletRefusal` if events wait in its rows that
 * no event log has yet: a journal has no place for them.
 */
export async function putBackIntoJournal(wallet: StoredWallet, store: LedgerStore): Promise<void> {
  const { paths, follower, log } = wallet;
  await settleNextName(wallet, store);
  const id = await readName(paths.store);
  if (id === undefined) return;
  const opened = await openNamed(wallet, { store: { ...store, mustWrite: true }, id });
  try {
    const loaded = await loadAsToday(opened, wallet);
    if (loaded === undefined) throw failedToOpen("its history in the store is empty");
    const isTold = follower === undefined ? await isEmpty(loaded.rows.outbox) : await follower.settled();
    if (!isTold)
      throw failedToOpen(
        "events wait in its store that the event log does not have yet: start the service with --events",
      );
    await writeJournal(wallet, loaded.ledger);
  } finally {
    await follower?.close();
    await opened.close();
  }
  log?.in("global").info("a wallet's history is in a journal again", { file: paths.base });
  await removeStored(store.engine, id, store.folder).catch((error: Error) => {
    log?.warn("rows of a wallet that has a journal again stay in the store", { reason: error.message });
  });
}

async function isEmpty(outbox: OutboxRows): Promise<boolean> {
  for await (const _ of outbox.stored()) return false;
  return true;
}
