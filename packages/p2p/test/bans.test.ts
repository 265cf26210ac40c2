import assert from "node:assert/strict";
import { test } from "node:test";
import { banAll, createBans, PERMANENT_SECONDS } from "../src/bans.ts";
import { createFaults } from "../src/faults.ts";

test("addresses and subnets are banned for a while", () => {
  let now = 100;
  const bans = createBans(() => now);
  assert.ok(bans.set("1.2.3.4", 10));
  assert.ok(bans.set("10.1.2.3/16", 20));
  assert.ok(bans.set("2001:DB8:0::1", 30));
  assert.equal(bans.secondsLeft("1.2.3.4"), 10);
  assert.equal(bans.secondsLeft("::ffff:1.2.3.4"), 10);
  assert.equal(bans.secondsLeft("10.1.255.7"), 20);
  assert.equal(bans.secondsLeft("10.2.0.1"), 0);
  assert.equal(bans.secondsLeft("2001:db8::1"), 30);
  assert.deepEqual(bans.list(), [
    { host: "1.2.3.4", ip: 0x04030201, until: 110 },
    { host: "2001:db8::1", ip: 0, until: 130 },
    { host: "10.1.0.0/16", ip: 0, until: 120 },
  ]);
  now = 110;
  assert.equal(bans.secondsLeft("1.2.3.4"), 0);
  assert.ok(bans.set("10.1.0.0/16", "lift"));
  assert.deepEqual(
    bans.list().map(({ host }) => host),
    ["2001:db8::1"],
  );
  for (const text of ["", "x", "1.2.3", "1.2.3.4/33", "1.2.3.4/x", "1.2.3.4/8/8"]) {
    assert.equal(bans.set(text, 10), false, text);
  }
});

test("a ban list has an address or subnet a line", () => {
  const bans = createBans(() => 0);
  const wrong = banAll(bans, "# spies\n1.2.3.4 # one\r\n\n5.6.0.0/16\nnonsense\n2001:db8::7\n");
  assert.deepEqual(wrong, ["nonsense"]);
  assert.equal(bans.secondsLeft("5.6.7.8"), PERMANENT_SECONDS);
  assert.equal(bans.list().length, 3);
});

test("ten faults are forgiven, the eleventh bans for a day; then five more are enough", () => {
  let now = 0;
  const bans = createBans(() => now);
  const faults = createFaults(bans);
  const address = { kind: "ipv4", host: "1.2.3.4", port: 1 } as const;
  for (let i = 0; i < 10; i++) faults.blame(address, { score: 1 });
  assert.equal(bans.secondsLeft("1.2.3.4"), 0);
  faults.blame({ ...address, port: 2 }, { score: 1 });
  assert.equal(bans.secondsLeft("1.2.3.4"), 86_400);
  now = 86_400;
  for (let i = 0; i < 5; i++) faults.blame(address, { score: 1 });
  assert.equal(bans.secondsLeft("1.2.3.4"), 0);
  faults.blame(address, { score: 1 });
  assert.equal(bans.secondsLeft("1.2.3.4"), 86_400);
  faults.blame({ kind: "tor", host: "<unknown tor host>", port: 0 }, { score: 100 });
  assert.equal(bans.list().length, 1);
});
