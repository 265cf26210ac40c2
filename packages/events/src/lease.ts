import { createHash, randomBytes } from "node:crypto";
import { type Engine, Fenced, type RowKey } from "@anulo/store";
import type { Clock } from "./clock.ts";
import { EventLogInUse } from "./errors.ts";

/**
 * The rows of the lease are separate from those of the log, so that checking the lease does not fence the log's holder.
 */
const leaseId = createHash("sha256").update("anulo event log: lease").digest().subarray(0, 16);
const holderRow: RowKey = { table: 1, key: Buffer.from("holder") };
const NAME_BYTES = 16;
const GROUP_BYTES = 16;
const RENEWALS_PER_LEASE = 4;
/** How often a process takes the lease from one of its group that acquires it again at the same moment. */
const CLAIMS_IN_GROUP = 5;

export interface LeaseOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Milliseconds without a write after which another process may take the lease. */
  readonly leaseMs: number;
  /**
   * 16 bytes of processes among which something else decides who has the lease: it is taken at once from another of them.
   */
  readonly group?: Uint8Array | undefined;
}

/**
 * Keeps other processes from opening the log, on any machine: the holder writes a row every quarter of the lease, and a
 * new process that finds a holder watches for a whole lease whether it writes. A holder that lost its lease and
 * continues later cannot write, because the log's store is fenced too.
 */
export class Lease {
  readonly #options: LeaseOptions;
  /** 16 bytes of its own, after those of its group, if it has one. */
  readonly #name: Buffer;
  readonly #stop = new AbortController();
  #epoch = 0;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(options: LeaseOptions) {
    const { group = new Uint8Array(0) } = options;
    if (group.length !== 0 && group.length !== GROUP_BYTES)
      throw new RangeError(`a group has ${GROUP_BYTES} bytes`);
    this.#options = options;
    this.#name = Buffer.concat([group, randomBytes(NAME_BYTES)]);
  }

  /** Acquires the lease. Throws `EventLogInUse`. `onLost` is called once when another process has taken the lease. */
  static async acquire(options: LeaseOptions, onLost: (error: EventLogInUse) => void): Promise<Lease> {
    const lease = new Lease(options);
    await lease.#claim();
    lease.#renewing = lease.#renew(onLost);
    return lease;
  }

  /** Throws `Fenced` if another process has the lease, and the errors of the engine. From here on nobody takes it for a while. */
  async confirm(): Promise<void> {
    await this.#write(this.#name);
  }

  /** Releases the lease, so that the next process need not wait. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
    // If this fails, the next process waits for the length of a lease.
    await this.#write(Buffer.alloc(0)).catch(() => {});
  }

  /**
   * The holder notices that it is fenced, and acquires the lease again where no other name is in the row yet. It does so
   * once in each of its renewals, so that a process of its group, which need not wait for it, tries again at once.
   */
  async #claim(attempt = 1): Promise<void> {
    const { engine, clock, leaseMs } = this.#options;
    const found = (await engine.markOf(leaseId)) ?? { epoch: 0, sequence: 0 };
    const holder = await engine.read(leaseId, holderRow);
    const isOurs = holder !== undefined && this.#isOfGroup(holder);
    const isFree = isOurs || holder === undefined || holder.length === 0;
    for (let look = 0; look < RENEWALS_PER_LEASE && !isFree; look++) {
      await clock.delay(leaseMs / RENEWALS_PER_LEASE);
      const now = await engine.markOf(leaseId);
      if (now?.epoch !== found.epoch || now.sequence !== found.sequence) throw new EventLogInUse();
    }
    const mark = await engine.fence(leaseId);
    this.#epoch = mark.epoch;
    const isSame = mark.epoch === found.epoch + 1 && mark.sequence === found.sequence;
    if (!isSame && !isOurs) throw new EventLogInUse();
    try {
      await this.#write(this.#name);
    } catch (error) {
      if (!(error instanceof Fenced)) throw error;
      if (!isOurs || attempt === CLAIMS_IN_GROUP) throw new EventLogInUse();
      await this.#claim(attempt + 1);
    }
  }

  async #renew(onLost: (error: EventLogInUse) => void): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await clock.delay(leaseMs / RENEWALS_PER_LEASE, signal);
      if (signal.aborted) return;
      try {
        await this.#write(this.#name);
      } catch (error) {
        // A store that cannot be written now may be writable later.
        if (!(error instanceof Fenced)) continue;
        if (await this.#isLost().catch(() => false)) return onLost(new EventLogInUse());
      }
    }
  }

  /**
   * A process that gave up waiting has fenced us without taking the lease: then the lease is acquired again. Fencing
   * comes first, so that the row cannot change after it was read; a holder that is fenced by this acquires it again in
   * the same way.
   */
  async #isLost(): Promise<boolean> {
    const { engine } = this.#options;
    const { epoch } = await engine.fence(leaseId);
    const holder = await engine.read(leaseId, holderRow);
    if (holder === undefined || !this.#name.equals(holder)) return true;
    this.#epoch = epoch;
    return false;
  }

  #isOfGroup(holder: Uint8Array): boolean {
    const { group } = this.#options;
    return (
      group !== undefined &&
      holder.length > GROUP_BYTES &&
      this.#name.indexOf(holder.subarray(0, GROUP_BYTES)) === 0
    );
  }

  async #write(value: Uint8Array): Promise<void> {
    const change = { epoch: this.#epoch, puts: [{ ...holderRow, value }], deletes: [] };
    await this.#options.engine.apply(leaseId, change);
  }
}
