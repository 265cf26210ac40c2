import { setImmediate } from "node:timers/promises";
import { getSystemErrorName } from "node:util";
import { lmdbOptions } from "@anulo/storage";
import { type Database, open, type RootDatabase } from "lmdb";
import { checkRowKey, checkWallet, markAfter } from "./check-change.ts";
import {
  type Engine,
  type KeyRange,
  MAX_PAGE_BYTES,
  MAX_PAGE_ROWS,
  MAX_TABLE_NUMBER,
  type Mark,
  type NewRow,
  type Row,
  type RowKey,
  type TableNumber,
  WALLET_ID_BYTES,
  type WalletId,
  type WalletSnapshot,
} from "./engine.ts";
import { DamagedStore, OutcomeUnknown, StoreUnavailable } from "./errors.ts";
import { GroupCommit, type Outcome, type Waiting } from "./group-commit.ts";
import { hasManyAddresses, prepareFiles } from "./lmdb-files.ts";
import { pageOf } from "./page.ts";

type Bytes = Database<Buffer, Buffer>;

interface Tables {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** Rows of all wallets, by wallet, table and key. */
  readonly rows: Bytes;
  /** Epoch and sequence of each wallet. */
  readonly owners: Bytes;
}

const MARK_BYTES = 16;

function writeMark({ epoch, sequence }: Mark): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.writeBigUInt64BE(BigInt(epoch));
  bytes.writeBigUInt64BE(BigInt(sequence), 8);
  return bytes;
}

function readMark(bytes: Buffer): Mark {
  if (bytes.length !== MARK_BYTES) throw new DamagedStore("the owner of a wallet is not what was written");
  return { epoch: Number(bytes.readBigUInt64BE()), sequence: Number(bytes.readBigUInt64BE(8)) };
}

const keyOf = (wallet: WalletId, { table, key }: RowKey): Buffer =>
  Buffer.concat([wallet, Uint8Array.of(table), key]);

/** The first key of a table; the table ends where the next one starts. */
const startOf = (wallet: WalletId, table: TableNumber): Buffer =>
  Buffer.concat([wallet, Uint8Array.of(table)]);

function markIn({ owners }: Tables, wallet: WalletId): Mark | undefined {
  const bytes = owners.getBinary(Buffer.from(wallet));
  return bytes === undefined ? undefined : readMark(bytes);
}

/** Writes a change into the open transaction. */
function applyChange(tables: Tables, { wallet, change }: Waiting): Outcome {
  const next = markAfter(markIn(tables, wallet), change);
  if (next instanceof Error) return next;
  for (const row of change.deletes) tables.rows.removeSync(keyOf(wallet, row));
  for (const row of change.puts) tables.rows.putSync(keyOf(wallet, row), Buffer.from(row.value));
  tables.owners.putSync(Buffer.from(wallet), writeMark(next));
  return next.sequence;
}

/** The last applied change of each wallet, by these outcomes. */
function lastOf(group: readonly Waiting[], outcomes: readonly Outcome[]) {
  return group.flatMap(({ wallet }, i) => {
    const outcome = outcomes[i];
    return typeof outcome === "number" ? [{ wallet, sequence: outcome }] : [];
  });
}

function* walk({ rows }: Tables, wallet: WalletId, range: KeyRange & { table: TableNumber }): Generator<Row> {
  const { table, from, to, reverse = false } = range;
  const first = startOf(wallet, table);
  const low = from === undefined ? first : Buffer.concat([first, from]);
  const high = to === undefined ? startOf(wallet, table + 1) : Buffer.concat([first, to]);
  if (Buffer.compare(low, high) >= 0) return;
  const options = reverse
    ? { start: high, end: low, reverse, exclusiveStart: true, inclusiveEnd: true }
    : { start: low, end: high };
  for (const { key, value } of rows.getRange(options)) {
    yield { key: key.subarray(first.length), value };
  }
}

/** Reads in a transaction of its own, whose pages the database keeps until it ends. */
function snapshotIn(tables: Tables, wallet: WalletId): WalletSnapshot | undefined {
  const transaction = tables.root.useReadTransaction();
  const bytes = tables.owners.get(Buffer.from(wallet), { transaction });
  if (bytes === undefined) {
    transaction.done();
    return undefined;
  }
  const from = startOf(wallet, 0);
  async function* pages(): AsyncGenerator<readonly NewRow[], void> {
    let rows: NewRow[] = [];
    let size = 0;
    const range = { start: from, end: startOf(wallet, MAX_TABLE_NUMBER + 1), transaction };
    for (const { key, value } of tables.rows.getRange(range)) {
      rows.push({ table: key[WALLET_ID_BYTES]!, key: key.subarray(from.length), value });
      size += key.length + value.length;
      if (rows.length < MAX_PAGE_ROWS && size < MAX_PAGE_BYTES) continue;
      yield rows;
      rows = [];
      size = 0;
      await setImmediate();
    }
    if (rows.length > 0) yield rows;
  }
  let isClosed = false;
  return {
    mark: readMark(bytes),
    pages: pages(),
    async close() {
      if (!isClosed) transaction.done();
      isClosed = true;
    },
  };
}

function openTables(path: string): Tables {
  const { mapSize, ...others } = lmdbOptions;
  const root = open<Buffer, Buffer>({
    ...others,
    // Where addresses are few, the file is mapped again as it grows.
    ...(mapSize !== undefined && hasManyAddresses() && { mapSize }),
    path,
    noSubdir: true,
    maxDbs: 3,
    // A commit is on disk before it is reported: its pages first, then the root page that makes them valid.
    overlappingSync: false,
    // Otherwise the binding would create a promise for each turn that cannot be caught when a commit fails.
    eventTurnBatching: false,
    encoding: "binary",
    keyEncoding: "binary",
  });
  const openTable = (name: string) =>
    root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
  return { root, rows: openTable("rows"), owners: openTable("owners") };
}

/** The binding gives the reason of a failed commit in a promise of its error, which would otherwise be unhandled. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  const reason = await commitError?.catch((cause: unknown) => cause);
  const code = (reason as { code?: unknown } | undefined)?.code;
  // It is the system's number of an error, where the system had one.
  if (typeof code !== "number" || code <= 0) return error;
  return Object.assign(new Error((reason as Error).message), { code: getSystemErrorName(-code) });
}

/**
 * Opens the rows of many wallets in the LMDB file at `path`, which is created if it is missing, with its folder.
 * Several processes of one machine may have it open: the engine orders their transactions. A process may open it once
 * more only while no change of its own is under way: opening blocks the thread until nobody writes, and who writes may
 * need that thread. Throws the system's errors, and those of a file that is no such database.
 */
export function openLmdbEngine(path: string): Engine {
  prepareFiles(path, (draft) => {
    // Nothing waits to be written: it is closed when this returns.
    void openTables(draft).root.close();
  });
  const tables = openTables(path);
  const { root } = tables;
  /** Runs in a nested transaction inside that of the group: a step that throws leaves nothing behind. */
  const write = async <T>(step: () => T): Promise<T> => await root.childTransaction(step);
  /** After a commit that failed nothing of it is valid, unless its root page can be read. */
  const failureOf = (group: readonly Waiting[], outcomes: readonly Outcome[], cause: unknown): Error => {
    const isSeen = lastOf(group, outcomes).some(({ wallet, sequence }) => {
      const mark = markIn(tables, wallet);
      return mark !== undefined && mark.sequence >= sequence;
    });
    return isSeen
      ? new OutcomeUnknown("a change was written, but may not be on disk", { cause })
      : new StoreUnavailable("the store could not be written", { cause });
  };
  const commit = async (group: readonly Waiting[]): Promise<readonly Outcome[]> => {
    let outcomes: readonly Outcome[] = [];
    try {
      await write(() => {
        outcomes = group.map((waiting) => applyChange(tables, waiting));
      });
      return outcomes;
    } catch (error) {
      throw failureOf(group, outcomes, await reasonOf(error));
    }
  };
  const fence = async (wallet: WalletId, above: number): Promise<Mark> => {
    try {
      return await write(() => {
        const { epoch, sequence } = markIn(tables, wallet) ?? { epoch: 0, sequence: 0 };
        const mark = { epoch: Math.max(epoch, above) + 1, sequence };
        tables.owners.putSync(Buffer.from(wallet), writeMark(mark));
        return mark;
      });
    } catch (error) {
      if (error instanceof DamagedStore) throw error;
      throw new StoreUnavailable("the store could not be written", { cause: await reasonOf(error) });
    }
  };
  const changes = new GroupCommit(commit);
  const readNow = (wallet: WalletId, row: RowKey) => {
    checkRowKey(row);
    changes.checkOpen();
    return tables.rows.getBinary(keyOf(wallet, row));
  };
  return {
    readNow,
    async fence(wallet, above = 0) {
      checkWallet(wallet);
      changes.checkOpen();
      return await fence(wallet, above);
    },
    async markOf(wallet) {
      checkWallet(wallet);
      changes.checkOpen();
      return markIn(tables, wallet);
    },
    apply: (wallet, change) => changes.submit(wallet, change),
    read: async (wallet, row) => readNow(wallet, row),
    async page(wallet, table, range) {
      changes.checkOpen();
      return pageOf(walk(tables, wallet, { ...range, table }), range.limit);
    },
    async snapshot(wallet) {
      checkWallet(wallet);
      changes.checkOpen();
      return snapshotIn(tables, wallet);
    },
    async close() {
      await changes.close();
      await root.close();
    },
  };
}
