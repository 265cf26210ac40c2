/** What a process of a fleet logs while it cannot learn who has the event log. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "@anulo/rpc";
import { StoreUnavailable } from "@anulo/store";
import { LogHolder } from "../src/fleet/events/log-holder.ts";

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
