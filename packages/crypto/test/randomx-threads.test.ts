import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { createRandomXCache } from "../src/randomx/cache.ts";
import { useSplitTiering } from "../src/randomx/tiering.ts";
import { createRandomXVm } from "../src/randomx/vm.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const blobs = Array.from({ length: 6 }, (_, i) => Buffer.from(`blob ${i}`));

/** What a thread of its own hashes with the cache that it is sent. */
const PROGRAM = `
import { workerData, parentPort } from "node:worker_threads";
const { createRandomXVm } = await import(workerData.url);
const vm = createRandomXVm(workerData.cache);
parentPort.postMessage(workerData.blobs.map((blob) => vm.hash(blob)));
vm.close();
`;

function hashesOfThread(workerData: object): Promise<Uint8Array[]> {
  const source = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);
  const worker = new Worker(source, { workerData });
  return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
}

test("threads hash at the same time over one cache", async () => {
  const cache = createRandomXCache(Buffer.from("test key 000"));
  const url = new URL("../src/randomx/vm.js", import.meta.url).href;
  const vm = createRandomXVm(cache);
  const expected = blobs.map((blob) => hex(vm.hash(blob)));
  vm.close();
  const threads = await Promise.all([1, 2].map(() => hashesOfThread({ url, cache, blobs })));
  for (const hashes of threads) assert.deepEqual(hashes.map(hex), expected);
});

test("the memory of an old cache serves another key", () => {
  const old = createRandomXCache(Buffer.from("another key"));
  const { memory } = old;
  const vm = createRandomXVm(createRandomXCache(Buffer.from("test key 000"), { memory }));
  const expected = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
  assert.equal(hex(vm.hash(Buffer.from("This is a test"))), expected);
  vm.close();
});

test("a memory has 128 places, which closing a machine frees", () => {
  const cache = createRandomXCache(Buffer.from("test key 000"));
  const machines = Array.from({ length: 128 }, () => createRandomXVm(cache));
  assert.throws(() => createRandomXVm(cache), /128 RandomX machines/);
  machines[77]!.close();
  const vm = createRandomXVm(cache);
  machines[77]!.close(); // once more gives nobody else's place away
  assert.throws(() => createRandomXVm(cache), /128 RandomX machines/);
  vm.close();
  assert.throws(() => vm.hash(Buffer.from("blob")), /closed/);
});

test("a process with split tiering hashes the same", () => {
  useSplitTiering();
  const vm = createRandomXVm(createRandomXCache(Buffer.from("test key 000")));
  const expected = "300a0adb47603dedb42228ccb2b211104f4da45af709cd7547cd049e9489c969";
  assert.equal(hex(vm.hash(Buffer.from("Lorem ipsum dolor sit amet"))), expected);
  vm.close();
});
