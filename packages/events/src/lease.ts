import { createHash, randomBytes } from "node:crypto";
import { type Engine, Fenced, type RowKey } from "@anulo/store";
import type { Clock } from "./clock.ts";
import { EventLogInUse } from "./errors.ts";

/** Rows of the lease are apart from those of the log: who only wants to know whether it is held fences nobody. */
const leaseId = createHash("sha256").update("anulo event log: lease").digest().subarray(0, 16);
const holderRow: RowKey = { table: 1, key: Buffer.from("holder") };
const NAME_BYTES = 16;
const RENEWALS_PER_LEASE = 4;

export interface LeaseOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** How long a holder may be silent before another takes its place. */
  readonly leaseMs: number;
}

/**
 * Keeps a second process from the log, on whatever machine it runs: the holder writes a row every quarter of the
 * lease, and a newcomer that finds a holder watches for a whole lease whether it does. A holder that was given up
 * and comes back cannot write: the log's store is fenced besides.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #name = randomBytes(NAME_BYTES);
  readonly #stop = new AbortController();
  #epoch = 0;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Throws `EventLogInUse`. `onLost` is called once when another has taken the lease. */
  static async acquire(options: LeaseOptions, onLost: (error: EventLogInUse) => void): Promise<Lease> {
    const lease = new Lease(options);
    await lease.#claim();
    lease.#renewing = lease.#renew(onLost);
    return lease;
  }

  /** Lets the next one in at once. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
    // Where this fails, the next one waits for a lease.
    await this.#write(Buffer.alloc(0)).catch(() => {});
  }

  async #claim(): Promise<void> {
    const { engine, clock, leaseMs } = this.#options;
    const found = (await engine.markOf(leaseId)) ?? { epoch: 0, sequence: 0 };
    const holder = await engine.read(leaseId, holderRow);
    for (let look = 0; look < RENEWALS_PER_LEASE && holder !== undefined && holder.length > 0; look++) {
      await clock.delay(leaseMs / RENEWALS_PER_LEASE);
      const now = await engine.markOf(leaseId);
      if (now?.epoch !== found.epoch || now.sequence !== found.sequence) throw new EventLogInUse();
    }
    const mark = await engine.fence(leaseId);
    this.#epoch = mark.epoch;
    if (mark.epoch !== found.epoch + 1 || mark.sequence !== found.sequence) throw new EventLogInUse();
    await this.#write(this.#name).catch((error: unknown) => {
      throw error instanceof Fenced ? new EventLogInUse() : error;
    });
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
        // A store that cannot be written now may be later.
        if (!(error instanceof Fenced)) continue;
        if (await this.#isLost().catch(() => false)) return onLost(new EventLogInUse());
      }
    }
  }

  /**
   * A newcomer that gave up has fenced us without taking our place: then the lease is taken again. Fencing comes first,
   * so that the row does not change hands after it was read; a holder that is fenced by this takes it again likewise.
   */
  async #isLost(): Promise<boolean> {
    const { engine } = this.#options;
    const { epoch } = await engine.fence(leaseId);
    const holder = await engine.read(leaseId, holderRow);
    if (holder === undefined || !this.#name.equals(holder)) return true;
    this.#epoch = epoch;
    return false;
  }

  async #write(value: Uint8Array): Promise<void> {
    const change = { epoch: this.#epoch, puts: [{ ...holderRow, value }], deletes: [] };
    await this.#options.engine.apply(leaseId, change);
  }
}
