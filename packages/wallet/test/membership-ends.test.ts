/** When a process begins and ceases to be sure of its membership, and ends those of others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LIFETIME_MS } from "../src/fleet/membership.ts";
import { pass, start } from "./fleet-process.ts";

test("before it has joined, a process knows of no member and of no free lease", async () => {
  const { a } = start();
  const { members, silent: silentMembers, free, owned, isSure, process } = a.membership;
  assert.deepEqual([members, silentMembers, free, owned, isSure, process], [[], [], 0, 0, false, undefined]);
});

test("a fault that is none of the database's reach is passed on, and ends nothing", async () => {
  const { database, a } = start();
  await pass(3000, database, a);
  await a.membership.take("w");
  database.stateError = new RangeError("a fault");
  await assert.rejects(a.membership.tick(), database.stateError);
  assert.deepEqual([a.ended, a.membership.isHere("w")], [0, true]);
});

test("an outage of twenty seconds is waited for, and one of a millisecond more is not", async () => {
  const { database, a } = start();
  await a.membership.tick();
  await a.membership.take("w");
  database.isAway = true;
  a.nowMs += 20_000;
  await a.membership.tick();
  assert.deepEqual([a.ended, a.membership.owned], [0, 1]);
  a.nowMs += 1;
  await a.membership.tick();
  assert.deepEqual([a.ended, a.membership.owned, a.membership.process], [1, 0, undefined]);
});

test("a process ends memberships of others once it has renewed its own for a lifetime, and no sooner", async () => {
  const { database, a, b } = start();
  await b.membership.tick();
  for (const ms of [0, LIFETIME_MS - 1]) {
    a.nowMs += ms;
    await a.membership.tick();
  }
  database.nowMs = LIFETIME_MS - 1;
  const other = b.membership.process!;
  assert.deepEqual(a.membership.silent, []);
  // That renewal proves nothing of the time before if it comes a whole lifetime after the last.
  for (const ms of [LIFETIME_MS, LIFETIME_MS - 1]) {
    a.nowMs += ms;
    await a.membership.tick([other]);
  }
  assert.ok(database.processes.has(other));
  a.nowMs += 1;
  await a.membership.tick([other]);
  assert.ok(!database.processes.has(other));
});

test("nothing of a membership that has ended is true of the next one", async () => {
  const { database, a } = start();
  await pass(3000, database, a);
  const former = a.membership.process!;
  await a.membership.take("w");
  a.membership.handOverNext("w");
  database.leases.set("granted", former);
  await a.membership.tick();
  assert.deepEqual(await a.membership.takeUnknown(), [], "first seen");
  database.isAway = true;
  a.nowMs += 20_001;
  await a.membership.tick();
  assert.ok(!database.processes.has(former), "it leaves where it can");
  database.isAway = false;
  await a.membership.tick();
  assert.equal(a.membership.isHandingOver("w"), false);
  database.leases.set("granted", a.membership.process);
  await a.membership.tick();
  assert.deepEqual(await a.membership.takeUnknown(), [], "it may be being taken just now");
});
