/**
 * The open wallets of a service; each file is open once, however many callers use it. A wallet that is open by the
 * unnamed path and by its name is closed once both have closed it.
 */
import { basename, resolve } from "node:path";
import type { Logger } from "@anulo/rpc";
import { WrongPassword } from "../file/keys-file.ts";
import { createWallet, type OpenWallet, openUnlocked } from "../file/open-wallet.ts";
import { type UnlockedKeys, unlockImage, unlockKeys } from "../file/unlock-keys.ts";
import { missingFile, readKeysImage, type WalletPaths } from "../file/wallet-files.ts";
import type { NewWallet } from "../keys/wallet-keys.ts";
import { wipeKeys } from "../multisig/account-keys.ts";
import { failedToOpen, WalletRefusal } from "../refusal.ts";
import { Permits } from "../turns.ts";
import { type Common, notOpen } from "./common.ts";
import { WalletEntry } from "./wallet-entry.ts";

/** Each takes some 2 MiB, and 2 ms of a processor for each refresh that finds nothing new. */
const DEFAULT_MAX_OPEN = 1000;
const IDLE_SECONDS = 600;
/** Maximum number of wallets that are opened or closed at once: each reads or writes its files whole. */
const AT_ONCE = 8;
/** Maximum number of wallets that are remembered to have a password: testing for one is costly. */
const MAX_LOCKED = 10_000;

const locked = () =>
  new WalletRefusal("NOT_OPEN", "The wallet has a password: open it with open_wallet first");

/** A wallet with files. */
export type FiledEntry = WalletEntry & { readonly paths: WalletPaths };

export class OpenWallets {
  readonly #common: Common;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #entries = new Set<WalletEntry>();
  readonly #byFile = new Map<string, FiledEntry>();
  readonly #permits = new Permits(AT_ONCE);
  readonly #locked = new Set<string>();
  #isOver = false;

  constructor(common: Common) {
    this.#common = common;
    this.#log = common.log.in("wallet.wallet2");
    this.#clock = common.options.clock ?? Date.now;
  }

  /** Those that are open. */
  get open(): WalletEntry[] {
    return [...this.#entries].filter(({ opened }) => opened !== undefined);
  }

  /** The wallet with these files; undefined if it is neither open nor about to be. */
  at(paths: WalletPaths): FiledEntry | undefined {
    return this.#byFile.get(resolve(paths.keys));
  }

  /** Runs a task with the wallet of these files, after the earlier tasks for it. */
  async within<T>(paths: WalletPaths, task: (entry: FiledEntry) => Promise<T>): Promise<T> {
    const entry = this.at(paths) ?? (new WalletEntry(paths) as FiledEntry);
    this.#byFile.set(resolve(paths.keys), entry);
    return await this.inTurn(entry, () => task(entry));
  }

  /** Runs a task that opens a wallet, closes it or changes its files, after the earlier tasks for it. */
  async inTurn<T>(entry: WalletEntry, task: () => Promise<T>): Promise<T> {
    this.#entries.add(entry);
    try {
      return await entry.inTurn(task);
    } finally {
      if (entry.isOver) {
        this.#entries.delete(entry);
        if (entry.paths !== undefined) this.#byFile.delete(resolve(entry.paths.keys));
      }
    }
  }

  /** Records that a call by the wallet's name begins: until `end` the wallet is not closed as idle. */
  begin(entry: WalletEntry): void {
    entry.calls += 1;
    entry.lastUsed = this.#clock();
  }

  end(entry: WalletEntry): void {
    entry.calls -= 1;
    entry.lastUsed = this.#clock();
  }

  /** Creates a wallet, after the earlier tasks for it. Throws `WalletRefusal`. */
  async create(entry: WalletEntry, made: NewWallet): Promise<void> {
    const { openOptions } = this.#common;
    await this.put(entry, await this.#permits.run(() => createWallet(entry.paths, made, openOptions)));
    this.#forgetLock(entry);
  }

  /**
   * Reads a wallet's keys, after the earlier tasks for it; returns `undefined` if `isOpen`: then only the password is
   * checked. Throws `WalletRefusal`.
   */
  async unlock(
    { paths }: FiledEntry,
    { password, isOpen }: { readonly password: string; readonly isOpen: boolean },
  ): Promise<UnlockedKeys | undefined> {
    const keys = await unlockKeys(paths, password, this.#common.openOptions);
    if (!isOpen) return keys;
    wipeKeys(keys.file.keys);
    keys.file.cacheKey.fill(0);
    return undefined;
  }

  /** Opens a wallet whose keys were read, after the earlier tasks for it. Throws `WalletRefusal`. */
  async openUnlocked(entry: FiledEntry, keys: UnlockedKeys): Promise<void> {
    const { openOptions } = this.#common;
    await this.put(entry, await this.#permits.run(() => openUnlocked(keys, openOptions)));
    this.#forgetLock(entry);
  }

  /** Opens a wallet that has no password, after the earlier tasks for it, until it is idle. Throws `WalletRefusal`. */
  async openOnDemand(entry: FiledEntry): Promise<void> {
    const { paths } = entry;
    if (entry.opened !== undefined) return;
    const keysImage = await readKeysImage(paths);
    if (keysImage === undefined) throw missingFile(paths);
    if (this.#locked.has(paths.keys)) throw locked();
    try {
      const keys = await unlockImage({ paths, keysImage, password: "" }, this.#common.openOptions);
      await this.makeRoom();
      await this.openUnlocked(entry, keys);
    } catch (error) {
      if (!(error instanceof WrongPassword)) throw error;
      if (this.#locked.size >= MAX_LOCKED) this.#locked.clear();
      this.#locked.add(paths.keys);
      throw locked();
    }
    entry.named = "demand";
  }

  #forgetLock({ paths }: WalletEntry): void {
    if (paths !== undefined) this.#locked.delete(paths.keys);
  }

  /** Replaces the open wallet by another, or by none, and closes the previous one; to be called within `inTurn`. */
  async put(entry: WalletEntry, opened: OpenWallet | undefined): Promise<void> {
    const old = entry.opened;
    if (this.#isOver && opened !== undefined) {
      await opened.close();
      throw notOpen();
    }
    entry.opened = opened;
    await old?.close();
    if (opened === undefined && old === undefined) return;
    this.#log.info(opened === undefined ? "closed a wallet" : "opened a wallet", {
      file: entry.paths?.base,
    });
  }

  /** Closes a wallet for the unnamed path, or for callers by its name; it stays open if the other still uses it. */
  async leave(entry: WalletEntry, whose: "unnamed" | "named"): Promise<void> {
    await this.inTurn(entry, async () => {
      if (whose === "unnamed") entry.isUnnamed = false;
      else entry.named = "none";
      if (!entry.isHeld) await this.put(entry, undefined);
    });
  }

  /** Closes the wallets that have been idle for long enough. */
  async closeIdle(): Promise<void> {
    const idleMs = 1000 * (this.#common.options.idleSeconds ?? IDLE_SECONDS);
    const before = this.#clock() - idleMs;
    const idle = [...this.#entries].filter(
      ({ isIdle, isRefreshing, lastUsed }) => isIdle && !isRefreshing && lastUsed <= before,
    );
    await Promise.all(idle.map((entry) => this.#closeIfIdle(entry)));
  }

  /** Closes up to `most` idle wallets, the least recently used first, and calls `closing` with each name before. */
  async closeUnused(most: number, closing: (name: string) => void): Promise<void> {
    const unused = [...this.#entries].filter(({ isIdle, isRefreshing }) => isIdle && !isRefreshing);
    const chosen = unused.sort((a, b) => a.lastUsed - b.lastUsed).slice(0, most);
    await Promise.all(
      chosen.map((entry) =>
        this.#closeIfIdle(entry, () => {
          if (entry.paths !== undefined) closing(basename(entry.paths.base));
        }),
      ),
    );
  }

  /** Closes all wallets with files, since another service may have them by now; callers have to open them again. */
  async closeLost(): Promise<void> {
    const lost = [...this.#entries].filter(({ paths }) => paths !== undefined);
    // What is under way for them neither waits for the node any more nor sends it anything.
    for (const { opened } of lost) {
      opened?.wallet.endScans();
      opened?.wallet.daemon.close();
    }
    await Promise.all(
      lost.map((entry) =>
        this.inTurn(entry, async () => {
          entry.isUnnamed = false;
          entry.named = "none";
          await this.put(entry, undefined);
        }).catch((error) => this.#log.warn("a lost wallet can't be closed", { error })),
      ),
    );
  }

  async #closeIfIdle(entry: WalletEntry, closing?: () => void): Promise<void> {
    await this.inTurn(entry, async () => {
      if (!entry.isIdle) return;
      closing?.();
      entry.named = "none";
      await this.put(entry, undefined);
    }).catch((error) => this.#log.error("an idle wallet can't be closed", { error }));
  }

  /** Closes the least recently used idle wallet if one more would be too many. Throws `WalletRefusal`. */
  async makeRoom(): Promise<void> {
    const { maxOpen = DEFAULT_MAX_OPEN } = this.#common.options;
    while (this.open.length >= maxOpen) {
      const [oldest] = this.open.filter(({ isIdle }) => isIdle).sort((a, b) => a.lastUsed - b.lastUsed);
      if (oldest === undefined) throw failedToOpen(`${maxOpen} wallets are open, which is the most`);
      await this.#closeIfIdle(oldest);
    }
  }

  /** Closes all wallets; one that is being opened is closed as soon as it is open. */
  async closeAll(): Promise<void> {
    this.#isOver = true;
    const all = [...this.#entries].map((entry) =>
      this.inTurn(entry, () =>
        this.#permits.run(async () => {
          entry.isUnnamed = false;
          await this.put(entry, undefined);
        }),
      ),
    );
    for (const { status, ...closed } of await Promise.allSettled(all))
      if (status === "rejected") this.#log.error("a wallet can't be closed", closed);
  }
}
