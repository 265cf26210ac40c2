/** Changes of a ledger as a store gets them: all of one or nothing, whatever is wrong with the store. */
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import { type TestContext, test } from "node:test";
import timers from "node:timers/promises";
import {
  Fenced,
  OutcomeUnknown,
  RolledBack,
  StoreUnavailable,
  type WalletKey,
  type WalletRow,
} from "@anulo/store";
import type { RowChange } from "../src/file/cells.ts";
import type { LedgerRows } from "../src/file/ledger-rows.ts";
import {
  itemsPerRow,
  LABELS_PER_ROW,
  ledgerTables,
  mapTables,
  placesOf,
  rowKey,
  txKeyTable,
  unfinishedTable,
} from "../src/file/ledger-tables.ts";
import { finishRows, RowLog, writeRows } from "../src/file/row-log.ts";
import { OlderStore, UnwrittenStore, WalletRefusal } from "../src/refusal.ts";
import { MemoryStore, nameOf } from "./memory-rows.ts";

const put = (place: number, length: number, table = txKeyTable): WalletRow => ({
  ...{ table, key: Uint8Array.from(rowKey([place])), value: new Uint8Array(length).fill(place % 251) },
});
const keyOf = ({ table, key }: WalletKey): WalletKey => ({ table, key });
const puts = (count: number, length = 0): RowChange => ({
  puts: Array.from({ length: count }, (_, i) => put(i, length)),
  deletes: [],
});
const sizesOf = ({ changes }: MemoryStore) =>
  changes.map(({ puts: put = [], deletes = [] }) => [put.length, deletes.length]);

test("a change of 4,000 rows, or 2 MiB, is one transaction, and a larger one is not", async () => {
  const half = 2 ** 20;
  for (const change of [puts(4000), puts(2, half), { puts: [], deletes: puts(4000).puts.map(keyOf) }]) {
    const memory = new MemoryStore();
    await writeRows(memory.store, change);
    assert.deepEqual(memory.changes, [change]);
  }
  for (const change of [puts(4001), { ...puts(2, half), puts: [...puts(2, half).puts, put(2, 1)] }]) {
    const memory = new MemoryStore();
    await writeRows(memory.store, change);
    assert.equal(memory.rows.size, change.puts.length, "nothing else is left");
    for (const row of change.puts) assert.deepEqual(memory.rows.get(nameOf(row)), row);
    const [count, last] = [change.puts.length - 1, [1, 0]];
    // Two steps, no secrets, and a mark; then what they say, and that it is done.
    assert.deepEqual(sizesOf(memory), [last, last, [0, 0], last, [count, 0], last, [0, 3]]);
  }
});

test("rows are deleted before others are put, also where that takes several transactions", async () => {
  const memory = new MemoryStore();
  const old = put(7, 9);
  memory.rows.set(nameOf(old), old);
  const gone = put(9999, 1);
  memory.rows.set(nameOf(gone), gone);
  await writeRows(memory.store, { puts: puts(4000, 1).puts, deletes: [old, gone].map(keyOf) });
  assert.equal(memory.rows.size, 4000);
  assert.deepEqual(memory.rows.get(nameOf(old)), put(7, 1));
});

test("secrets of a large change are written to their own table alone", async () => {
  const memory = new MemoryStore();
  const secret = { ...put(1, 32, mapTables.multisigNonces), value: new Uint8Array(32).fill(0x5e) };
  const gone = put(2, 32, mapTables.multisigNonces);
  memory.rows.set(nameOf(gone), gone);
  await writeRows(memory.store, { puts: [...puts(4000, 1).puts, secret], deletes: [keyOf(gone)] });
  assert.equal(memory.rows.size, 4001);
  assert.deepEqual(memory.rows.get(nameOf(secret)), secret);
  const unfinished = memory.changes.flatMap(({ puts: all = [] }) =>
    all.filter(({ table }) => table === unfinishedTable),
  );
  assert.equal(unfinished.length, 2);
  for (const { value } of unfinished) assert.ok(!Buffer.from(value).includes(Buffer.from(secret.value)));
});

test("wherever a large change was interrupted, all of it is there in the end, or nothing", async () => {
  const change = { puts: puts(4001, 1).puts, deletes: [keyOf(put(5000, 0))] };
  const all = new MemoryStore();
  await writeRows(all.store, change);
  assert.equal(all.changes.length, 7);
  for (let writes = 0; writes <= all.changes.length; writes++) {
    const memory = new MemoryStore();
    memory.rows.set(nameOf(put(5000, 0)), put(5000, 0));
    for (const done of all.changes.slice(0, writes)) await memory.apply(done);
    await finishRows(memory.store);
    // Before the mark nothing may be applied, and after it all of it is.
    assert.equal(memory.rows.size, writes < 4 ? 1 : 4001, `${writes} writes`);
    const { length } = memory.changes;
    await finishRows(memory.store);
    assert.equal(memory.changes.length, length, "nothing is left to do");
  }
});

/** Rows of which one is taken with each write, and what else they are asked. */
function rowsOf(calls: string[]) {
  let taken = 0;
  const rows = {
    isRefused: false,
    written: () => void calls.push("written"),
    take: (): RowChange => {
      calls.push("take");
      return { puts: [put(taken++, 1)], deletes: [] };
    },
    makeSegments: async () => {
      calls.push("segments");
      if (rows.isRefused) throw new StoreUnavailable("a page is away");
    },
  };
  return rows;
}

/** A log over a store, whose pauses are only noted. */
function logOf(t: TestContext) {
  const [calls, pauses]: [string[], number[]] = [[], []];
  const memory = new MemoryStore();
  const rows = rowsOf(calls);
  const { setTimeout: original } = timers;
  const pause = async (ms: number) => void pauses.push(ms);
  Object.assign(timers, { setTimeout: pause });
  syncBuiltinESMExports();
  t.after(() => {
    Object.assign(timers, { setTimeout: original });
    syncBuiltinESMExports();
  });
  const log = new RowLog(memory.store, rows as unknown as LedgerRows);
  return { calls, pauses, memory, rows, log };
}

test("changes that come during a write share the next one, and each is told once it is written", async (t) => {
  const { calls, memory, rows, log } = logOf(t);
  assert.deepEqual(calls, ["written"], "all there is was taken from the store");
  const order: string[] = [];
  const append = (name: string) =>
    log.append().then(() => order.push(`${name} after ${memory.changes.length}`));
  const first = append("first");
  const second = append("second");
  assert.equal(memory.changes.length, 0, "not in the turn that has applied the change");
  await first;
  await Promise.all([second, append("third"), append("fourth")]);
  assert.deepEqual(order, ["first after 1", "second after 1", "third after 2", "fourth after 2"]);
  rows.isRefused = true;
  await append("fifth");
  await append("sixth");
  await log.close();
  assert.deepEqual(
    calls.filter((call) => call !== "segments"),
    ["written", ...Array(4).fill(["take", "written"]).flat()],
  );
  assert.ok(calls.includes("segments"));
  assert.ok(memory.isClosed);
  await assert.rejects(log.append(), StoreUnavailable);
});

test("a store that is away for a while is asked again for half a minute", async (t) => {
  const away = () => new StoreUnavailable("it is away", { mayPass: true });
  const { pauses, memory, log, calls } = logOf(t);
  memory.failures.push(...Array.from({ length: 120 }, away));
  await log.append();
  assert.deepEqual(pauses, Array(120).fill(250));
  assert.equal(memory.changes.length, 1);
  memory.failures.push(...Array.from({ length: 121 }, away));
  await assert.rejects(log.append(), UnwrittenStore);
  assert.equal(memory.failures.length, 0);
  await assert.rejects(log.append(), UnwrittenStore);
  assert.equal(memory.changes.length, 1, "what has failed once is not written later");
  assert.equal(calls.filter((call) => call === "take").length, 2);
});

test("a closing log ends its writes, makes nothing more of them, and does not wait for a store", async (t) => {
  const { calls, memory, log } = logOf(t);
  const last = log.append();
  await Promise.all([log.close(), last]);
  assert.deepEqual([memory.changes.length, memory.isClosed], [1, true]);
  assert.ok(!calls.includes("segments"));
  const other = logOf(t);
  other.memory.failures.push(new StoreUnavailable("it is away", { mayPass: true }));
  const refused = assert.rejects(other.log.append(), UnwrittenStore);
  await other.log.close();
  await refused;
  assert.deepEqual(other.pauses, []);
});

test("who asks is told why a store refuses, and a log that refuses writes nothing", async (t) => {
  const fault = new TypeError("a fault of the program");
  const cases: readonly (readonly [unknown, (error: Error) => boolean])[] = [
    [new Fenced(1, 2), (error) => error instanceof WalletRefusal && /another service/.test(error.message)],
    [
      new RolledBack({ epoch: 1, sequence: 5 }, { epoch: 1, sequence: 4 }),
      (error) => error instanceof OlderStore,
    ],
    [new StoreUnavailable("full"), (error) => error instanceof UnwrittenStore],
    [
      new OutcomeUnknown("cut"),
      (error) => error instanceof UnwrittenStore && /is not known/.test(error.message),
    ],
    [fault, (error) => error === fault],
  ];
  for (const [failure, isIt] of cases) {
    const { memory, log } = logOf(t);
    memory.failures.push(failure);
    await assert.rejects(log.append(), isIt);
    await assert.rejects(log.append(), isIt, "and so is who asks later");
    assert.equal(memory.changes.length, 0);
  }
  const { calls, memory, log } = logOf(t);
  log.refuse(fault);
  log.refuse(new Error("later"));
  await assert.rejects(log.append(), (error) => error === fault);
  assert.deepEqual([memory.changes.length, calls.length], [0, 1]);
});

test("tables have the numbers and the order that stores already have", () => {
  const wide = [12, 13, 41];
  const numbers = [1, 4, 5, 6, 7, 8, 22, 23, 24, 25, 26, 27, 28, 2, 3, 20, 21, 9, 10, 11, 12, 13, 29, 30, 31];
  numbers.push(40, 41, 42, 50, 60);
  assert.deepEqual(
    ledgerTables.map(({ number, orderedBytes }) => [number, orderedBytes]),
    numbers.map((number) => [number, wide.includes(number) ? 10 : 6]),
  );
  assert.deepEqual(
    ledgerTables.filter(({ isSecret }) => isSecret),
    [mapTables.multisigNonces],
  );
  const perRow = { intents: 1, pool: 64, addressBook: 16, frozenBefore: 64, backgroundTransactions: 16 };
  assert.deepEqual([itemsPerRow, LABELS_PER_ROW], [perRow, 64]);
  assert.equal(rowKey([0x01020304, 5], 6).toString("hex"), "01020304000000050006");
  assert.deepEqual(placesOf(rowKey([0x81020304, 5], 0x8006)), { places: [0x81020304, 5], part: 0x8006 });
});
