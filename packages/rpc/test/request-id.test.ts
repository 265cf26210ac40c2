import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequestIds } from "../src/server/request-id.ts";

test("a request is named as its caller says, or by a name no other request has", () => {
  const nameRequest = createRequestIds();
  assert.equal(nameRequest("order-17.a_b"), "order-17.a_b");
  const names = [undefined, undefined, "has space", "line\nbreak", "x".repeat(65), ""].map(nameRequest);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[0-9a-f]{8}-\d+$/);
  assert.notEqual(createRequestIds()(undefined).slice(0, 8), names[0]!.slice(0, 8));
});
