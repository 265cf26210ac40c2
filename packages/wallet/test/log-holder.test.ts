/** Which process of a fleet has its event log, and what it logs while it cannot learn that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
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

/** A holder of a log that is closed once `endClosing` is called. */
function createHolder(members: readonly object[] = []) {
  const counts = { opened: 0, failures: 0 };
  let owner: string | undefined;
  let endClosing: (error?: Error) => void = assert.fail;
  const close = () =>
    new Promise<void>((resolve, reject) => {
      endClosing = (error) => (error === undefined ? resolve() : reject(error));
    });
  const log = { ended: new AbortController().signal };
  const warn = () => {
    counts.failures += 1;
  };
  const holder = new LogHolder({
    membership: () => ({ process: "this", isSure: true, members: members as never }),
    leases: {
      ownerOf: async () => owner,
      take: async (process) => {
        owner = process;
        return { owner, isKeptOpen: false };
      },
      handOver: async () => {
        owner = undefined;
      },
    },
    engineFor: () => ({}) as Engine,
    open: async () => {
      counts.opened += 1;
      return { log, close } as unknown as OpenEvents;
    },
    log: { warn, debug() {}, info() {} } as unknown as Logger,
    elapsed: () => 0,
  });
  const ownerOf = () => owner;
  return { holder, counts, ownerOf, endClosing: (error?: Error) => endClosing(error) };
}

test("a process that leaves opens the log no more, though it has the lease until the log is closed", async () => {
  const { holder, counts, ownerOf, endClosing } = createHolder();
  await holder.update();
  assert.notEqual(holder.here, undefined);
  const leaving = holder.leave();
  await setImmediate();
  // As a heartbeat does meanwhile, or an event that waits for the log.
  await holder.update();
  assert.equal(holder.here, undefined);
  endClosing();
  await leaving;
  await holder.update();
  assert.deepEqual([counts.opened, ownerOf()], [1, undefined]);
});

for (const failure of [undefined, new Error("away")]) {
  const how = failure === undefined ? "is closed" : "can't be closed";
  test(`a process has left once the log ${how} that it began to leave to others`, async () => {
    const { holder, counts, endClosing } = createHolder([{}, {}]);
    await holder.update();
    holder.beginToLeave();
    let hasLeft = false;
    const leaving = holder.leave().then(() => {
      hasLeft = true;
    });
    await setImmediate();
    assert.equal(hasLeft, false);
    endClosing(failure);
    await leaving;
    assert.equal(counts.failures, failure === undefined ? 0 : 1);
  });
}
