/** The locks that are taken when a wallet is opened. */
import type { LedgerStore } from "./stored-ledger.ts";
import type { UnlockedKeys } from "./unlock-keys.ts";
import type { WalletPaths } from "./wallet-files.ts";
import { fileLocks, takeLock, type WalletLocks } from "./wallet-lock.ts";

type TakeLock = () => Promise<() => Promise<void>>;

/** Lock files, unless the wallets are shared with other services. */
export const locksOf = ({ store }: { readonly store?: LedgerStore }): WalletLocks =>
  store?.shared?.locks ?? fileLocks;

/**
 * Takes the locks of a wallet, and of the main wallet it scans for (`main`); returns a function that releases them.
 * Among services that share wallets, a background wallet's files have a lock of their own, since no store protects
 * them.
 */
export async function takeLocksFor(
  { paths, file }: UnlockedKeys,
  locks: WalletLocks,
  main?: WalletPaths,
): Promise<() => Promise<void>> {
  const ofFile = () => takeLock(paths.lock);
  if (main !== undefined) return await takeLocks([() => locks.take(main), ofFile]);
  const both = file.isBackground === true && locks !== fileLocks;
  return await takeLocks([() => locks.take(paths), ...(both ? [ofFile] : [])]);
}

async function takeLocks([first, ...others]: readonly TakeLock[]): Promise<() => Promise<void>> {
  if (first === undefined) return async () => undefined;
  const unlock = await first();
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
