/** One wallet of a service: what is open of it, for whom, and the order in which that changes. */
import type { OpenWallet } from "../file/open-wallet.ts";
import type { WalletPaths } from "../file/wallet-files.ts";
import { TaskQueue } from "../turns.ts";

/**
 * For whom a wallet is open by its name: for nobody; because a call needed it, until none has come for a while; or
 * because a caller opened it, or set what closing would lose, until a caller closes it.
 */
export type NamedHold = "none" | "demand" | "asked";

export class WalletEntry {
  /** Undefined for a wallet that lives in memory only. */
  readonly paths: WalletPaths | undefined;
  /** Another object takes its place where the keys change. */
  opened: OpenWallet | undefined;
  /** Whether it is the open wallet of the unnamed path. */
  isUnnamed = false;
  named: NamedHold = "none";
  /** Calls by its name that are under way. */
  calls = 0;
  /** Milliseconds; when the last of them began or ended. */
  lastUsed = 0;
  /** Seconds between two refreshes; 0 for none. */
  refreshPeriod = 0;
  /** Milliseconds; when the next is due. */
  nextRefresh = 0;
  isRefreshing = false;
  readonly #turns = new TaskQueue();
  #waiting = 0;

  constructor(paths?: WalletPaths) {
    this.paths = paths;
  }

  /** Whether it is open for anybody. */
  get isHeld(): boolean {
    return this.isUnnamed || this.named !== "none";
  }

  /** Whether nothing of it is open, nor about to be. */
  get isOver(): boolean {
    return this.opened === undefined && this.#waiting === 0 && !this.isUnnamed;
  }

  /** Whether it is open only because a call needed it, and nobody does now. */
  get isIdle(): boolean {
    return this.opened !== undefined && this.named === "demand" && !this.isUnnamed && this.calls === 0;
  }

  /** Whatever opens it, closes it, or changes its files takes turns. */
  async inTurn<T>(task: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await this.#turns.run(task);
    } finally {
      this.#waiting -= 1;
    }
  }
}
