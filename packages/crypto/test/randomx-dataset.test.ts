import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createRandomXCache, itemFunctions, type RandomXCache } from "../src/randomx/cache.ts";
import {
  createDataset,
  createRandomXDataset,
  fillDataset,
  type RandomXDataset,
} from "../src/randomx/dataset.ts";
import { createMachine } from "../src/randomx/fixed.ts";
import { DATA, DATASET_BYTES, DATASET_ITEMS } from "../src/randomx/memory.ts";
import { randomxVectors } from "../src/randomx/vectors.ts";
import { createRandomXVm, createVm } from "../src/randomx/vm.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

let cache: RandomXCache;
let dataset: RandomXDataset;
before(() => {
  cache = createRandomXCache(Buffer.from("test key 000"));
  dataset = createDataset(cache);
});

/** The items as light mode computes them. */
function createItemOf(): (number: number) => Uint8Array {
  const { bytes, slot } = createMachine(cache);
  const { pair } = itemFunctions(cache);
  return (number) => {
    pair(slot.items, BigInt(number), 0n);
    return bytes.slice(slot.items, slot.items + 64);
  };
}

test("threads fill the end of a dataset", async () => {
  const done: number[] = [];
  await fillDataset({ cache, memory: dataset.memory }, { threads: 2, onProgress: (n) => done.push(n) }, 1037);
  const [first, last] = [1037 * 32768, DATASET_ITEMS - 1];
  assert.equal(done.at(-1), last + 1 - first);
  const data = new Uint8Array(dataset.memory.buffer, DATA, DATASET_BYTES);
  const itemOf = createItemOf();
  for (const number of [first, first + 1, first + 32767, first + 32768, last - 9, last - 1, last])
    assert.equal(hex(data.subarray(64 * number, 64 * number + 64)), hex(itemOf(number)));
});

test("full mode hashes as light mode does", () => {
  const itemOf = createItemOf();
  const data = new Uint8Array(dataset.memory.buffer, DATA, DATASET_BYTES);
  const target = new Uint8Array(cache.memory.buffer);
  /** Light mode's items also find their places in the dataset, so that full mode has those that it needs. */
  const light = createVm(cache, (out, ...numbers) =>
    numbers.forEach((number, i) => {
      const item = itemOf(Number(number));
      target.set(item, out + 64 * i);
      data.set(item, 64 * Number(number));
    }),
  );
  const full = createRandomXVm(dataset);
  for (const { key, input, hashes } of randomxVectors) {
    if (hex(key) !== hex(cache.key)) continue;
    for (const version of [1, 2] as const) {
      const hash = hex(light.hash(input, version));
      assert.equal(hash, hashes[version]);
      assert.equal(hex(full.hash(input, version)), hash);
    }
  }
});

test("the making of a dataset can be given up", async () => {
  const reason = new Error("no longer wanted");
  const aborted = createRandomXDataset(cache, { signal: AbortSignal.abort(reason) });
  await assert.rejects(aborted, reason);
  const controller = new AbortController();
  const { memory } = dataset;
  const options = {
    memory,
    threads: 2,
    signal: controller.signal,
    onProgress: () => controller.abort(reason),
  };
  await assert.rejects(createRandomXDataset(cache, options), reason);
});
