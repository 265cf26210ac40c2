import assert from "node:assert/strict";
import { test } from "node:test";
import { publicKeyOf, randomScalar } from "@anulo/crypto";
import { isDeterministic, keysOfSeed } from "../src/keys/wallet-keys.ts";

test("the seed is wiped once the keys are made of it", () => {
  const seed = randomScalar();
  const spendSecret = seed.slice();
  const keys = keysOfSeed(seed);
  assert.ok(seed.every((byte) => byte === 0));
  assert.deepEqual(keys.spendSecret, spendSecret);
  assert.deepEqual(keys.viewPublic, publicKeyOf(keys.viewSecret));
  assert.ok(isDeterministic(keys));
});
