/** Changes in the files of an open wallet: its password, its settings, its keys. */
import { wipe } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import type { Json } from "@anulo/rpc";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { wipeKeys } from "../multisig/account-keys.ts";
import type { WalletKeys } from "../state.ts";
import { sealKeysFile } from "./keys-file.ts";
import { walletSettings } from "./open-ledger.ts";
import type { StoredWallet } from "./open-rows.ts";
import { type OpenOptions, type OpenWallet, openWith } from "./open-wallet.ts";
import { prepareNextStore } from "./store.ts";
import { withStore } from "./store-secret.ts";
import { prepareNextStoredLedger } from "./stored-ledger.ts";
import { locksOf } from "./take-locks.ts";
import { keysOptions, readWith } from "./unlock-keys.ts";
import { refuseUnwritten } from "./unwritten.ts";
import { putCacheAside, writeKeysImage } from "./wallet-files.ts";

/** Encrypts the keys file with another password. Throws `WalletRefusal` if the old one is wrong. */
export async function changePassword(
  opened: OpenWallet,
  passwords: { readonly old: string; readonly new: string },
  options: OpenOptions,
): Promise<void> {
  const file = await readWith(opened, passwords.old, options);
  try {
    const sealed = await sealKeysFile(file, keysOptions(passwords.new, options));
    try {
      const fence = opened.paths && locksOf(options).fenceOf(opened.paths);
      const write = async () => await opened.cache?.changePassword(file, sealed, fence);
      await opened.changeKey({ keys: file.keys, cacheKey: sealed.cacheKey }, write).catch(refuseUnwritten);
    } finally {
      wipe(sealed.cacheKey);
    }
    opened.keysImage = sealed.image;
  } finally {
    wipeKeys(file.keys);
    wipe(file.cacheKey);
  }
}

/**
 * Changes settings in the keys file, which are computed once the password is verified; a wallet without files requires
 * no password. Throws `WalletRefusal` if it is wrong, and errors of computing the settings.
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
    wipe(sealed.cacheKey);
    await writeKeysImage(paths, sealed.image, locksOf(options).fenceOf(paths)).catch(refuseUnwritten);
    opened.keysImage = sealed.image;
    opened.about = { ...opened.about, settings };
    await opened.background.beside?.writeKeys({ ...file, settings }).catch(refuseUnwritten);
  } finally {
    wipeKeys(file.keys);
    wipe(file.cacheKey);
  }
}

/**
 * Gives a closed wallet other keys, in the same files, and opens it again. If its address changes, its state is
 * deleted, except its attributes. Throws `WalletRefusal`, before anything is written, if the password is wrong.
 */
export async function changeKeys(
  opened: OpenWallet,
  change: {
    readonly password: string;
    /** A copy, since those of the open wallet are wiped. */
    readonly keys: WalletKeys;
    readonly settings: readonly (readonly [string, Json])[];
    readonly close: () => Promise<void>;
  },
  options: OpenOptions,
): Promise<OpenWallet> {
  const file = await readWith(opened, change.password, options);
  wipeKeys(file.keys);
  wipe(file.cacheKey);
  const { keys } = change;
  const settings = new Map([...file.settings, ...change.settings]);
  const sealed = await sealKeysFile({ ...file, keys, settings }, keysOptions(change.password, options));
  const keysImage = sealed.image;
  const { paths } = opened;
  // Nobody else gets the wallet while it is closed.
  const locks = opened.locks.handOn();
  try {
    await change.close();
    if (paths !== undefined) {
      if (!equalBytes(keys.spendPublic, file.keys.spendPublic)) {
        const ledger = createLedger(options.network, walletSettings(settings));
        for (const [key, value] of opened.wallet.state.attributes) ledger.state.attributes.set(key, value);
        await prepareNext({ paths, keys, cacheKey: sealed.cacheKey }, ledger, options);
        await putCacheAside(paths);
      }
      await writeKeysImage(paths, keysImage, locksOf(options).fenceOf(paths));
    }
    const { cacheKey } = sealed;
    return await openWith({ paths, file: { ...file, keys, settings }, keysImage, cacheKey, locks }, options);
  } catch (error) {
    await locks.release();
    refuseUnwritten(error);
  } finally {
    wipe(sealed.cacheKey);
  }
}

/** Creates the ledger of a wallet whose keys file will be replaced next. */
async function prepareNext(
  { paths, keys, cacheKey }: Pick<StoredWallet, "paths" | "keys" | "cacheKey">,
  ledger: Ledger,
  { network, store }: OpenOptions,
): Promise<void> {
  const { settings } = ledger.state;
  if (store === undefined)
    await withStore(paths, keys, network, (options) => prepareNextStore(options, ledger));
  else await prepareNextStoredLedger({ paths, keys, cacheKey, network, settings }, store, ledger);
}
