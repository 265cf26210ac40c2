import { byLabel, type MetricTable, type Sample } from "@anulo/metrics";
import { rpcMetrics } from "@anulo/rpc";
import type { NodeSource } from "./monitor.ts";

function peerSamples({ node }: NodeSource): Sample[] {
  const counts = new Map<string, Sample & { value: number }>();
  for (const zone of ["public", "tor", "i2p"] as const)
    for (const direction of ["in", "out"] as const)
      counts.set(`${zone} ${direction}`, { labels: { zone, direction }, value: 0 });
  for (const { zone, direction } of node.peering.network.peers()) counts.get(`${zone} ${direction}`)!.value++;
  return [...counts.values()];
}

function listSamples({ node }: NodeSource): Sample[] {
  const { white, gray } = node.peering.network.counts("public");
  return byLabel("list", [
    ["white", white],
    ["gray", gray],
  ]);
}

/** Chain and pool. */
const chainMetrics: MetricTable<NodeSource> = {
  anulo_node_height: {
    type: "gauge",
    help: "Blocks of the main chain.",
    read: ({ node }) => node.parts.store.read.height(),
  },
  anulo_node_target_height: {
    type: "gauge",
    help: "Blocks of the longest chain that peers announced, or of our own.",
    read: ({ node }) => node.targetHeight(),
  },
  anulo_node_synchronized: {
    type: "gauge",
    help: "Whether the chain was as long as the peers' since the start (1).",
    read: ({ node }) => Number(node.peering.protocol.sync.isSynchronized),
  },
  anulo_node_tip_age_seconds: {
    type: "gauge",
    help: "Seconds since the time that the newest block states.",
    read: ({ node }) => node.parts.now() - node.topTime(),
  },
  anulo_node_blocks_added_total: {
    type: "counter",
    help: "Blocks added to the main chain; its rate is the speed of synchronization.",
    read: ({ node }) => node.counts.blocksAdded,
  },
  anulo_node_blocks_popped_total: {
    type: "counter",
    help: "Blocks that the operator took off the chain.",
    read: ({ node }) => node.counts.poppedBlocks,
  },
  anulo_node_reorganisations_total: {
    type: "counter",
    help: "Times another branch became the main chain.",
    read: ({ node }) => node.counts.reorganisations,
  },
  anulo_node_reorganised_blocks_total: {
    type: "counter",
    help: "Blocks that reorganisations took off the main chain.",
    read: ({ node }) => node.counts.reorganisedBlocks,
  },
  anulo_node_alternative_blocks: {
    type: "gauge",
    help: "Blocks kept beside the main chain.",
    read: ({ node }) => node.parts.sideBlocks.count,
  },
  anulo_node_blocks_rejected_total: {
    type: "counter",
    help: "Blocks that broke a rule, by the rule.",
    labels: ["reason"],
    read: ({ node }) => byLabel("reason", node.parts.refusals.blocks),
  },
  anulo_node_transactions_rejected_total: {
    type: "counter",
    help: "Transactions that broke a rule on their way into the pool, by the rule.",
    labels: ["reason"],
    read: ({ node }) => byLabel("reason", node.parts.refusals.transactions),
  },
  anulo_node_transactions_added_total: {
    type: "counter",
    help: "Transactions that entered the pool.",
    read: ({ node }) => node.counts.transactionsAdded,
  },
  anulo_node_pool_transactions: {
    type: "gauge",
    help: "Transactions in the pool.",
    read: ({ node }) => node.parts.pool.size,
  },
  anulo_node_pool_bytes: {
    type: "gauge",
    help: "Weight of the pool's transactions in bytes.",
    read: ({ node }) => node.parts.pool.totalWeight,
  },
  anulo_node_pool_max_bytes: {
    type: "gauge",
    help: "Weight in bytes above which the cheapest transactions leave the pool.",
    read: ({ node }) => node.parts.pool.maxWeight,
  },
  anulo_node_pool_mean_age_seconds: {
    type: "gauge",
    help: "Mean time that the pool's transactions have waited; 0 where there are none.",
    read: ({ node: { parts } }) =>
      parts.pool.size === 0 ? 0 : parts.now() - parts.pool.totalReceiveTime / parts.pool.size,
  },
  anulo_node_database_bytes: {
    type: "gauge",
    help: "Size of the chain's database file.",
    read: ({ node }) => node.parts.store.fileSize(),
  },
  anulo_node_database_free_bytes: {
    type: "gauge",
    help: "Bytes free on the disk of the chain's database.",
    read: ({ node }) => Number(node.parts.store.freeSpace()),
  },
};

/** Peers. */
const peerMetrics: MetricTable<NodeSource> = {
  anulo_node_peers: {
    type: "gauge",
    help: "Connected peers, by network and by who called whom.",
    labels: ["zone", "direction"],
    read: peerSamples,
  },
  anulo_node_known_peers: {
    type: "gauge",
    help: "Nodes of the public network that were spoken to (white) or only heard of (gray).",
    labels: ["list"],
    read: listSamples,
  },
  anulo_node_bans: {
    type: "gauge",
    help: "Addresses and subnets that are shut out, with some whose ban has just ended.",
    read: ({ node }) => node.peering.network.bans.count(),
  },
  anulo_node_peer_bytes_total: {
    type: "counter",
    help: "Bytes received from peers (in) and sent to them (out).",
    labels: ["direction"],
    read: ({ node }) => {
      const { bytesIn, bytesOut } = node.peering.network.stats;
      return byLabel("direction", [
        ["in", bytesIn],
        ["out", bytesOut],
      ]);
    },
  },
  anulo_node_peer_memory_bytes: {
    type: "gauge",
    help: "Memory that peers make the node hold.",
    read: ({ node }) => node.peering.network.memory.used,
  },
  anulo_node_peer_memory_max_bytes: {
    type: "gauge",
    help: "Memory that peers may make the node hold.",
    read: ({ node }) => node.peering.network.memory.capacity,
  },
};

/** Hashing and mining. */
const hashingMetrics: MetricTable<NodeSource> = {
  anulo_node_open_hashes: {
    type: "gauge",
    help: "Proof-of-work hashes being computed, or waiting for it.",
    read: ({ node }) => node.pow.openHashes,
  },
};

/** Every metric of a node; none has a label whose values strangers choose. */
export const nodeMetrics: MetricTable<NodeSource> = {
  ...chainMetrics,
  ...peerMetrics,
  ...hashingMetrics,
  ...rpcMetrics,
};
