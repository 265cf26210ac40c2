/** What a group of changes asks of a database, and what is made of its answers and failures; the server is made up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { type Change, Fenced, type Mark, OutcomeUnknown, StoreUnavailable } from "../src/index.ts";
import { commitGroup } from "../src/postgres/commit.ts";
import type { Database } from "../src/postgres/database.ts";
import { prepareFleetTables, prepareSchema } from "../src/postgres/schema.ts";
import { bytes, text, walletId } from "./harness.ts";

type Columns = readonly unknown[];
interface Statement {
  readonly text: string;
  readonly values: readonly (readonly unknown[])[];
}

/** The server's error with this code (PostgreSQL, appendix A). */
const serverError = (code: string) =>
  Object.assign(new pg.DatabaseError("refused", 0, "error"), { code, severity: "ERROR" });

/** A database whose server answers a statement with rows, "undone", or an error to throw. */
function databaseOf(answer: (statement: Statement) => readonly Columns[] | "undone" | Error) {
  const statements: Statement[] = [];
  /** For each connection whether it was given back for others, thrown away, or is still out. */
  const connections: ("out" | "given back" | "thrown away")[] = [];
  const ask = async (asked: string | Statement) => {
    const statement = typeof asked === "string" ? { text: asked, values: [] } : asked;
    statements.push(statement);
    const answered = answer(statement);
    if (answered instanceof Error) throw answered;
    if (answered === "undone") return { command: "ROLLBACK", rows: [] };
    return { command: statement.text.split(" ")[0], rows: answered };
  };
  const connect = async () => {
    const index = connections.push("out") - 1;
    return {
      query: ask,
      release(isBroken?: boolean) {
        assert.equal(connections[index], "out");
        connections[index] = isBroken === true ? "thrown away" : "given back";
      },
    };
  };
  return { database: { connect } as unknown as Database, statements, connections };
}

const wallet = walletId(1);
const put = (key: string, value = key) => ({ table: 1, key: bytes(key), value: bytes(value) });
const changeOf = (parts: Partial<Change>): Change => ({ epoch: 3, puts: [], deletes: [], ...parts });
const isLock = ({ text }: Statement) => text.includes("FOR UPDATE");
const ownerRow = (id: Uint8Array, { epoch, sequence }: Mark): Columns => [
  Buffer.from(id),
  `${epoch}`,
  `${sequence}`,
];
const kindOf = ({ text }: Statement) => text.split(" ")[0];

test("a group writes each row once, as its last change leaves it, and refuses changes of former owners", async () => {
  const other = walletId(2);
  const { database, statements, connections } = databaseOf((statement) =>
    isLock(statement) ? [ownerRow(wallet, { epoch: 3, sequence: 7 })] : [],
  );
  const outcomes = await commitGroup({ database, patienceMs: 0 }, [
    { wallet, change: changeOf({ puts: [put("a", "old"), put("b")] }) },
    { wallet, change: changeOf({ epoch: 2, puts: [put("fenced")] }) },
    { wallet: other, change: changeOf({ puts: [put("a")] }) },
    { wallet, change: changeOf({ deletes: [put("a"), put("b")], puts: [put("a", "new")] }) },
  ]);
  assert.deepEqual([outcomes[0], outcomes[3]], [8, 9]);
  const [former, unknown] = outcomes.slice(1, 3) as [Fenced, Fenced];
  assert.ok(former instanceof Fenced && unknown instanceof Fenced);
  assert.deepEqual(statements.map(kindOf), ["BEGIN", "SELECT", "DELETE", "INSERT", "UPDATE", "COMMIT"]);
  const [, lock, gone, written, moved] = statements;
  assert.deepEqual(lock!.values, [[Buffer.from(wallet), Buffer.from(other)]]);
  const keys = ({ values }: Statement) => values[2]!.map((key) => text(key as Uint8Array));
  assert.deepEqual([keys(gone!), keys(written!)], [["b"], ["a"]]);
  assert.deepEqual(written!.values[3], [Buffer.from("new")]);
  assert.deepEqual([written!.values[0], written!.values[1]], [[Buffer.from(wallet)], [1]]);
  assert.deepEqual(moved!.values, [[Buffer.from(wallet)], [9]]);
  assert.deepEqual(connections, ["given back"]);
});

test("a statement has a thousand rows at most, and some 512 KiB", async () => {
  const sizesOf = async (change: Change) => {
    const { database, statements } = databaseOf((statement) =>
      isLock(statement) ? [ownerRow(wallet, { epoch: 3, sequence: 0 })] : [],
    );
    await commitGroup({ database, patienceMs: 0 }, [{ wallet, change }]);
    return statements.filter(({ values }) => values.length > 2).map(({ values }) => values[0]!.length);
  };
  const rows = Array.from({ length: 2001 }, (_, i) => put(`${i}`));
  assert.deepEqual(await sizesOf(changeOf({ puts: rows.slice(0, 1000) })), [1000]);
  assert.deepEqual(await sizesOf(changeOf({ puts: rows })), [1000, 1000, 1]);
  assert.deepEqual(await sizesOf(changeOf({ deletes: rows })), [1000, 1000, 1]);
  assert.deepEqual(await sizesOf(changeOf({})), []);
  const large = (...kib: readonly number[]) =>
    changeOf({
      puts: kib.map((size, i) => ({ table: 1, key: bytes(`${i}`), value: new Uint8Array(size * 1024) })),
    });
  assert.deepEqual(await sizesOf(large(256, 256, 1)), [3]);
  assert.deepEqual(await sizesOf(large(256, 257, 1, 511, 1, 1)), [2, 3, 1]);
  assert.deepEqual(await sizesOf(large(600, 600)), [1, 1]);
});

test("a transaction that the server undoes is tried five times, each on a connection of its own", async () => {
  const failing = (times: number, code: string) => {
    let left = times;
    return databaseOf((statement) => {
      if (isLock(statement)) return [ownerRow(wallet, { epoch: 3, sequence: 0 })];
      if (kindOf(statement) === "UPDATE" && left-- > 0) return serverError(code);
      return [];
    });
  };
  const group = [{ wallet, change: changeOf({ puts: [put("a")] }) }];
  for (const code of ["40001", "40P01"]) {
    const some = failing(4, code);
    assert.deepEqual(await commitGroup({ ...some, patienceMs: 0 }, group), [1]);
    assert.deepEqual(some.connections, [...Array(4).fill("thrown away"), "given back"]);
  }
  const always = failing(5, "40001");
  await assert.rejects(commitGroup({ ...always, patienceMs: 0 }, group), StoreUnavailable);
  assert.deepEqual(always.connections, Array(5).fill("thrown away"));
  const other = failing(1, "53100");
  await assert.rejects(
    commitGroup({ ...other, patienceMs: 0 }, group),
    (error: Error) => error instanceof StoreUnavailable && !error.mayPass,
  );
  assert.deepEqual(other.connections, ["thrown away"]);
});

test("a connection that is lost before the commit has changed nothing, and what was asked may pass later", async () => {
  // The system's errors have codes, too, which are none of the server's.
  const errors = [
    new Error("the connection ended"),
    Object.assign(new Error("reset"), { code: "ECONNRESET" }),
  ];
  for (const error of errors) {
    const { database, connections } = databaseOf((statement) => (isLock(statement) ? error : []));
    await assert.rejects(
      commitGroup({ database, patienceMs: 60_000 }, [{ wallet, change: changeOf({ puts: [put("a")] }) }]),
      (thrown: Error) => thrown instanceof StoreUnavailable && thrown.mayPass,
    );
    assert.deepEqual(connections, ["thrown away"], "nobody looks what became of it");
  }
});

const MOST_LOOKS = 10;

/** Commits a change whose commit gets this answer; the rows locked afterwards are `found`, at the n-th look. */
async function lostCommit(
  answer: Error | "undone",
  found: (look: number) => readonly Columns[] | Error,
  patienceMs = 3000,
) {
  let looks = 0;
  let isSent = false;
  const { database, connections } = databaseOf((statement) => {
    // Those that come later are of whoever looks.
    if (kindOf(statement) === "COMMIT" && !isSent) {
      isSent = true;
      return answer;
    }
    if (!isLock(statement)) return [];
    // Whoever looks again and again at what it has seen is stopped.
    if (looks > MOST_LOOKS) return new Error("looked too often");
    return isSent ? found(looks++) : [ownerRow(wallet, { epoch: 3, sequence: 5 })];
  });
  const group = [{ wallet, change: changeOf({ puts: [put("a")] }) }];
  const [outcome] = await Promise.allSettled([commitGroup({ database, patienceMs }, group)]);
  assert.ok(
    connections.every((state) => state === "thrown away"),
    `${connections}`,
  );
  return { outcome, looks };
}

test("a commit without an answer has the outcome that the database shows", async () => {
  const lost = new Error("the connection ended");
  const at = (mark: Mark) => () => [ownerRow(wallet, mark)];
  for (const sequence of [6, 7]) {
    const { outcome } = await lostCommit(lost, at({ epoch: 3, sequence }));
    assert.deepEqual(outcome, { status: "fulfilled", value: [6] });
  }
  for (const found of [at({ epoch: 3, sequence: 5 }), at({ epoch: 4, sequence: 5 }), () => []]) {
    const { outcome } = await lostCommit(lost, found);
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof StoreUnavailable);
    assert.equal(outcome.reason.mayPass, true);
  }
  const { outcome, looks } = await lostCommit(lost, at({ epoch: 4, sequence: 6 }));
  assert.ok(outcome.status === "rejected" && outcome.reason instanceof OutcomeUnknown);
  assert.equal(looks, 1);
  const undone = await lostCommit("undone", at({ epoch: 3, sequence: 5 }));
  assert.ok(undone.outcome.status === "rejected" && undone.outcome.reason instanceof StoreUnavailable);
});

test("the outcome is looked up again while the database is out of reach, until patience ends", async () => {
  const lost = new Error("the connection ended");
  const away = serverError("57P03");
  const later = await lostCommit(lost, (look) =>
    look < 1 ? away : [ownerRow(wallet, { epoch: 3, sequence: 6 })],
  );
  assert.deepEqual(later, { outcome: { status: "fulfilled", value: [6] }, looks: 2 });
  const never = await lostCommit(lost, () => away, 0);
  assert.equal(never.looks, 1);
  assert.ok(never.outcome.status === "rejected" && never.outcome.reason instanceof OutcomeUnknown);
  assert.equal(never.outcome.reason.cause, away);
});

/** A server that has schema `version`; a table can be created once `failures` are over that fail with `code`. */
function schemaServer(version: number | undefined, { failures = 0, code = "42P07" } = {}) {
  let [present, left] = [version, failures];
  return databaseOf(({ text: asked }) => {
    if (/^SELECT (to_regclass|EXISTS)/.test(asked)) return [[present !== undefined]];
    if (asked.startsWith("SELECT max")) return [[present ?? null]];
    if (asked.startsWith("CREATE SCHEMA") || asked.includes("anulo.processes (")) {
      if (left-- > 0) return serverError(code);
    }
    const written = /INSERT INTO anulo.schema VALUES \((\d+)\)/.exec(asked);
    if (written) present = Number(written[1]);
    if (asked.includes("kept_open boolean")) present = 1;
    return [];
  });
}

test("the tables are created in one transaction, as schema 1, where they are missing", async () => {
  const fresh = schemaServer(undefined);
  await prepareSchema(fresh.database);
  const kinds = fresh.statements.map(kindOf);
  assert.deepEqual(
    [kinds[1], kinds.filter((kind) => kind === "COMMIT").length, kinds.indexOf("COMMIT")],
    ["BEGIN", 1, kinds.lastIndexOf("INSERT") + 1],
  );
  const present = schemaServer(1);
  await prepareSchema(present.database);
  assert.deepEqual(present.statements.map(kindOf), ["SELECT", "SELECT"]);
  for (const { connections } of [fresh, present]) assert.deepEqual(connections, ["given back"]);
  for (const version of [0, 2]) {
    const other = schemaServer(version);
    await assert.rejects(prepareSchema(other.database), StoreUnavailable);
    assert.deepEqual(other.connections, ["given back"]);
  }
});

for (const [name, prepare] of [
  ["the store", prepareSchema],
  ["a fleet", prepareFleetTables],
] as const) {
  test(`the tables of ${name} may be created by another process at the same time`, async () => {
    const busy = schemaServer(undefined, { failures: 1 });
    await prepare(busy.database);
    const kinds = busy.statements.map(kindOf);
    assert.deepEqual(
      kinds.filter((kind) => ["BEGIN", "ROLLBACK", "COMMIT"].includes(kind!)),
      ["BEGIN", "ROLLBACK", "BEGIN", "COMMIT"],
    );
    const refused = schemaServer(undefined, { failures: 1, code: "42501" });
    await assert.rejects(prepare(refused.database), StoreUnavailable);
    assert.deepEqual(refused.statements.map(kindOf).slice(-1), ["ROLLBACK"]);
    for (const { connections } of [busy, refused]) assert.deepEqual(connections, ["given back"]);
  });
}

test("tables that another process never finishes are not waited for without end", async () => {
  const check = async (prepare: typeof prepareSchema) => {
    const busy = schemaServer(undefined, { failures: Number.POSITIVE_INFINITY, code: "40001" });
    await assert.rejects(prepare(busy.database), StoreUnavailable);
    assert.equal(busy.statements.filter((each) => kindOf(each) === "BEGIN").length, 10);
    assert.deepEqual(busy.connections, ["given back"]);
  };
  await Promise.all([check(prepareSchema), check(prepareFleetTables)]);
});
