import assert from "node:assert/strict";
import { test } from "node:test";
import { createBans } from "../src/rpc/bans.ts";
import { createFailingCallers } from "../src/rpc/failing-callers.ts";

test("addresses and subnets are banned for their time and no longer", () => {
  let now = 1000;
  const bans = createBans(() => now);
  assert.ok(bans.set("1.2.3.4", 10));
  assert.ok(bans.set("10.1.0.0/16", 20));
  assert.equal(bans.secondsLeft("1.2.3.4"), 10);
  assert.equal(bans.secondsLeft("10.1.255.7"), 20);
  assert.equal(bans.secondsLeft("10.2.0.1"), 0);
  assert.deepEqual(
    bans.list().map(({ host, ip, until }) => ({ host, ip, until })),
    [
      { host: "1.2.3.4", ip: 67305985, until: 1010 },
      { host: "10.1.0.0/16", ip: 0, until: 1020 },
    ],
  );
  now = 1015;
  assert.equal(bans.secondsLeft("1.2.3.4"), 0);
  assert.deepEqual(
    bans.list().map(({ host }) => host),
    ["10.1.0.0/16"],
  );
  bans.set("10.1.0.0/16", "lift");
  assert.deepEqual(bans.list(), []);
});

test("text that is neither address nor subnet is refused", () => {
  const bans = createBans(() => 0);
  for (const text of ["", "x", "1.2.3", "1.2.3.256", "1.2.3.4/33", "1.2.3.4/", "::1", "1.2.3.4/8/8"]) {
    assert.equal(bans.set(text, 10), false, text);
  }
  assert.equal(bans.secondsLeft("x"), undefined);
});

test("a caller is shut out at the fourth failure", () => {
  const bans = createBans(() => 0);
  const callers = createFailingCallers(bans);
  for (let i = 0; i < 3; i++) callers.failed("127.0.0.1");
  assert.equal(bans.secondsLeft("127.0.0.1"), 0);
  callers.failed("127.0.0.1");
  assert.equal(bans.secondsLeft("127.0.0.1"), 86_400);
  assert.equal(bans.secondsLeft("127.0.0.2"), 0);
});
