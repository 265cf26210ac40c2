/** Which rows a change of a ledger writes, and what a ledger whose rows are incomplete does not open as. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { toHex } from "@anulo/protocol";
import type { KeyRange, Table, WalletKey, WalletRow } from "@anulo/store";
import { type Plain, readCbor, writeCbor } from "../src/cbor.ts";
import { DamagedJournal } from "../src/file/journal.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import {
  accountTable,
  headTable,
  labelTable,
  listTables,
  mapTables,
  placesOf,
  recentTable,
  rowKey,
} from "../src/file/ledger-tables.ts";
import { createAccount, createLedger } from "../src/ledger/ledger.ts";
import type { NetworkName } from "../src/state.ts";
import { bytes, mine, output, payment, transaction } from "./ledger-items.ts";
import { MemoryStore, nameOf } from "./memory-rows.ts";
import { plainState } from "./plain-state.ts";

const network = "regtest";
const settings = { seedLanguage: "", refreshFromHeight: 0 };

/** A ledger that is stored, and what its next write puts into a table and deletes there. */
function stored() {
  const ledger = createLedger(network, settings);
  const rows = LedgerRows.of(ledger);
  assert.deepEqual(rows.take().deletes, []);
  const placesIn = ({ key }: WalletKey) => placesOf(key).places.join("/");
  const write = ({ number }: Table) => {
    const { puts, deletes } = rows.take();
    const isIn = ({ table }: WalletKey) => table.number === number;
    const others = puts.filter((row) => !isIn(row)).map(({ table }) => table);
    return {
      puts: puts.filter(isIn).map((row) => [placesIn(row), row.value] as const),
      deleted: deletes.filter(isIn).map(placesIn),
      others: others.filter((table) => table !== headTable).map((table) => table.number),
    };
  };
  return { ...ledger, write };
}

const entryOf = (place: number) => ({ description: `${place}` }) as never;

test("of a list those rows are written that have a changed item, and those behind its end are deleted once", () => {
  const { state, touched, write } = stored();
  const { addressBook } = state;
  const table = listTables.addressBook;
  const written = () => {
    const { puts, deleted, others } = write(table);
    const items = puts.map(([row, list]) => [row, (readCbor(list) as unknown[]).length]);
    return { items: Object.fromEntries(items), deleted, others };
  };
  for (let place = 0; place < 33; place++) addressBook.push(entryOf(place));
  touched.from("addressBook", 0);
  assert.deepEqual(written(), { items: { 0: 16, 1: 16, 2: 1 }, deleted: [], others: [] });
  assert.deepEqual(written(), { items: {}, deleted: [], others: [] });
  for (const [places, row] of [
    [[0, 15], 0],
    [[16, 31], 1],
  ] as const) {
    for (const place of places) touched.item("addressBook", place);
    assert.deepEqual(written(), { items: { [row]: 16 }, deleted: [], others: [] });
  }
  touched.item("addressBook", 33);
  assert.deepEqual(written().items, {}, "an item that has gone since");
  touched.from("addressBook", 31);
  assert.deepEqual(written().items, { 1: 16, 2: 1 });
  touched.from("addressBook", 32);
  assert.deepEqual(written().items, { 2: 1 });
  addressBook.length = 16;
  touched.from("addressBook", 16);
  assert.deepEqual(written(), { items: {}, deleted: ["1", "2"], others: [] });
  addressBook.length = 0;
  touched.from("addressBook", 0);
  assert.deepEqual(written(), { items: {}, deleted: ["0"], others: [] });
  addressBook.push(entryOf(0));
  touched.from("addressBook", 0);
  assert.deepEqual(written(), { items: { 0: 1 }, deleted: [], others: [] });
});

test("entries of a map keep their rows, and new ones get rows of their own behind all there were", () => {
  const { state, touched, write } = stored();
  const { notes } = state;
  const written = () => {
    const { puts, deleted } = write(mapTables.notes);
    return { puts: puts.map(([row, entry]) => [row, ...(readCbor(entry) as string[])]), deleted };
  };
  const put = (key: string, value: string) => {
    notes.set(key, value);
    touched.key("notes", key);
  };
  const remove = (key: string) => {
    notes.delete(key);
    touched.delete("notes", key);
  };
  put("a", "1");
  put("b", "2");
  assert.deepEqual(written(), {
    puts: [
      ["0", "a", "1"],
      ["1", "b", "2"],
    ],
    deleted: [],
  });
  put("a", "3");
  assert.deepEqual(written(), { puts: [["0", "a", "3"]], deleted: [] });
  remove("a");
  put("a", "4");
  assert.deepEqual(written(), { puts: [["2", "a", "4"]], deleted: ["0"] });
  put("c", "5");
  remove("c");
  assert.deepEqual(written(), { puts: [], deleted: [] });
  remove("b");
  assert.deepEqual(written(), { puts: [], deleted: ["1"] });
  notes.clear();
  notes.set("d", "6");
  touched.emptiedMap("notes");
  assert.deepEqual(written(), { puts: [["3", "d", "6"]], deleted: ["2"] });
  assert.deepEqual(written(), { puts: [], deleted: [] });
});

test("of an account those rows of labels are written that have a changed one", () => {
  const { state, touched, write } = stored();
  const { addresses } = state.accounts[0]!;
  for (let minor = 1; minor < 130; minor++) addresses.push({ label: `${minor}` });
  const written = (from: number, to: number) => {
    touched.addresses(0, from, to);
    const { puts, others } = write(labelTable);
    assert.deepEqual(others, puts.length === 0 ? [] : [accountTable.number]);
    return puts.map(([places, labels]) => [places, (readCbor(labels) as string[]).length]);
  };
  assert.deepEqual(written(1, 130), [
    ["0/0", 64],
    ["0/1", 64],
    ["0/2", 2],
  ]);
  assert.deepEqual(written(0, 64), [["0/0", 64]]);
  assert.deepEqual(written(63, 65), [
    ["0/0", 64],
    ["0/1", 64],
  ]);
  assert.deepEqual(written(64, 128), [["0/1", 64]]);
  assert.deepEqual(written(128, 129), [["0/2", 2]]);
  assert.deepEqual(written(5, 5), []);
  state.accounts[0]!.tag = "shop";
  touched.account(0);
  const { puts, deleted, others } = write(accountTable);
  assert.deepEqual(
    puts.map(([row, account]) => [row, readCbor(account)]),
    [["0", { tag: "shop", addresses: 130 }]],
  );
  assert.deepEqual([deleted, others], [[], []]);
});

/** Ids of blocks from a height on. */
const idsOf = (from: number, count: number) =>
  Uint8Array.from({ length: 32 * count }, (_, i) => (from + Math.floor(i / 32)) % 251);

test("ids of blocks are written from the first new one on, and rows without any are deleted", () => {
  const { state, touched, write } = stored();
  const { recent } = state;
  /** Height of the first id of each row, and number of ids. */
  const written = () => {
    const { puts, deleted } = write(recentTable);
    const rows = puts.map(([row, value]) => {
      const from = Buffer.from(value).readUInt32BE(0);
      const count = (value.length - 4) / 32;
      assert.deepEqual(new Uint8Array(value.subarray(4)), idsOf(from, count));
      return [row, from, count];
    });
    return [rows, deleted];
  };
  const append = (count: number) => {
    touched.recent(recent.end);
    recent.append(idsOf(recent.end, count));
  };
  append(300);
  const rows = [
    ["0", 1, 127],
    ["1", 128, 128],
    ["2", 256, 45],
  ];
  assert.deepEqual(written(), [rows, []]);
  append(5);
  assert.deepEqual(written(), [[["2", 256, 50]], []]);
  touched.recent(recent.end);
  assert.deepEqual(written(), [[], []]);
  recent.truncate(200);
  assert.deepEqual(written(), [[], ["2"]]);
  append(10);
  assert.deepEqual(written(), [[["1", 128, 82]], []]);
  recent.keepNewest(20);
  assert.deepEqual(written(), [[], ["0"]]);
  touched.recent(0);
  assert.deepEqual(written(), [[["1", 190, 20]], []]);
  recent.begin(500);
  touched.recent(500);
  assert.deepEqual(written(), [[], ["1"]]);
  append(12);
  assert.deepEqual(written(), [[["3", 500, 12]], []]);
  append(1);
  assert.deepEqual(written(), [[["4", 512, 1]], []]);
});

/** A store whose rows of one table are there after all that is asked at the same time. */
class SlowStore extends MemoryStore {
  slow: number | undefined;

  override async *range(table: Table, range?: KeyRange): AsyncGenerator<WalletRow> {
    for (let turn = 0; turn < 100 && table.number === this.slow; turn++) await setImmediate();
    // Secrets are wiped once they are read.
    for await (const row of super.range(table, range)) yield { ...row, value: new Uint8Array(row.value) };
  }
}

/** The rows of a ledger that has several of each table. */
async function severalRows() {
  const ledger = createLedger(network, settings);
  const { state } = ledger;
  mine(ledger, 1, transaction(1, 1, { received: [output({ key: 1, amount: 5n })] }));
  for (const id of [3, 4]) state.outgoing.set(toHex(bytes(id)), payment(id));
  state.outgoing.set(toHex(bytes(5)), payment(5, { state: "confirmed", blob: undefined, height: 1 }));
  state.txKeys.set(toHex(bytes(3)), [bytes(4)]);
  state.recent.begin(1);
  Object.assign(state, { height: 301, changeCount: 7, lastBlockReward: 9n, takenOverCache: "ab" });
  for (let place = 0; place < 33; place++) state.addressBook.push(entryOf(place));
  for (const key of ["a", "b", "c"]) state.notes.set(key, key);
  state.intents.push({ key: "order", asked: new Uint8Array(32), method: "transfer", createdAt: 1 } as never);
  state.accounts.push(createAccount("second"), createAccount("third"));
  for (const { addresses } of state.accounts)
    for (let minor = 1; minor < 130; minor++) addresses.push({ label: `${minor}` });
  state.accounts.push(createAccount("of one address"));
  state.recent.append(idsOf(1, 300));
  const memory = new SlowStore();
  await memory.apply(LedgerRows.of(ledger).take());
  const load = (as: NetworkName = network) => LedgerRows.load(memory.store, { network: as, settings });
  const lose = (table: Table, ...places: number[]) =>
    assert.ok(memory.rows.delete(nameOf({ table, key: rowKey(places) })));
  const changeHead = (change: object) => {
    const row = { table: headTable, key: rowKey([0]) };
    const head = readCbor(memory.rows.get(nameOf(row))!.value) as object;
    memory.rows.set(nameOf(row), { ...row, value: writeCbor({ ...head, ...change } as Plain) });
  };
  return { ledger, memory, load, lose, changeHead };
}

test("a ledger that is loaded writes on where the rows end", async () => {
  const { ledger, load } = await severalRows();
  const { ledger: again, rows } = (await load())!;
  assert.deepEqual(plainState(again.state), plainState(ledger.state));
  assert.equal(again.intentPlaces.get("order"), 0);
  const { state, touched } = again;
  const written = () => {
    const { puts, deletes } = rows.take();
    const told = (row: WalletKey) => [row.table.number, ...placesOf(row.key).places].join("/");
    return [puts.map(told).filter((name) => name !== "1/0"), deletes.map(told)];
  };
  assert.deepEqual(written(), [[], []]);
  state.addressBook.length = 17;
  touched.from("addressBook", 17);
  state.notes.set("d", "d");
  touched.key("notes", "d");
  state.recent.truncate(200);
  assert.deepEqual(written(), [
    ["6/1", "23/3"],
    ["6/2", "42/2"],
  ]);
});

test("however long the rows of a table take, all of them are there when the ledger is", async () => {
  const { ledger, memory, load } = await severalRows();
  const plain = plainState(ledger.state);
  const tables = new Set([...memory.rows.values()].map(({ table }) => table.number));
  assert.ok(tables.size > 10, `${tables.size} tables`);
  for (const table of tables) {
    memory.slow = table;
    const { state } = (await load())!.ledger;
    assert.deepEqual(plainState(state), plain, `table ${table}`);
  }
});

test("rows of an earlier program, which had no outbox and no indices, have no events that wait", async () => {
  const { ledger, load, changeHead } = await severalRows();
  changeHead({ outbox: undefined, indices: undefined });
  const { ledger: again, rows, isFormer } = (await load())!;
  assert.equal(isFormer, false);
  assert.deepEqual(rows.outbox.span, { start: 0, after: 7, upTo: 7 });
  assert.deepEqual(plainState(again.state), plainState(ledger.state));
});

test("a ledger of which a row is missing is damaged, wherever that is noticed", async () => {
  const lost: readonly [Table, readonly number[]][] = [
    [listTables.addressBook, [0]],
    [listTables.addressBook, [1]],
    [accountTable, [2]],
    [labelTable, [0, 0]],
    [labelTable, [1, 1]],
    [labelTable, [2, 2]],
    [recentTable, [0]],
    [recentTable, [1]],
    [recentTable, [2]],
  ];
  for (const [table, places] of lost) {
    const { load, lose } = await severalRows();
    lose(table, ...places);
    await assert.rejects(load(), DamagedJournal, `row ${places.join()} of ${table.number}`);
  }
  const { load, lose } = await severalRows();
  lose(headTable, 0);
  assert.equal(await load(), undefined, "it was never written completely");
});

test("a ledger of another network, or of a later program, is not opened", async () => {
  const { load, changeHead } = await severalRows();
  await assert.rejects(load("stagenet"), /of another network/);
  for (const version of [0, 4]) {
    changeHead({ version });
    await assert.rejects(load(), DamagedJournal);
  }
  changeHead({ version: 3 });
  assert.equal((await load())!.isFormer, false);
});

test("ids of blocks before the first that counts, or behind the last, are not read", async () => {
  for (const [recentOffset, recentCount] of [
    [1, 300],
    [1, 250],
    [1, 255],
    [100, 150],
    [128, 1],
    [130, 171],
    [300, 1],
    [200, 0],
  ] as const) {
    const { load, changeHead } = await severalRows();
    changeHead({ recentOffset, recentCount });
    const { recent } = (await load())!.ledger.state;
    assert.deepEqual([recent.offset, recent.length], [recentOffset, recentCount]);
    assert.deepEqual(Buffer.concat(recent.slice()), Buffer.from(idsOf(recentOffset, recentCount)));
  }
});
