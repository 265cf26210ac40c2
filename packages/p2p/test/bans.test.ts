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

// Closes: what `get_connections` tells as a peer's address was no address to `set_bans`, as it is to monerod.
test("an address may have a port, as connections are told", () => {
  const bans = createBans(() => 100);
  for (const text of ["1.2.3.4:18080", "[2001:db8::1]:5", "[2001:db8::2]", "[::ffff:5.6.7.8]:9"])
    assert.ok(bans.set(text, 10), text);
  assert.deepEqual(
    bans.list().map(({ host }) => host),
    ["1.2.3.4", "2001:db8::1", "2001:db8::2", "5.6.7.8"],
  );
  assert.equal(bans.secondsLeft("1.2.3.4"), 10);
  assert.equal(bans.secondsLeft("[2001:db8::1]:6"), 10);
  assert.ok(bans.set("1.2.3.4:1", "lift"));
  assert.equal(bans.secondsLeft("1.2.3.4:2"), 0);
  for (const text of ["1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:x", "name:5", "[1.2.3.4/8]:5", "[::1"])
    assert.equal(bans.set(text, 10), false, text);
});

// Closes: a stranger's question for public nodes that took a second, 6,000 addresses times 4,000 subnets of a ban list.
test("how many subnets are banned does not matter to who looks an address up", () => {
  let looks = 0;
  const bans = createBans(() => {
    looks++;
    return 0;
  });
  for (let i = 0; i < 4096; i++) bans.set(`${10 + (i >> 8)}.${i & 255}.3.0/24`, 10 + i);
  bans.set("12.0.0.0/8", 9999);
  bans.set("200.0.0.0/6", 7);
  const before = looks;
  for (const [host, seconds] of [
    ["10.0.3.255", 10],
    ["10.0.4.0", 0],
    ["10.0.2.255", 0],
    ["12.5.3.7", 9999],
    ["25.255.3.1", 4105],
    ["203.255.255.255", 7],
    ["204.0.0.0", 0],
    ["::1", 0],
  ] as const)
    assert.equal(bans.secondsLeft(host), seconds, host);
  assert.ok(looks - before < 100, `${looks - before}`);
  for (let i = 0; i < 256; i++) bans.set(`12.${i}.3.0/24`, "lift");
  assert.equal(bans.secondsLeft("12.5.3.7"), 9999);
  bans.set("12.0.0.0/8", "lift");
  assert.equal(bans.secondsLeft("12.5.3.7"), 0);
});

// Closes: the bans of strangers who came with a new address each time, kept for ever.
test("bans that have ended are dropped, though nobody looks them up", () => {
  let now = 0;
  const bans = createBans(() => now);
  bans.set("9.9.9.9", PERMANENT_SECONDS);
  for (; now < 20_000; now++) {
    bans.set(`10.0.${now >> 8}.${now & 255}`, 500);
    bans.set(`11.${now >> 8}.${now & 255}.0/24`, 500);
  }
  assert.ok(bans.count() < 4500, `${bans.count()}`);
  assert.equal(bans.list().length, 999);
  assert.ok(bans.secondsLeft("9.9.9.9")! > 0);
  assert.equal(bans.secondsLeft("11.78.31.7"), 499);
});

test("the ban of an address is forgotten once somebody asks for it after its end", () => {
  let now = 100;
  const bans = createBans(() => now);
  assert.deepEqual([bans.isInUse(), bans.count()], [false, 0]);
  bans.set("1.2.3.4", 10);
  assert.deepEqual([bans.isInUse(), bans.count()], [true, 1]);
  now = 109;
  assert.equal(bans.secondsLeft("1.2.3.4"), 1);
  now = 110;
  assert.equal(bans.secondsLeft("1.2.3.4"), 0);
  assert.deepEqual([bans.isInUse(), bans.count()], [false, 0]);
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
