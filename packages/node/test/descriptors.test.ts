import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionsPerPort } from "../src/descriptors.ts";

test("ports share what descriptors the database and our own connections leave", () => {
  for (const [limit, ports] of [
    [160, 3],
    [1024, 2],
    [20_000, 4],
  ] as const) {
    const each = connectionsPerPort(ports, limit);
    assert.ok(ports * each <= limit - 48, `${each} of ${limit}`);
    assert.ok(ports * (each + 1) > limit - 48, `${each} of ${limit}`);
  }
  assert.equal(connectionsPerPort(3, 20), 8);
  assert.equal(connectionsPerPort(3, Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});
