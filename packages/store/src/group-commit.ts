import { checkChange } from "./check-change.ts";
import { type Change, MAX_CHANGE_BYTES, MAX_CHANGE_ROWS, type WalletId } from "./engine.ts";
import { StoreUnavailable } from "./errors.ts";

/** A change that waits for its transaction. */
export interface Waiting {
  readonly wallet: WalletId;
  readonly change: Change;
}

/** The result of a change: its sequence number, or the error for which it was refused. */
export type Outcome = number | Error;

type Queued = Waiting & {
  readonly bytes: number;
  settle(outcome: Outcome): void;
};

/**
 * Joins concurrent changes of all wallets into one transaction, in their order: while one is being committed, the next
 * ones are collected. If `commit` rejects, all its changes reject.
 */
export class GroupCommit {
  readonly #commit: (group: readonly Waiting[]) => Promise<readonly Outcome[]>;
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(commit: (group: readonly Waiting[]) => Promise<readonly Outcome[]>) {
    this.#commit = commit;
  }

  /** Returns the sequence number of a change once it is committed. */
  async submit(wallet: WalletId, change: Change): Promise<number> {
    const bytes = checkChange(wallet, change);
    this.checkOpen();
    return await new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => (typeof outcome === "number" ? resolve(outcome) : reject(outcome));
      this.#queue.push({ wallet, change, bytes, settle });
      this.#running ??= this.#run();
    });
  }

  /** Throws `StoreUnavailable` once it is closed. */
  checkOpen(): void {
    if (this.#isClosed) throw new StoreUnavailable("the store is closed");
  }

  /** Refuses further changes and waits for those that were submitted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Changes submitted in the same turn are included.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#nextGroup();
      const outcomes = await this.#commit(group).catch((error: Error) => group.map(() => error));
      for (const [i, { settle }] of group.entries()) settle(outcomes[i]!);
    }
    this.#running = undefined;
  }

  /** As many changes as fit into the size of one large change. */
  #nextGroup(): Queued[] {
    let [count, rows, bytes] = [0, 0, 0];
    for (const { change, bytes: size } of this.#queue) {
      rows += change.puts.length + change.deletes.length;
      bytes += size;
      if (count > 0 && (rows > MAX_CHANGE_ROWS || bytes > MAX_CHANGE_BYTES)) break;
      count++;
    }
    const group = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return group;
  }
}
