import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_PREFERENCES, preferencesOf } from "../src/preferences.ts";

const keptOf = (settings: Readonly<Record<string, bigint>>) => {
  const { keptValue, keptCount } = preferencesOf(new Map(Object.entries(settings)));
  return { keptValue, keptCount };
};

test("a keys file without settings gives those of a new wallet", () => {
  assert.deepEqual(preferencesOf(new Map()), DEFAULT_PREFERENCES);
});

test("how many outputs of which value are kept is as usual only where neither was set", () => {
  const { keptValue, keptCount } = DEFAULT_PREFERENCES;
  assert.ok(keptValue > 0n && keptCount > 0n);
  assert.deepEqual(keptOf({ min_output_value: 0n, min_output_count: 0n }), { keptValue, keptCount });
  assert.deepEqual(keptOf({ min_output_value: 7n }), { keptValue: 7n, keptCount: 0n });
  assert.deepEqual(keptOf({ min_output_count: 3n }), { keptValue: 0n, keptCount: 3n });
  assert.deepEqual(keptOf({ min_output_value: 7n, min_output_count: 3n }), { keptValue: 7n, keptCount: 3n });
});
