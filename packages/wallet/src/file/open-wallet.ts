/** Opens wallets from their files, and creates files for new wallets. */

import { basename } from "node:path";
import { wipe } from "@anulo/crypto";
import { formatAddress } from "@anulo/protocol";
import type { Json, Logger } from "@anulo/rpc";
import { beginBackgroundSync, endBackgroundSync } from "../actions/background-scan.ts";
import type { WalletChange } from "../changes.ts";
import type { Daemon } from "../daemon.ts";
import { applyTold, type EventSink, Follower } from "../events/follower.ts";
import type { NewWallet } from "../keys/wallet-keys.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { preferencesOf } from "../preferences.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import type { Lookahead } from "../scan/address-runs.ts";
import { checkLookahead, settingsOf } from "../scan/subaddress-table.ts";
import type { NetworkName } from "../state.ts";
import { Wallet } from "../wallet.ts";
import {
  BackgroundBeside,
  backgroundKeyIn,
  backgroundPaths,
  type SyncType,
  syncTypeOf,
  takeBackgroundLock,
} from "./background-beside.ts";
import { CacheBeside } from "./beside-original.ts";
import { KeptAddresses } from "./kept-addresses.ts";
import { type KeysFile, networkNumbers, newSettings, sealKeysFile } from "./keys-file.ts";
import { type FollowedLedger, openLedger } from "./open-ledger.ts";
import type { LedgerStore } from "./open-rows.ts";
import type { OpenLedger } from "./stored-ledger.ts";
import { locksOf } from "./take-locks.ts";
import { keysOptions, type UnlockedKeys } from "./unlock-keys.ts";
import { refuseUnwritten } from "./unwritten.ts";
import {
  createKeysImage,
  putStoreAside,
  removeFiles,
  type WalletPaths,
  walletExists,
  writeAddressFile,
  writeKeysImage,
} from "./wallet-files.ts";
import { FileLocks, HeldLocks, type WalletLocks } from "./wallet-lock.ts";

/** A wallet with the data that only its files contain. */
export type OpenWallet = {
  readonly wallet: Wallet;
  /** Undefined for a wallet in memory only. */
  readonly paths: WalletPaths | undefined;
  /** The keys file, encrypted with the password, and what it says beside the keys. */
  keysImage: Uint8Array;
  about: Pick<KeysFile, "createdAt" | "settings" | "isBackground">;
  /** The original program's cache; undefined without files, and for a background wallet. */
  readonly cache: CacheBeside | undefined;
  readonly background: BackgroundPart;
  readonly changeKey: OpenLedger["changeKey"];
  /** Its locks: whoever opens the wallet again, with other keys, goes on with them. */
  readonly locks: HeldLocks;
  /** Writes the files that other programs may read. Throws `WalletRefusal` if they can't be written. */
  readonly store: () => Promise<void>;
  /** Stores no more changes: its files are about to be replaced. */
  readonly abandon: () => void;
  /** Whether the event log could not take events of it, so that it has to be opened again for them. */
  readonly isUntold: () => boolean;
  readonly close: () => Promise<void>;
};

/** The state of scanning without the spend secret. */
export type BackgroundPart = {
  type: SyncType;
  /** True for a background wallet that was opened by its name. */
  readonly isWallet: boolean;
  /** The background wallet of this wallet; undefined if it has none, or another service has it open. */
  beside: BackgroundBeside | undefined;
  /** The files of the main wallet, if this is open as its background wallet until the main password is sent. */
  readonly main?: Pick<UnlockedKeys, "paths" | "keysImage"> | undefined;
  /** For a wallet in memory only: its keys file without the spend secret. */
  lockedImage?: Uint8Array | undefined;
};

export type OpenOptions = {
  readonly network: NetworkName;
  readonly daemon: Daemon;
  /** Called with the id (hex) of each transaction that pays the wallet, once in the pool and once in a block. */
  readonly onReceived?: (txid: string) => void;
  readonly runtime: Runtime;
  /** The look-ahead of new wallets; that of the original if left out. */
  readonly lookahead?: Lookahead | undefined;
  /** Whether closing the wallet writes a cache for the original program; true if left out. */
  readonly writesOriginalCache?: boolean;
  /** Where ledgers are stored; if left out, in a journal beside each wallet's keys. */
  readonly store?: LedgerStore;
  /** The lock files of wallets that no other service shares. */
  readonly locks?: FileLocks;
  readonly log?: Logger;
  /** Where events of wallets with files are stored; if left out, none are. */
  readonly events?: EventSink | undefined;
};

/** Creates the files (none without `paths`) and opens the wallet. */
export async function createWallet(
  paths: WalletPaths | undefined,
  made: NewWallet,
  options: OpenOptions,
): Promise<OpenWallet> {
  const { keys, seedLanguage, refreshFromHeight } = made;
  const settings = newSettings({ network: options.network, seedLanguage, refreshHeight: refreshFromHeight });
  if (keys.multisig !== undefined) settings.set("enable_multisig", 1);
  for (const [name, count] of options.lookahead === undefined ? [] : settingsOf(options.lookahead))
    settings.set(name, count);
  const file: KeysFile = { keys, createdAt: made.createdAt, settings };
  const sealed = await sealKeysFile(file, keysOptions(made.password, options));
  const keysImage = sealed.image;
  const locks = locksOf(options);
  const held = new HeldLocks(paths === undefined ? async () => undefined : await locks.take(paths));
  let isNew = false;
  try {
    // Checked again, with the lock: another service may have created a wallet of this name meanwhile, and its keys are
    // money.
    if (paths !== undefined) {
      if (await walletExists(paths)) throw alreadyExists();
      await locks.confirm(paths);
      await putStoreAside(paths);
      isNew = true;
      if (locks instanceof FileLocks) await writeKeysImage(paths, keysImage);
      else isNew = await createKeysImage(paths, keysImage);
      if (!isNew) throw alreadyExists();
      const isTestNetwork = networkNumbers[options.network] !== networkNumbers.mainnet;
      if (isTestNetwork || made.addressFile === true) {
        const { spendPublic, viewPublic } = keys;
        const address = formatAddress({ kind: "standard", spendPublic, viewPublic }, options.network);
        await writeAddressFile(paths, address);
      }
    }
    return await openWith({ paths, file, ...sealed, keysImage, locks: held }, options);
  } catch (error) {
    try {
      // An incomplete wallet is removed, since it would only occupy its name.
      if (paths !== undefined && isNew) await removeUnlessLost(paths, locks);
    } finally {
      await held.release();
    }
    refuseUnwritten(error);
  } finally {
    wipe(sealed.cacheKey);
  }
}

const alreadyExists = () =>
  new WalletRefusal("WALLET_ALREADY_EXISTS", "Cannot create wallet. Already exists.");

/** Another service that has the lock by now may have opened the wallet; its keys must not be deleted then. */
async function removeUnlessLost(paths: WalletPaths, locks: WalletLocks): Promise<void> {
  const isHeld = await locks.confirm(paths).then(
    () => true,
    () => false,
  );
  if (isHeld) await removeFiles(paths);
}

export type Opening = {
  readonly paths: WalletPaths | undefined;
  readonly file: KeysFile;
  readonly keysImage: Uint8Array;
  readonly locks: HeldLocks;
  /** Decrypts the original's cache. */
  readonly cacheKey: Uint8Array;
  readonly main?: BackgroundPart["main"];
};

export async function openWith(opening: Opening, options: OpenOptions): Promise<OpenWallet> {
  const { paths, file, keysImage, locks, main } = opening;
  const { ledger, log, changeKey, follower } = await ledgerOf(opening, options);
  const commit = async (change: WalletChange) => {
    const meaning = applyTold(ledger, change, follower);
    await log.append(change);
    follower?.keep(meaning);
  };
  const cache = await takeOverCache(opening, { ledger, commit }, options);
  const source = follower?.newSource;
  if (source !== undefined) await commit({ kind: "eventSource", source });
  const wishes = wishesOf(file.settings);
  const addresses = paths === undefined ? undefined : new KeptAddresses(paths, file.keys);
  const wallet = new Wallet({
    keys: file.keys,
    ledger,
    log,
    daemon: options.daemon,
    runtime: options.runtime,
    ...wishes,
    keptMarks: await addresses?.read(ledger.state, wishes.lookahead),
    events: follower,
    onReceived: reportReceived(options),
  });
  const background: BackgroundPart = {
    type: syncTypeOf(file.settings),
    isWallet: file.isBackground === true && main === undefined,
    beside: undefined,
    main,
  };
  const store = async () => {
    // Runs while no payment is under way: the cache then contains every spent output together with the payment that
    // spends it.
    await wallet
      .exclusively(async () => await cache?.store(wallet, { isAsked: true }))
      .catch(refuseUnwritten);
  };
  const abandon = () => log.refuse(new WalletRefusal("NOT_OPEN", "No wallet file"));
  const isUntold = () => follower?.isUntold === true;
  addresses?.writeWhenReady(wallet);
  const close = () => closeWallet(opened, options, addresses);
  const { createdAt, settings, isBackground = false } = file;
  const about = { createdAt, settings, isBackground };
  const files = { paths, keysImage, about, locks, cache, background };
  const opened: OpenWallet = { wallet, ...files, changeKey, store, abandon, isUntold, close };
  try {
    await joinBackground(opened, file, options);
  } catch (error) {
    await background.beside?.close();
    await cache?.close();
    await addresses?.close();
    await wallet.close();
    throw error;
  }
  return opened;
}

/** The wallet's ledger, which holds the ids of blocks together with those of the other wallets. */
async function ledgerOf(opening: Opening, options: OpenOptions): Promise<FollowedLedger> {
  const { network, store, log } = options;
  const follow = () => followerOf(opening, options);
  const opened = await openLedger({ ...opening, network, store, log, follow });
  opened.ledger.state.recent.share(options.runtime.blockIds);
  return opened;
}

/** Logs and reports a transaction (id in hex) that pays the wallet. */
const reportReceived = (options: OpenOptions) => (txid: string) => {
  options.log?.info("received", { txid });
  options.onReceived?.(txid);
};

/** A background wallet with files of its own sends no events: its main wallet reports what it found. */
function followerOf({ paths, file }: Opening, options: OpenOptions): Follower | undefined {
  const { events: sink, runtime, log } = options;
  if (sink === undefined || paths === undefined || file.isBackground === true) return undefined;
  const wallet = basename(paths.base);
  return new Follower({
    sink,
    wallet,
    random: runtime.random,
    onFailure: (error) => {
      // One line says that all wallets are lost; the next owner goes on with their events.
      if (error instanceof WalletRefusal && error.kind === "UNOWNED")
        log?.debug("events are left to the wallet's next owner", { file: wallet });
      else log?.warn("events can't be kept", { file: wallet, error });
    },
  });
}

/**
 * Opens the original's cache and imports the data that only it contains; undefined without files, and for a background
 * wallet.
 */
async function takeOverCache(
  { paths, file, cacheKey }: Opening,
  { ledger, commit }: { readonly ledger: Ledger; readonly commit: (change: WalletChange) => Promise<void> },
  options: OpenOptions,
): Promise<CacheBeside | undefined> {
  if (paths === undefined || file.isBackground === true) return undefined;
  const cache = openCache(paths, cacheKey, options);
  await cache.removeUnfinished();
  await cache.takeOver({ state: ledger.state, keys: file.keys, commit });
  return cache;
}

/** The settings of a keys file that determine how its wallet works. */
function wishesOf(settings: ReadonlyMap<string, Json>) {
  const maxReorgDepth = settings.get("max_reorg_depth");
  const lookahead = checkLookahead(
    settings.get("subaddress_lookahead_major"),
    settings.get("subaddress_lookahead_minor"),
  );
  return {
    preferences: preferencesOf(settings),
    ...(typeof maxReorgDepth === "number" ? { maxReorgDepth } : {}),
    ...(lookahead === undefined ? {} : { lookahead }),
  };
}

async function closeWallet(
  { wallet, background, cache, locks }: OpenWallet,
  options: OpenOptions,
  addresses: KeptAddresses | undefined,
): Promise<void> {
  try {
    await addresses?.write(wallet);
    await addresses?.close();
    await wallet.settle();
    await leaveBackground(wallet, background, options);
    // What could not be stored must not come back by way of the cache.
    if (wallet.unwritten === undefined)
      await cache?.store(wallet, { isAsked: false }).catch((error: Error) => {
        const reason = error.message;
        options.log?.warn("the original program's cache can't be written; the wallet is whole without", {
          reason,
        });
      });
    await cache?.close();
    await wallet.close();
  } finally {
    await locks.release();
  }
}

/**
 * Applies what was scanned without the spend secret, if the secret is available; otherwise starts such a scan. A
 * background wallet that another service has open is not changed.
 */
async function joinBackground(opened: OpenWallet, file: KeysFile, options: OpenOptions): Promise<void> {
  const { wallet, paths, background } = opened;
  if (file.isBackground === true) {
    if (!wallet.isBackgroundSyncing) await beginBackgroundSync(wallet);
    return;
  }
  const { spendSecret } = file.keys;
  if (wallet.isBackgroundSyncing && spendSecret !== undefined) await endBackgroundSync(wallet, spendSecret);
  const key = backgroundKeyIn(file.settings);
  if (paths === undefined || background.type !== "custom-background-password" || key === undefined) return;
  try {
    background.beside = await besideOf(paths, key, options);
    await background.beside.join(wallet, file);
  } catch (error) {
    if (!(error instanceof WalletRefusal)) throw error;
    options.log?.warn("the background wallet is left alone", { reason: error.message });
  } finally {
    wipe(key);
  }
}

/**
 * The background wallet of the wallet with these files, with this key. Throws `WalletRefusal` if it is open elsewhere.
 */
export async function besideOf(
  main: WalletPaths,
  key: Uint8Array,
  { network, log, runtime }: OpenOptions,
): Promise<BackgroundBeside> {
  const paths = backgroundPaths(main);
  return new BackgroundBeside({ paths, unlock: await takeBackgroundLock(paths), key, network, log, runtime });
}

/** Updates the background wallet's files, so that it continues from the wallet's height. */
async function leaveBackground(
  wallet: Wallet,
  { beside }: BackgroundPart,
  { log }: OpenOptions,
): Promise<void> {
  if (wallet.unwritten === undefined)
    await beside?.update(wallet).catch((error: Error) => {
      log?.warn("the background wallet's files can't be written; it goes on from where it was", {
        reason: error.message,
      });
    });
  await beside?.close();
}

function openCache(paths: WalletPaths, key: Uint8Array, options: OpenOptions): CacheBeside {
  const { network, log, writesOriginalCache: isWritten = true } = options;
  return new CacheBeside({ paths, key, network, isWritten, log });
}

/** Whether an open wallet locks these files: they are its own, or those of its background wallet. */
export function holdsFiles(
  { paths, background: { main, beside } }: OpenWallet,
  { keys }: WalletPaths,
): boolean {
  return [paths, main?.paths, beside?.paths].some((own) => own?.keys === keys);
}
