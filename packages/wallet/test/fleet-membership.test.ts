/** A process as a member of its fleet, with both clocks in the test's hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../src/fleet/backoff.ts";
import { LIFETIME_MS } from "../src/fleet/membership.ts";
import { pass, start } from "./fleet-process.ts";

test("a process that can't renew stops being sure before any other can take its wallets", async () => {
  const { database, a, b } = start();
  await pass(10_000, database, a, b);
  await a.membership.take("w");
  await assert.rejects(b.membership.take("w"), { code: -503 });
  assert.ok(a.membership.isHere("w") && !b.membership.isHere("w"));
  // Only b reaches the database from here on: a's clock goes on, and nothing is received from it.
  let takenAt: number | undefined;
  let unsureAt: number | undefined;
  for (let ms = 0; ms < 10_000 && takenAt === undefined; ms += 100) {
    database.nowMs += 100;
    a.nowMs += 100;
    b.nowMs += 100;
    if (!a.membership.isHere("w")) unsureAt ??= ms;
    await b.membership.tick();
    if ((await b.membership.adopt(1)).length > 0) takenAt = ms;
  }
  assert.ok(unsureAt !== undefined && takenAt !== undefined && unsureAt < takenAt);
  await assert.rejects(a.membership.confirm("w"), /cut off/);
  await assert.rejects(a.membership.take("v"), /cut off/);
  assert.ok(b.membership.isHere("w"));
});

test("a process is sure until half a second before its membership ends, and not at that moment", async () => {
  const { a } = start();
  a.nowMs = 7000;
  await a.membership.tick();
  await a.membership.take("w");
  a.nowMs += LIFETIME_MS - 501;
  assert.ok(a.membership.isSure && a.membership.isHere("w"));
  a.nowMs += 1;
  assert.ok(!a.membership.isSure && !a.membership.isHere("w"));
});

test("a process whose event loop is held for a second stays a member, and stays sure", async () => {
  const { database, a, b } = start();
  for (let beat = 0; beat < 20; beat++) {
    // Each renewal comes a second after it was due.
    for (let ms = 0; ms < 1700; ms += 100) {
      database.nowMs += 100;
      a.nowMs += 100;
      b.nowMs += 100;
      if (ms % 700 === 0) await b.membership.tick();
      if (beat > 0) assert.ok(a.membership.isSure && b.membership.isSure);
    }
    await a.membership.tick();
  }
  assert.deepEqual([a.ended, b.ended, database.processes.size], [0, 0, 2]);
});

test("a lease that is certainly held is not asked for again, one that is not is", async () => {
  const { database, a, b } = start();
  await pass(8000, database, a, b);
  database.leases.set("w", undefined);
  assert.deepEqual(await a.membership.adopt(1), ["w"]);
  database.isAway = true;
  const giveBack = await a.membership.take("w");
  await assert.rejects(a.membership.take("v"), { code: -503 });
  a.nowMs += LIFETIME_MS;
  database.isAway = false;
  await assert.rejects(a.membership.confirm("w"), /cut off/);
  await giveBack();
  assert.ok(!database.leases.has("w"));
});

test("one that was stopped learns that it is none, joins anew, and gives back nothing that is another's", async () => {
  const { database, a, b } = start();
  await pass(10_000, database, a, b);
  const giveBack = await a.membership.take("w");
  const giveBackOld = await a.membership.take("v");
  const former = a.membership.process;
  await pass(8000, database, b);
  assert.deepEqual(await b.membership.adopt(1), ["w"]);
  a.nowMs += 60_000;
  assert.ok(!a.membership.isSure, "before it has asked");
  await a.membership.tick();
  assert.deepEqual([a.ended, a.membership.process, a.membership.owned], [1, undefined, 0]);
  await a.membership.tick();
  assert.ok(a.membership.isSure && a.membership.process !== former);
  await giveBack();
  assert.equal(database.leases.get("w"), b.membership.process);
  await assert.rejects(a.membership.take("w"), { code: -503 });
  // Opened anew while the closing of before is still under way.
  await a.membership.take("v");
  await giveBackOld();
  assert.ok(a.membership.isHere("v"));
});

test("that all wallets are lost is one line of the log, however many they were", async () => {
  const { database, a, b } = start();
  await pass(10_000, database, a, b);
  for (const name of ["one", "two", "three"]) await a.membership.take(name);
  // For the others, it is gone.
  await pass(20_000, database, b);
  await a.membership.tick();
  assert.equal(a.ended, 1);
  const reason = "the others took this process for gone";
  assert.deepEqual(a.lines, [
    ["this process has lost its wallets, and joins the fleet anew", { reason, wallets: 3 }],
  ]);
  assert.deepEqual(b.lines, [["a process of the fleet is gone: its wallets move"]]);
});

test("after an outage of the database nobody is thrown out who comes back with the others", async () => {
  const { database, a, b } = start();
  await pass(10_000, database, a, b);
  await a.membership.take("w");
  database.isAway = true;
  await pass(12_000, database, a, b);
  assert.ok(!a.membership.isSure && !b.membership.isSure);
  database.isAway = false;
  // b is back first, and everybody else's time is over by the database's clock.
  await pass(4000, database, b);
  a.nowMs += 4000;
  await a.membership.tick();
  assert.ok(a.membership.isHere("w"));
  assert.deepEqual([a.ended, database.processes.size], [0, 2]);
  // One that stays away is missed once b was there for a lifetime.
  await pass(12_000, database, b);
  assert.equal(database.processes.size, 1);
});

test("one that is seen to be gone is a member no more, unless it has renewed that within half of a lifetime", async () => {
  const { database, a, b } = start();
  await pass(10_000, database, a, b);
  const former = a.membership.process!;
  await a.membership.take("w");
  const beat = async (ms: number, gone: readonly string[]) => {
    database.nowMs += ms;
    b.nowMs += ms;
    await b.membership.tick(gone);
    return b.membership.silent.map(({ process }) => process);
  };
  assert.deepEqual(await beat(LIFETIME_MS / 2 - 1, [former]), []);
  assert.deepEqual(await beat(1, []), [former]);
  assert.ok(database.processes.has(former));
  await beat(1, [former]);
  assert.ok(!database.processes.has(former));
  assert.deepEqual(await b.membership.adopt(1), ["w"]);
  await a.membership.tick();
  assert.deepEqual([a.ended, a.membership.process], [1, undefined]);
});

test("who was cut off ends no membership of one that it can't reach", async () => {
  const { database, a, b } = start();
  await pass(10_000, database, a, b);
  database.isAway = true;
  await pass(2000, database, a, b);
  database.isAway = false;
  b.nowMs += 1000;
  await b.membership.tick([a.membership.process!]);
  assert.equal(database.processes.size, 2);
  assert.deepEqual(b.membership.silent, []);
});

test("after too long an outage a process joins anew: what it has open may be broken", async () => {
  const { database, a } = start();
  await pass(3000, database, a);
  await a.membership.take("w");
  database.isAway = true;
  await pass(30_000, database, a);
  assert.equal(a.ended, 1);
  database.isAway = false;
  await pass(1000, database, a);
  assert.ok(a.membership.isSure);
  await a.membership.take("v");
});

test("a wallet that is closed is free for the others where it goes on, and else ends its lease", async () => {
  const { database, a } = start();
  await pass(1000, database, a);
  const closes = await Promise.all(["kept", "moved", "left"].map((name) => a.membership.take(name)));
  await assert.rejects(a.membership.take("kept"), /open already/);
  await closes[0]!();
  assert.ok(!database.leases.has("kept"));
  a.membership.handOverNext("moved");
  assert.deepEqual([a.membership.isHandingOver("moved"), a.membership.isHandingOver("left")], [true, false]);
  const closed = closes[1]!();
  assert.ok(
    a.membership.isHandingOver("moved") && !a.membership.isHere("moved"),
    "until the database has it",
  );
  await closed;
  assert.equal(a.membership.isHandingOver("moved"), false);
  assert.ok(database.leases.has("moved") && database.leases.get("moved") === undefined);
  assert.deepEqual(await a.membership.adopt(1), ["moved"]);
  a.membership.beginToLeave();
  await closes[2]!();
  assert.ok(database.leases.has("left") && database.leases.get("left") === undefined);
  assert.deepEqual(await a.membership.adopt(1), [], "who leaves takes nothing more");
  await a.membership.leave();
  assert.equal(database.leases.get("moved"), undefined);
});

test("that a wallet stays open goes with its lease, whichever way another process comes by it", async () => {
  const { database, a, b } = start();
  await pass(8000, database, a, b);
  const names = ["adopted", "called", "found", "closed"];
  const closes = await Promise.all(names.map((name) => a.membership.take(name)));
  for (const name of names) {
    assert.equal(a.membership.isKeptOpen(name), false);
    await a.membership.setKeptOpen(name, true);
    assert.equal(a.membership.isKeptOpen(name), true);
  }
  await a.membership.setKeptOpen("closed", false);
  for (const [i, name] of names.entries()) {
    a.membership.handOverNext(name);
    await closes[i]!();
  }
  assert.deepEqual(
    names.map((name) => a.membership.isKeptOpen(name)),
    [false, false, false, false],
  );
  await b.membership.take("called");
  database.leases.set("found", b.membership.process);
  await pass(1000, database, a, b);
  assert.deepEqual(await b.membership.takeUnknown(), []);
  await pass(2000, database, a, b);
  assert.deepEqual(await b.membership.takeUnknown(), ["found"]);
  assert.deepEqual(await b.membership.adopt(9), ["adopted", "closed"]);
  assert.deepEqual(
    names.map((name) => b.membership.isKeptOpen(name)),
    [true, true, true, false],
  );
  await pass(8000, database, a);
  await pass(1000, database, b);
  assert.deepEqual([b.ended, b.membership.isKeptOpen("called")], [1, false], "its leases are lost");
});

test("a process that can't say that a wallet stays open logs that, and goes on", async () => {
  const { database, a, b } = start();
  await a.membership.setKeptOpen("w", true);
  await pass(3000, database, a, b);
  await a.membership.take("w");
  database.isAway = true;
  await a.membership.setKeptOpen("w", true);
  database.isAway = false;
  await b.membership.setKeptOpen("w", true);
  assert.deepEqual([a.membership.isKeptOpen("w"), b.membership.isKeptOpen("w")], [false, false]);
  const expected = "the others are not told whether a wallet stays open";
  assert.deepEqual([a.lines.at(-1)?.[0], b.lines.at(-1)?.[0]], [expected, expected]);
});

test("a lease is confirmed by the database, not by this process's memory alone", async () => {
  const { database, a, b } = start();
  await pass(3000, database, a, b);
  await a.membership.take("w");
  await a.membership.confirm("w");
  database.leases.set("w", b.membership.process);
  await assert.rejects(a.membership.confirm("w"), { code: -503 });
});

test("leases whose granting or ending was not heard are found again", async () => {
  const { database, a } = start();
  await pass(3000, database, a);
  const giveBack = await a.membership.take("given");
  // The database did it each time, and the answer was lost.
  database.leases.set("granted", a.membership.process);
  const { process } = a.membership;
  await giveBack();
  database.leases.set("given", process);
  const found: string[] = [];
  for (let beat = 0; beat < 4; beat++) {
    await pass(1000, database, a);
    found.push(...(await a.membership.takeUnknown()));
  }
  assert.deepEqual(found.sort(), ["given", "granted"]);
  assert.ok(a.membership.isHere("granted"));
  // Nothing is taken for lost that is just being taken.
  database.leases.set("new", process);
  await pass(1000, database, a);
  assert.deepEqual(await a.membership.takeUnknown(), []);
  await a.membership.take("new");
  await pass(1000, database, a);
  assert.deepEqual(await a.membership.takeUnknown(), []);
});

test("a lease whose granting or ending is under way is not taken for lost, however often it is looked for", async () => {
  const { database, a } = start();
  await pass(3000, database, a);
  database.leases.set("w", a.membership.process);
  await a.membership.tick();
  const found: string[][] = [];
  for (const ms of [0, 0, LIFETIME_MS / 2 - 1, 1]) {
    a.nowMs += ms;
    found.push(await a.membership.takeUnknown());
  }
  assert.deepEqual(found, [[], [], [], ["w"]]);
});

test("wallets that can't be opened are left to others for a while, longer each time", async () => {
  const { database, a } = start();
  await pass(3000, database, a);
  let nowMs = 0;
  const backoff = new Backoff(() => nowMs);
  database.leases.set("w", undefined);
  database.leases.set("v", undefined);
  assert.deepEqual(await a.membership.adopt(1, backoff.waiting()), ["w"]);
  backoff.failed("w");
  await a.membership.handOver("w");
  assert.deepEqual([database.leases.has("w"), database.leases.get("w")], [true, undefined]);
  assert.deepEqual(await a.membership.adopt(9, backoff.waiting()), ["v"]);
  nowMs += 10_000;
  assert.deepEqual(await a.membership.adopt(9, backoff.waiting()), ["w"]);
  backoff.failed("w");
  nowMs += 19_000;
  assert.deepEqual(backoff.waiting(), ["w"]);
  nowMs += 1000;
  assert.deepEqual(backoff.waiting(), []);
  for (let i = 0; i < 2000; i++) backoff.failed(`w${i}`);
  assert.equal(backoff.waiting().length, 1000);
});
