/** Values of a store of which some are longer than a row may be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cells } from "../src/file/cells.ts";
import { DamagedJournal } from "../src/file/journal.ts";
import { labelTable, rowKey, txKeyTable } from "../src/file/ledger-tables.ts";
import { MemoryStore, nameOf } from "./memory-rows.ts";

const MIB = 2 ** 20;
const filled = (length: number, byte = 1) => new Uint8Array(length).fill(byte);

/** Writes what has changed. */
async function write(cells: Cells, memory: MemoryStore): Promise<{ puts: number; deletes: number }> {
  const { puts, deletes } = cells.take();
  await memory.apply({ puts, deletes });
  return { puts: puts.length, deletes: deletes.length };
}

async function read(memory: MemoryStore, from?: number) {
  const values: [number, number, number][] = [];
  for await (const { places, value } of new Cells().read(memory.store, txKeyTable, from)) {
    assert.ok(!Buffer.isBuffer(value));
    values.push([places[0]!, value.length, value[0] ?? 0]);
  }
  return values;
}

test("a value has as many rows as it has beginnings of a MiB, and at least one", async () => {
  const [cells, memory] = [new Cells(), new MemoryStore()];
  for (const [place, length] of [0, 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1].entries())
    cells.put(txKeyTable, [place], filled(length, place));
  assert.deepEqual(await write(cells, memory), { puts: 10, deletes: 0 });
  assert.deepEqual(await read(memory), [
    [0, 0, 0],
    [1, 1, 1],
    [2, MIB, 2],
    [3, MIB + 1, 3],
    [4, 2 * MIB, 4],
    [5, 2 * MIB + 1, 5],
  ]);
  assert.deepEqual(await read(memory, 4), [
    [4, 2 * MIB, 4],
    [5, 2 * MIB + 1, 5],
  ]);
  assert.deepEqual(await write(cells, memory), { puts: 0, deletes: 0 }, "nothing has changed since");
});

test("a value that has become shorter leaves none of its parts, nor does one that is deleted", async () => {
  const [cells, memory] = [new Cells(), new MemoryStore()];
  cells.put(txKeyTable, [7], filled(3 * MIB));
  await write(cells, memory);
  cells.put(txKeyTable, [7], filled(MIB + 1));
  assert.deepEqual(await write(cells, memory), { puts: 2, deletes: 1 });
  cells.put(txKeyTable, [7], filled(5, 9));
  assert.deepEqual(await write(cells, memory), { puts: 1, deletes: 1 });
  cells.put(txKeyTable, [7], filled(6, 9));
  assert.deepEqual(await write(cells, memory), { puts: 1, deletes: 0 });
  assert.deepEqual(await read(memory), [[7, 6, 9]]);
  cells.put(txKeyTable, [7], filled(3 * MIB));
  cells.delete(txKeyTable, [8]);
  await write(cells, memory);
  cells.delete(txKeyTable, [7]);
  assert.deepEqual(await write(cells, memory), { puts: 0, deletes: 3 });
  assert.equal(memory.rows.size, 0);
  cells.delete(txKeyTable, [7]);
  assert.deepEqual(await write(cells, memory), { puts: 0, deletes: 1 });
});

test("how many parts a value has is known of what was read, too", async () => {
  const memory = new MemoryStore();
  const writer = new Cells();
  writer.put(labelTable, [1, 2], filled(2 * MIB + 1));
  writer.put(labelTable, [1, 3], filled(1));
  await write(writer, memory);
  const cells = new Cells();
  const places: (readonly number[])[] = [];
  for await (const value of cells.read(memory.store, labelTable)) places.push(value.places);
  assert.deepEqual(places, [
    [1, 2],
    [1, 3],
  ]);
  cells.put(labelTable, [1, 2], filled(1));
  cells.put(labelTable, [1, 3], filled(1));
  assert.deepEqual(await write(cells, memory), { puts: 2, deletes: 2 });
});

test("a value of which a part is missing, or is another's, is damaged", async () => {
  for (const [places, part] of [
    [[7], 0],
    [[7], 1],
    [[8], 0],
  ] as const) {
    const [cells, memory] = [new Cells(), new MemoryStore()];
    cells.put(txKeyTable, [7], filled(2 * MIB + 1));
    cells.put(txKeyTable, [8], filled(MIB + 1));
    await write(cells, memory);
    memory.rows.delete(nameOf({ table: txKeyTable, key: rowKey(places, part) }));
    await assert.rejects(read(memory), DamagedJournal);
  }
});
