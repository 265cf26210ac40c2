/**
 * The original program's cache beside a wallet's files. Data that only it contains is imported, and a new one is
 * written when the wallet closes, so that each program continues where the other has stopped. Our journal is
 * authoritative; a cache is never replaced before all its data is in the journal, and one that can't be read is never
 * changed.
 */

import { rm } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { wipe } from "@anulo/crypto";
import { BadBytes, equalBytes } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import type { WalletChange } from "../changes.ts";
import type { NetworkName, WalletKeys, WalletState } from "../state.ts";
import { TaskQueue } from "../turns.ts";
import type { Wallet } from "../wallet.ts";
import { WalletMoved } from "./cache-items.ts";
import { cacheOfWallet, knowsChain } from "./cache-of-wallet.ts";
import type { ReadKeysFile, SealedKeysFile } from "./keys-file.ts";
import { cacheId, readOriginalCache, resealCache } from "./original-cache.ts";
import { continuesOurs, takeOver } from "./take-over.ts";
import {
  exists,
  type KeysFence,
  readCacheId,
  readCacheImage,
  type WalletPaths,
  writeKeysAndCache,
  writeKeysImage,
} from "./wallet-files.ts";
import { writeCache } from "./write-cache.ts";

/** Number of attempts to write a cache while another program replaces it. */
const ATTEMPTS = 3;

/**
 * Which program wrote the cache on disk: `known` was read or written here last, `foreign` was written by another
 * program since.
 */
async function whoseCache(
  paths: WalletPaths,
  { takenOverCache }: Readonly<WalletState>,
): Promise<"nobody" | "known" | "foreign"> {
  const id = await readCacheId(paths);
  if (id === undefined) return "nobody";
  return id === takenOverCache ? "known" : "foreign";
}

/** Receives the data of a cache. */
type Learner = {
  readonly state: Readonly<WalletState>;
  readonly keys: Pick<WalletKeys, "spendPublic" | "spendSecret">;
  commit(change: WalletChange): Promise<void>;
};

type Options = {
  readonly paths: WalletPaths;
  /** Key that decrypts the cache; this class copies it. */
  readonly key: Uint8Array;
  readonly network: NetworkName;
  /** Whether a cache is written when the wallet closes. */
  readonly isWritten: boolean;
  readonly log?: Logger | undefined;
};

/** The cache beside one open wallet. */
export class CacheBeside {
  readonly #options: Options;
  readonly #key: Uint8Array;
  readonly #turns = new TaskQueue();

  constructor(options: Options) {
    this.#options = options;
    this.#key = options.key.slice();
  }

  /**
   * Imports what another program has written since the last import. Returns false if that can't be read; this is logged
   * and nothing is changed.
   */
  async takeOver(learner: Learner): Promise<boolean> {
    const { paths, log } = this.#options;
    if ((await whoseCache(paths, learner.state)) !== "foreign") return true;
    const image = await readCacheImage(paths);
    if (image === undefined) return true;
    try {
      await this.#learn(image, learner);
      return true;
    } catch (error) {
      if (!(error instanceof BadBytes)) throw error;
      log?.warn(
        "the original program's cache can't be read; nothing was taken over, and the file stays as it is: " +
          "opened and closed once by version 0.18 of the original it can be",
        { reason: error.message },
      );
      return false;
    }
  }

  async #learn(image: Uint8Array, { state, keys, commit }: Learner): Promise<void> {
    const { network, log } = this.#options;
    const cache = await readOriginalCache(image, this.#key);
    if (!equalBytes(cache.address.spendPublic, keys.spendPublic)) throw new BadBytes("of other keys");
    const isViewOnly = keys.spendSecret === undefined;
    const isNewer = state.sinceCache !== "edits" && continuesOurs(cache, state);
    const taking = { network, isViewOnly, ...(isNewer && { older: state }) };
    const kept: Promise<void>[] = [];
    for (const change of takeOver(cache, cacheId(image), taking)) {
      const done = commit(change);
      void done.catch(() => undefined); // the caller awaits the error below
      kept.push(done);
      await setImmediate();
    }
    await Promise.all(kept);
    const { txKeys, notes, confirmed } = cache;
    const counts = { txKeys: txKeys.length, notes: notes.length, payments: confirmed.length };
    log?.info("took over what only the original program's cache tells", counts);
  }

  /**
   * Writes a cache with the wallet's current state, unless nothing has changed since the last one; if there is none and
   * the wallet has scanned nothing, only if `isAsked`. Throws errors of the file system: the wallet itself is safe in
   * its journal.
   */
  store(wallet: Wallet, { isAsked }: { readonly isAsked: boolean }): Promise<void> {
    return this.#turns.run(() => this.#store(wallet, isAsked));
  }

  async #store(wallet: Wallet, isAsked: boolean): Promise<void> {
    const { paths, isWritten, log } = this.#options;
    const { state } = wallet;
    // The cache has no place for outputs found without the spend secret: the original continues from the state before.
    if (!isWritten || wallet.isBackgroundSyncing) return;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const whose = await whoseCache(paths, state);
      if (whose === "foreign") {
        const learner = {
          state,
          keys: wallet.signer.keys,
          commit: (change: WalletChange) => wallet.commit(change),
        };
        if (!(await this.takeOver(learner))) return;
        await wallet.coverAll();
      }
      const isNeeded =
        state.sinceCache !== "nothing" || (whose === "nobody" && (isAsked || state.height > 1));
      if (!isNeeded || !knowsChain(state)) return;
      await wallet.whenReady();
      if (await this.#write(wallet)) return;
    }
    log?.warn("the original program's cache was not written: it, or the wallet, has changed meanwhile");
  }

  /**
   * Returns whether it was written: another program may have written one meanwhile, or a rescan deleted data to be
   * written.
   */
  async #write(wallet: Wallet): Promise<boolean> {
    const { paths } = this.#options;
    const { state, subaddresses, signer } = wallet;
    const { spendPublic, viewPublic } = signer.keys;
    const [isViewOnly, isMultisig] = [signer.kind === "viewOnly", signer.kind === "multisig"];
    let changes: number | undefined;
    const make = (id: string) => {
      changes = wallet.changes;
      return cacheOfWallet({ state, isViewOnly, isMultisig, spendPublic, viewPublic, subaddresses }, id);
    };
    const target = { path: paths.base, temporary: paths.nextCache, key: this.#key };
    const isStillFree = async () => (await whoseCache(paths, state)) !== "foreign";
    const id = await writeCache(target, make, isStillFree).catch((error) => {
      if (error instanceof WalletMoved) return undefined;
      throw error;
    });
    if (id === undefined) return false;
    // Changes made while it was written are not in it.
    const since = wallet.changes === changes ? "nothing" : "edits";
    await wallet.commit({ kind: "takenOver", cacheId: id, since });
    return true;
  }

  /**
   * Replaces the keys file when the password changes, and the cache with it; a cache that can't be decrypted is not
   * changed.
   */
  changePassword(old: ReadKeysFile, sealed: SealedKeysFile, fence?: KeysFence): Promise<void> {
    return this.#turns.run(async () => {
      await writeUnderPassword(this.#options.paths, { old, sealed }, fence);
      this.#key.set(sealed.cacheKey);
    });
  }

  /** A copy of the key that decrypts the cache, which the caller wipes. */
  copyKey(): Uint8Array {
    return this.#key.slice();
  }

  /** Waits for writes under way and wipes the key. */
  async close(): Promise<void> {
    await this.#turns.whenIdle();
    wipe(this.#key);
  }

  /** Removes an incomplete cache that a crash has left. */
  async removeUnfinished(): Promise<void> {
    const { nextCache } = this.#options.paths;
    // There hardly ever is one, and looking costs less than removing nothing.
    if (await exists(nextCache)) await rm(nextCache, { force: true });
  }
}

/**
 * Replaces the keys file. The original's cache is encrypted with the keys file's password, so it is replaced too; a
 * cache that can't be decrypted is not changed.
 */
export async function writeUnderPassword(
  paths: WalletPaths,
  { old, sealed }: { readonly old: ReadKeysFile; readonly sealed: SealedKeysFile },
  fence?: KeysFence,
): Promise<void> {
  const { image, cacheKey } = sealed;
  const cache = await readCacheImage(paths);
  if (cache === undefined) return await writeKeysImage(paths, image, fence);
  let resealed: Uint8Array;
  try {
    resealed = resealCache(cache, { from: old.cacheKey, to: cacheKey, iv: cache.slice(0, 8) });
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    return await writeKeysImage(paths, image, fence);
  }
  await writeKeysAndCache(paths, { keys: image, cache: resealed }, fence);
}
