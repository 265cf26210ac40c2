import assert from "node:assert/strict";
import { test } from "node:test";
import { createBans } from "@anulo/p2p";
import { createFailingCallers } from "../src/rpc/failing-callers.ts";

test("a caller is shut out at the fourth failure", () => {
  const bans = createBans(() => 0);
  const callers = createFailingCallers(bans);
  for (let i = 0; i < 3; i++) callers.failed("203.0.113.1");
  assert.equal(bans.secondsLeft("203.0.113.1"), 0);
  callers.failed("203.0.113.1");
  assert.equal(bans.secondsLeft("203.0.113.1"), 86_400);
  assert.equal(bans.secondsLeft("203.0.113.2"), 0);
});

test("callers behind a proxy are not shut out for what one of them did", () => {
  const bans = createBans(() => 0);
  const callers = createFailingCallers(bans);
  for (const address of ["127.0.0.1", "::1", "172.17.0.1", "::ffff:10.0.0.1"]) {
    for (let i = 0; i < 9; i++) callers.failed(address);
  }
  assert.deepEqual(bans.list(), []);
});
