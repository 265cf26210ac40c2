/** One wallet of a service: its open object, its users, and the order in which these change. */
import type { OpenWallet } from "../file/open-wallet.ts";
import type { WalletPaths } from "../file/wallet-files.ts";
import { TaskQueue } from "../turns.ts";

/**
 * Why a wallet is open by its name: it is not; because a call needed it, until it is idle for a while (`demand`); because
 * a caller opened it, until a caller closes it (`opened`); the same, but only here, since it has a password or something
 * was set that closing would lose (`pinned`).
 */
export type NamedHold = "none" | "demand" | "opened" | "pinned";

export class WalletEntry {
  /** Undefined for a wallet that lives in memory only. */
  readonly paths: WalletPaths | undefined;
  /** The open wallet; another object replaces it when the keys change. */
  opened: OpenWallet | undefined;
  /** Whether it is the open wallet of the unnamed path. */
  isUnnamed = false;
  named: NamedHold = "none";
  /** Number of calls by its name that are under way. */
  calls = 0;
  /** When the last of these calls ended, in milliseconds of a monotonic clock, as the times below. */
  lastUsed = 0;
  /** Seconds between two refreshes; 0 for none. */
  refreshPeriod = 0;
  /** When the next refresh is due, in milliseconds. */
  nextRefresh = 0;
  isRefreshing = false;
  /** When to open it once more if a change could not be stored, in milliseconds. */
  openAgainAt = 0;
  /** Whether the node has reported a new block during the refresh under way. */
  hasNews = false;
  readonly #turns = new TaskQueue();
  #waiting = 0;

  constructor(paths?: WalletPaths) {
    this.paths = paths;
  }

  /** Whether any path has it open. */
  get isHeld(): boolean {
    return this.isUnnamed || this.named !== "none";
  }

  /** Whether it is neither open nor about to be. */
  get isOver(): boolean {
    return this.opened === undefined && this.#waiting === 0 && !this.isUnnamed;
  }

  /** Whether a task waits for the one that runs. */
  get isAwaited(): boolean {
    return this.#waiting > 1;
  }

  /** Whether it is open only because a call needed it, and no call uses it now. */
  get isIdle(): boolean {
    return this.opened !== undefined && this.named === "demand" && !this.isUnnamed && this.calls === 0;
  }

  /** Whether no call uses it now, and another process of a fleet can open it as it is here. */
  get mayMove(): boolean {
    const isOpened = this.opened !== undefined && this.named === "opened";
    return this.isIdle || (isOpened && !this.isUnnamed && this.calls === 0);
  }

  /** Runs a task that opens it, closes it, or changes its files; such tasks run one after the other. */
  async inTurn<T>(task: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await this.#turns.run(task);
    } finally {
      this.#waiting -= 1;
    }
  }
}
