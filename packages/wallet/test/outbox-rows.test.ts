/** How many events wait in the rows of a wallet, and when they give room to others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCbor } from "../src/cbor.ts";
import type { WalletEvent } from "../src/events/event.ts";
import type { Entry, OutboxSpan } from "../src/events/outbox.ts";
import { Cells } from "../src/file/cells.ts";
import { placesOf } from "../src/file/ledger-tables.ts";
import { OutboxRows } from "../src/file/outbox-rows.ts";
import { MemoryStore } from "./memory-rows.ts";

const source = new Uint8Array(16).fill(1);
const event = { type: "events_started" } as unknown as WalletEvent;
const entryOf = (change: number, count = 1): Entry => ({ source, change, events: Array(count).fill(event) });

const START: OutboxSpan = { start: 0, after: 0, upTo: 0 };

/** An outbox with room for so many events, and what its writes put and delete: the changes of each row, by number. */
function begun(room?: number, { memory = new MemoryStore(), cells = new Cells() } = {}) {
  const outbox = new OutboxRows(room);
  const write = async (changeCount: number) => {
    const span = outbox.put(cells, changeCount);
    const change = cells.take();
    await memory.apply(change);
    const numberOf = ({ key }: { readonly key: Uint8Array }) => placesOf(key).places[0]!;
    const rows = change.puts.map((row) => {
      const entries = readCbor(row.value) as unknown as readonly Entry[];
      return [numberOf(row), ...entries.map(({ change }) => change)];
    });
    return { span, rows, deleted: change.deletes.map(numberOf) };
  };
  return { outbox, write, memory };
}

test("an outbox has no more events than it has room for, in rows or not, and none after the first it lost", async () => {
  const { outbox, write } = begun(4);
  outbox.begin(START);
  outbox.add(entryOf(1, 2));
  assert.deepEqual(await write(1), { span: { ...START, upTo: 1 }, rows: [[0, 1]], deleted: [] });
  outbox.add(entryOf(2));
  outbox.add(entryOf(3));
  assert.deepEqual(await write(3), { span: { ...START, upTo: 3 }, rows: [[1, 2, 3]], deleted: [] });
  outbox.add(entryOf(4, 0));
  assert.deepEqual(await write(4), { span: { ...START, upTo: 4 }, rows: [], deleted: [] });
  outbox.add(entryOf(5));
  assert.equal(outbox.span!.upTo, 4);
  outbox.confirm(3);
  outbox.add(entryOf(6));
  assert.deepEqual(await write(6), { span: { start: 0, after: 3, upTo: 4 }, rows: [], deleted: [0, 1] });
});

test("unless told otherwise, there is room for a hundred thousand events", () => {
  const { outbox } = begun();
  outbox.begin(START);
  outbox.add(entryOf(1, 100_000));
  outbox.add(entryOf(2));
  assert.equal(outbox.span!.upTo, 1);
});

test("what a log has by now gives its room to others, whether it is in a row or not", async () => {
  const { outbox, write } = begun(2);
  outbox.begin(START);
  for (const change of [1, 2]) outbox.add(entryOf(change));
  outbox.confirm(1);
  outbox.add(entryOf(3));
  assert.deepEqual(await write(3), { span: { start: 0, after: 1, upTo: 3 }, rows: [[0, 2, 3]], deleted: [] });
  outbox.confirm(3);
  assert.deepEqual(await write(3), { span: { start: 0, after: 3, upTo: 3 }, rows: [], deleted: [0] });
  for (const change of [4, 5]) outbox.add(entryOf(change));
  assert.deepEqual(await write(5), { span: { start: 0, after: 3, upTo: 5 }, rows: [[1, 4, 5]], deleted: [] });
  outbox.confirm(6);
  outbox.add(entryOf(6, 3));
  assert.deepEqual(await write(6), { span: { start: 0, after: 6, upTo: 6 }, rows: [], deleted: [1] });
  outbox.add(entryOf(7));
  outbox.confirm(7);
  assert.deepEqual((await write(7)).rows, []);
});

test("a row is deleted once a log has all of it, and what it has already is not added", async () => {
  const { outbox, write } = begun();
  outbox.begin(START);
  outbox.add(entryOf(1));
  await write(1);
  for (const change of [2, 3]) outbox.add(entryOf(change));
  await write(3);
  outbox.confirm(2);
  outbox.confirm(1);
  assert.deepEqual(await write(3), { span: { start: 0, after: 2, upTo: 3 }, rows: [], deleted: [0] });
  outbox.confirm(9);
  outbox.add(entryOf(9));
  outbox.add(entryOf(10));
  assert.deepEqual(await write(10), {
    span: { start: 0, after: 9, upTo: 10 },
    rows: [[2, 10]],
    deleted: [1],
  });
});

test("a log that is ahead of the wallet has changes of another copy: those of the same numbers are added", async () => {
  const { outbox, write } = begun();
  outbox.confirm(9);
  outbox.begin({ start: 5, after: 4, upTo: 4 });
  outbox.add(entryOf(5));
  assert.deepEqual((await write(5)).rows, [[0, 5]]);
  const other = begun();
  other.outbox.confirm(9);
  other.outbox.begin({ start: 5, after: 5, upTo: 5 });
  other.outbox.add(entryOf(6));
  assert.deepEqual((await other.write(6)).rows, []);
});

test("one that goes on from a store counts what is there, or drops it", async () => {
  const first = begun();
  first.outbox.begin(START);
  for (const change of [1, 2]) {
    first.outbox.add(entryOf(change, 2));
    await first.write(change);
  }
  const { memory } = first;
  const span = { start: 0, after: 0, upTo: 2 };
  const next = () => {
    const cells = new Cells();
    const opened = begun(5, { memory, cells });
    opened.outbox.continueFrom(memory.store, cells, span);
    return opened;
  };
  const told = next();
  assert.deepEqual(told.outbox.span, span);
  const stored: number[] = [];
  for await (const { change } of told.outbox.stored()) stored.push(change);
  assert.deepEqual(stored, [1, 2]);
  told.outbox.begin(span);
  told.outbox.add(entryOf(3));
  told.outbox.add(entryOf(4));
  assert.deepEqual(await told.write(4), { span: { ...span, upTo: 3 }, rows: [[2, 3]], deleted: [] });
  const dropped = next();
  await dropped.outbox.discard();
  dropped.outbox.begin({ start: 5, after: 4, upTo: 4 });
  assert.deepEqual((await dropped.write(4)).deleted, [0, 1, 2]);
  for (const change of [5, 6, 7]) dropped.outbox.add(entryOf(change, change === 5 ? 4 : 1));
  const written = { span: { start: 5, after: 4, upTo: 6 }, rows: [[3, 5, 6]], deleted: [] };
  assert.deepEqual(await dropped.write(7), written);
});

test("before it begins an outbox takes nothing, and says that nothing is missing", async () => {
  const { outbox, write } = begun();
  outbox.add(entryOf(1));
  for await (const _ of outbox.stored()) assert.fail("it goes on from no store");
  await outbox.discard();
  assert.deepEqual(await write(7), { span: { start: 0, after: 7, upTo: 7 }, rows: [], deleted: [] });
});
