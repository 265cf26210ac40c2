/** Which process of a fleet has the event log, and how it passes on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "@anulo/rpc";
import type { Engine } from "@anulo/store";
import { FleetEvents, type FleetEventsParts } from "../src/fleet/events/fleet-events.ts";
import type { OpenEvents } from "../src/service-events.ts";

/** Leases of a fleet, of which all processes are told, and a clock. */
function fleet(members = ["a"]) {
  const owners = new Map<string, string>();
  const world = { nowMs: 0, opened: 0, closed: [] as string[], members };
  const leases: FleetEventsParts["leases"] = {
    ownerOf: async (name) => owners.get(name),
    take: async (process, name) => {
      if (!owners.has(name)) owners.set(name, process);
      return { owner: owners.get(name)!, isKeptOpen: false };
    },
    handOver: async (process, name) => {
      if (owners.get(name) === process) owners.delete(name);
    },
  };
  /** A process; where it has a `fault`, it can't open the log. */
  const join = (process: string, { fault }: { readonly fault?: string } = {}) => {
    const state = { isSure: true };
    const open = async () => {
      world.opened += 1;
      const close = async () => void world.closed.push(process);
      return fault ?? ({ log: { ended: new AbortController().signal }, close } as unknown as OpenEvents);
    };
    const events = new FleetEvents({
      membership: () =>
        ({ process, isSure: state.isSure, members: world.members.map((name) => ({ name })) }) as never,
      leases,
      engineFor: () => ({}) as Engine,
      open,
      log: createLog({ write: () => undefined }).in("global"),
      elapsed: () => world.nowMs,
      router: () => ({ ask: () => Promise.reject(new Error("nobody is asked")) }),
      isHere: () => false,
      restricted: false,
    } as FleetEventsParts);
    return { events, state };
  };
  return { world, join, ownerOf: () => owners.get("/events") };
}

test("a process that closes its events leaves the log, which another has at once", async () => {
  const { world, join, ownerOf } = fleet();
  const [a, b] = [join("a"), join("b")];
  await a.events.holder.update();
  await b.events.holder.update();
  assert.ok(a.events.opened !== undefined);
  assert.equal(b.events.opened, undefined);
  assert.equal(b.events.holder.owner, "a");
  await a.events.close();
  assert.deepEqual(world.closed, ["a"]);
  assert.equal(ownerOf(), undefined);
  assert.equal(a.events.opened, undefined);
  await b.events.holder.update();
  assert.ok(b.events.opened !== undefined);
  // It does not take back what it has left.
  await b.events.close();
  world.nowMs += 60_000;
  await a.events.holder.update();
  assert.equal(ownerOf(), undefined);
});

test("a process that begins to leave gives the log to the others, and keeps it where there are none", async () => {
  for (const [members, isKept] of [
    [["a"], true],
    [["a", "b"], false],
  ] as const) {
    const { join, ownerOf } = fleet([...members]);
    const { events } = join("a");
    await events.holder.update();
    events.beginToLeave();
    assert.equal(events.opened !== undefined, isKept);
    await events.close();
    assert.equal(ownerOf(), undefined);
  }
});

test("a log that can't be opened is left to the others for five seconds", async () => {
  const { world, join, ownerOf } = fleet();
  const { events } = join("a", { fault: "a service of no fleet has it" });
  await events.holder.update();
  assert.match(String(events.holder.failure), /a service of no fleet has it/);
  assert.deepEqual([events.opened, ownerOf(), world.opened], [undefined, undefined, 1]);
  world.nowMs += 4999;
  await events.holder.update();
  assert.equal(world.opened, 1);
  world.nowMs += 1;
  await events.holder.update();
  assert.equal(world.opened, 2);
});

test("a process that is not sure of its membership has no log, nor takes one", async () => {
  const { world, join } = fleet();
  const { events, state } = join("a");
  state.isSure = false;
  await events.holder.update();
  assert.equal(world.opened, 0);
  state.isSure = true;
  await events.holder.update();
  assert.ok(events.opened !== undefined);
  state.isSure = false;
  assert.equal(events.opened, undefined);
  assert.deepEqual(world.closed, [], "it goes on when it is sure again");
  state.isSure = true;
  events.holder.lost();
  assert.deepEqual([events.opened, events.holder.owner], [undefined, undefined]);
  assert.deepEqual(world.closed, ["a"]);
});
