/** Which process of a fleet has its event log: the one with a lease that is no wallet's. */
import type { Logger } from "@anulo/rpc";
import type { Engine, WalletLeases } from "@anulo/store";
import { WalletRefusal } from "../../refusal.ts";
import type { OpenEvents } from "../../service-events.ts";
import type { Membership } from "../membership.ts";
import { RepeatedFailure } from "../repeated-failure.ts";

/** Names of wallets have no slash. */
const LEASE = "/events";
/** Milliseconds for which this process leaves the log to the others after it could not be opened here. */
const BACKOFF_MS = 5000;

type Known = Pick<Membership, "process" | "isSure" | "members">;

export type LogHolderParts = {
  readonly membership: () => Known | undefined;
  readonly leases: Pick<WalletLeases, "ownerOf" | "take" | "handOver">;
  /** The database, on which ownership is only taken while the lease of this name is held. */
  readonly engineFor: (name: string) => Engine;
  /** Opens the log and begins to deliver its events; returns the reason if a service of no fleet has it. */
  readonly open: (engine: Engine, isSure: () => boolean) => Promise<OpenEvents | string>;
  readonly log: Logger;
  /** Returns milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
};

export class LogHolder {
  readonly #parts: LogHolderParts;
  readonly #unknownOwner: RepeatedFailure;
  #owner: string | undefined;
  #opened: { readonly events: OpenEvents; readonly process: string } | undefined;
  #lookUnderWay: Promise<void> | undefined;
  /** Never rejects: who began to close the log learns why that failed. */
  #closing: Promise<void> = Promise.resolve();
  #retryAt = 0;
  #isLeaving = false;
  #failure: unknown;

  constructor(parts: LogHolderParts) {
    this.#parts = parts;
    this.#unknownOwner = new RepeatedFailure(parts.log, "it is not known who has the event log");
  }

  /** The log and its deliveries if this process certainly has it. */
  get here(): OpenEvents | undefined {
    const { events, process } = this.#opened ?? {};
    return process !== undefined && this.#isSureOf(process) && !events!.log.ended.aborted
      ? events
      : undefined;
  }

  /** The process that has the log, as the database said last; this one too, before it has opened it. */
  get owner(): string | undefined {
    return this.#owner;
  }

  /** Why the log could not be opened here when that was tried last. */
  get failure(): unknown {
    return this.#failure;
  }

  #isSureOf(process: string): boolean {
    const membership = this.#parts.membership();
    return membership?.process === process && membership.isSure;
  }

  /** Looks who has the log, and takes it if nobody has. Never rejects. */
  update(): Promise<void> {
    this.#lookUnderWay ??= this.#update()
      .then(
        () => this.#unknownOwner.succeeded(),
        (error) => this.#unknownOwner.failed(error),
      )
      .finally(() => {
        this.#lookUnderWay = undefined;
      });
    return this.#lookUnderWay;
  }

  async #update(): Promise<void> {
    const { membership, leases, elapsed } = this.#parts;
    const { process, isSure = false } = membership() ?? {};
    const isOver = this.#opened?.process !== process || this.#opened?.events.log.ended.aborted === true;
    if (this.#opened !== undefined && isOver) await this.#close();
    if (process === undefined || !isSure) return;
    let owner = await leases.ownerOf(LEASE);
    const mayTake = !this.#isLeaving && elapsed() >= this.#retryAt;
    if (owner === undefined && mayTake) ({ owner } = await leases.take(process, LEASE));
    this.#owner = owner;
    // Who leaves has the lease until the log is closed: opened again, it would stay open.
    if (owner === process && this.#opened === undefined && !this.#isLeaving) await this.#open(process);
  }

  async #open(process: string): Promise<void> {
    const { engineFor, open, log } = this.#parts;
    this.#failure = undefined;
    try {
      const events = await open(engineFor(LEASE), () => this.#isSureOf(process));
      if (typeof events === "string") throw new WalletRefusal("UNKNOWN_ERROR", events);
      this.#opened = { events, process };
      log.info("this process has the event log of the fleet");
    } catch (error) {
      this.#failure = error;
      log.warn("the event log can't be opened here", { error });
      await this.#handOver(process);
    }
  }

  async #handOver(process: string): Promise<void> {
    const { leases, elapsed } = this.#parts;
    this.#retryAt = elapsed() + BACKOFF_MS;
    this.#owner = undefined;
    await leases.handOver(process, LEASE);
  }

  /** Resolves once the log is closed, also where that has begun before. */
  async #close(): Promise<void> {
    const events = this.#opened?.events;
    this.#opened = undefined;
    if (events === undefined) return await this.#closing;
    const closing = events.close();
    this.#closing = closing.catch(() => undefined);
    await closing;
  }

  /** Closes the log at once, since another process may have it by now. */
  lost(): void {
    this.#owner = undefined;
    this.#logFailure(this.#close());
  }

  #logFailure(closing: Promise<void>): void {
    void closing.catch((error) => this.#parts.log.warn("the event log can't be closed", { error }));
  }

  /** Leaves the log to another process, if there is one: the events of wallets that are closed now go there. */
  beginToLeave(): void {
    this.#isLeaving = true;
    const hasOthers = (this.#parts.membership()?.members.length ?? 0) > 1;
    if (hasOthers && this.#opened !== undefined) this.#logFailure(this.#leave());
  }

  async #leave(): Promise<void> {
    const process = this.#opened?.process;
    await this.#close();
    if (process !== undefined) await this.#handOver(process).catch(() => undefined);
  }

  /** Closes the log; to be called once all wallets are closed. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#lookUnderWay;
    await this.#leave();
  }
}
