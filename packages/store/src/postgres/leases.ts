import { randomBytes } from "node:crypto";
import { Expelled, OtherSettings, StoreUnavailable } from "../errors.ts";
import { type Columns, codeOf, type Database, isConnectionLost, openDatabase, query } from "./database.ts";
import { OwnerLookup } from "./owner-lookup.ts";
import { prepareFleetTables } from "./schema.ts";

/** A process that serves wallets together with others. */
export interface FleetMember {
  /** Id of its membership: random, and never that of another one. */
  readonly process: string;
  /** Where the others reach it. */
  readonly address: string;
  /** Wallets whose leases it holds. */
  readonly owned: number;
  /** Milliseconds since it has renewed its membership. */
  readonly silentMs: number;
}

export interface FleetState {
  readonly members: readonly FleetMember[];
  /** Wallets that are to be open and are nobody's: their process is gone, or has handed them over. */
  readonly free: number;
}

/** The lease of a wallet, as the process that now has it is told of it. */
export interface WalletLease {
  readonly name: string;
  /** Whether it is to stay open until a caller closes it (`setKeptOpen`). */
  readonly isKeptOpen: boolean;
}

/**
 * Who serves which wallet, by the clock of the database: a process is a member while it renews its membership, and
 * holds leases by the names of wallets. A name that begins with `/` is no wallet's: whoever takes its lease has it, and
 * it is neither counted nor adopted. All methods throw `StoreUnavailable`; those of a member also `Expelled`.
 */
export interface WalletLeases {
  /**
   * Joins under a new id, which is returned. Throws `OtherSettings` where a member has other `settings`, a text that
   * is the same for all.
   */
  join(address: string, settings: string): Promise<string>;
  /** The membership lasts for another lifetime. */
  renew(process: string): Promise<void>;
  /** All members, with what they hold. */
  state(): Promise<FleetState>;
  /**
   * Ends the memberships that were not renewed in time, and those of processes that are gone, unless these have
   * renewed them within half of a lifetime. Answers how many those were: their leases are free.
   */
  expel(goneProcesses?: readonly string[]): Promise<number>;
  /** Takes a lease that is free, and returns whose it is now; `isKeptOpen` is false for one of another process. */
  take(process: string, name: string): Promise<{ readonly owner: string; readonly isKeptOpen: boolean }>;
  /** Throws `Expelled` unless the process has the lease now. */
  confirm(process: string, name: string): Promise<void>;
  /** Takes up to `most` leases that are free, but none of `others`, and returns them. */
  adopt(process: string, most: number, others?: readonly string[]): Promise<WalletLease[]>;
  /** The leases of wallets that a process has. */
  heldBy(process: string): Promise<WalletLease[]>;
  /**
   * Says whether a wallet is to stay open until a caller closes it, whichever process has its lease. Throws `Expelled`
   * unless this process has the lease now.
   */
  setKeptOpen(process: string, name: string, isKeptOpen: boolean): Promise<void>;
  /** Frees a lease, for any member to go on with the wallet. */
  handOver(process: string, name: string): Promise<void>;
  /** Ends a lease: the wallet is open nowhere. */
  release(process: string, name: string): Promise<void>;
  /** Whose lease it is; undefined for nobody's. */
  ownerOf(name: string): Promise<string | undefined>;
  /** Ends a membership; leases that it still holds are free. */
  leave(process: string): Promise<void>;
  close(): Promise<void>;
}

export interface LeaseOptions {
  /** 16 bytes that all processes of the fleet know. */
  readonly fleet: Uint8Array;
  /** Milliseconds for which a membership lasts unless it is renewed. */
  readonly lifetimeMs: number;
}

const PROCESS_BYTES = 16;
/** Taking leases must not wait for what reads or writes wallets. */
const MAX_CONNECTIONS = 2;
/** Renewing waits for nothing else at all; a connection that falls silent costs one renewal. */
const MEMBER_CONNECTIONS = 2;
const ANSWER_SHARE = 0.3;
/** Foreign key violation: the process is not there. */
const NO_SUCH_PROCESS = "23503";

/** Restricts leases to those of wallets. */
const OF_WALLETS = "left(name, 1) <> '/'";

const bytesOf = (process: string): Buffer => Buffer.from(process, "hex");
const nameOf = (process: Buffer): string => process.toString("hex");

type LeaseRow = [name: string, isKeptOpen: boolean];
const leaseOf = ([name, isKeptOpen]: LeaseRow): WalletLease => ({ name, isKeptOpen });

const lost = () => new Expelled("another process has the lease of the wallet");

/** Runs a statement, with the failures of this module. */
async function run<Row extends Columns>(
  database: Database,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  try {
    return await query<Row>(database, text, values);
  } catch (cause) {
    if (codeOf(cause) === NO_SUCH_PROCESS) throw new Expelled("the process is no member of the fleet");
    throw new StoreUnavailable("the leases can't be had", { cause, mayPass: isConnectionLost(cause) });
  }
}

/** The leases in the schema of `openPostgresEngine`, which has to be there; their tables are created where they are missing. */
export async function openWalletLeases(
  address: string,
  { fleet, lifetimeMs }: LeaseOptions,
): Promise<WalletLeases> {
  const patienceMs = Math.max(500, lifetimeMs / 2);
  const database = await openDatabase(address, {
    maxConnections: MAX_CONNECTIONS,
    connectMs: patienceMs,
    statementMs: patienceMs,
    idleMs: patienceMs,
  });
  const answerMs = Math.round(ANSWER_SHARE * lifetimeMs);
  const quick = await openDatabase(address, {
    maxConnections: MEMBER_CONNECTIONS,
    connectMs: answerMs,
    statementMs: answerMs,
    queryMs: answerMs,
    idleMs: patienceMs,
  });
  const close = async () => {
    await Promise.all([database.end(), quick.end()]);
  };
  await prepareFleetTables(database).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const inMs = (ms: number) => `clock_timestamp() + ${Math.round(ms)} * interval '1 millisecond'`;
  const expiry = inMs(lifetimeMs);
  const { ownerOf } = new OwnerLookup(async (names) => {
    const text = "SELECT name, process FROM anulo.leases WHERE fleet = $1 AND name = ANY($2)";
    const rows = await run<[string, Buffer | null]>(database, text, [fleet, names]);
    return new Map(rows.flatMap(([name, process]) => (process === null ? [] : [[name, nameOf(process)]])));
  });
  return {
    ownerOf,
    async join(where, settings) {
      const id = randomBytes(PROCESS_BYTES);
      const others = `SELECT settings FROM anulo.processes
        WHERE fleet = $1 AND settings <> $2 AND expires > clock_timestamp() LIMIT 1`;
      const check = async () => {
        const [other] = await run<[string]>(database, others, [fleet, settings]);
        if (other !== undefined)
          throw new OtherSettings(`The fleet has ${other[0]}, and this process ${settings}`);
      };
      await check();
      const text = `INSERT INTO anulo.processes VALUES ($1, $2, $3, ${expiry}, $4)`;
      await run(database, text, [id, fleet, where, settings]);
      // Two that join at the same time see one another now, if not before.
      await check().catch(async (error: unknown) => {
        await run(database, "DELETE FROM anulo.processes WHERE process = $1", [id]);
        throw error;
      });
      return nameOf(id);
    },
    async renew(process) {
      const text = `UPDATE anulo.processes SET expires = ${expiry} WHERE process = $1 RETURNING 1`;
      if ((await run(quick, text, [bytesOf(process)])).length === 0)
        throw new Expelled("the membership has ended");
    },
    async state() {
      const text = `SELECT process, address, (SELECT count(*) FROM anulo.leases
          WHERE process = member.process AND ${OF_WALLETS}),
          1000 * EXTRACT(epoch FROM ${expiry} - expires)
        FROM anulo.processes AS member WHERE fleet = $1 ORDER BY process`;
      const free = `SELECT count(*) FROM anulo.leases WHERE fleet = $1 AND process IS NULL AND ${OF_WALLETS}`;
      const members = await run<[Buffer, string, string, string]>(quick, text, [fleet]);
      const [count] = await run<[string]>(quick, free, [fleet]);
      return {
        members: members.map(([process, where, owned, silentMs]) => ({
          process: nameOf(process),
          address: where,
          owned: Number(owned),
          silentMs: Number(silentMs),
        })),
        free: Number(count![0]),
      };
    },
    async expel(goneProcesses = []) {
      const text = `DELETE FROM anulo.processes WHERE fleet = $1 AND (expires <= clock_timestamp()
        OR process = ANY($2) AND expires <= ${inMs(lifetimeMs / 2)}) RETURNING 1`;
      return (await run(quick, text, [fleet, goneProcesses.map(bytesOf)])).length;
    },
    async take(process, name) {
      const text = `INSERT INTO anulo.leases AS lease VALUES ($1, $2, $3) ON CONFLICT (fleet, name)
        DO UPDATE SET process = EXCLUDED.process WHERE lease.process IS NULL
          OR lease.process = EXCLUDED.process RETURNING kept_open`;
      // Who has it may give it up in between the two.
      for (;;) {
        const [taken] = await run<[boolean]>(database, text, [fleet, name, bytesOf(process)]);
        if (taken !== undefined) return { owner: process, isKeptOpen: taken[0] };
        const owner = await ownerOf(name);
        if (owner !== undefined) return { owner, isKeptOpen: false };
      }
    },
    async confirm(process, name) {
      const text = "SELECT 1 FROM anulo.leases WHERE fleet = $1 AND name = $2 AND process = $3";
      if ((await run(database, text, [fleet, name, bytesOf(process)])).length === 0) throw lost();
    },
    async adopt(process, most, others = []) {
      // Materialized, since a subquery with a limit may be run once more for each row, and then limits nothing.
      const text = `WITH free AS MATERIALIZED (
          SELECT name FROM anulo.leases WHERE fleet = $1 AND process IS NULL AND name <> ALL($4)
            AND ${OF_WALLETS} LIMIT $3 FOR UPDATE SKIP LOCKED)
        UPDATE anulo.leases AS lease SET process = $2 FROM free
          WHERE lease.fleet = $1 AND lease.name = free.name RETURNING lease.name, kept_open`;
      const rows = await run<LeaseRow>(database, text, [fleet, bytesOf(process), most, others]);
      return rows.map(leaseOf);
    },
    async heldBy(process) {
      const text = `SELECT name, kept_open FROM anulo.leases WHERE fleet = $1 AND process = $2 AND ${OF_WALLETS}`;
      return (await run<LeaseRow>(database, text, [fleet, bytesOf(process)])).map(leaseOf);
    },
    async setKeptOpen(process, name, isKeptOpen) {
      const text =
        "UPDATE anulo.leases SET kept_open = $4 WHERE fleet = $1 AND name = $2 AND process = $3 RETURNING 1";
      if ((await run(database, text, [fleet, name, bytesOf(process), isKeptOpen])).length === 0) throw lost();
    },
    async handOver(process, name) {
      const text =
        "UPDATE anulo.leases SET process = NULL WHERE fleet = $1 AND name = $2 AND process = $3 RETURNING 1";
      await run(database, text, [fleet, name, bytesOf(process)]);
    },
    async release(process, name) {
      const text = "DELETE FROM anulo.leases WHERE fleet = $1 AND name = $2 AND process = $3 RETURNING 1";
      await run(database, text, [fleet, name, bytesOf(process)]);
    },
    async leave(process) {
      await run(database, "DELETE FROM anulo.processes WHERE process = $1", [bytesOf(process)]);
    },
    close,
  };
}
