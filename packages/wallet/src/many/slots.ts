/** The wallet that a call is about: the one that is open on the unnamed path, or the one that a path names. */
import { basename } from "node:path";
import { holdsFiles, type OpenWallet } from "../file/open-wallet.ts";
import { type WalletPaths, walletPaths } from "../file/wallet-files.ts";
import type { NewWallet } from "../keys/wallet-keys.ts";
import { WalletRefusal } from "../refusal.ts";
import { TaskQueue } from "../turns.ts";
import { type Common, directoryOf, notOpen } from "./common.ts";
import type { FiledEntry, OpenWallets } from "./open-wallets.ts";
import { REFRESH_PERIOD_SECONDS, type Refresher } from "./refresher.ts";
import { WalletEntry } from "./wallet-entry.ts";

export interface WalletSlot extends Common {
  /** Undefined on the unnamed path. */
  readonly name: string | undefined;
  readonly wallets: OpenWallets;
  readonly opened: OpenWallet | undefined;
  /** Name of the open wallet, "" for one in memory only; undefined if none is open. */
  readonly openName: string | undefined;
  /** Opens the wallet if it needs no password; false if no wallet is open. Throws `WalletRefusal`. */
  whenOpen(): boolean | Promise<boolean>;
  /** To be called when the call that received this slot has ended. */
  release(): void;
  /** The files of a wallet to be created; undefined for one in memory only. Throws `WalletRefusal`. */
  pathsOf(filename: string): WalletPaths | undefined;
  /** Runs tasks that create wallets one after the other; `check`, within its turn, may refuse to replace the open wallet. */
  makingInTurn<T>(task: () => Promise<T>, check?: CheckOpen): Promise<T>;
  /** Creates a wallet, within `makingInTurn`, and opens it here. Throws `WalletRefusal`. */
  create(paths: WalletPaths | undefined, newWallet: NewWallet): Promise<OpenWallet>;
  /** Opens a wallet here; `check` as for `makingInTurn`. Throws `WalletRefusal`. */
  open(filename: string, password: string, check?: CheckOpen): Promise<void>;
  /** Closes the wallet here; it stays open for other users of it. `check` as above. Throws `WalletRefusal`. */
  close(check?: CheckOpen): Promise<void>;
  /**
   * Runs a task that changes the files of a wallet, one after the other with those that open and close it. Throws
   * `WalletRefusal` if that wallet is not the open one any more when its turn has come.
   */
  inTurn<T>(opened: OpenWallet, task: () => Promise<T>): Promise<T>;
  /** Within `inTurn`: closes the open wallet and replaces it by another object, for all its users. */
  replace(opened: OpenWallet | undefined): Promise<void>;
  /** Sets the seconds between two refreshes; 0 turns them off, `undefined` restores the default. */
  setRefreshPeriod(seconds: number | undefined): void;
  /** Prevents that the wallet is closed as idle: closing would lose a caller's settings. */
  keepOpen(): void;
}

/** Throws if the wallet that is open now, by its name, must not be closed or replaced by the caller. */
export type CheckOpen = (openName: string) => void;

export type SlotParts = {
  readonly common: Common;
  readonly wallets: OpenWallets;
  readonly refresher: Refresher;
};

/**
 * In a restricted service callers cannot request a refresh, so opening a wallet waits up to this time (milliseconds)
 * for the first scan.
 */
const RESTRICTED_WAIT_MS = 3000;

abstract class Slot {
  readonly #parts: SlotParts;

  constructor(parts: SlotParts) {
    this.#parts = parts;
  }

  get wallets(): OpenWallets {
    return this.#parts.wallets;
  }
  get options(): Common["options"] {
    return this.#parts.common.options;
  }
  get openOptions(): Common["openOptions"] {
    return this.#parts.common.openOptions;
  }
  get log(): Common["log"] {
    return this.#parts.common.log;
  }
  get runtime(): Common["runtime"] {
    return this.#parts.common.runtime;
  }
  get serviceEvents(): Common["serviceEvents"] {
    return this.#parts.common.serviceEvents;
  }
  get access(): Common["access"] {
    return this.#parts.common.access;
  }
  confirmHere(name: string): void {
    this.#parts.common.confirmHere(name);
  }
  connect(): ReturnType<Common["connect"]> {
    return this.#parts.common.connect();
  }
  stop(): Promise<void> {
    return this.#parts.common.stop();
  }

  protected get usualPeriod(): number {
    return this.options.refreshPeriod ?? REFRESH_PERIOD_SECONDS;
  }

  protected plan(entry: WalletEntry, period: number): void {
    this.#parts.refresher.plan(entry, period, false);
  }

  /** Schedules automatic refreshes for a wallet that was just opened. */
  protected async begin(entry: WalletEntry, period: number): Promise<void> {
    const { refresher } = this.#parts;
    refresher.plan(entry, period, true);
    if (this.options.restricted !== true || period === 0) return;
    await Promise.race([refresher.refresh(entry), pause(RESTRICTED_WAIT_MS)]);
  }
}

/** The slot of the path without name, where one wallet is open at a time, as in the original. */
export class UnnamedSlot extends Slot implements WalletSlot {
  readonly name = undefined;
  readonly #turns = new TaskQueue();
  #entry: WalletEntry | undefined;
  #period = this.usualPeriod;

  /** Throws `WalletRefusal` if another process may have it by now. */
  get opened(): OpenWallet | undefined {
    const { opened, paths } = this.#entry ?? {};
    if (opened !== undefined && paths !== undefined) this.confirmHere(basename(paths.base));
    return opened;
  }

  get openName(): string | undefined {
    const { opened, paths } = this.#entry ?? {};
    if (opened === undefined) return undefined;
    return paths === undefined ? "" : basename(paths.base);
  }

  whenOpen(): boolean {
    return this.opened !== undefined;
  }

  release(): void {}

  /** A wallet without a name is kept in memory only. */
  pathsOf(filename: string): WalletPaths | undefined {
    const paths = walletPaths(directoryOf(this), filename);
    return filename === "" ? undefined : paths;
  }

  makingInTurn<T>(task: () => Promise<T>, check?: CheckOpen): Promise<T> {
    return this.#turns.run(async () => {
      this.#check(check);
      return await task();
    });
  }

  /** The open wallet may be another than when the call arrived. */
  #check(check: CheckOpen | undefined): void {
    if (this.openName !== undefined) check?.(this.openName);
  }

  async create(paths: WalletPaths | undefined, newWallet: NewWallet): Promise<OpenWallet> {
    return await this.#enter(paths, (entry) => this.wallets.create(entry, newWallet));
  }

  /** Opens the first wallet of the service. */
  async openFirst(open: () => Promise<OpenWallet>): Promise<void> {
    await this.#turns.run(async () => {
      const opened = await open();
      await this.#enter(opened.paths, (entry) => this.wallets.put(entry, opened));
    });
  }

  open(filename: string, password: string, check?: CheckOpen): Promise<void> {
    return this.#turns.run(async () => {
      this.#check(check);
      const paths = walletPaths(directoryOf(this), filename);
      await this.#enter(paths, (entry) => this.#openWith(entry as FiledEntry, password));
    });
  }

  async #openWith(entry: FiledEntry, password: string): Promise<void> {
    const { wallets } = this;
    const isOpen = entry.opened !== undefined && entry.named !== "none";
    const keys = await wallets.unlock(entry, { password, isOpen });
    if (keys === undefined) return;
    // Its files can be open only once.
    const locks = entry.opened?.locks.handOn();
    try {
      if (entry.opened !== undefined) await wallets.put(entry, undefined);
      else if (this.#entry?.opened !== undefined && holdsFiles(this.#entry.opened, entry.paths))
        await this.#leave();
      await wallets.openUnlocked(entry, keys, { locks });
    } catch (error) {
      await locks?.release();
      throw error;
    }
  }

  /** Opens a wallet and replaces the one that was open here. */
  async #enter(
    paths: WalletPaths | undefined,
    open: (entry: WalletEntry) => Promise<void>,
  ): Promise<OpenWallet> {
    const { wallets } = this;
    const old = this.#entry;
    const enter = async (entry: WalletEntry) => {
      const before = entry.opened;
      await open(entry);
      entry.isUnnamed = true;
      this.#entry = entry;
      if (entry.opened !== before) await this.begin(entry, this.#period);
    };
    if (paths === undefined) {
      const entry = new WalletEntry();
      await wallets.inTurn(entry, () => enter(entry));
    } else await wallets.within(paths, enter);
    if (old !== undefined && old !== this.#entry) await wallets.leave(old, "unnamed");
    return this.#entry!.opened!;
  }

  async #leave(): Promise<void> {
    const entry = this.#entry;
    this.#entry = undefined;
    if (entry !== undefined) await this.wallets.leave(entry, "unnamed");
  }

  close(check?: CheckOpen): Promise<void> {
    return this.#turns.run(async () => {
      if (this.opened === undefined) throw notOpen();
      this.#check(check);
      await this.#leave();
    });
  }

  inTurn<T>(opened: OpenWallet, task: () => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      const entry = this.#entry;
      if (entry === undefined) throw notOpen();
      return await this.wallets.inTurn(entry, async () => await ifOpen(entry, opened, task));
    });
  }

  async replace(opened: OpenWallet | undefined): Promise<void> {
    if (this.#entry === undefined) throw notOpen();
    await this.wallets.put(this.#entry, opened);
    if (opened !== undefined) await this.begin(this.#entry, this.#entry.refreshPeriod);
  }

  setRefreshPeriod(seconds = this.usualPeriod): void {
    this.#period = seconds;
    if (this.#entry !== undefined) this.plan(this.#entry, seconds);
  }

  keepOpen(): void {}
}

/** The slot of a wallet in the folder, by its name, for one call. */
export class NamedSlot extends Slot implements WalletSlot {
  readonly name: string;
  readonly #paths: WalletPaths;
  /** The wallet that is not closed as idle during this call. */
  #used: WalletEntry | undefined;

  /** Throws `WalletRefusal` if the service has no folder, or for a name that no file in it can have. */
  constructor(parts: SlotParts, name: string) {
    super(parts);
    this.name = name;
    this.#paths = walletPaths(directoryOf(this), name);
  }

  get #entry(): FiledEntry | undefined {
    return this.wallets.at(this.#paths);
  }

  get opened(): OpenWallet | undefined {
    return this.#entry?.opened;
  }

  get openName(): string | undefined {
    return this.opened === undefined ? undefined : basename(this.#paths.base);
  }

  whenOpen(): boolean | Promise<boolean> {
    const entry = this.#entry;
    if (entry?.opened === undefined) return this.#openOnDemand({ isCalled: true });
    this.#use(entry);
    return true;
  }

  /** The same for a wallet that no call needs yet. Throws `WalletRefusal`. */
  async openAhead(): Promise<void> {
    if (this.opened === undefined) await this.#openOnDemand({ isCalled: false });
  }

  async #openOnDemand(why: { readonly isCalled: boolean }): Promise<boolean> {
    const { wallets } = this;
    await wallets.within(this.#paths, async (entry) => {
      this.#use(entry);
      if (entry.opened !== undefined) return;
      await wallets.openOnDemand(entry, why);
      await this.begin(entry, this.usualPeriod);
    });
    return true;
  }

  #use(entry: WalletEntry): void {
    if (this.#used === entry) return;
    this.release();
    this.#used = entry;
    this.wallets.begin(entry);
  }

  release(): void {
    if (this.#used !== undefined) this.wallets.end(this.#used);
    this.#used = undefined;
  }

  pathsOf(filename: string): WalletPaths {
    if (filename === "" || filename === this.name) return this.#paths;
    throw new WalletRefusal("UNKNOWN_ERROR", "Invalid filename: this path is for the wallet it names");
  }

  makingInTurn<T>(task: () => Promise<T>): Promise<T> {
    return task();
  }

  async create(_: WalletPaths | undefined, newWallet: NewWallet): Promise<OpenWallet> {
    const hasPassword = newWallet.password !== "";
    return await this.#enter({ hasPassword }, (entry) => this.wallets.create(entry, newWallet));
  }

  async open(filename: string, password: string): Promise<void> {
    this.pathsOf(filename);
    await this.#enter({ hasPassword: password !== "" }, async (entry) => {
      const isOpen = entry.opened !== undefined;
      const keys = await this.wallets.unlock(entry, { password, isOpen });
      if (keys !== undefined) await this.wallets.openUnlocked(entry, keys);
    });
  }

  async #enter(
    how: { readonly hasPassword: boolean },
    open: (entry: FiledEntry) => Promise<void>,
  ): Promise<OpenWallet> {
    const { wallets } = this;
    return await wallets.within(this.#paths, async (entry) => {
      this.#use(entry);
      const before = entry.opened;
      if (before === undefined) await wallets.makeRoom();
      await open(entry);
      await wallets.keepOpen(entry, how);
      if (entry.opened !== before) await this.begin(entry, this.usualPeriod);
      if (entry.opened === undefined) throw notOpen();
      return entry.opened;
    });
  }

  async close(): Promise<void> {
    const entry = this.#entry;
    if (entry?.opened === undefined) throw notOpen();
    await this.wallets.leave(entry, "named");
  }

  inTurn<T>(opened: OpenWallet, task: () => Promise<T>): Promise<T> {
    return this.wallets.within(this.#paths, (entry) => ifOpen(entry, opened, task));
  }

  async replace(opened: OpenWallet | undefined): Promise<void> {
    const entry = this.#entry;
    if (entry === undefined) throw notOpen();
    await this.wallets.put(entry, opened);
    if (opened === undefined) return;
    this.keepOpen();
    await this.begin(entry, entry.refreshPeriod);
  }

  setRefreshPeriod(seconds = this.usualPeriod): void {
    if (this.#entry !== undefined) this.plan(this.#entry, seconds);
    this.keepOpen();
  }

  keepOpen(): void {
    const entry = this.#entry;
    if (entry?.named === "demand" || entry?.named === "opened") entry.named = "pinned";
  }
}

/**
 * Runs a task if the wallet it was meant for is still open. Another may have taken its place meanwhile, and the keys of
 * one that was closed are wiped: a task that went on would write zeros as keys, or one wallet's keys as another's.
 */
function ifOpen<T>(entry: WalletEntry, opened: OpenWallet, task: () => Promise<T>): Promise<T> {
  return entry.opened === opened ? task() : Promise.reject(notOpen());
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
