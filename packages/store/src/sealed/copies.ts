/** Copies of a wallet's rows, encrypted as they are, and what puts them back. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { checkRowKey } from "../check-change.ts";
import type { Engine, Mark, NewRow, RowKey, WalletId } from "../engine.ts";
import { DamagedStore } from "../errors.ts";
import { dataKeyRow, nextDataKeyRow, removedRow } from "./data-key.ts";
import { KeySlots } from "./key-slots.ts";
import { OWN_TABLE } from "./tables.ts";

/** Rows of one change while a copy is put back, and their bytes: far below what the engine takes. */
const STEP_ROWS = 2000;
const STEP_BYTES = 2 * 1024 * 1024;
const MARK_BYTES = 16;
/** An epoch is an opening of the wallet; a larger one is not of ours, and might leave none for later openings. */
const MAX_COPY_EPOCH = 2 ** 40;
/** Larger than any of the store's own rows. */
const MAX_OWN_BYTES = 256;

/** The row that says that the wallet was put back from a copy, and how far that had come; it goes with the next opening. */
export const restoredRow: RowKey = { table: OWN_TABLE, key: Buffer.from("restored") };

/** A copy of all rows of a wallet, from one state of its database. */
export interface WalletCopy {
  readonly mark: Mark;
  /** Reads all rows, in order of table and key; may be called again. */
  read(): AsyncIterable<readonly NewRow[]>;
}

function writeMark({ epoch, sequence }: Mark): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.writeBigUInt64BE(BigInt(epoch));
  bytes.writeBigUInt64BE(BigInt(sequence), 8);
  return bytes;
}

/** How far the copy had come that a wallet was put back from; undefined if it was opened since, or never put back. */
export async function restoredMark(engine: Engine, wallet: WalletId): Promise<Mark | undefined> {
  const value = await engine.read(wallet, restoredRow);
  if (value?.length !== MARK_BYTES) return undefined;
  const bytes = Buffer.from(value);
  return { epoch: Number(bytes.readBigUInt64BE()), sequence: Number(bytes.readBigUInt64BE(8)) };
}

/**
 * Replaces all rows of a wallet by those of a copy. Whoever has it open is fenced. Until all rows are there the wallet
 * can't be opened, so that one that was put back in part is never taken for whole; repeating this completes it. The next
 * opening finds that the wallet is as old as the copy (`openWalletStore`). Throws `DamagedStore` before anything is
 * changed if the copy is not one of a wallet, and the errors of the engine.
 */
export async function restoreWalletRows(engine: Engine, wallet: WalletId, copy: WalletCopy): Promise<void> {
  const own = await checkCopy(copy);
  const { epoch, sequence } = await engine.fence(wallet, copy.mark.epoch);
  const apply = (puts: readonly NewRow[], deletes: readonly RowKey[]) =>
    engine.apply(wallet, { epoch, puts, deletes });
  const record = { ...restoredRow, value: writeMark(copy.mark) };
  if (sequence > 0) {
    // Without its data key it does not open.
    await apply([record], [dataKeyRow, nextDataKeyRow, removedRow]);
    await deleteRows(engine, wallet, { epoch, isKept: isRestored });
  }
  let step: NewRow[] = [];
  let bytes = 0;
  for await (const rows of copy.read()) {
    for (const row of rows) {
      if (row.table === OWN_TABLE) continue;
      step.push(row);
      bytes += row.value.length;
      if (step.length < STEP_ROWS && bytes < STEP_BYTES) continue;
      await apply(step, []);
      step = [];
      bytes = 0;
    }
  }
  // A copy of a wallet that was not opened since it was put back itself is as old as what it was put back from.
  await apply([...step, ...(own.some(isRestored) ? own : [...own, record])], []);
}

/** The store's own rows in a copy. Throws `DamagedStore` unless all rows can be written and a data key is there. */
async function checkCopy({ mark, read }: WalletCopy): Promise<readonly NewRow[]> {
  const refuse = (why: string) => new DamagedStore(`the copy is damaged: ${why}`);
  if (!(mark.epoch >= 1 && mark.epoch <= MAX_COPY_EPOCH && Number.isSafeInteger(mark.sequence)))
    throw refuse("no wallet comes that far");
  const own: NewRow[] = [];
  let last: RowKey | undefined;
  for await (const rows of read()) {
    for (const row of rows) {
      try {
        checkRowKey(row);
      } catch (cause) {
        throw refuse((cause as Error).message);
      }
      const order = last === undefined ? 1 : row.table - last.table || Buffer.compare(row.key, last.key);
      if (order <= 0) throw refuse("its rows are not in order");
      last = { table: row.table, key: Buffer.from(row.key) };
      if (row.table !== OWN_TABLE) continue;
      if (
        !ownRowsOfCopies.some(({ key }) => Buffer.compare(key, row.key) === 0) ||
        row.value.length > MAX_OWN_BYTES
      )
        throw refuse("it has a row that no store has");
      own.push({ ...row, key: last.key, value: Buffer.from(row.value) });
    }
  }
  if (!own.some(({ key }) => Buffer.compare(key, dataKeyRow.key) === 0)) throw refuse("it has no data key");
  return own;
}

const ownRowsOfCopies = [dataKeyRow, nextDataKeyRow, restoredRow];

/** Whether a wallet's rows can be opened: not if it was removed, or put back from a copy in part. */
export async function hasDataKey(engine: Engine, wallet: WalletId): Promise<boolean> {
  return (await engine.read(wallet, dataKeyRow)) !== undefined;
}

const isRestored = ({ table, key }: RowKey): boolean =>
  table === OWN_TABLE && Buffer.compare(key, restoredRow.key) === 0;

/** Deletes the rows of a wallet, a page at a time. */
async function deleteRows(
  engine: Engine,
  wallet: WalletId,
  { epoch, isKept }: { readonly epoch: number; readonly isKept: (row: RowKey) => boolean },
): Promise<void> {
  const there = await engine.snapshot(wallet);
  try {
    for await (const rows of there?.pages ?? []) {
      const deletes = rows.filter((row) => !isKept(row));
      if (deletes.length > 0) await engine.apply(wallet, { epoch, puts: [], deletes });
    }
  } finally {
    await there?.close();
  }
}

const isRemoved = ({ table, key }: RowKey): boolean =>
  table === OWN_TABLE && Buffer.compare(key, removedRow.key) === 0;

/**
 * Removes a wallet from a store: whoever has it open is fenced, its data key goes first, then its rows, and its files in
 * `folder`. What is left is a row that says so, without which an owner of long ago might write again. Throws the errors
 * of the engine; repeating it completes it.
 */
export async function removeWalletRows(engine: Engine, wallet: WalletId, folder: string): Promise<void> {
  const { epoch } = await engine.fence(wallet);
  const mark = { ...removedRow, value: new Uint8Array() };
  await engine.apply(wallet, { epoch, puts: [mark], deletes: [dataKeyRow, nextDataKeyRow, restoredRow] });
  await deleteRows(engine, wallet, { epoch, isKept: isRemoved });
  const beside = (extension: string) => join(folder, `${Buffer.from(wallet).toString("hex")}.${extension}`);
  const slots = await KeySlots.open(beside("slots"));
  try {
    await slots.keepOnly(nothing());
  } finally {
    await slots.close();
  }
  for (const extension of ["slots", "witness"]) await rm(beside(extension), { force: true });
}

async function* nothing(): AsyncGenerator<never, void> {}
