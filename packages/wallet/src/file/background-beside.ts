/**
 * The background wallet beside a wallet, `<name>.background`: it opens with a password of its own, has no spend secret,
 * and scans for the main wallet while that is closed. Its files are written whenever the main wallet closes, and what
 * it has found is imported when the main wallet opens.
 */

import { rm } from "node:fs/promises";
import { wipe } from "@anulo/crypto";
import type { Json, Logger } from "@anulo/rpc";
import { learnFromBackground } from "../actions/background-scan.ts";
import { createLedger } from "../ledger/ledger.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import type { NetworkName } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import { backgroundCopy, foundFor } from "./background-copy.ts";
import { cacheOfWallet, knowsChain } from "./cache-of-wallet.ts";
import { type KeysFile, networkNumbers, sealUnder } from "./keys-file.ts";
import { backgroundCacheKeyOf } from "./original-cache.ts";
import { createStore, openStore } from "./store.ts";
import { withStore } from "./store-secret.ts";
import { exists, pathsOfFile, type WalletPaths, writeAddressFile, writeKeysImage } from "./wallet-files.ts";
import { takeLock } from "./wallet-lock.ts";
import { writeCache } from "./write-cache.ts";

/** In the order of their numbers in a keys file. Source: wallet2.cpp `background_sync_type_from_str`. */
export const syncTypes = ["off", "reuse-wallet-password", "custom-background-password"] as const;
export type SyncType = (typeof syncTypes)[number];

const KEY_SETTING = "custom_background_key";

/** The type in a keys file; "off" for any unknown value. */
export function syncTypeOf(settings: ReadonlyMap<string, Json>): SyncType {
  const number = settings.get("background_sync_type");
  return syncTypes[typeof number === "number" ? number : 0] ?? "off";
}

/**
 * The settings of a keys file with this type and, if the background wallet has its own password, the key (32 bytes)
 * derived from it.
 */
export function withSyncType(
  settings: ReadonlyMap<string, Json>,
  type: SyncType,
  key?: Uint8Array,
): Map<string, Json> {
  const changed = new Map([...settings, ["background_sync_type", syncTypes.indexOf(type)]]);
  changed.delete(KEY_SETTING);
  if (key !== undefined) changed.set(KEY_SETTING, String.fromCharCode(...key));
  return changed;
}

/** The key of the background wallet's keys file, which the caller wipes; undefined if the settings have none. */
export function backgroundKeyIn(settings: ReadonlyMap<string, Json>): Uint8Array | undefined {
  const text = settings.get(KEY_SETTING);
  if (typeof text !== "string" || text.length !== 32) return undefined;
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The paths of a wallet's background wallet. */
export const backgroundPaths = ({ base }: WalletPaths): WalletPaths => pathsOfFile(`${base}.background`);

/** Locks the background wallet against other services; returns a function that unlocks it. Throws `WalletRefusal`. */
export async function takeBackgroundLock(paths: WalletPaths): Promise<() => Promise<void>> {
  try {
    return await takeLock(paths.lock);
  } catch (error) {
    if (!(error instanceof WalletRefusal)) throw error;
    throw new WalletRefusal(
      "UNKNOWN_ERROR",
      `background wallet ${paths.base} is already opened by another wallet program`,
    );
  }
}

/** Deletes the background wallet's files. */
export async function removeBackground({ base, keys, store }: WalletPaths): Promise<void> {
  for (const path of [base, keys, store, `${base}.address.txt`]) await rm(path, { force: true });
}

type Parts = {
  /** Paths of the background wallet, whose lock is held. */
  readonly paths: WalletPaths;
  readonly unlock: () => Promise<void>;
  /** Key of its keys file; this class copies it. */
  readonly key: Uint8Array;
  readonly network: NetworkName;
  readonly runtime: Runtime;
  readonly log?: Logger | undefined;
};

export class BackgroundBeside {
  readonly paths: WalletPaths;
  readonly #parts: Parts;
  readonly #key: Uint8Array;
  #changesWritten: number | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.paths = parts.paths;
    this.#key = parts.key.slice();
  }

  /** A copy of the key of its keys file, which the caller wipes. */
  get key(): Uint8Array {
    return this.#key.slice();
  }

  /** Imports what was found in the background into the wallet, and writes files that are missing. */
  async join(wallet: Wallet, file: KeysFile): Promise<void> {
    const { base, keys, store } = this.paths;
    const isThere = (await exists(base)) && (await exists(keys)) && (await exists(store));
    const hasLearnt = await this.#learn(wallet).catch((error: Error) => {
      this.#parts.log?.warn("what was found in the background can't be read, and is scanned again", {
        reason: error.message,
      });
      return true;
    });
    if (!isThere || hasLearnt) await this.write(wallet, file);
    this.#changesWritten = wallet.changes;
  }

  async #learn(wallet: Wallet): Promise<boolean> {
    const { network } = this.#parts;
    if (!(await exists(this.paths.store))) return false;
    const { state, keys, scanSettings } = wallet;
    const { viewSecret } = keys;
    const { ledger, log } = await withStore(
      this.paths,
      { viewSecret, spendSecret: undefined },
      network,
      (options) => openStore(options, state.settings),
    );
    await log.close();
    const found = foundFor(state, scanSettings, ledger.state);
    if (found === undefined) return ledger.state.height !== wallet.height;
    await learnFromBackground(wallet, found);
    this.#parts.log?.info("took over what was found in the background", {
      transactions: found.background.transactions.length,
    });
    return true;
  }

  /** Writes its keys file. */
  async writeKeys({ keys, createdAt, settings }: KeysFile): Promise<void> {
    const viewKeys = { ...keys, spendSecret: undefined };
    const own = new Map(settings);
    own.delete(KEY_SETTING);
    const file = { keys: viewKeys, createdAt, settings: own, isBackground: true };
    await writeKeysImage(this.paths, await sealUnder(this.#key, file, this.#parts.runtime));
  }

  /** Writes all its files, as copies of the wallet's; the wallet must not change meanwhile. */
  async write(wallet: Wallet, file: KeysFile): Promise<void> {
    await this.writeKeys(file);
    if (networkNumbers[wallet.network] !== networkNumbers.mainnet)
      await writeAddressFile(this.paths, wallet.addressOf({ major: 0, minor: 0 }));
    await this.#writeState(wallet);
  }

  /** As `write`, for a wallet that is in use. */
  writeFor(wallet: Wallet, file: KeysFile): Promise<void> {
    return wallet.whileUnchanged(() => this.write(wallet, file));
  }

  /** Writes its state if the wallet has changed since. */
  async update(wallet: Wallet): Promise<void> {
    if (wallet.changes !== this.#changesWritten) await this.#writeState(wallet);
  }

  async #writeState(wallet: Wallet): Promise<void> {
    const { network } = this.#parts;
    const { viewSecret } = wallet.keys;
    const state = backgroundCopy(wallet.state, wallet.scanSettings);
    const ledger = { ...createLedger(network, state.settings), state };
    const log = await withStore(this.paths, { viewSecret, spendSecret: undefined }, network, (options) =>
      createStore(options, ledger),
    );
    await log.close();
    this.#changesWritten = wallet.changes;
    if (!knowsChain(state)) return await rm(this.paths.base, { force: true });
    await wallet.whenReady();
    const { spendPublic, viewPublic } = wallet.keys;
    const { background } = state;
    const { subaddresses } = wallet;
    const key = backgroundCacheKeyOf(this.#key);
    try {
      await writeCache(
        { path: this.paths.base, temporary: this.paths.nextCache, key },
        (id) =>
          cacheOfWallet(
            {
              state,
              background,
              spendPublic,
              viewPublic,
              subaddresses,
              isViewOnly: false,
              isMultisig: false,
            },
            id,
          ),
        async () => true,
      );
    } finally {
      wipe(key);
    }
  }

  /** Wipes the key and unlocks the background wallet. */
  async close(): Promise<void> {
    wipe(this.#key);
    await this.#parts.unlock();
  }
}
