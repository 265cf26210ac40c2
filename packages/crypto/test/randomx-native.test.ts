import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createRandomXCache } from "../src/randomx/cache.ts";
import { loadNativeRandomX, type NativeRandomX } from "../src/randomx/native.ts";
import { useSplitTiering } from "../src/randomx/tiering.ts";
import { createRandomXVm } from "../src/randomx/vm.ts";

const HASHES_PER_KEY = process.env.ANULO_TESTS === "quick" ? 10 : 250;
/** Half a minute each. */
const KEYS = process.env.ANULO_TESTS === "quick" ? 1 : process.env.CI === "true" ? 2 : 4;

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

test("the reference library is taken for no version that it does not know", { skip }, async () => {
  const cache = await native().createCache(Buffer.from("test key 000"));
  const vm = native().createVm(cache);
  assert.throws(() => vm.hash(Buffer.from("This is a test"), 2), RangeError);
  vm.close();
  native().release(cache);
});

/** Libraries from 2.0 on compute version 2; a mask that names its flag must not turn it into version 1. */
for (const disabledFlags of [0, 128]) {
  test(`asked for version 2, it is refused or right, flags ${disabledFlags} disabled`, { skip }, async () => {
    const library = await loadNativeRandomX({ versions: [1, 2], disabledFlags });
    if ("missing" in library) return assert.match(library.missing, /wrong hashes of RandomX version 2$/);
    const cache = await library.createCache(Buffer.from("test key 000"));
    const vm = library.createVm(cache);
    const expected = "22ec6b861b3eb23686b2efbad69513c967ecfce80983df66c9c5b4fbfb4cdb6f";
    assert.equal(Buffer.from(vm.hash(Buffer.from("This is a test"), 2)).toString("hex"), expected);
    vm.close();
    library.release(cache);
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

/** KiB of addresses that this process uses. Source: proc_pid_status(5). */
const addressesInUse = (): number =>
  Number(/^VmSize:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]);

test("the making of a dataset of the reference library can be given up, and its memory is free then", {
  skip,
}, async () => {
  const cache = await native().createCache(Buffer.from("test key 000"));
  const before = addressesInUse();
  const [controller, reason] = [new AbortController(), new Error("no longer wanted")];
  const options = { threads: 2, signal: controller.signal, onProgress: () => controller.abort(reason) };
  await assert.rejects(native().createDataset(cache, options), reason);
  // A dataset has more than two GiB.
  assert.ok(addressesInUse() - before < 2 ** 20, `${before} KiB before, ${addressesInUse()} KiB now`);
  native().release(cache);
});
