import type pg from "pg";
import { StoreUnavailable } from "../errors.ts";

/** Maximum number of connections of one process: one writes, the others read. */
const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any of our statements takes on a server that is usable. */
const STATEMENT_TIMEOUT_MS = 30_000;

export type Connection = pg.PoolClient;
export type Database = pg.Pool;

export interface DatabaseOptions {
  readonly maxConnections?: number;
  /** Milliseconds for a connection, and for a statement. */
  readonly connectMs?: number;
  readonly statementMs?: number;
  /** Milliseconds that this process waits for an answer; a connection that gives none is replaced. */
  readonly queryMs?: number;
  /** Milliseconds after which the server undoes a transaction without a statement. */
  readonly idleMs?: number;
}

/**
 * Opens connections to the database at an address such as `postgres://user@host/name`, as they are needed. A commit is
 * answered once it is on the server's disk and, if there are synchronous standbys, on theirs.
 */
export async function openDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  const { maxConnections = MAX_CONNECTIONS, connectMs = CONNECT_TIMEOUT_MS } = options;
  const { statementMs = STATEMENT_TIMEOUT_MS, idleMs = STATEMENT_TIMEOUT_MS } = options;
  const { queryMs = 2 * statementMs } = options;
  // Loaded here, so that services without such a database do without the driver.
  const { Pool } = (await import("pg")).default;
  const database = new Pool({
    connectionString: address,
    application_name: "anulo",
    max: maxConnections,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    // A transaction of a process that has vanished must not lock its rows for long.
    idle_in_transaction_session_timeout: idleMs,
    query_timeout: queryMs,
    options: "-c synchronous_commit=on",
  });
  // A connection that is lost while idle is replaced when it is needed; one in use causes the error of its statement.
  database.on("error", () => {});
  database.on("connect", (connection) => connection.on("error", () => {}));
  return database;
}

/** A row of an answer, column by column: bytes as a Buffer, 64-bit numbers as text. */
export type Columns = readonly unknown[];

/** Runs a statement and returns its rows, whose columns the caller knows. */
export async function query<Row extends Columns>(
  on: Database | Connection,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await on.query<Columns[]>({ text, values: [...values], rowMode: "array" });
  return rows as unknown as Row[];
}

/** The same for reading: whatever error occurs, nothing was changed. */
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
 * Whether an error comes from the connection, not from the statement: no answer of the server, or an answer that it is
 * starting, stopping or full, or has ended a transaction that was idle too long, as when a process was stopped. Source:
 * PostgreSQL, appendix A, classes 08, 53 and 57P, code 25P03.
 */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || /^(?:08|53300|57P|25P03)/.test(code);
}

/**
 * The server's error code; undefined for other errors, as of connections, whose codes are the system's. Every error of
 * the server has a severity. Source: PostgreSQL, appendix A and section "Error and Notice Message Fields".
 */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, severity } = error as Partial<pg.DatabaseError>;
  return severity === undefined ? undefined : code;
}
