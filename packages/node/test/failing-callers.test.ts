import assert from "node:assert/strict";
import { test } from "node:test";
import { createBans } from "@anulo/p2p";
import { createFailingCallers } from "../src/rpc/failing-callers.ts";

test("a caller is shut out at the fourth failure", () => {
  const bans = createBans(() => 0);
  const callers = createFailingCallers(bans);
  for (let i = 0; i < 3; i++) callers.failed("127.0.0.1");
  assert.equal(bans.secondsLeft("127.0.0.1"), 0);
  callers.failed("127.0.0.1");
  assert.equal(bans.secondsLeft("127.0.0.1"), 86_400);
  assert.equal(bans.secondsLeft("127.0.0.2"), 0);
});
