/** Long-term weights, a hundred a row, read over any part of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openEnvironment } from "../src/environment.ts";
import { openStore } from "../src/index.ts";
import { createReader } from "../src/reader.ts";

/** More than are read at once, and the last row has few. */
const COUNT = 250_037;
const weightOf = (height: number) => (height % 1000 === 7 ? 2 ** 32 + height : 300_000 + height);

test("any range of weights is read as far as there are some, however long it is", async () => {
  const store = await openStore({ network: "regtest" });
  const { root, tables } = openEnvironment(store.path);
  const all = Array.from({ length: COUNT }, (_, height) => weightOf(height));
  root.transactionSync(() => {
    for (let row = 0; 100 * row < COUNT; row++)
      tables.longTermWeights.put(row, all.slice(100 * row, 100 * row + 100));
  });
  const read = createReader(tables);
  const ranges = [
    [0, COUNT],
    [0, Number.MAX_SAFE_INTEGER],
    [0, 1],
    [0, 0],
    [99, 101],
    [150, 260],
    [200, 300],
    [123_456, 234_567],
    [99_950, 200_050],
    [COUNT - 1, COUNT + 1],
    [COUNT, COUNT + 10],
    [10, 5],
    [-5, 5],
  ] as const;
  for (const [from, to] of ranges) {
    const found = [...read.blockInfoColumn("longTermWeight", from, to)];
    assert.deepEqual(found, all.slice(Math.max(0, from), Math.max(0, to)), `${from} to ${to}`);
  }
  await root.close();
  await store.close();
});
