import { MAX_PAGE_BYTES, MAX_PAGE_ROWS, type NewRow, type WalletId, type WalletSnapshot } from "../engine.ts";
import { StoreUnavailable } from "../errors.ts";
import { type Connection, type Database, isConnectionLost, query } from "./database.ts";

type MarkColumns = [epoch: string, sequence: string];
type RowColumns = [table: number, key: Buffer, value: Buffer];

/** The next rows after a place, as many as a page holds, and at least one. */
const PAGE = `SELECT "table", key, value FROM (
    SELECT "table", key, value, sum(octet_length(key) + octet_length(value)) OVER (
      ORDER BY "table", key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT "table", key, value FROM anulo.rows WHERE wallet = $1 AND ("table", key) > ($2, $3)
      ORDER BY "table", key LIMIT ${MAX_PAGE_ROWS}) AS first) AS page
  WHERE coalesce(before, 0) < ${MAX_PAGE_BYTES} ORDER BY "table", key`;

const unavailable = (cause: unknown) =>
  new StoreUnavailable("the database does not answer", { cause, mayPass: isConnectionLost(cause) });

/** Reads in one transaction, which sees one state of the database; undefined for a wallet that is not there. */
export async function openSnapshot(
  database: Database,
  wallet: WalletId,
): Promise<WalletSnapshot | undefined> {
  let connection: Connection | undefined;
  try {
    connection = await database.connect();
    await query(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const text = "SELECT epoch, sequence FROM anulo.owners WHERE wallet = $1";
    const [mark] = await query<MarkColumns>(connection, text, [wallet]);
    if (mark !== undefined) return snapshotOn(connection, wallet, mark);
    connection.release(true);
    return undefined;
  } catch (cause) {
    connection?.release(true);
    throw unavailable(cause);
  }
}

function snapshotOn(
  connection: Connection,
  wallet: WalletId,
  [epoch, sequence]: MarkColumns,
): WalletSnapshot {
  let isClosed = false;
  async function* pages(): AsyncGenerator<readonly NewRow[], void> {
    let [table, key]: [number, Uint8Array] = [-1, new Uint8Array(0)];
    for (;;) {
      const rows = await query<RowColumns>(connection, PAGE, [wallet, table, key]).catch((cause: unknown) => {
        throw unavailable(cause);
      });
      const last = rows.at(-1);
      if (last === undefined) return;
      [table, key] = last;
      yield rows.map(([number, rowKey, value]) => ({ table: number, key: rowKey, value }));
    }
  }
  return {
    mark: { epoch: Number(epoch), sequence: Number(sequence) },
    pages: pages(),
    async close() {
      if (isClosed) return;
      isClosed = true;
      // Whatever state the transaction is in, the server ends it with the connection.
      connection.release(true);
    },
  };
}
