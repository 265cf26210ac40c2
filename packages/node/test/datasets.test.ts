/** The dataset of long searches: made once, told of, and freed when nobody uses it any more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createDatasets, type MakeOptions } from "../src/pow/datasets.ts";
import type { DatasetStatus, SeedSource } from "../src/pow/messages.ts";

/** A cache that counts who uses it. */
function cacheOf(name: string) {
  const cache = {
    name,
    source: {} as SeedSource,
    users: 0,
    begin: () => void cache.users++,
    end: () => void cache.users--,
  };
  return cache;
}

function scene() {
  const told: DatasetStatus[] = [];
  const released: string[] = [];
  const freed: SeedSource[] = [];
  const making: (MakeOptions & { done(source: SeedSource): void; fail(error: Error): void })[] = [];
  const datasets = createDatasets({
    factory: {
      make: (_, options) =>
        new Promise((done, fail) => {
          making.push({ ...options, done, fail });
        }),
      free: async (source) => void freed.push(source),
    },
    report: (news) => told.push(news),
    onReleased: (name) => released.push(name),
    now: () => 0,
  });
  return { datasets, told, released, freed, making };
}

test("a dataset is made once while it is asked for, and its progress told in tenths", async () => {
  const { datasets, told, making } = scene();
  const cache = cacheOf("a");
  for (let i = 0; i < 3; i++) assert.equal(datasets.use(cache), undefined);
  assert.equal(making.length, 1);
  assert.equal(cache.users, 1, "its cache is needed meanwhile");
  for (const items of [0, 1, 9, 10, 15, 19, 20, 55, 50, 99, 100]) making[0]!.onProgress(items, 100);
  const made = {} as SeedSource;
  making[0]!.done(made);
  await nextTurn();
  const steps = told.flatMap((news) => ("percent" in news ? [news.percent] : []));
  assert.deepEqual(steps, [10, 20, 50, 90, 100]);
  assert.deepEqual(
    told.map(({ state }) => state).filter((state) => state !== "growing"),
    ["begun", "ready"],
  );
  assert.equal(cache.users, 0);
  assert.equal(datasets.use(cache)?.source, made);
});

test("one that gives way to the next seed's is freed after the last search that uses it", async () => {
  const { datasets, released, freed, making } = scene();
  const made = {} as SeedSource;
  datasets.use(cacheOf("a"));
  making[0]!.done(made);
  await nextTurn();
  const dataset = datasets.use(cacheOf("a"))!;
  dataset.begin();
  dataset.begin();
  datasets.use(cacheOf("b"));
  assert.deepEqual(released, [dataset.name]);
  assert.ok(making[0]!.signal.aborted);
  dataset.end();
  assert.deepEqual(freed, []);
  dataset.end();
  assert.deepEqual(freed, [made]);
});

test("one that is made too late is freed at once, and one that fails is told, not tried again", async () => {
  const { datasets, told, freed, making } = scene();
  const late = {} as SeedSource;
  datasets.use(cacheOf("a"));
  datasets.use(cacheOf("b"));
  making[0]!.done(late);
  making[1]!.fail(new Error("no memory"));
  await nextTurn();
  assert.deepEqual(freed, [late]);
  assert.deepEqual(
    told.map(({ state }) => state),
    ["begun", "begun", "failed"],
  );
  assert.equal(datasets.use(cacheOf("b")), undefined);
  assert.equal(making.length, 2);
});
