/**
 * The open wallets of a service; each file is open once, however many callers use it. A wallet that is open by the
 * unnamed path and by its name is closed once both have closed it.
 */

import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { wipe } from "@anulo/crypto";
import type { Logger } from "@anulo/rpc";
import { connectDaemon } from "../daemon.ts";
import { WrongPassword } from "../file/keys-file.ts";
import { KeysReplaced, openOnceMore, openUnlocked } from "../file/open-unlocked.ts";
import { createWallet, type OpenWallet } from "../file/open-wallet.ts";
import { type UnlockedKeys, unlockImage, unlockKeys } from "../file/unlock-keys.ts";
import { missingFile, readKeysImage, type WalletPaths } from "../file/wallet-files.ts";
import type { HeldLocks } from "../file/wallet-lock.ts";
import type { NewWallet } from "../keys/wallet-keys.ts";
import { wipeKeys } from "../multisig/account-keys.ts";
import { failedToOpen, UnreadStore, UnwrittenStore, WalletRefusal } from "../refusal.ts";
import { Permits } from "../turns.ts";
import { type Common, notOpen } from "./common.ts";
import { WalletEntry } from "./wallet-entry.ts";

/** Each takes some 400 KiB, and 2 ms of a processor for each refresh that finds nothing new. */
const DEFAULT_MAX_OPEN = 1000;
const IDLE_SECONDS = 600;
/** Maximum number of wallets that are opened or closed at once: each holds its files and up to 1,024 rows in memory. */
const AT_ONCE = 32;
/** Number of attempts to open a wallet whose keys file is replaced meanwhile. */
const ATTEMPTS = 3;
/** Milliseconds between attempts to open a wallet once more whose change could not be stored. */
const OPEN_AGAIN_MS = 5000;
/** Maximum number of wallets that are remembered to have a password: testing for one is costly. */
const MAX_LOCKED = 10_000;

const locked = () =>
  new WalletRefusal("NOT_OPEN", "The wallet has a password: open it with open_wallet first");

/** The error for a scan of a wallet that this process gives up, as it was lost to the others of its fleet. */
const givenUp = () => new WalletRefusal("UNOWNED", "This process has given up the wallet: ask again");

/** A wallet with files. */
export type FiledEntry = WalletEntry & { readonly paths: WalletPaths };

/** Whether a change of the wallet could not be applied or stored, and opening it once more may help. */
function isBroken(opened: OpenWallet | undefined): opened is OpenWallet {
  const error = opened?.wallet.unwritten?.error;
  return error instanceof UnwrittenStore || error instanceof UnreadStore;
}

const nameOf = ({ paths }: Pick<FiledEntry, "paths">): string => basename(paths.base);

const isUntold = ({ mayMove, opened }: WalletEntry): boolean => mayMove && opened?.isUntold() === true;

/** What all processes of a fleet know of wallets that callers have opened. */
export interface KeptOpen {
  /** Whether a caller, of whichever process, has opened the wallet of this name and not closed it. */
  isKeptOpen(name: string): boolean;
  /** Has the wallet stay open until a caller closes it, whichever process has it, or no longer. Never rejects. */
  setKeptOpen(name: string, isKeptOpen: boolean): Promise<void>;
}

export class OpenWallets {
  readonly #common: Common;
  readonly #fleet: KeptOpen | undefined;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #entries = new Set<WalletEntry>();
  readonly #byFile = new Map<string, FiledEntry>();
  readonly #permits = new Permits(AT_ONCE);
  /** Wallets with a password, each with a hash of the keys file that has it. */
  readonly #locked = new Map<string, string>();
  #isOver = false;

  /** Without a fleet, what callers have opened is known here alone. */
  constructor(common: Common, fleet?: KeptOpen) {
    this.#common = common;
    this.#fleet = fleet;
    this.#log = common.log.in("wallet.wallet2");
    this.#clock = common.options.clock ?? (() => performance.now());
  }

  /** Those that are open. */
  get open(): WalletEntry[] {
    return [...this.#entries].filter(({ opened }) => opened !== undefined);
  }

  /** Number of wallets that are open, or about to be. */
  get openCount(): number {
    return this.#entries.size;
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
        // After a wallet was lost and opened again, another entry has its files.
        if (entry.paths !== undefined && this.at(entry.paths) === entry)
          this.#byFile.delete(resolve(entry.paths.keys));
      }
    }
  }

  /** Records that a call by the wallet's name begins: until `end` the wallet is not closed as idle. */
  begin(entry: WalletEntry): void {
    entry.calls += 1;
  }

  end(entry: WalletEntry): void {
    entry.calls -= 1;
    entry.lastUsed = this.#clock();
  }

  /** Creates a wallet, after the earlier tasks for it. Throws `WalletRefusal`. */
  async create(entry: WalletEntry, newWallet: NewWallet): Promise<void> {
    const { openOptions } = this.#common;
    await this.put(entry, await this.#permits.run(() => createWallet(entry.paths, newWallet, openOptions)));
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
    wipe(keys.file.cacheKey);
    return undefined;
  }

  /** Opens a wallet whose keys were read, after the earlier tasks for it. Throws `WalletRefusal`. */
  async openUnlocked(
    entry: FiledEntry,
    keys: UnlockedKeys,
    { locks, isNeeded }: { readonly locks?: HeldLocks | undefined; readonly isNeeded?: () => boolean } = {},
  ): Promise<void> {
    const { openOptions } = this.#common;
    const how = locks === undefined ? {} : { held: locks };
    await this.put(entry, await this.#permits.run(() => openUnlocked(keys, openOptions, how), isNeeded));
    this.#forgetLock(entry);
  }

  /**
   * Opens a wallet that has no password, after the earlier tasks for it, until it is idle; one that no call needs waits
   * for those that calls need, until a call needs it, too. Throws `WalletRefusal`.
   */
  async openOnDemand(entry: FiledEntry, { isCalled }: { readonly isCalled: boolean }): Promise<void> {
    const isNeeded = () => isCalled || entry.isAwaited;
    for (let attempt = 1; entry.opened === undefined; attempt++) {
      try {
        await this.#openWithoutPassword(entry, isNeeded);
      } catch (error) {
        if (!(error instanceof KeysReplaced) || attempt === ATTEMPTS) throw error;
      }
    }
    entry.named = this.#fleet?.isKeptOpen(nameOf(entry)) === true ? "opened" : "demand";
  }

  /** Records that a caller has opened a wallet, which stays open until a caller closes it. Never rejects. */
  async keepOpen(entry: FiledEntry, { hasPassword }: { readonly hasPassword: boolean }): Promise<void> {
    if (hasPassword || entry.named === "pinned") entry.named = "pinned";
    else if (entry.named !== "opened") {
      entry.named = "opened";
      await this.#fleet?.setKeptOpen(nameOf(entry), true);
    }
  }

  async #openWithoutPassword(entry: FiledEntry, isNeeded: () => boolean): Promise<void> {
    const { paths } = entry;
    const keysImage = await readKeysImage(paths);
    if (keysImage === undefined) throw missingFile(paths);
    const hash = createHash("sha256").update(keysImage).digest("base64");
    if (this.#locked.get(paths.keys) === hash) throw locked();
    const keys = await unlockImage({ paths, keysImage, password: "" }, this.#common.openOptions).catch(
      (error: unknown) => {
        if (!(error instanceof WrongPassword)) throw error;
        if (this.#locked.size >= MAX_LOCKED) this.#locked.clear();
        this.#locked.set(paths.keys, hash);
        throw locked();
      },
    );
    await this.makeRoom();
    await this.openUnlocked(entry, keys, { isNeeded });
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

  /** Opens the wallets once more that could not store a change: they go on from what was stored. */
  async openBroken(): Promise<void> {
    const now = this.#clock();
    const broken = this.open.filter(({ opened, openAgainAt }) => isBroken(opened) && openAgainAt <= now);
    await Promise.all(
      broken.map(async (entry) => {
        entry.openAgainAt = Number.POSITIVE_INFINITY;
        await this.inTurn(entry, () => this.#permits.run(() => this.#openOnceMore(entry)));
        entry.openAgainAt = this.#clock() + OPEN_AGAIN_MS;
      }),
    );
  }

  /** Never rejects: a wallet that can't be opened stays as it is, and can be read. */
  async #openOnceMore(entry: WalletEntry): Promise<void> {
    const { opened, paths } = entry;
    if (!isBroken(opened)) return;
    const { address, isTrusted } = opened.wallet.daemon;
    const daemon = connectDaemon(address, { trusted: isTrusted });
    try {
      const fresh = await openOnceMore(opened, { ...this.#common.openOptions, daemon });
      this.#log.info("opened a wallet once more that could not be stored", { file: paths?.base });
      await this.put(entry, fresh);
    } catch (error) {
      daemon.close();
      this.#log.debug("a wallet that could not be stored can't be opened yet", { file: paths?.base, error });
    }
  }

  /** Closes a wallet for the unnamed path, or for callers by its name; it stays open if the other still uses it. */
  async leave(entry: WalletEntry, whose: "unnamed" | "named"): Promise<void> {
    await this.inTurn(entry, async () => {
      if (whose === "unnamed") entry.isUnnamed = false;
      else await this.#leaveNamed(entry);
      if (!entry.isHeld) await this.put(entry, undefined);
    });
  }

  async #leaveNamed(entry: WalletEntry): Promise<void> {
    entry.named = "none";
    const name = entry.paths && basename(entry.paths.base);
    if (name !== undefined && this.#fleet?.isKeptOpen(name) === true)
      await this.#fleet.setKeptOpen(name, false);
  }

  /** Closes the wallets that have been idle for long enough. */
  async closeIdle(): Promise<void> {
    const idleMs = 1000 * (this.#common.options.idleSeconds ?? IDLE_SECONDS);
    const before = this.#clock() - idleMs;
    const idle = [...this.#entries].filter(
      ({ isIdle, isRefreshing, lastUsed }) => isIdle && !isRefreshing && lastUsed <= before,
    );
    await Promise.all(idle.map((entry) => this.#closeIf((each) => each.isIdle, entry)));
  }

  /** Closes wallets that can move and whose events the log could not take, and calls `closing` with each name before. */
  async closeUntold(closing: (name: string) => void): Promise<void> {
    const untold = [...this.#entries].filter((entry) => isUntold(entry) && !entry.isRefreshing);
    await Promise.all(untold.map((entry) => this.#closeNamed(entry, closing)));
  }

  /** Closes up to `most` wallets that can move, the least recently used first, and calls `closing` with each name before. */
  async closeUnused(most: number, closing: (name: string) => void): Promise<void> {
    const unused = [...this.#entries].filter(({ mayMove, isRefreshing }) => mayMove && !isRefreshing);
    const oldest = unused.sort((a, b) => a.lastUsed - b.lastUsed).slice(0, most);
    await Promise.all(oldest.map((entry) => this.#closeNamed(entry, closing)));
  }

  #closeNamed(entry: WalletEntry, closing: (name: string) => void): Promise<void> {
    const { paths } = entry;
    return this.#closeIf(
      (each) => each.mayMove,
      entry,
      () => paths && closing(nameOf({ paths })),
    );
  }

  /** Runs a task while no open wallet scans or spends, with everything they know in their files. */
  async whileUnchanged<T>(task: () => Promise<T>): Promise<T> {
    const inside = this.open
      .flatMap(({ opened }) => opened ?? [])
      .reduceRight(
        (then, { wallet }) =>
          () =>
            wallet.whileUnchanged(async () => {
              await wallet.flush();
              return await then();
            }),
        task,
      );
    return await inside();
  }

  /** Closes all wallets with files, since another service may have them by now; callers have to open them again. */
  async closeLost(): Promise<void> {
    const lost = [...this.#entries].filter(({ paths }) => paths !== undefined);
    // What is under way for them neither waits for the node any more nor sends it anything.
    for (const { opened } of lost) {
      opened?.wallet.endScans(givenUp());
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

  async #closeIf(
    condition: (entry: WalletEntry) => boolean,
    entry: WalletEntry,
    closing?: () => void,
  ): Promise<void> {
    await this.inTurn(entry, async () => {
      if (!condition(entry)) return;
      closing?.();
      entry.named = "none";
      await this.put(entry, undefined);
    }).catch((error) => this.#log.error("a wallet that nobody uses can't be closed", { error }));
  }

  /** Closes the least recently used idle wallet if one more would be too many. Throws `WalletRefusal`. */
  async makeRoom(): Promise<void> {
    const { maxOpen = DEFAULT_MAX_OPEN } = this.#common.options;
    while (this.open.length >= maxOpen) {
      const [oldest] = this.open.filter(({ isIdle }) => isIdle).sort((a, b) => a.lastUsed - b.lastUsed);
      if (oldest === undefined) throw failedToOpen(`${maxOpen} wallets are open, which is the most`);
      await this.#closeIf((each) => each.isIdle, oldest);
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
