import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createRandomXCache } from "../src/randomx/cache.ts";
import { loadNativeRandomX, type NativeRandomX } from "../src/randomx/native.ts";
import { useSplitTiering } from "../src/randomx/tiering.ts";
import { createRandomXVm } from "../src/randomx/vm.ts";

const HASHES_PER_KEY = process.env.ANULO_TESTS === "quick" ? 10 : 250;
const KEYS = process.env.ANULO_TESTS === "quick" ? 1 : 4;

const loaded = await loadNativeRandomX();
const skip = "missing" in loaded && !process.env.CI && loaded.missing;
const native = (): NativeRandomX => {
  assert.ok(!("missing" in loaded), "missing" in loaded ? loaded.missing : "");
  return loaded;
};

for (let k = 0; k < KEYS; k++) {
  test(`random blobs hash as in the reference library, key ${k + 1}`, { skip }, async () => {
    useSplitTiering();
    const key = randomBytes(1 + ((17 * k + 31) % 60));
    const theirs = await native().createCache(key);
    const [vm, reference] = [createRandomXVm(createRandomXCache(key)), native().createVm(theirs)];
    for (let i = 0; i < HASHES_PER_KEY; i++) {
      const blob = randomBytes(1 + (i % 150));
      const expected = reference.hashAsync(blob); // goes on in another thread
      const note = `key ${key.toString("hex")}, blob ${blob.toString("hex")}`;
      assert.deepEqual(vm.hash(blob), await expected, note);
    }
    reference.close();
    native().release(theirs);
  });
}

test("the reference library hashes the same in this thread", { skip }, async () => {
  const cache = await native().createCache(Buffer.from("test key 000"));
  const vm = native().createVm(cache);
  const expected = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
  assert.equal(Buffer.from(vm.hash(Buffer.from("This is a test"))).toString("hex"), expected);
  vm.close();
  native().release(cache);
});

test("the making of a dataset of the reference library can be given up", { skip }, async () => {
  const cache = await native().createCache(Buffer.from("test key 000"));
  const [controller, reason] = [new AbortController(), new Error("no longer wanted")];
  const options = { threads: 2, signal: controller.signal, onProgress: () => controller.abort(reason) };
  await assert.rejects(native().createDataset(cache, options), reason);
  native().release(cache);
});
