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
  const read = (name: string, change: Partial<NodeMonitor> = {}): unknown => {
    const metric = nodeMetrics[name];
    assert.ok(metric !== undefined && metric.type !== "histogram", name);
    return metric.read({ node: { ...monitor, ...change }, calls, server: monitor.server });
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

test("peers are counted by network and direction, and so is what they cost", async (t) => {
  const { monitor, read } = await startNode(t);
  const peers = ["public in", "tor out", "public out", "public in", "i2p out", "tor out", "tor out"];
  const network = {
    peers: () => peers.map((peer) => ({ zone: peer.split(" ")[0], direction: peer.split(" ")[1] })),
    counts: (zone: string) => (zone === "public" ? { white: 3, gray: 5 } : { white: 0, gray: 0 }),
    bans: { count: () => 2 },
    stats: { bytesIn: 7, bytesOut: 11 },
    memory: { used: 13, capacity: 17 },
  };
  const peering = { ...monitor.peering, network } as unknown as NodeMonitor["peering"];
  const samplesOf = (name: string) =>
    (read(name, { peering }) as Sample[]).map(({ labels, value }) => [...Object.values(labels), value]);
  assert.deepEqual(samplesOf("anulo_node_peers"), [
    ["public", "in", 2],
    ["public", "out", 1],
    ["tor", "in", 0],
    ["tor", "out", 3],
    ["i2p", "in", 0],
    ["i2p", "out", 1],
  ]);
  assert.deepEqual(samplesOf("anulo_node_known_peers"), [
    ["white", 3],
    ["gray", 5],
  ]);
  assert.deepEqual(samplesOf("anulo_node_peer_bytes_total"), [
    ["in", 7],
    ["out", 11],
  ]);
  const numbers = ["bans", "peer_memory_bytes", "peer_memory_max_bytes"];
  assert.deepEqual(
    numbers.map((name) => read(`anulo_node_${name}`, { peering })),
    [2, 13, 17],
  );
});

test("ages are counted from the moment at which transactions came and the newest block was made", async (t) => {
  const { monitor, read } = await startNode(t);
  const ages = (pool: { size: number; totalReceiveTime: number }) => {
    const parts = { ...monitor.parts, pool, now: () => 1000 } as unknown as NodeMonitor["parts"];
    const names = ["tip_age_seconds", "pool_mean_age_seconds", "pool_transactions"];
    return names.map((name) => read(`anulo_node_${name}`, { parts, topTime: () => 900 }));
  };
  assert.deepEqual(ages({ size: 0, totalReceiveTime: 0 }), [100, 0, 0]);
  assert.deepEqual(ages({ size: 2, totalReceiveTime: 300 }), [100, 850, 2]);
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
