import { setImmediate } from "node:timers/promises";
import { DamagedDatabase, isSystemFault, WrongDatabase, writeFailed } from "./damage.ts";
import type { Environment, Tables } from "./environment.ts";
import type { Flusher } from "./flusher.ts";
import { SCHEMA_VERSION, WEIGHTS_PER_ROW } from "./tables.ts";

/** How far a migration is: `done` of `of` blocks. */
export interface MigrationProgress {
  /** The schema that the file had, and the one it gets. */
  readonly from: number;
  readonly to: number;
  readonly done: number;
  readonly of: number;
}

/** How a file of one schema becomes one of the next. */
interface Migration {
  /**
   * Changes a bounded part of the rows and returns how many blocks are done of how many. What is left to do follows
   * from the tables alone, so that a killed migration goes on with the next part.
   */
  advance(tables: Tables): Pick<MigrationProgress, "done" | "of">;
}

/** Some milliseconds of work, which are lost if the process is killed. */
const ROWS_PER_PART = 2;

/** Schema 3 has the long-term weights of `WEIGHTS_PER_ROW` blocks in one row. */
const addLongTermWeights: Migration = {
  advance({ blockInfo, longTermWeights }) {
    const of = blockInfo.count();
    const first = longTermWeights.count();
    for (let row = first; row < first + ROWS_PER_PART; row++) {
      const start = row * WEIGHTS_PER_ROW;
      const end = Math.min(of, start + WEIGHTS_PER_ROW);
      if (start >= end) break;
      const weights = [...blockInfo.entries({ start, end })].map(({ value }) => value.longTermWeight);
      if (weights.length !== end - start) throw new DamagedDatabase(`blocks from ${start} on are missing`);
      longTermWeights.put(row, weights);
    }
    return { done: Math.min(of, (first + ROWS_PER_PART) * WEIGHTS_PER_ROW), of };
  },
};

/** By the schema they start from. To change a table, increment `SCHEMA_VERSION` and add a line. */
const migrations: { readonly [from: number]: Migration } = { 2: addLongTermWeights };

/** Rows of schema 1 had no checksums, so that damage to them cannot be detected. */
const OLDEST_SCHEMA = 2;

/** The schema property of a file: its version, or `from>to` while it is migrated, which no program takes for its own. */
interface SchemaState {
  readonly version: number;
  readonly isMigrating: boolean;
}

function parseSchema(text: string): SchemaState {
  const [, version, next] = /^([1-9]\d{0,8})(?:>([1-9]\d{0,8}))?$/.exec(text) ?? [];
  if (version === undefined) throw new DamagedDatabase("it does not say which schema it has");
  // A migration to a schema that we do not know is a newer program's to finish.
  if (Number(next ?? version) > SCHEMA_VERSION) throw schemaTooNew(Number(next ?? version));
  return { version: Number(version), isMigrating: next !== undefined };
}

function schemaTooNew(version: number): WrongDatabase {
  return new WrongDatabase(
    `the database has schema ${version}, made by a newer release; this one reads up to ${SCHEMA_VERSION}: ` +
      "start the newer release, or move the database away and sync again",
  );
}

/** The refusal of a file that is too old. */
export function schemaTooOld(version: number): WrongDatabase {
  return new WrongDatabase(
    `the database has schema ${version}, which is too old to be migrated; this release migrates from ` +
      `${OLDEST_SCHEMA} on: move the database away and sync again`,
  );
}

interface MigrationOptions {
  readonly environment: Environment;
  /** The file's schema property. */
  readonly schema: string;
  readonly flusher: Flusher | undefined;
  /** Called after each commit. */
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** Ends the migration after a commit; it goes on at the next opening. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Brings a file to this program's schema in place, in many small commits. Whatever ends the process in between, the
 * next opening goes on from the last commit. Rejects with WrongDatabase for a schema it cannot migrate,
 * DamagedDatabase, WriteFailed, or the reason of `signal`.
 */
export async function migrate(options: MigrationOptions): Promise<void> {
  let { version, isMigrating } = parseSchema(options.schema);
  if (version < OLDEST_SCHEMA) throw schemaTooOld(version);
  if (version === SCHEMA_VERSION) return;
  while (version < SCHEMA_VERSION) {
    await migrateOnce(options, { version, isMigrating });
    version++;
    isMigrating = false;
  }
  await options.flusher?.flush();
}

/** One step, to the next schema. */
async function migrateOnce(options: MigrationOptions, { version, isMigrating }: SchemaState): Promise<void> {
  const { onProgress = () => {}, signal } = options;
  const migration = migrations[version];
  if (migration === undefined) throw new Error(`no migration from schema ${version}`);
  const put = ({ properties }: Tables, text: string) => properties.put("schema", Buffer.from(text));
  const to = version + 1;
  if (!isMigrating) commit(options, (tables) => put(tables, `${version}>${to}`));
  for (;;) {
    signal?.throwIfAborted();
    const part = commit(options, (tables) => migration.advance(tables));
    onProgress({ from: version, to, ...part });
    await setImmediate();
    if (part.done < part.of) continue;
    commit(options, (tables) => put(tables, String(to)));
    return;
  }
}

/** Estimated bytes that a commit writes besides the pages above its rows, for the flusher. */
const BYTES_PER_COMMIT = 4096;

function commit<T>({ environment, flusher }: MigrationOptions, change: (tables: Tables) => T): T {
  try {
    const result = environment.root.transactionSync(() => change(environment.tables));
    flusher?.written({ blocks: 0, bytes: BYTES_PER_COMMIT });
    return result;
  } catch (error) {
    throw isSystemFault(error) ? writeFailed("the database could not be migrated", error) : error;
  }
}
