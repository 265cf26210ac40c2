import type { PeerAddress } from "./address.ts";
import type { Bans } from "./bans.ts";
import type { PeerNetworkOptions } from "./options.ts";
import type { Peer } from "./peer.ts";

/** A node we heard of. */
export interface KnownPeer {
  readonly address: PeerAddress;
  readonly peerId: bigint;
  /** Unix seconds; 0: never. */
  readonly lastSeen: number;
  readonly pruningSeed: number;
  readonly rpcPort: number;
}

/** Nodes by what we know of them: spoken to (white), only heard of (gray), spoken to when we last ran (anchors). */
export interface PeerLists {
  readonly white: readonly KnownPeer[];
  readonly gray: readonly KnownPeer[];
  readonly anchors: readonly PeerAddress[];
}

/** Totals since the start. */
export interface NetStats {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
}

/** Connections to other nodes. */
export interface PeerNetwork {
  /** Opens the ports; then seeks peers. */
  start(): Promise<void>;
  /** Closes every connection and port, and keeps the lists. */
  stop(): Promise<void>;
  /** Those that shook hands. */
  peers(): readonly Peer[];
  readonly bans: Bans;
  readonly lists: PeerLists;
  readonly stats: NetStats;
  /** kB per second. */
  readonly limits: { readonly up: number; readonly down: number };
  setLimits(limits: { up?: number; down?: number }): void;
  readonly maxOut: number;
  readonly maxIn: number;
  setMaxOut(count: number): void;
  setMaxIn(count: number): void;
  /** Ports accepted on, in the order of `listen`; once started. */
  readonly ports: readonly number[];
}

export type CreatePeerNetwork = (options: PeerNetworkOptions) => PeerNetwork;
