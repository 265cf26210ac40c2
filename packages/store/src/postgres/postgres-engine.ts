import { checkRowKey, checkWallet } from "../check-change.ts";
import { type Engine, type KeyRange, MAX_PAGE_BYTES, MAX_PAGE_ROWS, type Mark, type Row } from "../engine.ts";
import { GroupCommit } from "../group-commit.ts";
import { pageOf } from "../page.ts";
import { commitGroup } from "./commit.ts";
import { ask, openDatabase } from "./database.ts";
import type { LeaseHold } from "./lease-hold.ts";
import { Openings } from "./openings.ts";
import { prepareSchema } from "./schema.ts";
import { openSnapshot } from "./snapshot.ts";

export interface PostgresOptions {
  /** Milliseconds for which the outcome of a commit is looked up if its answer was lost; a minute by default. */
  readonly patienceMs?: number;
  /** Milliseconds after which the server undoes an idle transaction of this process; half a minute by default. */
  readonly idleMs?: number;
}

export interface PostgresEngine extends Engine {
  /** The same engine, on which ownership is only taken while this lease is held: `fence` throws `Expelled` otherwise. */
  under(lease: LeaseHold): Engine;
}

/**
 * A statement with only the bounds that are set: it returns a table's rows in order, as many as a page holds, and at
 * least one.
 */
function pageStatement({ from, to, reverse = false }: KeyRange): string {
  const order = reverse ? "DESC" : "ASC";
  const bounds = [from && "AND key >= $4", to && `AND key < $${from ? 5 : 4}`].filter(Boolean).join(" ");
  return `SELECT key, value FROM (
      SELECT key, value, sum(octet_length(key) + octet_length(value)) OVER (
        ORDER BY key ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT key, value FROM anulo.rows WHERE wallet = $1 AND "table" = $2 ${bounds}
        ORDER BY key ${order} LIMIT $3) AS first) AS page
    WHERE coalesce(before, 0) < ${MAX_PAGE_BYTES} ORDER BY key ${order}`;
}

type MarkColumns = [epoch: string, sequence: string];
const markIn = ([epoch, sequence]: MarkColumns): Mark => ({
  epoch: Number(epoch),
  sequence: Number(sequence),
});

type RowColumns = [key: Buffer, value: Buffer];
const rowIn = ([key, value]: RowColumns): Row => ({ key, value });

/**
 * Opens the rows of many wallets in the PostgreSQL database at `address` (`postgres://..`), in its schema `anulo`,
 * which is created if it is missing. Any number of processes may use it. Throws `StoreUnavailable`.
 */
export async function openPostgresEngine(
  address: string,
  options: PostgresOptions = {},
): Promise<PostgresEngine> {
  const { patienceMs = 60_000, idleMs } = options;
  const database = await openDatabase(address, { ...(idleMs !== undefined && { idleMs }) });
  await prepareSchema(database).catch(async (error: unknown) => {
    await database.end();
    throw error;
  });
  const changes = new GroupCommit((group) => commitGroup({ database, patienceMs }, group));
  const openings = new Openings(database);
  let ended: Promise<void> | undefined;
  const engine: Engine = {
    async fence(wallet, above = 0) {
      checkWallet(wallet);
      changes.checkOpen();
      const text = `INSERT INTO anulo.owners VALUES ($1, $2::bigint + 1, 0) ON CONFLICT (wallet)
        DO UPDATE SET epoch = greatest(owners.epoch, $2::bigint) + 1 RETURNING epoch, sequence`;
      const [row] = await ask<MarkColumns>(database, text, [wallet, above]);
      return markIn(row!);
    },
    async markOf(wallet) {
      checkWallet(wallet);
      changes.checkOpen();
      const [row] = await ask<MarkColumns>(
        database,
        "SELECT epoch, sequence FROM anulo.owners WHERE wallet = $1",
        [wallet],
      );
      return row && markIn(row);
    },
    apply: (wallet, change) => changes.submit(wallet, change),
    async read(wallet, row) {
      checkRowKey(row);
      changes.checkOpen();
      const text = `SELECT value FROM anulo.rows WHERE wallet = $1 AND "table" = $2 AND key = $3`;
      const [found] = await ask<[Buffer]>(database, text, [wallet, row.table, row.key]);
      return found?.[0];
    },
    async page(wallet, table, range) {
      changes.checkOpen();
      const { limit = Number.POSITIVE_INFINITY, from, to } = range;
      const bounds = [from, to].filter((bound) => bound !== undefined);
      const values = [wallet, table, Math.min(limit, MAX_PAGE_ROWS), ...bounds];
      return pageOf((await ask<RowColumns>(database, pageStatement(range), values)).map(rowIn), limit);
    },
    async readAhead(wallet) {
      checkWallet(wallet);
      changes.checkOpen();
      return await openings.read(wallet);
    },
    async snapshot(wallet) {
      checkWallet(wallet);
      changes.checkOpen();
      return await openSnapshot(database, wallet);
    },
    async close() {
      await changes.close();
      ended ??= database.end();
      await ended;
    },
  };
  return {
    ...engine,
    under: (lease) => ({
      ...engine,
      async fence(wallet, above = 0) {
        checkWallet(wallet);
        changes.checkOpen();
        return await openings.fence(wallet, above, lease);
      },
    }),
  };
}
