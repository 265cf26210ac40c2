/** Makes every open wallet scan new blocks when its refresh is due. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "@anulo/rpc";
import type { Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Common } from "./common.ts";
import type { OpenWallets } from "./open-wallets.ts";
import type { WalletEntry } from "./wallet-entry.ts";

/** Source: wallet_rpc_server.cpp DEFAULT_AUTO_REFRESH_PERIOD. */
export const REFRESH_PERIOD_SECONDS = 20;
/** Seconds after opening during which a wallet is not refreshed automatically, so that a caller can do it first. */
const FIRST_REFRESH_SECONDS = 2;
/** Seconds between two log lines about the progress of a scan. */
const PROGRESS_LOG_SECONDS = 10;

/**
 * Wallets of one node at about the same height scan the same blocks together, so they begin at once, as a group. This
 * many groups per node run at once: the next begins when one has ended or has run for `SHORT_MS`.
 */
const AT_ONCE = 4;
/** Number of heights that make one group. */
const GROUP_BLOCKS = 100;
/**
 * A scan that takes longer (milliseconds), because it is long or its node does not respond, does not delay other
 * groups.
 */
const SHORT_MS = 3000;
/** Maximum number of groups under way in all. */
const MOST = 100;
/** Number of wallets that begin in one turn of the event loop: this takes some milliseconds. */
const PER_TURN = 256;
/**
 * From this many wallets on the service asks its node for its newest block all the time, so that all wallets have a new
 * one soon; fewer wait until their own refresh is due, as in the original.
 */
const MANY = 8;

type UnderWay = { readonly node: string; readonly group: string; readonly since: number };

export class Refresher {
  readonly #wallets: OpenWallets;
  readonly #log: Logger;
  readonly #progressLog: Logger;
  readonly #connect: () => Daemon;
  /** The connection by which the node's newest block is requested. */
  #watching: Daemon | undefined;
  #isAsking = false;
  /** Id (hex) of the node's newest block. */
  #newest = "";
  readonly #underWay = new Map<WalletEntry, UnderWay>();
  #nextProgressLog = 0;
  #isBeginning = false;
  /** Whether a group that is due waits until another has ended. */
  #hasWaiting = false;

  constructor(common: Common, wallets: OpenWallets) {
    const { log } = common;
    this.#connect = () => common.connect();
    this.#wallets = wallets;
    this.#log = log.in("wallet.wallet2");
    this.#progressLog = log.in("global");
  }

  /** Must be called every second. */
  tick(): void {
    this.#logProgress();
    this.#beginSoon();
  }

  /** Stops asking the node. */
  close(): void {
    this.#watching?.close();
  }

  /** Makes wallets refresh at once if the node has a new block; to be called every now and then. Never rejects. */
  async askForNews(): Promise<void> {
    if (this.#isAsking || this.#wallets.openCount < MANY) return;
    this.#isAsking = true;
    try {
      this.#watching ??= this.#connect();
      const { hash } = await this.#watching.getHeight();
      if (hash !== this.#newest) this.#refreshSoon(this.#watching);
      this.#newest = hash;
    } catch (error) {
      // An unreachable node is normal: the wallets' own refreshes report it.
      if (!(error instanceof WalletRefusal)) this.#log.error("the node can't be asked", { error });
    } finally {
      this.#isAsking = false;
    }
  }

  /** Makes the refreshes due of wallets at this node, except those that are to be refreshed less often than usual. */
  #refreshSoon({ address }: Daemon): void {
    const now = performance.now();
    for (const entry of this.#wallets.open) {
      // One without a period is never due.
      const isUsual = entry.refreshPeriod <= REFRESH_PERIOD_SECONDS;
      if (!isUsual || nodeOf(entry) !== address.url) continue;
      if (entry.isRefreshing) entry.hasNews = true;
      else entry.nextRefresh = Math.min(entry.nextRefresh, now);
    }
    this.#beginSoon();
  }

  /** Schedules the next refresh of a wallet that was just opened, or whose period (seconds) was set. */
  plan(entry: WalletEntry, period: number, isNew: boolean): void {
    entry.refreshPeriod = period;
    const wait = isNew ? Math.min(FIRST_REFRESH_SECONDS, period) : period;
    entry.nextRefresh = performance.now() + 1000 * wait;
  }

  /**
   * Begins the scans that are due in a later turn of the event loop: when many end at once, the list is examined once.
   */
  #beginSoon(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    setImmediate(async () => {
      await this.#beginDue();
      this.#isBeginning = false;
    });
  }

  /** Begins with the wallets that have waited longest; the others of their group begin with them. */
  async #beginDue(): Promise<void> {
    const now = performance.now();
    const resting = this.#wallets.open.filter((entry) => entry.refreshPeriod > 0 && !entry.isRefreshing);
    const due = resting.filter((entry) => entry.nextRefresh <= now);
    if (due.length === 0) return;
    const room = new Map<string, boolean>();
    for (const entry of due.sort((a, b) => a.nextRefresh - b.nextRefresh)) {
      const group = groupOf(entry);
      if (!room.has(group)) room.set(group, this.#hasRoom(entry, room, now));
    }
    this.#hasWaiting = [...room.values()].includes(false);
    const dueEntries = resting.filter(
      (entry) => room.get(groupOf(entry)) === true && isNearlyDue(entry, now),
    );
    for (const [i, entry] of dueEntries.entries()) {
      if (i % PER_TURN === PER_TURN - 1) await nextTurn();
      if (!entry.isRefreshing) void this.refresh(entry);
    }
  }

  /** Whether one more group may begin, beside the running groups and those about to begin. */
  #hasRoom(entry: WalletEntry, room: ReadonlyMap<string, boolean>, now: number): boolean {
    const [node, group] = [nodeOf(entry), groupOf(entry)];
    const all = new Set<string>();
    const short = new Set<string>();
    for (const scan of this.#underWay.values()) {
      all.add(scan.group);
      if (scan.node === node && now - scan.since < SHORT_MS) short.add(scan.group);
    }
    if (short.has(group)) return true;
    const groups = [...room].flatMap(([name, begins]) => (begins && !all.has(name) ? name : []));
    const here = groups.filter((name) => name.startsWith(`${node} `));
    return all.size + groups.length < MOST && short.size + here.length < AT_ONCE;
  }

  async refresh(entry: WalletEntry): Promise<void> {
    if (entry.opened === undefined) return;
    entry.isRefreshing = true;
    this.#underWay.set(entry, { node: nodeOf(entry), group: groupOf(entry), since: performance.now() });
    try {
      await entry.opened.wallet.refresh();
    } catch (error) {
      if (!(error instanceof WalletRefusal)) this.#log.error("refresh failed", { error });
      // An unreachable node is normal; a full disk or a reorganisation that is too deep is worth a warning.
      else if (error.kind === "UNKNOWN_ERROR") this.#log.warn("refresh refused", { reason: error.message });
      else this.#log.debug("refresh refused", { code: error.code });
    } finally {
      this.#underWay.delete(entry);
      entry.isRefreshing = false;
      entry.nextRefresh = entry.hasNews ? performance.now() : performance.now() + 1000 * entry.refreshPeriod;
    }
    if (this.#hasWaiting || entry.hasNews) this.#beginSoon();
    entry.hasNews = false;
  }

  /** Logs the progress of long scans now and then. */
  #logProgress(): void {
    if (performance.now() < this.#nextProgressLog) return;
    for (const { opened, paths } of this.#wallets.open) {
      const progress = opened?.wallet.progress;
      if (progress === undefined) continue;
      this.#nextProgressLog = performance.now() + 1000 * PROGRESS_LOG_SECONDS;
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

/** Whether the wallet is due, or will be soon: wallets that begin together stay together from then on. */
function isNearlyDue({ nextRefresh, refreshPeriod }: WalletEntry, now: number): boolean {
  return nextRefresh - now <= 500 * refreshPeriod;
}
