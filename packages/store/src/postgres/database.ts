import pg from "pg";
import { StoreUnavailable } from "../errors.ts";

/** Connections of one process: one writes, the others read. */
const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement of ours takes on a server that can be used. */
const STATEMENT_TIMEOUT_MS = 30_000;

export type Connection = pg.PoolClient;
export type Database = pg.Pool;

export interface DatabaseOptions {
  readonly maxConnections?: number;
  /** Milliseconds for a connection, and for a statement. */
  readonly connectMs?: number;
  readonly statementMs?: number;
  /** Milliseconds after which the server undoes a transaction whose client asks nothing. */
  readonly idleMs?: number;
}

/**
 * Connections to the database at an address such as `postgres://user@host/name`, made as they are needed. A commit is
 * answered once it is on the server's disk, and where standbys are synchronous on theirs.
 */
export function openDatabase(address: string, options: DatabaseOptions = {}): Database {
  const { maxConnections = MAX_CONNECTIONS, connectMs = CONNECT_TIMEOUT_MS } = options;
  const { statementMs = STATEMENT_TIMEOUT_MS, idleMs = STATEMENT_TIMEOUT_MS } = options;
  const database = new pg.Pool({
    connectionString: address,
    application_name: "anulo",
    max: maxConnections,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    // What a vanished process has begun must not hold its rows for long.
    idle_in_transaction_session_timeout: idleMs,
    query_timeout: 2 * statementMs,
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
 * stopping or full, or has given up a transaction that was asked nothing for too long, as of a process that was
 * stopped. Source: PostgreSQL, appendix A, classes 08, 53 and 57P, code 25P03.
 */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || /^(?:08|53300|57P|25P03)/.test(code);
}

/** The code of an error that the server gave; undefined for others, as of connections. Source: PostgreSQL, appendix A. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
