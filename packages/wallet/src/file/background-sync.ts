/**
 * Scanning without the spend secret: how it is turned on and off, started and stopped. Source: wallet2.cpp
 * `setup_background_sync`, `start_background_sync`, `stop_background_sync`.
 */
import { publicKeyOf, wipe } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import { beginBackgroundSync, endBackgroundSync } from "../actions/background-scan.ts";
import { wipeKeys } from "../multisig/account-keys.ts";
import { failedToOpen, WalletRefusal } from "../refusal.ts";
import {
  backgroundPaths,
  removeBackground,
  type SyncType,
  takeBackgroundLock,
  withSyncType,
} from "./background-beside.ts";
import {
  backgroundKeyOf,
  type KeysFile,
  type ReadKeysFile,
  readBackgroundKeysFile,
  sealKeysFile,
  WrongPassword,
} from "./keys-file.ts";
import { openUnlocked } from "./open-unlocked.ts";
import { besideOf, type OpenOptions, type OpenWallet } from "./open-wallet.ts";
import { locksOf } from "./take-locks.ts";
import { keysOptions, readWith } from "./unlock-keys.ts";
import { refuseUnwritten } from "./unwritten.ts";
import { readKeysImage, type WalletPaths, writeKeysImage } from "./wallet-files.ts";
import type { HeldLocks } from "./wallet-lock.ts";

const WRONG_PASSWORD = "Invalid password.";

function refuse(message: string): never {
  throw new WalletRefusal("UNKNOWN_ERROR", message);
}

function wipeFile({ keys, cacheKey }: ReadKeysFile): void {
  wipeKeys(keys);
  wipe(cacheKey);
}

export type SyncSetup = {
  readonly type: SyncType;
  readonly password: string;
  /** Password of the background wallet; used only if the type requires its own password. */
  readonly backgroundPassword: string;
};

/**
 * Turns background sync on or off, in the keys file too, and writes the background wallet's files. Throws
 * `WalletRefusal`.
 */
export async function setupBackgroundSync(
  opened: OpenWallet,
  { type, password, backgroundPassword }: SyncSetup,
  options: OpenOptions,
): Promise<void> {
  const { background } = opened;
  if (opened.wallet.isBackgroundSyncing)
    refuse("Can't set background sync type from an existing background cache");
  const file = await readWith(opened, password, options, WRONG_PASSWORD);
  try {
    const isCustom = type === "custom-background-password";
    if (isCustom && password === backgroundPassword)
      refuse("custom background password must be different than wallet password");
    if (type === background.type && !isCustom) return;
    const key = isCustom ? await backgroundKeyOf(backgroundPassword, options.runtime) : undefined;
    try {
      await keepType(opened, { file, type, key, password }, options).catch(refuseUnwritten);
    } finally {
      wipe(key);
    }
    background.type = type;
  } finally {
    wipeFile(file);
  }
}

type Keeping = {
  readonly file: KeysFile;
  readonly type: SyncType;
  readonly key: Uint8Array | undefined;
  readonly password: string;
};

async function keepType(
  opened: OpenWallet,
  { file, type, key, password }: Keeping,
  options: OpenOptions,
): Promise<void> {
  const { paths, background } = opened;
  const settings = withSyncType(file.settings, type, key);
  const changed = { keys: file.keys, createdAt: file.createdAt, settings };
  const { image, cacheKey } = await sealKeysFile(changed, keysOptions(password, options));
  wipe(cacheKey);
  if (paths === undefined) {
    const keys = { ...file.keys, spendSecret: undefined };
    const locked = await sealKeysFile({ ...changed, keys }, keysOptions(password, options));
    wipe(locked.cacheKey);
    background.lockedImage = locked.image;
  } else {
    await dropBackground(opened, paths);
    const beside = key && (await besideOf(paths, key, options));
    try {
      await beside?.writeFor(opened.wallet, changed);
      await writeKeysImage(paths, image, locksOf(options).fenceOf(paths));
    } catch (error) {
      await beside?.close();
      throw error;
    }
    background.beside = beside;
  }
  opened.keysImage = image;
  opened.about = { ...opened.about, settings };
}

/** Deletes the files of the background wallet, if any. Throws `WalletRefusal` if it is open elsewhere. */
async function dropBackground({ background }: OpenWallet, main: WalletPaths): Promise<void> {
  const paths = backgroundPaths(main);
  const unlock = background.beside === undefined ? await takeBackgroundLock(paths) : undefined;
  try {
    await removeBackground(paths);
  } finally {
    await background.beside?.close();
    background.beside = undefined;
    await unlock?.();
  }
}

/** Closes one wallet and opens another in its place. */
export type Replace = (open: () => Promise<OpenWallet>) => Promise<void>;

/** Does so under the same lock, so that nobody else gets the wallet in between. */
async function replaceLocked(
  opened: OpenWallet,
  replace: Replace,
  open: (held: HeldLocks) => Promise<OpenWallet>,
): Promise<void> {
  const held = opened.locks.handOn();
  let isOpen = false;
  try {
    await replace(async () => {
      const next = await open(held);
      isOpen = true;
      return next;
    });
  } catch (error) {
    if (!isOpen) await held.release();
    throw error;
  }
}

/**
 * Wipes the spend secret and continues scanning without it. If the background wallet has a password of its own, and
 * files, it is opened in place of this wallet. Throws `WalletRefusal`.
 */
export async function startBackgroundSync(
  opened: OpenWallet,
  options: OpenOptions,
  replace: Replace,
): Promise<void> {
  const { wallet, background, paths, keysImage } = opened;
  if (background.type === "off") refuse("must setup background sync first before using background sync");
  if (background.isWallet)
    refuse("Can't start background syncing from a background wallet (it is always background syncing)");
  if (wallet.isBackgroundSyncing) return;
  if (paths === undefined || background.type === "reuse-wallet-password") {
    await beginBackgroundSync(wallet);
    if (paths !== undefined) return;
    wipe(keysImage);
    opened.keysImage = background.lockedImage ?? keysImage;
    return;
  }
  const { beside } = background;
  if (beside === undefined)
    refuse(`background wallet ${backgroundPaths(paths).base} is already opened by another wallet program`);
  const { key } = beside;
  await replaceLocked(opened, replace, async (held) => {
    try {
      const image = await readKeysImage(beside.paths);
      if (image === undefined) throw failedToOpen(`file not found "${beside.paths.keys}"`);
      const file = await readBackgroundKeysFile(image, key, options.runtime.threads);
      const main = { paths, keysImage };
      return await openUnlocked({ paths: beside.paths, file, keysImage: image }, options, { main, held });
    } catch (error) {
      if (error instanceof WrongPassword) throw failedToOpen(WRONG_PASSWORD);
      throw error;
    } finally {
      wipe(key);
    }
  });
}

export type SyncEnd = {
  readonly password: string;
  /** Derived from the wallet's seed; the caller wipes it. Undefined if no seed was sent. */
  readonly spendSecret: Uint8Array | undefined;
};

/**
 * Restores the spend secret, from the keys file or from the argument, and applies what was found without it. Throws
 * `WalletRefusal`.
 */
export async function stopBackgroundSync(
  opened: OpenWallet,
  { password, spendSecret }: SyncEnd,
  options: OpenOptions,
  replace: Replace,
): Promise<void> {
  const { wallet, background, paths } = opened;
  const { main } = background;
  const keysImage = main?.keysImage ?? opened.keysImage;
  const file = await readWith({ keysImage }, password, options, WRONG_PASSWORD);
  let isKept = false;
  try {
    // For a wallet in memory only the seed contains the key.
    const own = paths === undefined ? spendSecret : file.keys.spendSecret;
    const taken = spendSecret ?? own;
    const isOwn = own !== undefined && taken !== undefined && equalBytes(own, taken);
    if (!isOwn || !equalBytes(publicKeyOf(taken), wallet.keys.spendPublic)) refuse("invalid spend key");
    if (background.type === "off") refuse("must setup background sync first before using background sync");
    if (background.isWallet) refuse("Can't stop background syncing from a background wallet");
    if (!wallet.isBackgroundSyncing) return;
    if (main !== undefined) {
      await replaceLocked(opened, replace, (held) =>
        openUnlocked({ paths: main.paths, file, keysImage }, options, { held }),
      );
      isKept = true;
      return;
    }
    if (paths === undefined) {
      const keys = { ...file.keys, spendSecret: taken };
      const sealed = await sealKeysFile({ ...file, keys }, keysOptions(password, options));
      wipe(sealed.cacheKey);
      opened.keysImage = sealed.image;
    }
    await endBackgroundSync(wallet, taken.slice());
  } finally {
    if (!isKept) wipeFile(file);
  }
}
