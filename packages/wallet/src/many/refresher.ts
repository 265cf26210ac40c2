/** Has every open wallet scan what is new, each when it is due. */
import type { Logger } from "@anulo/rpc";
import { WalletRefusal } from "../refusal.ts";
import type { Common } from "./common.ts";
import type { OpenWallets } from "./open-wallets.ts";
import type { WalletEntry } from "./wallet-entry.ts";

/** Source: wallet_rpc_server.cpp DEFAULT_AUTO_REFRESH_PERIOD. */
export const REFRESH_PERIOD_SECONDS = 20;
/** How long after opening a wallet is not refreshed automatically, so that a caller can do it first. */
const FIRST_REFRESH_SECONDS = 2;
/** Between two lines of the log about the progress of a scan. */
const PROGRESS_LOG_SECONDS = 10;

/** Wallets of one node that begin to scan at once: the next begins when one is done, or has taken its time. */
const AT_ONCE = 4;
/** A scan that takes longer, because it is long or its node silent, keeps no other from beginning. */
const SHORT_MS = 3000;
/** Scans under way in all. */
const MOST = 100;

type UnderWay = { readonly node: string; readonly since: number };

export class Refresher {
  readonly #wallets: OpenWallets;
  readonly #log: Logger;
  readonly #progressLog: Logger;
  readonly #underWay = new Map<WalletEntry, UnderWay>();
  #nextProgressLog = 0;

  constructor({ log }: Common, wallets: OpenWallets) {
    this.#wallets = wallets;
    this.#log = log.in("wallet.wallet2");
    this.#progressLog = log.in("global");
  }

  /** To be called every second. */
  tick(): void {
    this.#logProgress();
    this.#beginDue();
  }

  /** The wallet was opened just now, or is to be refreshed every so many seconds from now on. */
  plan(entry: WalletEntry, period: number, isNew: boolean): void {
    entry.refreshPeriod = period;
    const wait = isNew ? Math.min(FIRST_REFRESH_SECONDS, period) : period;
    entry.nextRefresh = Date.now() + 1000 * wait;
  }

  /** Those that wait longest come first. */
  #beginDue(): void {
    const now = Date.now();
    const due = this.#wallets.open
      .filter((entry) => entry.refreshPeriod > 0 && !entry.isRefreshing && entry.nextRefresh <= now)
      .sort((a, b) => a.nextRefresh - b.nextRefresh);
    for (const entry of due) {
      if (this.#underWay.size >= MOST) return;
      if (this.#shortAt(nodeOf(entry), now) < AT_ONCE) void this.refresh(entry);
    }
  }

  #shortAt(node: string, now: number): number {
    let count = 0;
    for (const scan of this.#underWay.values())
      if (scan.node === node && now - scan.since < SHORT_MS) count += 1;
    return count;
  }

  async refresh(entry: WalletEntry): Promise<void> {
    if (entry.opened === undefined) return;
    entry.isRefreshing = true;
    this.#underWay.set(entry, { node: nodeOf(entry), since: Date.now() });
    try {
      await entry.opened.wallet.refresh();
    } catch (error) {
      if (!(error instanceof WalletRefusal)) this.#log.error("refresh failed", { error });
      // An unreachable node is no news; a full disk or a reorganisation that is too deep is.
      else if (error.kind === "UNKNOWN_ERROR") this.#log.warn("refresh refused", { reason: error.message });
      else this.#log.debug("refresh refused", { code: error.code });
    } finally {
      this.#underWay.delete(entry);
      entry.isRefreshing = false;
      entry.nextRefresh = Date.now() + 1000 * entry.refreshPeriod;
    }
    this.#beginDue();
  }

  /** Logs the progress of long scans now and then. */
  #logProgress(): void {
    if (Date.now() < this.#nextProgressLog) return;
    for (const { opened, paths } of this.#wallets.open) {
      const progress = opened?.wallet.progress;
      if (progress === undefined) continue;
      this.#nextProgressLog = Date.now() + 1000 * PROGRESS_LOG_SECONDS;
      this.#progressLog.info("scanning", { ...progress, file: paths?.base });
    }
  }
}

function nodeOf({ opened }: WalletEntry): string {
  return opened?.wallet.daemon.address.url ?? "";
}
