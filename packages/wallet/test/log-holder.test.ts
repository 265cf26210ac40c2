/** Which process of a fleet has its event log, and what it logs while it cannot learn that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "@anulo/rpc";
import { type Engine, StoreUnavailable } from "@anulo/store";
import { LogHolder } from "../src/fleet/events/log-holder.ts";
import type { OpenEvents } from "../src/service-events.ts";

test("an outage of the database is one warning, however often the owner is asked for", async () => {
  const logged: string[] = [];
  const log = { warn: (message: string) => logged.push(message), debug() {}, info() {} };
  let isAway = true;
  const ownerOf = async () => {
    if (isAway) throw new StoreUnavailable("away", { mayPass: true });
    return "another";
  };
  const holder = new LogHolder({
    membership: () => ({ process: "this", isSure: true, members: [] }),
    leases: { ownerOf, take: assert.fail, handOver: assert.fail },
    engineFor: assert.fail,
    open: assert.fail,
    log: log as unknown as Logger,
    elapsed: () => 0,
  });
  for (let i = 0; i < 5; i++) await holder.update();
  assert.deepEqual(logged, ["it is not known who has the event log"]);
  isAway = false;
  await holder.update();
  assert.equal(holder.owner, "another");
  isAway = true;
  for (let i = 0; i < 5; i++) await holder.update();
  assert.equal(logged.length, 2);
});

test("a process that leaves opens the log no more, though it has the lease until the log is closed", async () => {
  let owner: string | undefined;
  let opened = 0;
  let endClosing: () => void = assert.fail;
  const close = () =>
    new Promise<void>((resolve) => {
      endClosing = resolve;
    });
  const log = { ended: new AbortController().signal };
  const holder = new LogHolder({
    membership: () => ({ process: "this", isSure: true, members: [] }),
    leases: {
      ownerOf: async () => owner,
      take: async (process) => {
        owner = process;
        return process;
      },
      handOver: async () => {
        owner = undefined;
      },
    },
    engineFor: () => ({}) as Engine,
    open: async () => {
      opened += 1;
      return { log, close } as unknown as OpenEvents;
    },
    log: { warn() {}, debug() {}, info() {} } as unknown as Logger,
    elapsed: () => 0,
  });
  await holder.update();
  assert.notEqual(holder.here, undefined);
  const leaving = holder.leave();
  await new Promise(setImmediate);
  // As a heartbeat does meanwhile, or an event that waits for the log.
  await holder.update();
  assert.equal(holder.here, undefined);
  endClosing();
  await leaving;
  await holder.update();
  assert.deepEqual([opened, owner], [1, undefined]);
});
