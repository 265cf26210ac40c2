import pg from "pg";
import { StoreUnavailable } from "../errors.ts";

/** Connections of one process: one writes, the others read. */
const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement of ours takes on a server that can be used. */
const STATEMENT_TIMEOUT_MS = 30_000;

export type Connection = pg.PoolClient;
export type Database = pg.Pool;

/**
 * Connections to the database at an address such as `postgres://user@host/name`, made as they are needed. A commit is
 * answered once it is on the server's disk, and where standbys are synchronous on theirs.
 */
export function openDatabase(address: string): Database {
  const database = new pg.Pool({
    connectionString: address,
    application_name: "anulo",
    max: MAX_CONNECTIONS,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // What a vanished process has begun must not hold its rows for long.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: 2 * STATEMENT_TIMEOUT_MS,
    options: "-c synchronous_commit=on",
  });
  // A connection that is lost while idle is replaced when it is needed; one in use fails what it is used for.
  database.on("error", () => {});
  database.on("connect", (connection) => connection.on("error", () => {}));
  return database;
}

/** A row of an answer, column by column: bytes as a Buffer, 64-bit numbers as text. */
export type Columns = readonly unknown[];

/** The rows of a statement, each of which the caller knows the columns of. */
export async function query<Row extends Columns>(
  on: Database | Connection,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await on.query<Columns[]>({ text, values: [...values], rowMode: "array" });
  return rows as unknown as Row[];
}

/** The same, for reading: whatever goes wrong, nothing was changed. */
export async function ask<Row extends Columns>(
  database: Database,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  try {
    return await query(database, text, values);
  } catch (cause) {
    throw new StoreUnavailable("the database does not answer", { cause, mayPass: isConnectionLost(cause) });
  }
}

/**
 * Whether it was the way to the server, not what it was asked: no answer of its own, or one that it is starting,
 * stopping or full. Source: PostgreSQL, appendix A, classes 08, 53 and 57P.
 */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || /^(?:08|53300|57P)/.test(code);
}

/** The code of an error that the server gave; undefined for others, as of connections. Source: PostgreSQL, appendix A. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
