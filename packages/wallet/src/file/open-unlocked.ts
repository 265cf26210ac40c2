/** Opens wallets whose keys are known: read from their files, or those of the open wallet. */
import { wipe } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import { wipeKeys } from "../multisig/account-keys.ts";
import { failedToOpen, WalletRefusal } from "../refusal.ts";
import { DamagedJournal } from "./journal.ts";
import { type BackgroundPart, type OpenOptions, type OpenWallet, openWith } from "./open-wallet.ts";
import { locksOf, takeLocksFor } from "./take-locks.ts";
import type { UnlockedKeys } from "./unlock-keys.ts";
import { refuseUnwritten } from "./unwritten.ts";
import { readKeysImage } from "./wallet-files.ts";
import type { HeldLocks } from "./wallet-lock.ts";

/** How a wallet whose keys have been read is opened. */
export type OpeningAgain = {
  /** The wallet for which it scans. */
  readonly main?: BackgroundPart["main"];
  /** Its lock, if that is held already; this releases it if the wallet can't be opened. */
  readonly held?: HeldLocks;
};

/** Opens a wallet whose keys have been read. Throws `KeysReplaced` if its keys file is another by now, `WalletRefusal`. */
export async function openUnlocked(
  keys: UnlockedKeys,
  options: OpenOptions,
  { main, held }: OpeningAgain = {},
): Promise<OpenWallet> {
  const locks = await takeLocksFor(keys, locksOf(options), { main: main?.paths, held });
  try {
    await checkNotReplaced(keys);
    return await openWith({ ...keys, cacheKey: keys.file.cacheKey, locks, main }, options);
  } catch (error) {
    await locks.release();
    if (error instanceof DamagedJournal) throw failedToOpen(error.message);
    refuseUnwritten(error);
  } finally {
    wipe(keys.file.cacheKey);
  }
}

/** Another service has changed a wallet's keys between reading them and taking its lock: nothing was done. */
export class KeysReplaced extends WalletRefusal {
  constructor() {
    super("UNOWNED", "The wallet's keys file was replaced meanwhile, and nothing was done: ask again");
  }
}

/** The keys were read before the lock was taken, so they are compared with the file once more. */
async function checkNotReplaced({ paths, file, keysImage }: UnlockedKeys): Promise<void> {
  const now = await readKeysImage(paths);
  if (now !== undefined && equalBytes(now, keysImage)) return;
  wipeKeys(file.keys);
  throw new KeysReplaced();
}

/**
 * Opens a wallet once more whose state in memory is ahead of what could be stored, while the former object still
 * answers; the caller closes that. Throws `WalletRefusal`, and then leaves the former one as it was.
 */
export async function openOnceMore(opened: OpenWallet, options: OpenOptions): Promise<OpenWallet> {
  const { paths, wallet, keysImage, about, cache, background, locks } = opened;
  // The files beside it can be open only once.
  await background.beside?.close();
  background.beside = undefined;
  const cacheKey = cache?.copyKey() ?? new Uint8Array(32);
  const file = { ...about, keys: structuredClone(wallet.signer.keys) };
  const { store } = options;
  const again = { ...options, ...(store !== undefined && { store: { ...store, mustWrite: true } }) };
  try {
    const fresh = await openWith({ paths, file, keysImage, cacheKey, locks: locks.handOn() }, again);
    fresh.wallet.preferences = wallet.preferences;
    return fresh;
  } catch (error) {
    locks.takeBack();
    wipeKeys(file.keys);
    refuseUnwritten(error);
  } finally {
    wipe(cacheKey);
  }
}
