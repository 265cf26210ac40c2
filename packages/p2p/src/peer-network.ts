import type { Zone } from "./address.ts";
import type { Bans } from "./bans.ts";
import type { Peer } from "./peer.ts";
import type { KnownPeer } from "./peer-lists.ts";

/** Nodes that were reached (white) and nodes that were only announced (gray); last seen first. */
export interface PeerLists {
  readonly white: readonly KnownPeer[];
  readonly gray: readonly KnownPeer[];
}

/** Totals since the start. */
export interface NetStats {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
}

/** Connections to other nodes. It can be started once and stopped once. */
export interface PeerNetwork {
  /** Opens the ports, then connects to peers. */
  start(): Promise<void>;
  /** Closes every connection and port, and stores the lists. */
  stop(): Promise<void>;
  /** Peers whose handshake is complete. */
  peers(): readonly Peer[];
  readonly bans: Bans;
  lists(zone: Zone): PeerLists;
  /** Number of nodes in the lists. */
  counts(zone: Zone): { readonly white: number; readonly gray: number };
  readonly stats: NetStats;
  /** Bytes of memory that connections and their messages use, and may use. */
  readonly memory: { readonly used: number; readonly capacity: number };
  /** kB (1,024 bytes) per second. */
  readonly limits: { readonly up: number; readonly down: number };
  setLimits(limits: { up?: number; down?: number }): void;
  /** Maximum number of connections of the public network. */
  readonly maxOut: number;
  readonly maxIn: number;
  setMaxOut(count: number): void;
  setMaxIn(count: number): void;
  /** Ports at which connections are accepted, in the order of `listen`; available after the start. */
  readonly ports: readonly number[];
}
