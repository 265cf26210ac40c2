/** Makes wallets from their files, and files from wallets. */
import { randomBytes } from "node:crypto";
import { equalBytes } from "@anulo/protocol";
import type { Json, Logger } from "@anulo/rpc";
import { beginBackgroundSync, endBackgroundSync } from "../actions/background-scan.ts";
import type { Daemon } from "../daemon.ts";
import type { NewWallet } from "../keys/wallet-keys.ts";
import { applyChange } from "../ledger/apply-change.ts";
import { createLedger } from "../ledger/ledger.ts";
import { wipeKeys } from "../multisig/account-keys.ts";
import { preferencesOf } from "../preferences.ts";
import { failedToOpen, refuseUnwritten, WalletRefusal } from "../refusal.ts";
import { checkLookahead } from "../scan/subaddress-table.ts";
import type { NetworkName, WalletKeys, WalletSettings } from "../state.ts";
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
import { DamagedJournal } from "./journal.ts";
import {
  type KeysFile,
  networkNumbers,
  newSettings,
  type ReadKeysFile,
  readKeysFile,
  sealKeysFile,
  WrongPassword,
} from "./keys-file.ts";
import {
  type ChangeLog,
  createStore,
  noChangeLog,
  openStore,
  prepareNextStore,
  settleNextStore,
} from "./store.ts";
import { withStore } from "./store-secret.ts";
import {
  exists,
  putCacheAside,
  putStoreAside,
  readKeysImage,
  removeFiles,
  type WalletPaths,
  walletExists,
  writeAddressFile,
  writeKeysImage,
} from "./wallet-files.ts";
import { takeLock } from "./wallet-lock.ts";

/** A wallet with what only its files know. */
export type OpenWallet = {
  readonly wallet: Wallet;
  /** Undefined for a wallet that lives in memory only. */
  readonly paths: WalletPaths | undefined;
  /** The keys file, sealed with the password. */
  keysImage: Uint8Array;
  /** The original program's cache; undefined without files, and of a background wallet. */
  readonly cache: CacheBeside | undefined;
  readonly background: BackgroundPart;
  /** Leaves behind all that other programs may read. Throws a refusal where that can't be written. */
  readonly store: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** How a wallet scans without its spend secret. */
export type BackgroundPart = {
  type: SyncType;
  /** A background wallet, opened by its name. */
  readonly isWallet: boolean;
  /** The background wallet of this one; undefined where it has none, or another service has it open. */
  beside: BackgroundBeside | undefined;
  /** The wallet that scans as its background wallet until its password is given: that one's own files. */
  readonly main?: Pick<UnlockedKeys, "paths" | "keysImage"> | undefined;
  /** Of a wallet in memory only: its keys file without the spend secret. */
  lockedImage?: Uint8Array | undefined;
};

export type OpenOptions = {
  readonly network: NetworkName;
  readonly daemon: Daemon;
  /** Told the id (hex) of each transaction that pays the wallet, once in the pool and once in a block. */
  readonly onReceived?: (txid: string) => void;
  readonly kdfRounds?: number;
  /** Whether a cache of the original's is left behind; it is unless this is false. */
  readonly writesOriginalCache?: boolean;
  readonly log?: Logger;
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
  const file: KeysFile = { keys, createdAt: made.createdAt, settings };
  const sealed = await sealKeysFile(file, keysOptions(made.password, options));
  const keysImage = sealed.image;
  const unlock = paths === undefined ? async () => undefined : await takeLock(paths.lock);
  let isNew = false;
  try {
    // Asked again, with the lock: another service may have made one of this name meanwhile, and its keys are money.
    isNew = paths !== undefined && !(await walletExists(paths));
    if (paths !== undefined && !isNew)
      throw new WalletRefusal("WALLET_ALREADY_EXISTS", "Cannot create wallet. Already exists.");
    if (paths !== undefined) {
      await putStoreAside(paths);
      await writeKeysImage(paths, keysImage);
    }
    const opened = await openWith({ paths, file, ...sealed, keysImage, unlock }, options);
    const isTestNetwork = networkNumbers[options.network] !== networkNumbers.mainnet;
    if (paths !== undefined && (isTestNetwork || made.addressFile === true)) {
      await writeAddressFile(paths, opened.wallet.addressOf({ major: 0, minor: 0 }));
    }
    return opened;
  } catch (error) {
    // Half a wallet would only hold its name.
    if (paths !== undefined && isNew) await removeFiles(paths);
    await unlock();
    refuseUnwritten(error);
  } finally {
    sealed.cacheKey.fill(0);
  }
}

export function keysOptions(password: string, { kdfRounds }: OpenOptions) {
  return { password, random: randomBytes, ...(kdfRounds === undefined ? {} : { kdfRounds }) };
}

export type UnlockedKeys = {
  readonly paths: WalletPaths;
  readonly file: ReadKeysFile;
  readonly keysImage: Uint8Array;
};

/** Reads the keys file; throws the refusal callers know, whatever is wrong. */
export async function unlockKeys(
  paths: WalletPaths,
  password: string,
  options: OpenOptions,
): Promise<UnlockedKeys> {
  const keysImage = await readKeysImage(paths);
  if (keysImage === undefined) throw failedToOpen(`file not found "${paths.keys}"`);
  try {
    return await unlockImage({ paths, keysImage, password }, options);
  } catch (error) {
    if (error instanceof WrongPassword) throw failedToOpen("Invalid password.");
    throw error;
  }
}

/** Opens a sealed keys file. Throws WrongPassword, or a refusal for what this service cannot work with. */
export async function unlockImage(
  {
    paths,
    keysImage,
    password,
  }: { readonly paths: WalletPaths; readonly keysImage: Uint8Array; readonly password: string },
  options: OpenOptions,
): Promise<UnlockedKeys> {
  const file = await readKeysFile(keysImage, keysOptions(password, options));
  checkSupported(file, options.network);
  return { paths, file, keysImage };
}

function checkSupported({ settings }: KeysFile, network: NetworkName): void {
  const refuse = (why: string) => {
    throw failedToOpen(why);
  };
  if ((settings.get("nettype") ?? networkNumbers[network]) !== networkNumbers[network]) {
    refuse(`it is not a wallet of ${network}`);
  }
  if ((settings.get("key_on_device") ?? 0) !== 0) refuse("its keys are on a device");
}

/** Opens a wallet whose keys have been read; `main`: as the one that is scanned for. */
export async function openUnlocked(
  keys: UnlockedKeys,
  options: OpenOptions,
  main?: BackgroundPart["main"],
): Promise<OpenWallet> {
  const unlock = await takeLocks(main === undefined ? [keys.paths] : [main.paths, keys.paths]);
  try {
    return await openWith({ ...keys, cacheKey: keys.file.cacheKey, unlock, main }, options);
  } catch (error) {
    await unlock();
    if (error instanceof DamagedJournal) throw failedToOpen(error.message);
    refuseUnwritten(error);
  } finally {
    keys.file.cacheKey.fill(0);
  }
}

/** Takes the locks of these files, or none; what is given gives them back. */
async function takeLocks([first, ...others]: readonly WalletPaths[]): Promise<() => Promise<void>> {
  if (first === undefined) return async () => undefined;
  const unlock = await takeLock(first.lock);
  try {
    const unlockOthers = await takeLocks(others);
    return async () => {
      await unlockOthers();
      await unlock();
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

type Opening = {
  readonly paths: WalletPaths | undefined;
  readonly file: KeysFile;
  readonly keysImage: Uint8Array;
  readonly unlock: () => Promise<void>;
  /** Opens the original's cache. */
  readonly cacheKey: Uint8Array;
  readonly main?: BackgroundPart["main"];
};

async function openWith(
  { paths, file, keysImage, unlock, cacheKey, main }: Opening,
  options: OpenOptions,
): Promise<OpenWallet> {
  const { ledger, log } = await openLedger(paths, file, options.network);
  const hasCache = paths !== undefined && file.isBackground !== true;
  const cache = hasCache ? openCache(paths, cacheKey, options) : undefined;
  await cache?.removeUnfinished();
  await cache?.takeOver({
    state: ledger.state,
    keys: file.keys,
    commit: (change) => {
      applyChange(ledger, change);
      return log.append(change);
    },
  });
  const maxReorgDepth = file.settings.get("max_reorg_depth");
  const lookahead = checkLookahead(
    file.settings.get("subaddress_lookahead_major"),
    file.settings.get("subaddress_lookahead_minor"),
  );
  const wallet = new Wallet({
    keys: file.keys,
    ledger,
    log,
    daemon: options.daemon,
    preferences: preferencesOf(file.settings),
    ...(typeof maxReorgDepth === "number" ? { maxReorgDepth } : {}),
    ...(lookahead === undefined ? {} : { lookahead }),
    onReceived: (txid) => {
      options.log?.info("received", { txid });
      options.onReceived?.(txid);
    },
  });
  const background: BackgroundPart = {
    type: syncTypeOf(file.settings),
    isWallet: file.isBackground === true && main === undefined,
    beside: undefined,
    main,
  };
  const store = async () => {
    // Between two payments: an output that one spends is written with that payment.
    await wallet
      .exclusively(async () => await cache?.store(wallet, { isAsked: true }))
      .catch(refuseUnwritten);
  };
  const close = async () => {
    await wallet.settle();
    await leaveBackground(wallet, background, options);
    await cache?.store(wallet, { isAsked: false }).catch((error: Error) => {
      const reason = error.message;
      options.log?.warn("the original program's cache can't be written; the wallet is whole without", {
        reason,
      });
    });
    await cache?.close();
    await wallet.close();
    await unlock();
  };
  const opened: OpenWallet = { wallet, paths, keysImage, cache, background, store, close };
  try {
    await joinBackground(opened, file, options);
  } catch (error) {
    await background.beside?.close();
    await cache?.close();
    await wallet.close();
    throw error;
  }
  return opened;
}

/**
 * Settles what was scanned without the spend secret, now that it is here; or without it, begins to scan so. A background
 * wallet that another service has open is left alone.
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
    key.fill(0);
  }
}

/** The background wallet of the wallet with these files, under this key. Throws `WalletRefusal` where it is open elsewhere. */
export async function besideOf(
  main: WalletPaths,
  key: Uint8Array,
  { network, log }: OpenOptions,
): Promise<BackgroundBeside> {
  const paths = backgroundPaths(main);
  return new BackgroundBeside({ paths, unlock: await takeBackgroundLock(paths), key, network, log });
}

/** Has the background wallet go on from where the wallet is. */
async function leaveBackground(
  wallet: Wallet,
  { beside }: BackgroundPart,
  { log }: OpenOptions,
): Promise<void> {
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

async function openLedger(paths: WalletPaths | undefined, file: KeysFile, network: NetworkName) {
  const settings = walletSettings(file.settings);
  const fresh = createLedger(network, settings);
  if (paths === undefined) return { ledger: fresh, log: noChangeLog satisfies ChangeLog };
  return await withStore(paths, file.keys, network, async (store) => {
    await settleNextStore(store);
    if (await exists(paths.store)) return await openStore(store, settings);
    return { ledger: fresh, log: await createStore(store, fresh) };
  });
}

function walletSettings(settings: ReadonlyMap<string, Json>): WalletSettings {
  const language = settings.get("seed_language");
  const height = settings.get("refresh_height");
  return {
    seedLanguage: typeof language === "string" ? Buffer.from(language, "latin1").toString("utf8") : "",
    refreshFromHeight: typeof height === "number" ? height : 0,
  };
}

/** Whether an open wallet keeps others from these files: they are its own, or its background wallet's. */
export function holdsFiles(
  { paths, background: { main, beside } }: OpenWallet,
  { keys }: WalletPaths,
): boolean {
  return [paths, main?.paths, beside?.paths].some((own) => own?.keys === keys);
}

/** Seals the keys file with another password. Throws a refusal when the old one is wrong. */
export async function changePassword(
  opened: OpenWallet,
  passwords: { readonly old: string; readonly new: string },
  options: OpenOptions,
): Promise<void> {
  const file = await readWith(opened, passwords.old, options);
  try {
    const sealed = await sealKeysFile(file, keysOptions(passwords.new, options));
    try {
      await opened.cache?.changePassword(file, sealed).catch(refuseUnwritten);
    } finally {
      sealed.cacheKey.fill(0);
    }
    opened.keysImage = sealed.image;
  } finally {
    wipeKeys(file.keys);
    file.cacheKey.fill(0);
  }
}

/**
 * Changes settings in the keys file, which are made once the password is found right; of a wallet without files
 * nobody asks one. Throws a refusal when it is wrong, and what making the settings throws.
 */
export async function changeSettings(
  opened: OpenWallet,
  change: { readonly password: string; readonly settings: () => Iterable<readonly [string, Json]> },
  options: OpenOptions,
): Promise<void> {
  const { paths } = opened;
  if (paths === undefined) return void change.settings();
  const file = await readWith(opened, change.password, options, "Invalid password.");
  try {
    const settings = new Map([...file.settings, ...change.settings()]);
    const sealed = await sealKeysFile({ ...file, settings }, keysOptions(change.password, options));
    sealed.cacheKey.fill(0);
    await writeKeysImage(paths, sealed.image).catch(refuseUnwritten);
    opened.keysImage = sealed.image;
    await opened.background.beside?.writeKeys({ ...file, settings }).catch(refuseUnwritten);
  } finally {
    wipeKeys(file.keys);
    file.cacheKey.fill(0);
  }
}

/** Throws a refusal when the password is wrong. */
export async function readWith(
  opened: Pick<OpenWallet, "keysImage">,
  password: string,
  options: OpenOptions,
  ifWrong = "Invalid original password.",
): Promise<ReadKeysFile> {
  try {
    return await readKeysFile(opened.keysImage, keysOptions(password, options));
  } catch (error) {
    if (error instanceof WrongPassword) throw new WalletRefusal("INVALID_PASSWORD", ifWrong);
    throw error;
  }
}

/**
 * Gives a closed wallet other keys, in the same files, and opens it again. What it knew is forgotten when its
 * address changes, but for its attributes. Throws a refusal, before anything is written, when the password is wrong.
 */
export async function changeKeys(
  opened: OpenWallet,
  change: {
    readonly password: string;
    /** Of their own, since those of the open wallet are wiped. */
    readonly keys: WalletKeys;
    readonly settings: readonly (readonly [string, Json])[];
    readonly close: () => Promise<void>;
  },
  options: OpenOptions,
): Promise<OpenWallet> {
  const file = await readWith(opened, change.password, options);
  wipeKeys(file.keys);
  file.cacheKey.fill(0);
  const { keys } = change;
  const settings = new Map([...file.settings, ...change.settings]);
  const sealed = await sealKeysFile({ ...file, keys, settings }, keysOptions(change.password, options));
  const keysImage = sealed.image;
  await change.close();
  const { paths } = opened;
  const unlock = paths === undefined ? async () => undefined : await takeLock(paths.lock);
  try {
    if (paths !== undefined) {
      if (!equalBytes(keys.spendPublic, file.keys.spendPublic)) {
        const ledger = createLedger(options.network, walletSettings(settings));
        for (const [key, value] of opened.wallet.state.attributes) ledger.state.attributes.set(key, value);
        await withStore(paths, keys, options.network, (store) => prepareNextStore(store, ledger));
        await putCacheAside(paths);
      }
      await writeKeysImage(paths, keysImage);
    }
    const { cacheKey } = sealed;
    return await openWith({ paths, file: { ...file, keys, settings }, keysImage, cacheKey, unlock }, options);
  } catch (error) {
    await unlock();
    refuseUnwritten(error);
  } finally {
    sealed.cacheKey.fill(0);
  }
}
