import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressCache } from "../src/keys/addresses.ts";
import { keysOfSeed } from "../src/keys/wallet-keys.ts";

const indices = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ major: 0, minor: first + i }));

test("a wallet's own addresses stay cached, of others no more than callers may have made it compute", async () => {
  const accounts = [{ label: "", tag: "", addresses: Array.from({ length: 200 }, () => ({ label: "" })) }];
  const keys = keysOfSeed(new Uint8Array(32).fill(1));
  const cache = new AddressCache(keys, { network: "regtest", accounts });
  await cache.prepare(indices(0, 10_200));
  const before = cache.addressOf({ major: 0, minor: 10_199 });
  assert.equal(cache.size, 10_200);
  // Concurrent calls keep what they have prepared.
  await Promise.all([cache.prepare(indices(20_000, 65)), cache.prepare(indices(20_065, 65))]);
  assert.equal(cache.size, 330);
  assert.equal(cache.addressOf({ major: 0, minor: 10_199 }), before);
  accounts[0]!.addresses.length = 20_001;
  assert.equal(cache.addressOf({ major: 0, minor: 20_000 }).length, 95);
  assert.equal(cache.size, 331);
});
