import { Fenced, OutcomeUnknown, StoreUnavailable, type WalletStore } from "@anulo/store";
import type { Clock } from "./clock.ts";
import type { Lease } from "./lease.ts";

const RETRY_MS = 1_000;

export interface LogStoreParts {
  readonly lease: Pick<Lease, "confirm">;
  readonly clock: Clock;
  /** Aborts once the log has ended. */
  readonly ended: AbortSignal;
  /** Opens the store again, which fences the former one. */
  readonly open: () => Promise<WalletStore>;
  /** Reads what the store has, before anybody else uses it. */
  readonly load: (store: WalletStore) => Promise<void>;
  /** Ends the log: it can't be opened again. */
  readonly end: (error: unknown) => void;
}

/** The store of a log; it is opened again after a change of which it is not known whether it was applied. */
export class LogStore {
  readonly #parts: LogStoreParts;
  #current: WalletStore;
  #opening: Promise<void> | undefined;

  constructor(store: WalletStore, parts: LogStoreParts) {
    this.#current = store;
    this.#parts = parts;
  }

  get current(): WalletStore {
    return this.#current;
  }

  /** Opens the store again as soon as its engine can be reached. */
  reopen(): void {
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined;
    });
  }

  async close(): Promise<void> {
    await this.#opening;
    await this.#current.close();
  }

  async #reopen(): Promise<void> {
    const { clock, ended, end } = this.#parts;
    await this.#current.close();
    while (!ended.aborted) {
      try {
        return await this.#attempt();
      } catch (error) {
        // Whether another process has the lease is found out by its renewals.
        const mayPass = [StoreUnavailable, OutcomeUnknown, Fenced].some((kind) => error instanceof kind);
        if (!mayPass) return end(error);
      }
      await clock.delay(RETRY_MS, ended);
    }
  }

  async #attempt(): Promise<void> {
    const { lease, open, load } = this.#parts;
    // Nobody else has the log, nor takes it before it is fenced.
    await lease.confirm();
    const store = await open();
    try {
      await load(store);
    } catch (error) {
      await store.close();
      throw error;
    }
    this.#current = store;
  }
}
