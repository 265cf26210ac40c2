import { markAfter } from "../check-change.ts";
import type { Mark, NewRow, RowKey, WalletId } from "../engine.ts";
import type { Outcome, Waiting } from "../group-commit.ts";
import { type Connection, query } from "./database.ts";

const nameOf = (wallet: WalletId): string => Buffer.from(wallet).toString("hex");

/** The effect of a group of changes: one write for each row and wallet. */
export interface GroupWrite {
  /** The outcome of each change. */
  readonly outcomes: readonly Outcome[];
  /** The mark of each changed wallet after the group, by its name. */
  readonly marks: ReadonlyMap<string, Mark>;
  readonly puts: readonly (NewRow & { readonly wallet: WalletId })[];
  readonly deletes: readonly (RowKey & { readonly wallet: WalletId })[];
}

/**
 * Locks the wallets of a group for its transaction, and returns their marks; waits for other transactions that hold
 * them.
 */
export async function lockMarks(
  connection: Connection,
  wallets: readonly WalletId[],
): Promise<Map<string, Mark>> {
  // They are locked in one order, so that two groups never deadlock.
  const text = `SELECT wallet, epoch, sequence FROM anulo.owners
    WHERE wallet = ANY($1::bytea[]) ORDER BY wallet FOR UPDATE`;
  const rows = await query<[Buffer, string, string]>(connection, text, [
    wallets.map((wallet) => Buffer.from(wallet)),
  ]);
  return new Map(
    rows.map(([wallet, epoch, sequence]) => [
      nameOf(wallet),
      { epoch: Number(epoch), sequence: Number(sequence) },
    ]),
  );
}

/** Judges each change by its wallet's mark, and joins the writes of the accepted ones. */
export function planGroup(group: readonly Waiting[], found: ReadonlyMap<string, Mark>): GroupWrite {
  const marks = new Map<string, Mark>();
  const written = new Map<string, { row: RowKey & { wallet: WalletId }; value: Uint8Array | undefined }>();
  const outcomes = group.map(({ wallet, change }): Outcome => {
    const name = nameOf(wallet);
    const next = markAfter(marks.get(name) ?? found.get(name), change);
    if (next instanceof Error) return next;
    const write = ({ table, key }: RowKey, value?: Uint8Array) =>
      written.set(`${name} ${table} ${nameOf(key)}`, { row: { wallet, table, key }, value });
    for (const row of change.deletes) write(row);
    for (const row of change.puts) write(row, row.value);
    marks.set(name, next);
    return next.sequence;
  });
  const all = [...written.values()];
  return {
    outcomes,
    marks,
    puts: all.flatMap(({ row, value }) => (value === undefined ? [] : [{ ...row, value }])),
    deletes: all.flatMap(({ row, value }) => (value === undefined ? [row] : [])),
  };
}

/** Maximum number of rows in one statement: its arrays are formatted as text in one turn. */
const STATEMENT_ROWS = 1000;
const STATEMENT_BYTES = 512 * 1024;

function* inStatements<T extends RowKey & { value?: Uint8Array }>(
  rows: readonly T[],
): Generator<readonly T[], void> {
  let [first, bytes] = [0, 0];
  for (const [at, { value }] of rows.entries()) {
    if (at > first && (at - first === STATEMENT_ROWS || bytes > STATEMENT_BYTES)) {
      yield rows.slice(first, at);
      [first, bytes] = [at, 0];
    }
    bytes += value?.length ?? 0;
  }
  if (first < rows.length) yield rows.slice(first);
}

const keyColumns = (rows: readonly (RowKey & { wallet: WalletId })[]) => [
  rows.map(({ wallet }) => Buffer.from(wallet)),
  rows.map(({ table }) => table),
  rows.map(({ key }) => Buffer.from(key)),
];

/** Writes a group into the open transaction. */
export async function writeGroup(
  connection: Connection,
  { puts, deletes, marks }: GroupWrite,
): Promise<void> {
  const gone = `DELETE FROM anulo.rows USING unnest($1::bytea[], $2::integer[], $3::bytea[]) AS gone (wallet, "table", key)
    WHERE rows.wallet = gone.wallet AND rows."table" = gone."table" AND rows.key = gone.key`;
  for (const rows of inStatements(deletes)) await query(connection, gone, keyColumns(rows));
  const put = `INSERT INTO anulo.rows SELECT * FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $4::bytea[])
    ON CONFLICT (wallet, "table", key) DO UPDATE SET value = EXCLUDED.value`;
  for (const rows of inStatements(puts)) {
    await query(connection, put, [...keyColumns(rows), rows.map(({ value }) => Buffer.from(value))]);
  }
  const moved = `UPDATE anulo.owners SET sequence = moved.sequence
    FROM unnest($1::bytea[], $2::bigint[]) AS moved (wallet, sequence) WHERE owners.wallet = moved.wallet`;
  const wallets = [...marks.keys()].map((name) => Buffer.from(name, "hex"));
  await query(connection, moved, [wallets, [...marks.values()].map(({ sequence }) => sequence)]);
}
