/** This process as a member of its fleet: the leases it holds, and until when it can be sure of them. */
import type { Logger } from "@anulo/rpc";
import {
  Expelled,
  type FleetMember,
  StoreUnavailable,
  type WalletLease,
  type WalletLeases,
} from "@anulo/store";
import { failedToOpen, WalletRefusal } from "../refusal.ts";

/** Milliseconds after which a membership that is not renewed ends, by the database's clock. */
export const LIFETIME_MS = 3500;
/** The process itself considers its membership ended this much earlier (milliseconds). */
const MARGIN_MS = 500;
/**
 * If the database cannot be reached for this long (milliseconds), the process joins again: its open wallets may be
 * inconsistent by then.
 */
const MOST_LOST_MS = 20_000;

export type MembershipOptions = {
  readonly leases: WalletLeases;
  /** Address at which the other processes reach this one. */
  readonly address: string;
  /** What every process of the fleet has to be started with in the same way. */
  readonly settings: string;
  readonly log: Logger;
  /** Returns milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  readonly lifetimeMs?: number;
  /** Called when all leases are lost: every open wallet has to be closed. */
  readonly onEnded: () => void;
};

export class Membership {
  readonly #options: MembershipOptions;
  readonly #lifetimeMs: number;
  #process: string | undefined;
  #sureUntil = Number.NEGATIVE_INFINITY;
  /** When the last successful renewal was requested, and the first of the uninterrupted sequence of timely renewals. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #steadySince = Number.POSITIVE_INFINITY;
  #members: readonly FleetMember[] = [];
  #free = 0;
  readonly #leases = new Set<string>();
  /** Wallets whose leases say that they stay open until a caller closes them, as far as this process knows. */
  readonly #keptOpen = new Set<string>();
  /** Wallets that are open here, each with the membership under which it was opened. */
  readonly #openedUnder = new Map<string, string>();
  readonly #handingOver = new Set<string>();
  /** Wallets whose leases are held here without this process knowing of them, each with when that was first seen. */
  #unknown = new Map<string, number>();
  #isLeaving = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#lifetimeMs = options.lifetimeMs ?? LIFETIME_MS;
  }

  /** The id of the membership; undefined while there is none. */
  get process(): string | undefined {
    return this.#process;
  }

  /** Where the other processes reach this one. */
  get address(): string {
    return this.#options.address;
  }

  /** The members at the last query. */
  get members(): readonly FleetMember[] {
    return this.#members;
  }

  /**
   * The other members that had not renewed their membership for half of its lifetime, at the last query; none while this
   * process may not end theirs.
   */
  get silent(): readonly FleetMember[] {
    if (!this.#isSteady(this.#renewedAt)) return [];
    return this.#members.filter(
      ({ process, silentMs }) => process !== this.#process && silentMs >= this.#lifetimeMs / 2,
    );
  }

  /** Number of leases without a holder, at the last query. */
  get free(): number {
    return this.#free;
  }

  /** Number of leases held here. */
  get owned(): number {
    return this.#leases.size;
  }

  /**
   * True while no other process can have taken a lease of this one: unless it was silent for half of a lifetime, and its
   * port refused a connection.
   */
  get isSure(): boolean {
    return this.#process !== undefined && this.#options.elapsed() < this.#sureUntil;
  }

  /** Whether this process certainly holds the wallet. */
  isHere(name: string): boolean {
    return this.#leases.has(name) && this.isSure;
  }

  /**
   * Joins, or renews the membership, ends the expired memberships of others and those of processes that are gone, and
   * queries the members.
   */
  async tick(goneProcesses: readonly string[] = []): Promise<void> {
    const { leases, address, settings, log, elapsed } = this.#options;
    const askedAt = elapsed();
    try {
      if (this.#process === undefined) this.#process = await leases.join(address, settings);
      else await leases.renew(this.#process);
      this.#renewed(askedAt);
      if (this.#isSteady(askedAt) && (await leases.expel(goneProcesses)) > 0)
        log.warn("a process of the fleet is gone: its wallets move");
      const { members, free } = await leases.state();
      this.#members = members;
      this.#free = free;
    } catch (error) {
      this.#steadySince = Number.POSITIVE_INFINITY;
      if (error instanceof Expelled) return this.#end("the others took this process for gone");
      if (!(error instanceof StoreUnavailable)) throw error;
      log.debug("the fleet's database does not answer", { error });
      if (this.#process !== undefined && elapsed() - this.#renewedAt > MOST_LOST_MS)
        this.#end("the database was out of reach for too long");
    }
  }

  /**
   * Whether this process has renewed its membership for a lifetime. One that was cut off lets the others renew first, since
   * they may have been cut off, too.
   */
  #isSteady(now: number): boolean {
    return now - this.#steadySince >= this.#lifetimeMs;
  }

  #renewed(askedAt: number): void {
    // A renewal that came late proves nothing about the time before.
    if (askedAt - this.#renewedAt >= this.#lifetimeMs) this.#steadySince = Number.POSITIVE_INFINITY;
    this.#steadySince = Math.min(this.#steadySince, askedAt);
    this.#renewedAt = askedAt;
    this.#sureUntil = askedAt + this.#lifetimeMs - MARGIN_MS;
  }

  #end(reason: string): void {
    const { leases, log, onEnded } = this.#options;
    const former = this.#process;
    log.warn("this process has lost its wallets, and joins the fleet anew", { reason, wallets: this.owned });
    this.#process = undefined;
    this.#sureUntil = Number.NEGATIVE_INFINITY;
    this.#leases.clear();
    this.#keptOpen.clear();
    this.#openedUnder.clear();
    this.#handingOver.clear();
    this.#unknown.clear();
    // If the database cannot be reached, the other members remove this one.
    if (former !== undefined) void leases.leave(former).catch(() => undefined);
    onEnded();
  }

  /**
   * Takes the lease of a wallet that is opened here, and returns a function that gives it back. Throws `WalletRefusal`.
   */
  async take(name: string): Promise<() => Promise<void>> {
    const process = this.#sureProcess();
    if (this.#openedUnder.has(name)) throw failedToOpen("it is open already");
    this.#openedUnder.set(name, process);
    try {
      // While a lease is certainly held nobody else can have it: the database says so again when the wallet is fenced.
      if (!this.isHere(name)) {
        const { owner, isKeptOpen } = await this.#options.leases.take(process, name).catch(asRefusal);
        if (owner !== process) throw elsewhere();
        this.#sureProcess(process);
        this.#record({ name, isKeptOpen });
      }
    } catch (error) {
      if (this.#openedUnder.get(name) === process) this.#openedUnder.delete(name);
      throw error;
    }
    return () => this.#giveBack(name, process);
  }

  /** Throws `WalletRefusal` unless the wallet's lease is held, by this process's clock and by the database. */
  async confirm(name: string): Promise<void> {
    const process = this.#sureProcess();
    if (!this.isHere(name)) throw elsewhere();
    await this.#options.leases.confirm(process, name).catch(asRefusal);
    this.#sureProcess(process);
  }

  /** Takes leases without a holder, for wallets that are to be opened here, but none of `others`. */
  async adopt(most: number, others: readonly string[] = []): Promise<string[]> {
    const process = this.#process;
    if (process === undefined || this.#isLeaving || !this.isSure) return [];
    const adopted = await this.#options.leases.adopt(process, most, others);
    if (this.#process !== process) return [];
    return adopted.map((lease) => this.#record(lease));
  }

  /**
   * Leases that the database says are held here, and of which this process has not known for longer than a statement may
   * take: the answer that granted them was lost, or the one that ended them. From here on they are known.
   */
  async takeUnknown(): Promise<string[]> {
    const process = this.#process;
    const own = this.#members.find((member) => member.process === process);
    const isOdd = own !== undefined && own.owned > this.#leases.size;
    if (process === undefined || this.#isLeaving || !this.isSure || !isOdd) {
      this.#unknown.clear();
      return [];
    }
    const heldLeases = await this.#options.leases.heldBy(process);
    if (this.#process !== process) return [];
    const strange = heldLeases.filter(({ name }) => !this.#leases.has(name) && !this.#openedUnder.has(name));
    const now = this.#options.elapsed();
    this.#unknown = new Map(strange.map(({ name }) => [name, this.#unknown.get(name) ?? now]));
    const sure = strange.filter(({ name }) => now - this.#unknown.get(name)! >= this.#lifetimeMs / 2);
    return sure.map((lease) => this.#record(lease));
  }

  /** Records a lease that this process has now, and returns its wallet. */
  #record({ name, isKeptOpen }: WalletLease): string {
    this.#leases.add(name);
    if (isKeptOpen) this.#keptOpen.add(name);
    else this.#keptOpen.delete(name);
    return name;
  }

  /** Whether the wallet's lease says that it stays open until a caller closes it. */
  isKeptOpen(name: string): boolean {
    return this.#keptOpen.has(name);
  }

  /**
   * Has the wallet stay open until a caller closes it, whichever process has it, or no longer. Never rejects: if the
   * database does not answer, the next process that has the wallet closes it once it is idle.
   */
  async setKeptOpen(name: string, isKeptOpen: boolean): Promise<void> {
    const { leases, log } = this.#options;
    const process = this.#process;
    if (process === undefined) return;
    try {
      await leases.setKeptOpen(process, name, isKeptOpen);
      if (this.#process === process && this.#leases.has(name)) this.#record({ name, isKeptOpen });
    } catch (error) {
      log.warn("the others are not told whether a wallet stays open", { file: name, error });
    }
  }

  /** Marks a wallet so that its lease is free for the other processes once it is closed. */
  handOverNext(name: string): void {
    this.#handingOver.add(name);
  }

  /** Whether the wallet is being closed for another process to go on with it. */
  isHandingOver(name: string): boolean {
    return this.#handingOver.has(name);
  }

  /** Frees the lease of a wallet that cannot be opened here, for the other processes. */
  async handOver(name: string): Promise<void> {
    this.handOverNext(name);
    await this.release(name);
    this.#handingOver.delete(name);
  }

  /** Ends the lease of a wallet that is not open here. */
  async release(name: string): Promise<void> {
    if (this.#process !== undefined && !this.#openedUnder.has(name)) await this.#giveUp(name, this.#process);
  }

  async #giveBack(name: string, process: string): Promise<void> {
    if (this.#openedUnder.get(name) !== process) return;
    this.#openedUnder.delete(name);
    await this.#giveUp(name, process);
  }

  async #giveUp(name: string, process: string): Promise<void> {
    const { leases, log } = this.#options;
    this.#leases.delete(name);
    this.#keptOpen.delete(name);
    const goesOn = this.#handingOver.has(name) || this.#isLeaving;
    const release = goesOn ? leases.handOver(process, name) : leases.release(process, name);
    // If this fails the lease stays with this process, which keeps serving the wallet.
    await release.catch((error) => log.warn("a lease can't be given back", { error }));
    this.#handingOver.delete(name);
  }

  /** From here on, leases of closed wallets go to the other processes. */
  beginToLeave(): void {
    this.#isLeaving = true;
  }

  /** Ends the membership, which frees all leases still held. */
  async leave(): Promise<void> {
    const { leases } = this.#options;
    const process = this.#process;
    this.#process = undefined;
    this.#leases.clear();
    this.#keptOpen.clear();
    if (process !== undefined) await leases.leave(process).catch(() => undefined);
    await leases.close();
  }

  #sureProcess(expected = this.#process): string {
    if (expected === undefined || this.#process !== expected || !this.isSure) throw cutOff();
    return expected;
  }
}

const cutOff = () =>
  new WalletRefusal("UNOWNED", "This process is cut off from its fleet, and nothing was done: ask again");
/** The error for a wallet that belongs to another process. */
export const elsewhere = () =>
  new WalletRefusal(
    "UNOWNED",
    "Another process of the fleet has the wallet, and nothing was done: ask again, by its name (/wallets/NAME/json_rpc)",
  );

function asRefusal(error: unknown): never {
  if (error instanceof Expelled) throw elsewhere();
  if (error instanceof StoreUnavailable) throw cutOff();
  throw error;
}
