import { setTimeout } from "node:timers/promises";
import type { Mark } from "../engine.ts";
import { OutcomeUnknown, StoreUnavailable } from "../errors.ts";
import type { Outcome, Waiting } from "../group-commit.ts";
import { type Connection, codeOf, type Database, isConnectionLost, query } from "./database.ts";
import { type GroupWrite, lockMarks, planGroup, writeGroup } from "./group.ts";

export interface CommitOptions {
  readonly database: Database;
  /** Milliseconds for which the outcome of a commit is looked up if its answer was lost. */
  readonly patienceMs: number;
}

const RETRY_MS = 200;
const MAX_RETRIES = 5;

/** Serialization failure or deadlock: the server has undone the transaction and expects another attempt. */
const isUndone = (error: unknown): boolean => codeOf(error)?.startsWith("40") === true;

/**
 * Commits a group as one transaction, and returns the outcome of each change. If the connection is lost before the
 * commit was requested, nothing was applied; if it is lost after, the database is read until it shows the outcome.
 */
export async function commitGroup(
  options: CommitOptions,
  group: readonly Waiting[],
): Promise<readonly Outcome[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await commitOnce(options, group);
    } catch (error) {
      if (!isUndone(error) || attempt === MAX_RETRIES) throw asUnavailable(error);
    }
  }
}

function asUnavailable(cause: unknown): Error {
  if (cause instanceof OutcomeUnknown || cause instanceof StoreUnavailable) return cause;
  return new StoreUnavailable("the change was not applied", { cause, mayPass: isConnectionLost(cause) });
}

async function commitOnce(options: CommitOptions, group: readonly Waiting[]): Promise<readonly Outcome[]> {
  const connection = await options.database.connect();
  let requested: GroupWrite | undefined;
  try {
    await query(connection, "BEGIN");
    const write = planGroup(
      group,
      await lockMarks(connection, [...new Set(group.map(({ wallet }) => wallet))]),
    );
    await writeGroup(connection, write);
    requested = write;
    await commit(connection);
    connection.release();
    return write.outcomes;
  } catch (error) {
    // Whatever state the transaction is in, the server undoes it when the connection closes.
    connection.release(true);
    if (requested === undefined || isUndone(error)) throw error;
    if (await wasApplied(options, requested)) return requested.outcomes;
    throw error;
  }
}

/** The server answers the commit of a failed transaction without an error. */
async function commit(connection: Connection): Promise<void> {
  const { command } = await connection.query("COMMIT");
  if (command !== "COMMIT") throw new StoreUnavailable("the database has undone the change");
}

/**
 * Whether a commit without an answer was applied. The rows of its wallets are locked until it has ended, so what is
 * read under that lock remains true. Throws `OutcomeUnknown` when the database remains out of reach, or others have
 * changed all of its wallets since.
 */
async function wasApplied({ database, patienceMs }: CommitOptions, { marks }: GroupWrite): Promise<boolean> {
  const begin = performance.now();
  for (;;) {
    try {
      const outcome = isAppliedIn(await readLocked(database, marks), marks);
      if (outcome !== undefined) return outcome;
      throw new OutcomeUnknown("another owner has changed the wallet since");
    } catch (cause) {
      if (cause instanceof OutcomeUnknown) throw cause;
      if (performance.now() - begin >= patienceMs) {
        throw new OutcomeUnknown("the connection was lost in a commit", { cause });
      }
    }
    await setTimeout(RETRY_MS);
  }
}

async function readLocked(database: Database, marks: ReadonlyMap<string, Mark>): Promise<Map<string, Mark>> {
  const connection = await database.connect();
  try {
    await query(connection, "BEGIN");
    const found = await lockMarks(
      connection,
      [...marks.keys()].map((name) => Buffer.from(name, "hex")),
    );
    // Locks are in the server's log after what they show: synchronous standbys have both once this is answered.
    await commit(connection);
    return found;
  } finally {
    connection.release(true);
  }
}

/** Decided by any wallet of the transaction that shows it, because the transaction was applied to all or none. */
function isAppliedIn(
  found: ReadonlyMap<string, Mark>,
  written: ReadonlyMap<string, Mark>,
): boolean | undefined {
  for (const [name, { epoch, sequence }] of written) {
    const now = found.get(name);
    if (now === undefined || now.sequence < sequence) return false;
    if (now.epoch === epoch) return true;
  }
  return undefined;
}
