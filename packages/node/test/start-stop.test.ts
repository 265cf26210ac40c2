import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { networks } from "@anulo/protocol";
import { openChain } from "../src/chain/open-chain.ts";
import { createNode } from "../src/index.ts";
import { stopEach } from "../src/stop-each.ts";
import { emptyChain, mine, now } from "./chain-fixture.ts";

test("a listener that throws is a bug of its own, not the block's", async () => {
  const bugs: unknown[] = [];
  const chain = await openChain({
    network: networks.regtest,
    fixedDifficulty: 1n,
    now,
    discharge: async () => {},
    onBug: (bug) => bugs.push(bug),
  });
  const heard: string[] = [];
  const broken = new Error("a listener with a bug");
  chain.events.listen(() => {
    throw broken;
  });
  chain.events.listen(({ type }) => heard.push(type));
  assert.equal((await mine(chain.parts, 1)).length, 1);
  assert.deepEqual(bugs, [broken]);
  assert.deepEqual(heard, ["blockAdded"]);
  await chain.close();
});

test("a node stopped while it starts lets go of everything, and the start fails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-start-"));
  const databasePath = join(folder, "chain.mdb");
  const node = createNode({ network: "regtest", verifyThreads: 0, databasePath, fixedDifficulty: 1n });
  const starting = assert.rejects(node.start(), /stopped while it started/);
  await node.stop();
  await starting;
  assert.throws(() => node.urls, /not running/);
  const chain = await emptyChain(databasePath);
  assert.equal(chain.parts.store.read.height(), 1);
  await chain.close();
  rmSync(folder, { recursive: true });
});

test("a part that cannot be stopped keeps no other from it", async () => {
  const stopped: string[] = [];
  const failing = (name: string) => () => {
    stopped.push(name);
    throw new Error(name);
  };
  await assert.rejects(stopEach([failing("a"), async () => stopped.push("b")]), /^Error: a$/);
  assert.deepEqual(stopped, ["a", "b"]);
  await assert.rejects(stopEach([failing("c"), failing("d")]), AggregateError);
  await stopEach([]);
});
