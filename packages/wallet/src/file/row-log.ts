/** Stores changes of a wallet's ledger in the rows of a store. */
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import {
  Fenced,
  OutcomeUnknown,
  RolledBack,
  StoreUnavailable,
  type WalletKey,
  type WalletRow,
  type WalletStore,
} from "@anulo/store";
import { type Plain, readCbor, writeCbor } from "../cbor.ts";
import { OlderStore, ownedElsewhere, UnwrittenStore } from "../refusal.ts";
import type { RowChange } from "./cells.ts";
import type { LedgerRows } from "./ledger-rows.ts";
import { ledgerTables, rowKey, unfinishedTable } from "./ledger-tables.ts";
import type { ChangeLog } from "./store.ts";
import { whyUnwritten } from "./unwritten.ts";

/** Milliseconds that a change waits for an unreachable store, and between two attempts. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 250;

/**
 * Maximum rows of one transaction: below the database's limit and, serialized as one value, below the limit of a row.
 */
const STEP_ROWS = 4000;
const STEP_BYTES = 2 * 1024 * 1024;
/** The row which marks that the rows of an unfinished change are complete. */
const COMPLETE_KEY = rowKey([0]);

const isPut = (row: WalletRow | WalletKey): row is WalletRow => "value" in row;
const bytesOf = (row: WalletRow | WalletKey): number => (isPut(row) ? row.value.length : 0);
const isSecret = ({ table }: WalletKey): boolean => table.isSecret === true;

/** The rows of a change, deletes first, in groups that fit into a transaction. */
function stepsOf({ puts, deletes }: RowChange): RowChange[] {
  let step: RowChange = { puts: [], deletes: [] };
  const steps = [step];
  let bytes = 0;
  for (const row of [...deletes, ...puts]) {
    const size = bytesOf(row);
    if (step.puts.length + step.deletes.length === STEP_ROWS || bytes + size > STEP_BYTES) {
      step = { puts: [], deletes: [] };
      steps.push(step);
      bytes = 0;
    }
    bytes += size;
    if (isPut(row)) step.puts.push(row);
    else step.deletes.push(row);
  }
  return steps;
}

/**
 * Writes all rows of a change or none. A change that is too large for one transaction is first written to a separate
 * table, then marked as complete, then applied: after a crash the next opening of the store continues it.
 */
export async function writeRows(store: WalletStore, change: RowChange): Promise<void> {
  if (stepsOf(change).length === 1) return await store.apply(change);
  const isPlain = (row: WalletKey) => !isSecret(row);
  const plain = { puts: change.puts.filter(isPlain), deletes: change.deletes.filter(isPlain) };
  for (const [i, step] of stepsOf(plain).entries()) {
    const value = packStep(step);
    await store.apply({ puts: [{ table: unfinishedTable, key: rowKey([i + 1]), value }] });
  }
  // Secrets go into their own table only. A secret that is written too early, or already deleted, does no harm.
  const secret = { puts: change.puts.filter(isSecret), deletes: change.deletes.filter(isSecret) };
  for (const step of stepsOf(secret)) await store.apply(step);
  await store.apply({ puts: [{ table: unfinishedTable, key: COMPLETE_KEY, value: new Uint8Array() }] });
  await finishRows(store);
}

/** Applies a large change that was interrupted, or drops one that was not written completely. */
export async function finishRows(store: WalletStore): Promise<void> {
  const left: WalletKey[] = [];
  let isComplete = false;
  for await (const { key, value } of store.range(unfinishedTable)) {
    const row = { table: unfinishedTable, key };
    if (Buffer.compare(key, COMPLETE_KEY) === 0) isComplete = true;
    else if (isComplete) await store.apply(unpackStep(value));
    left.push(row);
  }
  // Usually one transaction; the mark is deleted first, so that rows left without it are dropped.
  for (const step of stepsOf({ puts: [], deletes: left }))
    if (step.deletes.length > 0) await store.apply(step);
}

function packStep({ puts, deletes }: RowChange): Uint8Array {
  return writeCbor({
    puts: puts.map(({ table, key, value }): Plain => [table.number, key, value]),
    deletes: deletes.map(({ table, key }): Plain => [table.number, key]),
  });
}

function unpackStep(value: Uint8Array): RowChange {
  const tables = new Map(ledgerTables.map((table) => [table.number, table]));
  const { puts, deletes } = readCbor(value) as unknown as {
    puts: [number, Uint8Array, Uint8Array][];
    deletes: [number, Uint8Array][];
  };
  return {
    puts: puts.map(([number, key, bytes]) => ({ table: tables.get(number)!, key, value: bytes })),
    deletes: deletes.map(([number, key]) => ({ table: tables.get(number)!, key })),
  };
}

/** Writes changes of a ledger to a store; changes that arrive during a write share the next transaction. */
export class RowLog implements ChangeLog {
  readonly #store: WalletStore;
  readonly #rows: LedgerRows;
  #writing: Promise<void> | undefined;
  #waiting: { done: () => void; failed: (error: unknown) => void }[] = [];
  #broken: unknown;
  #isClosing = false;

  /** `rows`: all of them that were taken so far are in the store. */
  constructor(store: WalletStore, rows: LedgerRows) {
    this.#store = store;
    this.#rows = rows;
    rows.written(store);
  }

  append(): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ done, failed });
      this.#writing ??= this.#drain();
    });
  }

  /** Rows are taken of the ledger as it is: none may be written once a change was applied to it in part. */
  refuse(reason: unknown): void {
    this.#broken ??= reason;
  }

  async #drain(): Promise<void> {
    // Not in the turn that has applied the change, which may have been long.
    await setImmediate();
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#broken !== undefined) throw this.#broken;
        await this.#write(this.#rows.take());
        this.#rows.written(this.#store);
        for (const { done } of waiting) done();
        // What can't be made now, for lack of a page, is made later.
        if (!this.#isClosing) await this.#rows.makeSegments().catch(() => undefined);
      } catch (error) {
        // The state of the rows may be unknown now: the wallet has to be opened again.
        this.#broken ??= refusalOf(error);
        for (const { failed } of waiting) failed(this.#broken);
      }
    }
    this.#writing = undefined;
  }

  /** If the store is unreachable nothing was applied, and the same change can be retried. */
  async #write(change: RowChange): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
      try {
        return await writeRows(this.#store, change);
      } catch (error) {
        const mayPass = error instanceof StoreUnavailable && error.mayPass;
        if (!mayPass || this.#isClosing || waitedMs >= PATIENCE_MS) throw error;
      }
      await delay(RETRY_MS);
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#writing !== undefined) await this.#writing;
    this.#broken ??= new StoreUnavailable("the wallet's store is closed");
    await this.#store.close();
  }
}

/** The error that callers receive when the store rejects a change. */
function refusalOf(error: unknown): unknown {
  if (error instanceof Fenced) return ownedElsewhere();
  if (error instanceof RolledBack) return new OlderStore();
  if (error instanceof StoreUnavailable) return new UnwrittenStore(whyUnwritten(error));
  if (error instanceof OutcomeUnknown)
    return new UnwrittenStore("whether the last change was kept is not known");
  return error;
}
