import { setTimeout } from "node:timers/promises";
import { StoreUnavailable } from "../errors.ts";
import { type Connection, codeOf, type Database, query } from "./database.ts";

const VERSION = 1;

/** Values are encrypted, so compressing them would be useless. */
const statements = [
  "CREATE SCHEMA IF NOT EXISTS anulo",
  `CREATE TABLE IF NOT EXISTS anulo.owners (
    wallet bytea PRIMARY KEY, epoch bigint NOT NULL, sequence bigint NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS anulo.rows (
    wallet bytea NOT NULL, "table" integer NOT NULL, key bytea NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (wallet, "table", key))`,
  "ALTER TABLE anulo.rows ALTER COLUMN value SET STORAGE EXTERNAL",
  "CREATE TABLE IF NOT EXISTS anulo.schema (version integer PRIMARY KEY)",
  `INSERT INTO anulo.schema VALUES (${VERSION}) ON CONFLICT DO NOTHING`,
];

/** Several processes may create the schema at the same time; all but one of them fail and try again. */
const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** Unique violation, duplicate schema, duplicate table, tuple concurrently updated. */
const madeByAnother = ["23505", "42P06", "42P07", "XX000", "40001", "40P01"];

async function createTables(connection: Connection, made: readonly string[]): Promise<void> {
  await query(connection, "BEGIN");
  try {
    for (const statement of made) await query(connection, statement);
    await query(connection, "COMMIT");
  } catch (error) {
    await query(connection, "ROLLBACK");
    throw error;
  }
}

async function versionOf(connection: Connection): Promise<number | undefined> {
  const isThere = "SELECT to_regclass('anulo.schema') IS NOT NULL";
  const [found] = await query<[boolean]>(connection, isThere);
  if (found?.[0] !== true) return undefined;
  const [row] = await query<[number | null]>(connection, "SELECT max(version) FROM anulo.schema");
  return row?.[0] ?? undefined;
}

/** Creates the tables if they are missing. Throws `StoreUnavailable`, also if they have another version. */
export async function prepareSchema(database: Database): Promise<void> {
  const version = await prepare(database).catch((cause: unknown) => {
    throw new StoreUnavailable("the database cannot be used", { cause });
  });
  if (version === VERSION) return;
  throw new StoreUnavailable(`the database has schema ${version}, this program reads ${VERSION}`);
}

async function prepare(database: Database): Promise<number | undefined> {
  const connection = await database.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      const version = await versionOf(connection);
      if (version !== undefined || attempt > ATTEMPTS) return version;
      try {
        await createTables(connection, statements);
      } catch (error) {
        await pauseForOthers(error);
      }
    }
  } finally {
    connection.release();
  }
}

/** Waits if another process is creating the same; otherwise throws the error. */
async function pauseForOthers(error: unknown): Promise<void> {
  if (!madeByAnother.includes(codeOf(error) ?? "")) throw error;
  await setTimeout(PAUSE_MS);
}

/**
 * A lease whose process is gone is free: the foreign key sees to that in the step that deletes the process, and keeps
 * a process that is gone from taking any.
 */
const fleetStatements = [
  `CREATE TABLE IF NOT EXISTS anulo.processes (
    process bytea PRIMARY KEY, fleet bytea NOT NULL, address text NOT NULL, expires timestamptz NOT NULL,
    settings text NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS anulo.leases (
    fleet bytea NOT NULL, name text COLLATE "C" NOT NULL,
    process bytea REFERENCES anulo.processes ON DELETE SET NULL, PRIMARY KEY (fleet, name))`,
  "CREATE INDEX IF NOT EXISTS leases_of_process ON anulo.leases (process)",
  // Earlier versions have no such column, and go on beside this one: they leave it as it is.
  "ALTER TABLE anulo.leases ADD COLUMN IF NOT EXISTS kept_open boolean NOT NULL DEFAULT false",
];

/** Creates the tables of fleets where they are missing, in a schema that is there. Throws `StoreUnavailable`. */
export async function prepareFleetTables(database: Database): Promise<void> {
  try {
    const connection = await database.connect();
    try {
      for (let attempt = 1; ; attempt++) {
        const isThere = `SELECT EXISTS (SELECT FROM pg_attribute
          WHERE attrelid = to_regclass('anulo.leases') AND attname = 'kept_open')`;
        if ((await query<[boolean]>(connection, isThere))[0]?.[0] === true) return;
        if (attempt > ATTEMPTS) throw new Error("others are creating the tables");
        await createTables(connection, fleetStatements).catch(pauseForOthers);
      }
    } finally {
      connection.release();
    }
  } catch (cause) {
    throw new StoreUnavailable("the tables of the fleet can't be created", { cause });
  }
}
