import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ReadinessChecks, Sample } from "@anulo/metrics";
import { createCallTally } from "@anulo/rpc";
import { admit, createNode, nodeMetrics, nodeReadiness } from "../src/index.ts";
import type { NodeMonitor } from "../src/monitor/monitor.ts";

async function startNode(t: TestContext) {
  const calls = createCallTally();
  const node = createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    verifyThreads: 0,
    onCall: calls.onCall,
  });
  await node.start();
  t.after(() => node.stop());
  const { monitor } = node;
  const source = { node: monitor, calls, server: monitor.server };
  const read = (name: string): unknown => {
    const metric = nodeMetrics[name];
    assert.ok(metric !== undefined && metric.type !== "histogram", name);
    return metric.read(source);
  };
  return { node, calls, monitor, read };
}

const reasons = async (checks: ReadinessChecks) => {
  const all = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await check()]));
  return Object.fromEntries(all.filter(([, reason]) => reason !== undefined));
};

test("every metric of a node that was just started has a number or none", async (t) => {
  const { read } = await startNode(t);
  for (const [name, metric] of Object.entries(nodeMetrics)) {
    if (metric.type === "histogram") continue;
    const reading = read(name) as number | readonly Sample[];
    const numbers = typeof reading === "number" ? [reading] : reading.map(({ value }) => value);
    for (const number of numbers) assert.ok(Number.isFinite(number), name);
  }
});

test("transactions that break a rule are counted by the rule", async (t) => {
  const { node, read } = await startNode(t);
  assert.deepEqual(read("anulo_node_transactions_rejected_total"), []);
  await assert.rejects(admit(node.chain, { blob: new Uint8Array(10), doNotRelay: false }));
  assert.deepEqual(read("anulo_node_transactions_rejected_total"), [
    { labels: { reason: "MALFORMED" }, value: 1 },
  ]);
});

test("a node is not ready while it is behind, without peers, or broken", async (t) => {
  const { monitor } = await startNode(t);
  assert.deepEqual(await reasons(nodeReadiness(monitor)), {});
  const changed = (change: Partial<NodeMonitor>) => reasons(nodeReadiness({ ...monitor, ...change }));
  assert.deepEqual(await changed({ targetHeight: () => 3 }), {});
  assert.deepEqual(await changed({ targetHeight: () => 4 }), { chain: "3 blocks behind the peers" });
  assert.deepEqual(await changed({ fault: () => new Error("no space") }), { database: "no space" });
  const { pow } = monitor;
  assert.deepEqual(await changed({ pow: { ...pow, stalledMs: () => 121_000 } }), {
    "proof-of-work": "no hash was computed for 121 s",
  });
  assert.deepEqual(await changed({ pow: { ...pow, fault: "the hashing process ended" } }), {
    "proof-of-work": "the hashing process ended",
  });
  const mainnet = { ...monitor.parts, network: { ...monitor.parts.network, name: "mainnet" as const } };
  assert.deepEqual(await changed({ parts: mainnet, isOffline: false }), { chain: "no peers" });
});
