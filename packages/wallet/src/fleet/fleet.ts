/** Processes that serve the wallets of one folder together: each wallet is open in exactly one of them. */
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger, Passes } from "@anulo/rpc";
import {
  Expelled,
  type FleetMember,
  OtherSettings,
  type PostgresEngine,
  type WalletLeases,
} from "@anulo/store";
import type { SharedWallets } from "../file/open-rows.ts";
import { nextFolderOf, removeNextFolder, type WalletPaths } from "../file/wallet-files.ts";
import { failedToOpen, MissingWallet, WalletRefusal } from "../refusal.ts";
import { Backoff } from "./backoff.ts";
import { FleetEvents } from "./events/fleet-events.ts";
import type { LogHolderParts } from "./events/log-holder.ts";
import { EVENT_LOG_PATH } from "./events/log-requests.ts";
import { Heartbeat } from "./heartbeat.ts";
import { elsewhere, Membership } from "./membership.ts";
import { Router } from "./router.ts";

/** Milliseconds between two heartbeats: five of them within a membership's lifetime. */
const BEAT_MS = 700;
/**
 * Number of wallets that are leased and opened at once after their process has gone; the next ones are leased, together,
 * once half of them are open.
 */
const MOST_OPENING = 64;
/** Maximum number of wallets handed over with each heartbeat, and of leases without a holder while any are. */
const MOST_HANDED_OVER = 16;
const MOST_FREE = 64;
/**
 * Number of wallets above its share that a process may have before it hands some over: moving a wallet costs as much as
 * opening it.
 */
const SLACK_WALLETS = 1;
const SLACK_SHARE = 0.05;
const OPEN_ATTEMPTS = 5;
const OPEN_RETRY_MS = 1000;

/** The actions that a fleet requires of its service. */
export interface FleetHost {
  /** Opens a wallet by its name, without a call that needs it. Throws `WalletRefusal`. */
  open(name: string): Promise<void>;
  /** Closes up to `most` wallets that another process can open, and calls `closing` with each name before. */
  closeUnused(most: number, closing: (name: string) => void): Promise<void>;
  /** Closes such wallets whose events the log could not take, and calls `closing` with each name before. */
  closeUntold(closing: (name: string) => void): Promise<void>;
  /** Closes all wallets with files. */
  closeLost(): Promise<void>;
}

export type FleetParts = {
  /** The id shared by all processes of the fleet, 16 bytes. */
  readonly id: Uint8Array;
  /** The folder that all processes have beside the database. */
  readonly folder: string;
  readonly engine: PostgresEngine;
  readonly leases: WalletLeases;
  readonly passes: Passes;
  /** What every process of the fleet has to be started with in the same way. */
  readonly settings: string;
  readonly restricted: boolean;
  readonly log: Logger;
  /** Opens the event log of the fleet; if left out, it has none. */
  readonly openEvents?: LogHolderParts["open"] | undefined;
  readonly elapsed?: () => number;
};

const nameOf = ({ base }: WalletPaths): string => basename(base);

/** Whether an attempt to open a wallet would fail at any process, until a caller does something about it. */
const isFinal = (error: unknown): boolean =>
  error instanceof MissingWallet || (error instanceof WalletRefusal && error.kind === "NOT_OPEN");

export class Fleet {
  readonly #parts: FleetParts;
  readonly #elapsed: () => number;
  #membership: Membership | undefined;
  #host: FleetHost | undefined;
  readonly #heartbeat: Heartbeat;
  #isStopped = false;
  readonly #opening = new Set<string>();
  readonly #backoff: Backoff;
  #handsOver = false;
  #isAdopting = false;
  /** Processes that are asked whether they are gone, and those that are, for the next heartbeat, which then comes at once. */
  readonly #asked = new Set<string>();
  readonly #goneProcesses = new Set<string>();
  /** Whether no more leases were free when some were last asked for, since the last heartbeat. */
  #isEmpty = false;
  /** The locks of the wallets' files: here a lease takes their place. */
  readonly shared: SharedWallets = {
    locks: {
      take: (paths) => this.#take(paths),
      confirm: (paths) => this.#member().confirm(nameOf(paths)),
      fenceOf: (paths) => ({
        folder: nextFolderOf(this.#parts.folder, paths),
        confirm: () => this.#member().confirm(nameOf(paths)),
      }),
    },
    engineFor: (paths) => this.#engineFor(nameOf(paths)),
  };

  /** Finds the process that handles each call; before this process has joined, there is none. */
  readonly router: Router;
  /** Undefined if no events are kept. */
  readonly events: FleetEvents | undefined;

  constructor(parts: FleetParts) {
    const { leases, passes, restricted, openEvents, elapsed = () => performance.now() } = parts;
    this.#parts = parts;
    this.#elapsed = elapsed;
    this.#backoff = new Backoff(elapsed);
    this.#heartbeat = new Heartbeat({
      intervalMs: BEAT_MS,
      beat: () => this.#beat(),
      onFailure: (error) => parts.log.error("the fleet fails", { error }),
      elapsed,
    });
    const membership = () => this.#membership;
    this.events =
      openEvents &&
      new FleetEvents({
        membership,
        router: () => this.router,
        isHere: (name) => this.#membership?.isHere(name) === true,
        leases,
        engineFor: (name) => this.#engineFor(name),
        open: openEvents,
        restricted,
        log: parts.log,
        elapsed,
      });
    const internal = new Map(this.events && [[EVENT_LOG_PATH, this.events.target]]);
    this.router = new Router({ membership, leases, passes, restricted, elapsed, internal });
  }

  /**
   * Makes this process a member that others reach at `address` (`host:port`); throws if the database cannot be reached.
   */
  async join(address: string, host: FleetHost): Promise<void> {
    const { leases, settings, log } = this.#parts;
    const onEnded = () => {
      this.events?.holder.lost();
      void this.#closeLost();
    };
    this.#membership = new Membership({
      leases,
      address,
      settings,
      log,
      elapsed: this.#elapsed,
      onEnded,
    });
    this.#host = host;
    await this.#beat().catch((error) => {
      throw error instanceof OtherSettings ? new WalletRefusal("UNKNOWN_ERROR", error.message) : error;
    });
    if (this.#membership.process === undefined)
      throw new WalletRefusal("UNKNOWN_ERROR", "The fleet can't be joined: the database does not answer");
    this.#heartbeat.start();
    await this.events?.holder.update();
    if (this.events?.holder.failure !== undefined) throw this.events.holder.failure;
  }

  /** Throws `WalletRefusal` unless this process certainly has the wallet. */
  confirmHere(name: string): void {
    if (!this.#membership?.isHere(name))
      throw new WalletRefusal(
        "UNOWNED",
        "Another process of the fleet may have the wallet by now: ask again",
      );
  }

  /** Whether a caller, of whichever process, has opened the wallet and not closed it. */
  isKeptOpen(name: string): boolean {
    return this.#membership?.isKeptOpen(name) === true;
  }

  /** Has the wallet stay open until a caller closes it, whichever process has it, or no longer. Never rejects. */
  async setKeptOpen(name: string, isKeptOpen: boolean): Promise<void> {
    await this.#membership?.setKeptOpen(name, isKeptOpen);
  }

  /** From here on, closed wallets go to the other processes. */
  beginToLeave(): void {
    this.events?.beginToLeave();
    this.#membership?.beginToLeave();
  }

  /** Ends the membership; to be called once all wallets are closed. */
  async leave(): Promise<void> {
    this.#isStopped = true;
    await this.#heartbeat.stop();
    this.router.close();
    if (this.#membership === undefined) await this.#parts.leases.close();
    else await this.#membership.leave();
  }

  #member(): Membership {
    if (this.#membership === undefined) throw failedToOpen("the fleet was not joined yet");
    return this.#membership;
  }

  /** Takes a wallet's lease. A former owner's unfinished files are removed, so that it replaces nothing any more. */
  async #take(paths: WalletPaths): Promise<() => Promise<void>> {
    const giveBack = await this.#member().take(nameOf(paths));
    try {
      await removeNextFolder(nextFolderOf(this.#parts.folder, paths));
      return giveBack;
    } catch (error) {
      await giveBack();
      throw error;
    }
  }

  #engineFor(name: string) {
    const { engine, id } = this.#parts;
    const { process } = this.#member();
    if (process === undefined) throw elsewhere();
    const leased = engine.under({ fleet: id, name, process });
    return {
      ...leased,
      fence: (wallet: Uint8Array, above?: number) =>
        leased.fence(wallet, above).catch((error: unknown) => {
          if (error instanceof Expelled) throw elsewhere();
          throw error;
        }),
    };
  }

  async #beat(): Promise<void> {
    const membership = this.#member();
    const goneProcesses = [...this.#goneProcesses];
    this.#goneProcesses.clear();
    await membership.tick(goneProcesses);
    this.router.update();
    if (!membership.isSure) return;
    this.#isEmpty = false;
    for (const member of membership.silent)
      if (!this.#asked.has(member.process)) void this.#askIfGone(member);
    void this.events?.holder.update();
    // No renewal waits for what is done for wallets.
    void this.#takeUnknown(membership);
    void this.#takeOver(membership);
    void this.#balance(membership);
    if (this.events?.isAnswering === true) void this.#openUntold(membership);
  }

  /** Finds out whether a process that does not renew its membership is gone; never rejects. */
  async #askIfGone(member: FleetMember): Promise<void> {
    this.#asked.add(member.process);
    const isGone = await this.router.isGone(member);
    this.#asked.delete(member.process);
    if (!isGone) return;
    this.#goneProcesses.add(member.process);
    this.#heartbeat.beatSoon();
  }

  /** The number of wallets per process if those open and those to be opened were shared equally. */
  #shareOf({ members, free }: Membership): number {
    const owned = members.reduce((sum, member) => sum + member.owned, 0);
    return Math.ceil((owned + free) / Math.max(1, members.length));
  }

  /** Takes over wallets without an owner, up to this process's share; never rejects. */
  async #takeOver(membership: Membership): Promise<void> {
    if (this.#isAdopting) return;
    this.#isAdopting = true;
    try {
      while (await this.#adopt(membership));
    } catch (error) {
      this.#isEmpty = true;
      this.#noneTaken(error);
    } finally {
      this.#isAdopting = false;
    }
  }

  #noneTaken(error: unknown): void {
    this.#parts.log.warn("no wallet can be taken over", { error });
  }

  /** Takes over some wallets, and returns whether there may be more to take over now. */
  async #adopt(membership: Membership): Promise<boolean> {
    if (this.#isEmpty || this.#opening.size > MOST_OPENING / 2) return false;
    const room = Math.min(
      MOST_OPENING - this.#opening.size,
      this.#shareOf(membership) - membership.owned,
      membership.free,
    );
    if (room <= 0) return false;
    const names = await membership.adopt(room, this.#backoff.waiting());
    this.#isEmpty = names.length < room;
    for (const name of names) void this.#open(membership, name);
    return true;
  }

  /** Opens the wallets whose leases this process received without a notification; never rejects. */
  async #takeUnknown(membership: Membership): Promise<void> {
    const names = await membership.takeUnknown().catch((error) => {
      this.#noneTaken(error);
      return [];
    });
    for (const name of names) {
      this.#parts.log.info("a lease was granted without an answer", { file: name });
      void this.#open(membership, name);
    }
  }

  async #open(membership: Membership, name: string): Promise<void> {
    this.#opening.add(name);
    try {
      for (let attempt = 1; ; attempt++) {
        const { process } = membership;
        try {
          await this.#host?.open(name);
          return this.#backoff.succeeded(name);
        } catch (error) {
          const isOver = membership.process !== process || this.#isStopped;
          if (isOver || isFinal(error) || attempt >= OPEN_ATTEMPTS)
            return await this.#giveUp(membership, name, error);
          await delay(OPEN_RETRY_MS);
        }
      }
    } finally {
      this.#opening.delete(name);
      // The next wallets need not wait for the next heartbeat.
      if (membership.isSure && this.#opening.size <= MOST_OPENING / 2) void this.#takeOver(membership);
    }
  }

  /** Leaves a wallet that can't be opened here to the others, or to this process later; its callers may be the first. */
  async #giveUp(membership: Membership, name: string, error: unknown): Promise<void> {
    this.#parts.log.warn("a wallet that was taken over can't be opened", { file: name, error });
    if (isFinal(error)) return await membership.release(name);
    this.#backoff.failed(name);
    await membership.handOver(name);
  }

  /** Hands wallets that nobody uses over to processes that have fewer; never rejects, and no heartbeat waits for the files. */
  async #balance(membership: Membership): Promise<void> {
    const share = this.#shareOf(membership);
    const above = membership.owned - share - Math.max(SLACK_WALLETS, Math.floor(SLACK_SHARE * share));
    const hasReceivers = membership.members.length > 1 && membership.free < MOST_FREE;
    if (above <= 0 || !hasReceivers || this.#handsOver) return;
    this.#handsOver = true;
    try {
      await this.#host?.closeUnused(Math.min(above, MOST_HANDED_OVER), (name) =>
        membership.handOverNext(name),
      );
    } catch (error) {
      this.#parts.log.warn("no wallet can be handed over", { error });
    } finally {
      this.#handsOver = false;
    }
  }

  /** Has wallets opened again whose events the log could not take while it could not be had; never rejects. */
  async #openUntold(membership: Membership): Promise<void> {
    await this.#host
      ?.closeUntold((name) => membership.handOverNext(name))
      .catch((error) => this.#parts.log.warn("wallets can't be opened again", { error }));
  }

  async #closeLost(): Promise<void> {
    await this.#host?.closeLost();
  }
}
