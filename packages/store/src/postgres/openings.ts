/** What opening a wallet asks of the database, for several wallets at once: their rows, and the ownership of them. */
import type { Mark, NewRow, WalletId, WalletRows } from "../engine.ts";
import { Expelled } from "../errors.ts";
import { Batches } from "./batches.ts";
import { ask, type Database } from "./database.ts";
import type { LeaseHold } from "./lease-hold.ts";

/** Maximum number of wallets of one statement. */
const MAX_WALLETS = 16;
/** A wallet with more rows, or more bytes in them, is read table by table. */
const MAX_ROWS = 1024;
const MAX_BYTES = 512 * 1024;

const nameOf = (wallet: WalletId): string => Buffer.from(wallet).toString("hex");

/**
 * Marks and rows of some wallets. Of one with too many rows one more than may be read is returned, and of one with too
 * many bytes, those that are too much without their values.
 */
const ROWS = `SELECT asked.wallet, epoch, sequence, "table", key, value
  FROM unnest($1::bytea[]) AS asked (wallet)
  LEFT JOIN anulo.owners ON owners.wallet = asked.wallet
  LEFT JOIN LATERAL (
    SELECT "table", key, CASE WHEN bytes <= ${MAX_BYTES} THEN value END AS value FROM (
      SELECT "table", key, value, sum(octet_length(key) + octet_length(value)) OVER (
        ORDER BY "table", key ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT "table", key, value FROM anulo.rows WHERE rows.wallet = asked.wallet
        ORDER BY "table", key LIMIT ${MAX_ROWS + 1}) AS first) AS counted) AS held ON true
  ORDER BY asked.wallet, "table", key`;

type RowColumns = [
  wallet: Buffer,
  epoch: string | null,
  sequence: string | null,
  table: number | null,
  key: Buffer | null,
  value: Buffer | null,
];

async function readRows(database: Database, wallets: readonly WalletId[]): Promise<readonly WalletRows[]> {
  const ids = wallets.map((wallet) => Buffer.from(wallet));
  const found = new Map<string, { mark: Mark | undefined; rows: NewRow[]; isAll: boolean }>();
  for (const [wallet, epoch, sequence, table, key, value] of await ask<RowColumns>(database, ROWS, [ids])) {
    const name = nameOf(wallet);
    const mark = epoch === null ? undefined : { epoch: Number(epoch), sequence: Number(sequence) };
    const held = found.get(name) ?? { mark, rows: [], isAll: true };
    found.set(name, held);
    if (table === null || key === null) continue;
    if (value === null || held.rows.length === MAX_ROWS) held.isAll = false;
    else held.rows.push({ table, key, value });
  }
  return wallets.map((wallet) => {
    const { mark, rows, isAll } = found.get(nameOf(wallet))!;
    return { mark, rows: isAll ? rows : undefined };
  });
}

/** A request for the ownership of a wallet, with an epoch above `above`, while a lease is held. */
type FenceRequest = LeaseHold & { readonly wallet: WalletId; readonly above: number };

/**
 * The leases stay where they are until the fence is committed: nobody can end the membership, which is locked before any
 * lease, so that this never waits for who waits for it; nor can this process give a lease back.
 */
const LEASED_FENCE = `WITH member AS MATERIALIZED (
    SELECT process FROM anulo.processes WHERE process = $2 FOR KEY SHARE),
  held AS MATERIALIZED (
    SELECT name FROM anulo.leases WHERE fleet = $1 AND name = ANY($3::text[])
      AND process = (SELECT process FROM member) ORDER BY name FOR SHARE)
  INSERT INTO anulo.owners
    SELECT wallet, above + 1, 0 FROM unnest($3::text[], $4::bytea[], $5::bigint[]) AS asked (name, wallet, above)
      JOIN held USING (name) ORDER BY wallet
  ON CONFLICT (wallet) DO UPDATE SET epoch = greatest(owners.epoch, EXCLUDED.epoch - 1) + 1
  RETURNING wallet, epoch, sequence`;

type MarkColumns = [wallet: Buffer, epoch: string, sequence: string];

/** The requests of each membership; one statement fences each wallet once. */
function inStatements(requests: readonly FenceRequest[]): FenceRequest[][] {
  const statements = new Map<string, FenceRequest[]>();
  const seen = new Map<string, number>();
  for (const request of requests) {
    const id = nameOf(request.wallet);
    const earlier = seen.get(id) ?? 0;
    seen.set(id, earlier + 1);
    const of = `${nameOf(request.fleet)} ${request.process} ${earlier}`;
    const statement = statements.get(of);
    if (statement === undefined) statements.set(of, [request]);
    else statement.push(request);
  }
  return [...statements.values()];
}

async function fenceAll(
  database: Database,
  requests: readonly FenceRequest[],
): Promise<readonly (Mark | undefined)[]> {
  const marks = new Map<FenceRequest, Mark>();
  for (const statement of inStatements(requests)) {
    const [{ fleet, process } = requests[0]!] = statement;
    const rows = await ask<MarkColumns>(database, LEASED_FENCE, [
      fleet,
      Buffer.from(process, "hex"),
      statement.map(({ name }) => name),
      statement.map(({ wallet }) => Buffer.from(wallet)),
      statement.map(({ above }) => above),
    ]);
    const found = new Map(
      rows.map(([wallet, epoch, sequence]) => [
        nameOf(wallet),
        { epoch: Number(epoch), sequence: Number(sequence) },
      ]),
    );
    for (const request of statement) {
      const mark = found.get(nameOf(request.wallet));
      if (mark !== undefined) marks.set(request, mark);
    }
  }
  return requests.map((request) => marks.get(request));
}

export class Openings {
  readonly #reads: Batches<WalletId, WalletRows>;
  readonly #fences: Batches<FenceRequest, Mark | undefined>;

  constructor(database: Database) {
    this.#reads = new Batches(MAX_WALLETS, (wallets) => readRows(database, wallets));
    this.#fences = new Batches(MAX_WALLETS, (requests) => fenceAll(database, requests));
  }

  /** The mark and the rows of a wallet; no rows where they are too many. */
  read(wallet: WalletId): Promise<WalletRows> {
    return this.#reads.submit(wallet);
  }

  /** Takes ownership of a wallet while a lease is held. Throws `Expelled` if it is not. */
  async fence(wallet: WalletId, above: number, lease: LeaseHold): Promise<Mark> {
    const mark = await this.#fences.submit({ ...lease, wallet, above });
    if (mark === undefined) throw new Expelled("another process has the lease of the wallet");
    return mark;
  }
}
