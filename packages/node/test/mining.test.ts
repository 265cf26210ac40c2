import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress } from "@anulo/protocol";
import { createNode, type Node } from "../src/index.ts";
import { backgroundDefaults, firstBackgroundState, nextBackgroundState } from "../src/mining/background.ts";
import { createHashRate } from "../src/mining/hash-rate.ts";
import { createThreadCount } from "../src/mining/thread-count.ts";
import { goldenState } from "./recorded-chains.ts";

const address = goldenState().wallets.a.address;

async function ask(node: Node, path: string, body: object = {}): Promise<Record<string, unknown>> {
  const response = await fetch(node.urls[0] + path, { method: "POST", body: JSON.stringify(body) });
  assert.equal(response.status, 200);
  return (await response.json()) as Record<string, unknown>;
}

function blocksAdded(node: Node, count: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = node.events.listen(({ type }) => {
      if (type !== "blockAdded" || --count > 0) return;
      stop();
      resolve();
    });
  });
}

test("a node mines with real work, tells how, and stops", async () => {
  const node = createNode({ network: "regtest", fixedDifficulty: 2n });
  await node.start();
  const order = {
    miner_address: address,
    threads_count: 1,
    do_background_mining: false,
    ignore_battery: true,
  };
  assert.equal((await ask(node, "/start_mining", order)).status, "OK");
  assert.equal((await ask(node, "/start_mining", order)).status, "Already mining");
  await blocksAdded(node, 2);
  const mining = await ask(node, "/mining_status");
  assert.equal(mining.active, true);
  assert.equal(mining.address, address);
  assert.equal(mining.threads_count, 1);
  assert.equal(mining.pow_algorithm, "RandomX");
  assert.ok(Number(mining.block_reward) > 0);
  assert.equal(mining.is_background_mining_enabled, false);
  assert.equal((await ask(node, "/set_log_hash_rate", { visible: true })).status, "OK");
  assert.equal((await ask(node, "/stop_mining")).status, "OK");
  assert.equal((await ask(node, "/stop_mining")).status, "Mining never started");
  assert.equal((await ask(node, "/mining_status")).active, false);
  assert.equal((await ask(node, "/set_log_hash_rate", { visible: true })).status, "NOT MINING");
  await node.stop();
});

test("in the background it waits until the machine is known to be idle, and says so", async () => {
  const node = createNode({ network: "regtest", fixedDifficulty: 2n });
  await node.start();
  const order = {
    miner_address: address,
    threads_count: 1,
    do_background_mining: true,
    ignore_battery: false,
  };
  assert.equal((await ask(node, "/start_mining", order)).status, "OK");
  const status = await ask(node, "/mining_status");
  const { bg_idle_threshold, bg_min_idle_seconds, bg_target, bg_ignore_battery } = status;
  assert.deepEqual(
    [bg_idle_threshold, bg_min_idle_seconds, bg_target, bg_ignore_battery],
    [90, 10, 40, false],
  );
  assert.equal(status.is_background_mining_enabled, true);
  assert.equal(node.chain.store.read.height(), 1);
  await node.stop();
});

test("a node that may not know the top does not mine, nor gives templates", async () => {
  const { spendPublic, viewPublic } = parseAddress(address);
  const order = {
    address,
    keys: { spendPublic, viewPublic },
    threads: 1,
    isInBackground: false,
    ignoreBattery: true,
  };
  const node = createNode({ network: "regtest", fixedDifficulty: 1n, offline: false, mining: order });
  await node.start();
  const params = { wallet_address: address, amount_of_blocks: 1 };
  const call = async (method: string) => ask(node, "/json_rpc", { jsonrpc: "2.0", id: 0, method, params });
  assert.equal(
    (await ask(node, "/start_mining", { miner_address: address, threads_count: 1 })).status,
    "BUSY",
  );
  assert.equal((await ask(node, "/mining_status")).active, false);
  for (const method of ["get_block_template", "get_miner_data"]) {
    assert.deepEqual((await call(method)).error, { code: -9, message: "Core is busy" });
  }
  for (const method of ["generateblocks", "get_last_block_header"]) {
    assert.equal(((await call(method)).result as { status: string }).status, "BUSY");
  }
  assert.equal(node.chain.store.read.height(), 1);
  await node.stop();
});

test("background mining begins on an idle machine, rests as its share asks, and pauses for others", () => {
  const settings = backgroundDefaults;
  const look = (idle: number, mining: number, isPlugged = true) => ({
    before: { total: 0, idle: 0, mining: 0 },
    after: { total: 1000, idle, mining },
    isPlugged,
  });
  const waiting = firstBackgroundState(settings);
  assert.equal(waiting.isMining, false);
  assert.equal(nextBackgroundState(waiting, settings, look(890, 0)).isMining, false);
  assert.equal(nextBackgroundState(waiting, settings, look(950, 0, false)).isMining, false);
  const begun = nextBackgroundState(waiting, settings, look(900, 0));
  assert.deepEqual(begun, { isMining: true, restMs: 400, nextPollSeconds: 10 });
  assert.equal(nextBackgroundState(begun, settings, look(850, 100)).restMs, 370);
  assert.equal(nextBackgroundState(begun, settings, look(300, 650)).restMs, 425);
  assert.equal(nextBackgroundState({ ...begun, restMs: 10 }, settings, look(950, 0)).restMs, 5);
  assert.equal(nextBackgroundState(begun, settings, look(300, 500)).isMining, false);
  assert.equal(nextBackgroundState(begun, settings, look(950, 40, false)).isMining, false);
});

test("threads are added as long as they bring something", () => {
  assert.equal(createThreadCount(3, 8).measured(1), false);
  const count = createThreadCount(0, 8);
  assert.equal(count.threads, 1);
  assert.equal(count.measured(10), true);
  assert.equal(count.threads, 2);
  assert.equal(count.measured(19), true);
  assert.equal(count.threads, 3);
  assert.equal(count.measured(19.2), true);
  assert.equal(count.threads, 2);
  assert.equal(count.measured(100), false);
  const full = createThreadCount(0, 2);
  full.measured(10);
  assert.equal(full.measured(20), false);
  assert.equal(full.threads, 2);
});

test("the hash rate is what was made since it was taken last, and its average", () => {
  let time = 0;
  const rate = createHashRate(() => time);
  assert.equal(rate.latest, 0);
  rate.add(30);
  time = 2000;
  assert.equal(rate.measure(), 15);
  time = 4000;
  assert.equal(rate.measure(), 0);
  assert.equal(rate.latest, 0);
  assert.equal(rate.average, 7.5);
});
