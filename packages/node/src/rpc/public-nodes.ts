import { randomInt } from "node:crypto";
import type { Endpoint, KnownPeer } from "@anulo/p2p";

/** Peers that let anybody use their RPC, the better known first. */
export interface PublicNodes {
  readonly white: readonly KnownPeer[];
  readonly gray: readonly KnownPeer[];
}

const isSame = (a: Endpoint, b: Endpoint) => a.host === b.host && a.port === b.port;

/**
 * One to ask, at random: of the white list before the gray, and of those that have not failed before the others.
 * Source: bootstrap_node_selector.cpp `next_node`.
 */
export function pickPublicNode(nodes: PublicNodes, failed: readonly Endpoint[]): Endpoint | undefined {
  const [white, gray] = [nodes.white, nodes.gray].map((peers) =>
    peers
      .filter(({ rpcPort }) => rpcPort !== 0)
      .map(({ address, rpcPort }) => ({ host: address.host, port: rpcPort })),
  ) as [Endpoint[], Endpoint[]];
  const untried = (list: Endpoint[]) => list.filter((node) => !failed.some((other) => isSame(node, other)));
  const best = [untried(white), untried(gray), white, gray].find((list) => list.length > 0);
  return best?.[randomInt(best.length)];
}
