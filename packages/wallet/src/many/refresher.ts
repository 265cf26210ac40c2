/** Has every open wallet scan what is new, each when it is due. */
import { setImmediate as nextTurn } from "node:timers/promises";
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

/**
 * Wallets of one node and of about one height scan the same blocks together: they begin at once. So many such groups of
 * a node do: the next begins when one is done, or has taken its time.
 */
const AT_ONCE = 4;
/** Heights of one group. */
const GROUP_BLOCKS = 100;
/** A scan that takes longer, because it is long or its node silent, keeps no other from beginning. */
const SHORT_MS = 3000;
/** Groups under way in all. */
const MOST = 100;
/** Wallets that begin in one turn: some milliseconds. */
const PER_TURN = 32;

type UnderWay = { readonly node: string; readonly group: string; readonly since: number };

export class Refresher {
  readonly #wallets: OpenWallets;
  readonly #log: Logger;
  readonly #progressLog: Logger;
  readonly #underWay = new Map<WalletEntry, UnderWay>();
  #nextProgressLog = 0;
  #isBeginning = false;

  constructor({ log }: Common, wallets: OpenWallets) {
    this.#wallets = wallets;
    this.#log = log.in("wallet.wallet2");
    this.#progressLog = log.in("global");
  }

  /** To be called every second. */
  tick(): void {
    this.#logProgress();
    this.#beginSoon();
  }

  /** The wallet was opened just now, or is to be refreshed every so many seconds from now on. */
  plan(entry: WalletEntry, period: number, isNew: boolean): void {
    entry.refreshPeriod = period;
    const wait = isNew ? Math.min(FIRST_REFRESH_SECONDS, period) : period;
    entry.nextRefresh = Date.now() + 1000 * wait;
  }

  /** Has those begin that are due, in a turn to come: when many end at once it looks once. */
  #beginSoon(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    setImmediate(async () => {
      await this.#beginDue();
      this.#isBeginning = false;
    });
  }

  /** Those that wait longest come first, and have the others of their group begin with them. */
  async #beginDue(): Promise<void> {
    const now = Date.now();
    const resting = this.#wallets.open.filter((entry) => entry.refreshPeriod > 0 && !entry.isRefreshing);
    const due = resting.filter((entry) => entry.nextRefresh <= now);
    if (due.length === 0) return;
    const room = new Map<string, boolean>();
    for (const entry of due.sort((a, b) => a.nextRefresh - b.nextRefresh)) {
      const group = groupOf(entry);
      if (!room.has(group)) room.set(group, this.#hasRoom(entry, room, now));
    }
    const begun = resting.filter((entry) => room.get(groupOf(entry)) === true && isNearlyDue(entry, now));
    for (const [i, entry] of begun.entries()) {
      if (i % PER_TURN === PER_TURN - 1) await nextTurn();
      if (!entry.isRefreshing) void this.refresh(entry);
    }
  }

  /** Whether one more group may begin, beside those that are about to. */
  #hasRoom(entry: WalletEntry, room: ReadonlyMap<string, boolean>, now: number): boolean {
    const [node, group] = [nodeOf(entry), groupOf(entry)];
    const all = new Set<string>();
    const short = new Set<string>();
    for (const scan of this.#underWay.values()) {
      all.add(scan.group);
      if (scan.node === node && now - scan.since < SHORT_MS) short.add(scan.group);
    }
    if (short.has(group)) return true;
    const begun = [...room].flatMap(([name, begins]) => (begins && !all.has(name) ? name : []));
    const here = begun.filter((name) => name.startsWith(`${node} `));
    return all.size + begun.length < MOST && short.size + here.length < AT_ONCE;
  }

  async refresh(entry: WalletEntry): Promise<void> {
    if (entry.opened === undefined) return;
    entry.isRefreshing = true;
    this.#underWay.set(entry, { node: nodeOf(entry), group: groupOf(entry), since: Date.now() });
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
    this.#beginSoon();
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

function groupOf(entry: WalletEntry): string {
  const height = entry.opened?.wallet.height ?? 0;
  return `${nodeOf(entry)} ${Math.floor(height / GROUP_BLOCKS)}`;
}

/** Due, or soon: those who come to wait for each other take turns together from then on. */
function isNearlyDue({ nextRefresh, refreshPeriod }: WalletEntry, now: number): boolean {
  return nextRefresh - now <= 500 * refreshPeriod;
}
