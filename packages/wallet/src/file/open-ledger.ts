/** Opens the ledger of a wallet: in memory, in a journal beside its keys, or in a store. */
import { basename } from "node:path";
import type { Json, Logger } from "@anulo/rpc";
import { StoreUnavailable } from "@anulo/store";
import { type Follower, followerWithoutLog } from "../events/follower.ts";
import { createLedger } from "../ledger/ledger.ts";
import type { NetworkName, WalletSettings } from "../state.ts";
import type { ReadKeysFile } from "./keys-file.ts";
import type { LedgerStore, StoredWallet } from "./open-rows.ts";
import {
  divideCopy,
  forgetElsewhere,
  forgetOtherKeys,
  noteOwnRows,
  putBackIntoJournal,
} from "./own-store.ts";
import { createStore, noChangeLog, openStore, settleNextStore } from "./store.ts";
import { readName, refuseStored } from "./store-name.ts";
import { withStore } from "./store-secret.ts";
import { type OpenLedger, openStoredLedger } from "./stored-ledger.ts";
import { whyUnwritten } from "./unwritten.ts";
import { exists, type WalletPaths } from "./wallet-files.ts";

export type LedgerOpening = {
  /** Undefined for a wallet in memory only. */
  readonly paths: WalletPaths | undefined;
  readonly file: Pick<ReadKeysFile, "keys" | "settings" | "isBackground">;
  readonly cacheKey: Uint8Array;
  readonly network: NetworkName;
  readonly store?: LedgerStore | undefined;
  readonly log?: Logger | undefined;
  /** Makes what stores the events of the wallet's changes; undefined if nothing does. */
  readonly follow: () => Follower | undefined;
};

/** A ledger, and what receives its changes from now on. */
export type FollowedLedger = OpenLedger & { readonly follower: Follower | undefined };

/** Throws `WalletRefusal`, `DamagedJournal`, and the errors of the store and the file system. */
export async function openLedger(opening: LedgerOpening): Promise<FollowedLedger> {
  const { paths, file, cacheKey, network, store, log, follow } = opening;
  const settings = walletSettings(file.settings);
  if (paths === undefined) {
    const ledger = createLedger(network, settings);
    return { ledger, log: noChangeLog, changeKey: writeKeysFile, follower: follow() };
  }
  const wallet = { paths, keys: file.keys, cacheKey, network, settings, log };
  // A background wallet's files are rewritten by its main wallet.
  if (store === undefined || file.isBackground === true) {
    await refuseStored(paths);
    return await openJournal({ ...wallet, follower: follow() });
  }
  if (store.role !== undefined) {
    await forgetElsewhere(wallet, store);
    await forgetOtherKeys(wallet, store);
    await divideCopy(wallet, store);
  }
  if (store.role === "leave") {
    await putBackIntoJournal({ ...wallet, follower: follow() }, store);
    return await openJournal({ ...wallet, follower: follow() });
  }
  return await openInStore(wallet, store, follow);
}

/** A wallet whose journal can't be taken over now has it for as long as that is so. */
async function openInStore(
  wallet: StoredWallet,
  store: LedgerStore,
  follow: LedgerOpening["follow"],
): Promise<FollowedLedger> {
  const { paths, log } = wallet;
  const follower = follow() ?? followerWithoutLog(basename(paths.base));
  try {
    const opened = await openStoredLedger({ ...wallet, follower }, store);
    if (store.role === "folder") await noteOwnRows(wallet, store);
    return { ...opened, follower };
  } catch (error) {
    await follower.close();
    if (!(await keepsJournal(wallet, store, error))) throw error;
    log?.in("global").warn("a wallet's journal is used as it is, since the store can't take it over yet", {
      file: paths.base,
      reason: whyUnwritten(error as StoreUnavailable),
    });
    return await openJournal({ ...wallet, follower: follow() });
  }
}

/** Whether a wallet can have its journal for now, because the store, or the disk, has no room for it. */
async function keepsJournal(
  { paths }: StoredWallet,
  { shared, mustWrite }: LedgerStore,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof StoreUnavailable) || error.mayPass || shared !== undefined || mustWrite === true)
    return false;
  return (await exists(paths.store)) && (await readName(paths.store)) === undefined;
}

async function openJournal(wallet: StoredWallet): Promise<FollowedLedger> {
  const { paths, keys, network, settings, follower } = wallet;
  return await withStore(paths, keys, network, async (store) => {
    await settleNextStore(store);
    if (await exists(paths.store))
      return { ...(await openStore(store, settings, follower)), changeKey: writeKeysFile, follower };
    const ledger = createLedger(network, settings);
    await follower?.begin(ledger);
    return { ledger, log: await createStore(store, ledger), changeKey: writeKeysFile, follower };
  });
}

/** Where no store has a key of its own, another password changes the keys file alone. */
const writeKeysFile: OpenLedger["changeKey"] = (_, write) => write();

/** The settings of a keys file that are part of a wallet's state. */
export function walletSettings(settings: ReadonlyMap<string, Json>): WalletSettings {
  const language = settings.get("seed_language");
  const height = settings.get("refresh_height");
  return {
    seedLanguage: typeof language === "string" ? Buffer.from(language, "latin1").toString("utf8") : "",
    refreshFromHeight: typeof height === "number" ? height : 0,
  };
}
