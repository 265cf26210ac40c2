/**
 * Blocks without transactions of the wallet only change its height: they wait in memory, and are written before the
 * next change of another kind, when there are many, and when the wallet closes. After a crash they are scanned again,
 * with the same result; all other changes are durable before `append` resolves, and are stored in the order in which
 * they happened. If an event log counts the wallet's changes, nothing waits: a number that was published must not be
 * used again for another change.
 */
import type { WalletChange } from "../changes.ts";
import type { ChangeLog } from "../file/store.ts";
import type { Ledger } from "./ledger.ts";

/** Maximum number of blocks that are scanned again after a crash. */
const MAX_BLOCKS = 250;

export class QuietBlocks implements Omit<ChangeLog, "append"> {
  readonly #log: ChangeLog;
  readonly #ledger: Ledger;
  /** Height of the next block; undefined if the last change does not determine it. */
  #height: number | undefined;
  /** Each with its encoding, if that exists: lists of objects that many wallets share. */
  #waiting: WalletChange[] = [];
  #encodings: (Uint8Array | undefined)[] = [];
  #blocks = 0;

  /** `ledger`: its state, as the log contains it. */
  constructor(log: ChangeLog, ledger: Ledger) {
    this.#log = log;
    this.#ledger = ledger;
    this.#height = ledger.state.height;
  }

  /** Resolves once the change is durable; undefined if it waits in memory. */
  append(change: WalletChange, encoded?: Uint8Array): Promise<void> | undefined {
    const isQuiet = this.#isQuiet(change);
    this.#height = change.kind === "blocks" ? change.fromHeight + change.count : undefined;
    this.#waiting.push(change);
    this.#encodings.push(encoded);
    if (change.kind === "blocks") this.#blocks += change.count;
    return isQuiet && this.#blocks < MAX_BLOCKS ? undefined : this.#write();
  }

  /** Whether the change only appends blocks after the known ones, without transactions of the wallet. */
  #isQuiet(change: WalletChange): boolean {
    if (change.kind !== "blocks" || this.#ledger.state.eventSource.length > 0) return false;
    return change.transactions.length === 0 && change.count > 0 && change.fromHeight === this.#height;
  }

  /** Resolves once the log has every block; rejects if it can't be written. */
  flush(): Promise<void> {
    return this.#write();
  }

  /** Changes that are appended together share one write. */
  async #write(): Promise<void> {
    const [waiting, encodings] = [this.#waiting, this.#encodings];
    this.#waiting = [];
    this.#encodings = [];
    this.#blocks = 0;
    await Promise.all(waiting.map((change, i) => this.#log.append(change, encodings[i])));
  }

  refuse(reason: unknown): void {
    this.#log.refuse(reason);
  }

  async close(): Promise<void> {
    // Nothing depends on these blocks: if they can't be written they are scanned again.
    await this.#write().catch(() => undefined);
    await this.#log.close();
  }
}
