import { createPeerNetwork, type PeerNetwork, type PeerNetworkOptions, systemClock } from "@anulo/p2p";
import type { Network } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import type { OpenChain } from "./chain/open-chain.ts";
import { neededStripe } from "./peers/needed-stripe.ts";
import { PeerProtocol } from "./peers/peer-protocol.ts";

/** Options of the peer network that the node sets itself. */
type NodeProvided =
  | "networkId"
  | "syncData"
  | "onSyncData"
  | "onConnected"
  | "onClosed"
  | "notifications"
  | "offline"
  | "neededStripe"
  | "isSynchronized"
  | "clock"
  | "turns"
  | "log";

/** Options of the connections to peers; all may be left out. */
export interface PeerOptions extends Partial<Omit<PeerNetworkOptions, NodeProvided>> {
  /** Hides the size of relayed transactions. */
  readonly padTransactions?: boolean | undefined;
  /** Fetches no blocks from peers. */
  readonly noSync?: boolean | undefined;
  /** Maximum bytes of blocks fetched ahead. */
  readonly maxQueueBytes?: number | undefined;
  /** Blocks per request; by default as many as their weights allow. */
  readonly blocksPerRequest?: number | undefined;
  /** Called whenever our chain has become as long as those of the peers. */
  readonly onSynchronized?: (() => void) | undefined;
}

/** The connections of a node and its protocol on them. */
export interface Peering {
  readonly network: PeerNetwork;
  readonly protocol: PeerProtocol;
  /** The stripe (1 to 8) of a pruned chain that is needed next; 0: any. */
  neededStripe(): number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface PeeringOptions {
  readonly network: Network;
  readonly chain: OpenChain;
  readonly peers: PeerOptions;
  readonly isOffline: boolean;
  /** Unix seconds. */
  readonly now: () => number;
  readonly log: Logger;
}

/** Joins the peer network with the node's protocol. */
export function createPeering({ network, chain, peers, isOffline, now, log }: PeeringOptions): Peering {
  const clock = { ...systemClock, seconds: now };
  const { parts, events } = chain;
  const {
    padTransactions,
    noSync = false,
    maxQueueBytes,
    blocksPerRequest,
    onSynchronized,
    ...options
  } = peers;
  const protocol = new PeerProtocol({
    parts,
    events,
    clock,
    padTransactions,
    noSync,
    maxQueueBytes,
    blocksPerRequest,
    onSynchronized,
    isOffline: isOffline || noSync,
    pruningSeed: () => parts.store.read.pruningSeed(),
    log: log.in("global"),
  });
  const stripe = (): number => {
    const { sync, links } = protocol;
    const height = parts.store.read.height();
    const isCaughtUp = sync.isSynchronized && links.length > 0;
    const target = sync.target > 0 ? sync.target : isCaughtUp ? height : undefined;
    return neededStripe({ height, target, links, queue: sync.queue, maxOut: connections.maxOut });
  };
  const connections: PeerNetwork = createPeerNetwork({
    ...options,
    neededStripe: stripe,
    isSynchronized: (peer) =>
      protocol.sync.target <= parts.store.read.height() && protocol.stateOf(peer) === "normal",
    networkId: network.peerNetworkId,
    offline: isOffline,
    clock,
    turns: parts.turns,
    log: log.in("net.p2p"),
    notifications: protocol.notifications,
    syncData: () => protocol.syncData(),
    onSyncData: (peer, data) => protocol.onSyncData(peer, data),
    onConnected: (peer) => protocol.onConnected(peer),
    onClosed: (peer) => protocol.onClosed(peer),
  });
  return {
    network: connections,
    protocol,
    neededStripe: stripe,
    async start() {
      protocol.start();
      await connections.start();
    },
    async stop() {
      await connections.stop();
      await protocol.stop();
    },
  };
}
