import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { test } from "node:test";
import { createRandomXCache } from "../src/randomx/cache.ts";
import { randomxHash } from "../src/randomx/vm.ts";

/** The part of koffi used here; the package may be missing. */
type Koffi = { load(library: string): { func(signature: string): (...values: unknown[]) => unknown } };

/** RandomX of the reference library with one key, or why there is none. */
function nativeHash(key: Uint8Array): ((blob: Uint8Array) => Uint8Array) | string {
  let library: ReturnType<Koffi["load"]>;
  try {
    library = (createRequire(import.meta.url)("koffi") as Koffi).load("librandomx.so.0");
  } catch {
    return "koffi or librandomx.so.0 is not installed";
  }
  const flags = library.func("int randomx_get_flags()")();
  const cache = library.func("void* randomx_alloc_cache(int)")(flags);
  library.func("void randomx_init_cache(void*, void*, size_t)")(cache, key, key.length);
  const machine = library.func("void* randomx_create_vm(int, void*, void*)")(flags, cache, null);
  const calculate = library.func("void randomx_calculate_hash(void*, void*, size_t, _Out_ uint8_t*)");
  return (blob) => {
    const out = new Uint8Array(32);
    calculate(machine, blob, blob.length, out);
    return out;
  };
}

const key = randomBytes(32);
const native = nativeHash(key);
const missing = typeof native === "string" && !process.env.CI && native;
const HASHES = process.env.ANULO_TESTS === "quick" ? 10 : 100;

test("random blobs hash as in the reference library", { skip: missing }, () => {
  assert.ok(typeof native !== "string", String(native));
  const cache = createRandomXCache(key);
  for (let i = 0; i < HASHES; i++) {
    const blob = randomBytes(1 + (i % 150));
    const note = `key ${key.toString("hex")}, blob ${blob.toString("hex")}`;
    assert.deepEqual(randomxHash(cache, blob), native(blob), note);
  }
});
