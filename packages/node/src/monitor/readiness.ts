import type { ReadinessChecks } from "@anulo/metrics";
import type { NodeMonitor } from "./monitor.ts";

/** Blocks that may be missing while they are on their way: a new one is announced before it is here. */
const BLOCKS_BEHIND = 2;
/** The longest a hash takes here is that with which the cache of a seed is built, by our own RandomX. */
const HASH_STALLED_MS = 120_000;

/** What a node needs to answer truly; each check looks at the thing itself. */
export function nodeReadiness(node: NodeMonitor): ReadinessChecks {
  return {
    database: () => {
      const fault = node.fault();
      if (fault !== undefined) return fault.message;
      const { read } = node.parts.store;
      return read.blockInfo(read.height() - 1) === undefined ? "the newest block cannot be read" : undefined;
    },
    chain: () => whyBehind(node),
    "proof-of-work": () => {
      const stalled = Math.round(node.pow.stalledMs() / 1000);
      return stalled * 1000 > HASH_STALLED_MS ? `no hash was computed for ${stalled} s` : node.pow.fault;
    },
  };
}

/** A chain of our own, or one that is not compared with peers, is never behind. */
function whyBehind(node: NodeMonitor): string | undefined {
  const behind = node.targetHeight() - node.parts.store.read.height();
  if (behind > BLOCKS_BEHIND) return `${behind} blocks behind the peers`;
  if (node.isOffline || node.parts.network.name === "regtest") return undefined;
  if (node.peering.network.peers().length === 0) return "no peers";
  return node.peering.protocol.sync.isSynchronized ? undefined : "not compared with a peer's chain yet";
}
