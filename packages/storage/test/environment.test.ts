import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { RootDatabase } from "lmdb";
import { DamagedDatabase } from "../src/damage.ts";
import { type Environment, openEnvironment } from "../src/environment.ts";
import { bytesOf } from "./sample-blocks.ts";

let folder = "";
let environment: Environment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-environment-"));
  environment = openEnvironment(join(folder, "chain.mdb"));
});
afterEach(async () => {
  await environment.root.close();
  rmSync(folder, { recursive: true, force: true });
});

const inWrite = <T>(change: () => T): T => environment.root.transactionSync(change);

test("a range is what it says: from its start up to before its end, in either direction, so many at most", () => {
  const { outputCounts } = environment.tables;
  inWrite(() => {
    for (const amount of [3n, 1n, 2n ** 64n - 1n, 2n, 300n]) outputCounts.put(amount, Number(amount % 1000n));
  });
  const keys = (range?: Parameters<typeof outputCounts.entries>[0]) =>
    [...outputCounts.entries(range)].map(({ key }) => key);
  const all = [1n, 2n, 3n, 300n, 2n ** 64n - 1n];
  assert.deepEqual(keys(), all);
  assert.deepEqual(keys({ start: 2n }), all.slice(1));
  assert.deepEqual(keys({ end: 300n }), all.slice(0, 3));
  assert.deepEqual(keys({ start: 2n, end: 3n }), [2n]);
  assert.deepEqual(keys({ reverse: true, limit: 2 }), all.slice(-2).reverse());
  assert.deepEqual(keys({ limit: 1 }), [1n]);
  assert.equal(outputCounts.count(), 5);
  inWrite(() => outputCounts.remove(3n));
  assert.equal(outputCounts.count(), 4);
  assert.equal(outputCounts.get(3n), undefined);
  assert.equal(outputCounts.has(3n), false);
  assert.equal(outputCounts.has(2n), true);
});

test("a table that grows takes a new key above all others alone, others take any", () => {
  const { blocks, longTermWeights } = environment.tables;
  inWrite(() => blocks.put(5, bytesOf("five")));
  for (const key of [4, 5])
    assert.throws(
      () => inWrite(() => blocks.put(key, bytesOf("other"))),
      /blocks has rows where new ones belong/,
    );
  assert.deepEqual(blocks.get(5), bytesOf("five"));
  inWrite(() => {
    longTermWeights.put(5, [1]);
    longTermWeights.put(4, [2, 3]);
    longTermWeights.put(5, [4]);
  });
  assert.deepEqual([longTermWeights.get(4), longTermWeights.get(5)], [[2, 3], [4]]);
});

test("a row of any length comes back, and a long one leaves the next alone", () => {
  const { blocks } = environment.tables;
  const lengths = [0, 1, 65_531, 65_532, 65_533, 200_000, 3];
  inWrite(() => {
    for (const [height, length] of lengths.entries())
      blocks.put(height, new Uint8Array(length).fill(height + 1));
  });
  for (const [height, length] of lengths.entries()) {
    const row = blocks.get(height)!;
    assert.equal(row.length, length);
    assert.ok(row.every((byte) => byte === height + 1));
  }
});

test("a damaged row is told of before its reader is refused, and counts as read", async () => {
  await environment.root.close();
  const path = join(folder, "chain.mdb");
  const faults: DamagedDatabase[] = [];
  environment = openEnvironment(path, { onDamage: (damage) => void faults.push(damage) });
  const { root, tables } = environment;
  inWrite(() => tables.heights.put(bytesOf("block"), 7));
  const file = root as unknown as RootDatabase<Buffer, Buffer>;
  const raw = file.openDB<Buffer, Buffer>({ name: "heights", encoding: "binary", keyEncoding: "binary" });
  const key = Buffer.from(bytesOf("block"));
  const row = Buffer.from(raw.get(key)!);
  row[7]! ^= 1;
  raw.putSync(key, row);
  assert.throws(() => tables.heights.get(bytesOf("block")), /a row of heights is not what was written/);
  assert.throws(() => [...tables.heights.entries()], DamagedDatabase);
  assert.equal(faults.length, 2);
  // Next to a place where nothing is, a row whose key was damaged might be the one looked for.
  assert.throws(() => tables.heights.has(bytesOf("another")), DamagedDatabase);
  assert.equal(tables.transactionIds.has(bytesOf("another")), false);
});
