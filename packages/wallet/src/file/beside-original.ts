/** The original program's cache beside a wallet's files: imported, encrypted again on a new password, never deleted. */
import { setImmediate } from "node:timers/promises";
import { BadBytes, equalBytes } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import { applyChange } from "../apply-change.ts";
import type { Ledger } from "../ledger.ts";
import type { NetworkName } from "../state.ts";
import { cacheKeyOfPassword, type KeysFile, type ReadKeysFile } from "./keys-file.ts";
import { cacheId, readOriginalCache, resealCache } from "./original-cache.ts";
import type { ChangeLog } from "./store.ts";
import { takeOver } from "./take-over.ts";
import { readCacheImage, type WalletPaths, writeKeysAndCache, writeKeysImage } from "./wallet-files.ts";

type Into = {
  readonly file: KeysFile;
  readonly cacheKey: Uint8Array;
  readonly ledger: Ledger;
  readonly log: ChangeLog;
};

/** Imports what the original has written since the last import, before the wallet is used. */
export async function takeOverCache(
  paths: WalletPaths,
  into: Into,
  { network, log }: { readonly network: NetworkName; readonly log?: Logger },
): Promise<void> {
  const { ledger, file, cacheKey } = into;
  const image = await readCacheImage(paths);
  if (image === undefined) return;
  try {
    const id = cacheId(image);
    if (id === ledger.state.takenOverCache) return;
    const cache = await readOriginalCache(image, cacheKey);
    if (!equalBytes(cache.address.spendPublic, file.keys.spendPublic)) throw new BadBytes("of other keys");
    const isViewOnly = file.keys.spendSecret === undefined;
    const kept: Promise<void>[] = [];
    for (const change of takeOver(cache, id, { network, isViewOnly })) {
      applyChange(ledger, change);
      kept.push(into.log.append(change));
      await setImmediate();
    }
    await Promise.all(kept);
    const { txKeys, notes, confirmed } = cache;
    const counts = { txKeys: txKeys.length, notes: notes.length, payments: confirmed.length };
    log?.info("took over what only the original program's cache tells", counts);
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    log?.warn(
      "the original program's cache can't be read; nothing was taken over, and the file stays as it is: " +
        "opened and closed once by version 0.18 of the original it can be",
      { reason: error.message },
    );
  }
}

/** Replaces the keys file. The original's cache opens with the keys file's password, so it changes with it; one that doesn't open stays. */
export async function writeUnderPassword(
  paths: WalletPaths,
  { image, file }: { image: Uint8Array; file: ReadKeysFile },
  { password, kdfRounds }: { readonly password: string; readonly kdfRounds?: number },
): Promise<void> {
  const cache = await readCacheImage(paths);
  if (cache === undefined) return await writeKeysImage(paths, image);
  const to = await cacheKeyOfPassword(password, kdfRounds);
  try {
    const resealed = resealCache(cache, { from: file.cacheKey, to, iv: cache.slice(0, 8) });
    await writeKeysAndCache(paths, { keys: image, cache: resealed });
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    await writeKeysImage(paths, image);
  } finally {
    to.fill(0);
  }
}
