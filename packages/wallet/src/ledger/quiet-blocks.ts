/**
 * Blocks that bring a wallet nothing only move its height: they wait in memory, and are written before the next change
 * that is more than that, when there are many, and when the wallet closes. A crash has them scanned again, which finds
 * nothing again; all else is durable before `append` answers, and stands in the order in which it happened. Where an
 * event log counts the wallet's changes nothing waits: a number that was told must not come again for another change.
 */
import type { WalletChange } from "../changes.ts";
import type { ChangeLog } from "../file/store.ts";
import type { Ledger } from "./ledger.ts";

type Waiting = { readonly change: WalletChange; readonly encoded: Uint8Array | undefined };

/** The most a crash has a wallet scan again. */
const MAX_BLOCKS = 100;

export class QuietBlocks implements ChangeLog {
  readonly #log: ChangeLog;
  readonly #ledger: Ledger;
  /** Of the next block; undefined where the last change leaves it open. */
  #height: number | undefined;
  #waiting: Waiting[] = [];
  #blocks = 0;

  /** `ledger`: as the log has it. */
  constructor(log: ChangeLog, ledger: Ledger) {
    this.#log = log;
    this.#ledger = ledger;
    this.#height = ledger.state.height;
  }

  async append(change: WalletChange, encoded?: Uint8Array): Promise<void> {
    const isQuiet = this.#isQuiet(change);
    this.#height = change.kind === "blocks" ? change.fromHeight + change.count : undefined;
    this.#waiting.push({ change, encoded });
    if (change.kind === "blocks") this.#blocks += change.count;
    if (!isQuiet || this.#blocks >= MAX_BLOCKS) await this.#write();
  }

  /** Blocks that follow on what is known, with nothing for the wallet. */
  #isQuiet(change: WalletChange): boolean {
    if (change.kind !== "blocks" || this.#ledger.state.eventSource.length > 0) return false;
    return change.transactions.length === 0 && change.count > 0 && change.fromHeight === this.#height;
  }

  /** What comes together shares one write. */
  async #write(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#blocks = 0;
    await Promise.all(waiting.map(({ change, encoded }) => this.#log.append(change, encoded)));
  }

  async close(): Promise<void> {
    // Nothing rests on them: where they can't be written they are scanned again.
    await this.#write().catch(() => undefined);
    await this.#log.close();
  }
}
