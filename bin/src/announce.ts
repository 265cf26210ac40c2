import type { Node, NodeOptions } from "@anulo/node";
import type { Log } from "@anulo/rpc";
import { versionText } from "./service-flags.ts";
import { type NodeStatus, type StatusLine, startStatusLine } from "./status-line.ts";

type Started = Pick<NodeOptions, "databasePath" | "offline" | "peers"> & {
  readonly network: string;
  readonly log: Log;
};

/**
 * Logs the network of a node, its files, and its addresses; then reports its status until the status line is stopped.
 */
export function announceNode(node: Node, options: Started): StatusLine {
  const { network, databasePath, log } = options;
  const logger = log.in("global");
  logger.info("node started", {
    version: versionText.trim(),
    network,
    database: databasePath,
    rpc: node.urls.join(" "),
    peerPorts: node.peerPorts.join(" ") || "none: peers cannot call this node",
    news: node.publishedAt.join(" ") || "none",
  });
  return startStatusLine({
    status: () => statusOf(node, options),
    log: (fields) => logger.info("status", fields),
  });
}

function statusOf({ monitor }: Node, options: Started): NodeStatus {
  const peers = monitor.peering.network.peers().length;
  return {
    height: monitor.parts.store.read.height(),
    target: monitor.targetHeight(),
    peers,
    withoutPeers: peers > 0 ? undefined : whyAlone(monitor, options),
  };
}

/** Why the node has no peers; undefined for a network on which a node may be alone. */
function whyAlone(
  { isOffline, peering }: Node["monitor"],
  { network, peers }: Pick<Started, "network" | "peers">,
): string | undefined {
  if (isOffline) return network === "regtest" ? undefined : "offline, as asked";
  const exclusive = peers?.nodes?.exclusive ?? [];
  if (exclusive.length > 0) return `none of ${exclusive.length} exclusive nodes answers`;
  const { white, gray } = peering.network.counts("public");
  const peerCount = white + gray;
  if (peerCount > 0) return `none of ${peerCount} known nodes has answered yet`;
  return "no node is known: seed nodes have not answered, or may not be looked up";
}
