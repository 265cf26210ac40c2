import assert from "node:assert/strict";
import { test } from "node:test";
import { createBans } from "../src/bans.ts";
import { banFromBlocklist, majorityOf } from "../src/dns-blocklist.ts";

test("only what most of those asked say alike counts, in whatever order", () => {
  const list = ["1.2.3.4;5.6.7.8", "9.9.9.9"];
  const turned = [...list].reverse();
  assert.deepEqual(majorityOf([list, turned, list, turned, [], ["8.8.8.8"], []]), [...list].sort());
  assert.equal(majorityOf([list, list, list, [], [], [], []]), undefined);
  assert.equal(
    majorityOf([list, list, list, ["8.8.8.8"], ["8.8.8.8"], ["8.8.8.8"], ["8.8.8.8", "x"]]),
    undefined,
  );
  assert.equal(majorityOf([[], [], [], [], [], [], []]), undefined);
});

test("listed addresses and subnets are shut out for eight days, the internet is not", () => {
  let now = 1000;
  const bans = createBans(() => now);
  const { banned, invalid } = banFromBlocklist(bans, [
    "1.2.3.4;;5.6.0.0/16; nonsense",
    "0.0.0.0/0;9.0.0.0/8",
  ]);
  assert.equal(banned, 2);
  assert.deepEqual(invalid, ["nonsense", "0.0.0.0/0", "9.0.0.0/8"]);
  assert.equal(bans.secondsLeft("1.2.3.4"), 8 * 86_400);
  assert.equal(bans.secondsLeft("5.6.200.1"), 8 * 86_400);
  assert.equal(bans.secondsLeft("9.1.1.1"), 0);
  now += 8 * 86_400;
  assert.equal(bans.secondsLeft("1.2.3.4"), 0);
});
