/** The locks that are taken when a wallet is opened. */
import type { LedgerStore } from "./open-rows.ts";
import type { UnlockedKeys } from "./unlock-keys.ts";
import type { WalletPaths } from "./wallet-files.ts";
import { FileLocks, HeldLocks, takeLock, type WalletLocks } from "./wallet-lock.ts";

/** What decides which locks wallets have. */
type Sharing = { readonly store?: LedgerStore; readonly locks?: FileLocks | undefined };

/** Lock files, unless the wallets are shared with other services. */
export const locksOf = ({ store, locks }: Sharing): WalletLocks =>
  store?.shared?.locks ?? locks ?? new FileLocks();

/** Which locks a wallet needs beside its own, and what is there already. */
export type Locking = {
  /** The wallet for which it scans: then that one's lock is its own. */
  readonly main?: WalletPaths | undefined;
  /** Its own lock, if that is held already. */
  readonly held?: HeldLocks | undefined;
};

/**
 * Takes the locks of a wallet. Among services that share wallets, a background wallet's files have a lock of their own,
 * since no store protects them.
 */
export async function takeLocksFor(
  { paths, file }: UnlockedKeys,
  locks: WalletLocks,
  { main, held }: Locking,
): Promise<HeldLocks> {
  const own = held ?? new HeldLocks(await locks.take(main ?? paths));
  const needsFile = main !== undefined || (file.isBackground === true && !(locks instanceof FileLocks));
  if (!needsFile) return own;
  try {
    const others = await takeLock(paths.lock);
    return new HeldLocks(() => own.release(), others);
  } catch (error) {
    await own.release();
    throw error;
  }
}
