import { setTimeout } from "node:timers/promises";
import { StoreUnavailable } from "../errors.ts";
import { type Connection, codeOf, type Database, query } from "./database.ts";

const VERSION = 1;

/** Values are encrypted: compressing them would be in vain. */
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

/** Several processes may create it at the same time, of which all but one fail. */
const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** Unique violation, duplicate schema, duplicate table, tuple concurrently updated. */
const madeByAnother = ["23505", "42P06", "42P07", "XX000", "40001", "40P01"];

async function createTables(connection: Connection): Promise<void> {
  await query(connection, "BEGIN");
  try {
    for (const statement of statements) await query(connection, statement);
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

/** Creates the tables where they are missing. Throws `StoreUnavailable`, also where they are of another version. */
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
        await createTables(connection);
      } catch (error) {
        if (!madeByAnother.includes(codeOf(error) ?? "")) throw error;
        await setTimeout(PAUSE_MS);
      }
    }
  } finally {
    connection.release();
  }
}
