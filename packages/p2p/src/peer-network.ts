import type { Zone } from "./address.ts";
import type { Bans } from "./bans.ts";
import type { Peer } from "./peer.ts";
import type { KnownPeer } from "./peer-lists.ts";

/** Nodes by what we know of them: spoken to (white), only heard of (gray); the last seen first. */
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
  /** Opens the ports; then seeks peers. */
  start(): Promise<void>;
  /** Closes every connection and port, and keeps the lists. */
  stop(): Promise<void>;
  /** Those that shook hands. */
  peers(): readonly Peer[];
  readonly bans: Bans;
  lists(zone: Zone): PeerLists;
  /** How many are in the lists. */
  counts(zone: Zone): { readonly white: number; readonly gray: number };
  readonly stats: NetStats;
  /** Bytes that connections and what they sent take in memory. */
  readonly memory: { readonly used: number; readonly capacity: number };
  /** kB (1,024 bytes) per second. */
  readonly limits: { readonly up: number; readonly down: number };
  setLimits(limits: { up?: number; down?: number }): void;
  /** Connections of the public network, at most. */
  readonly maxOut: number;
  readonly maxIn: number;
  setMaxOut(count: number): void;
  setMaxIn(count: number): void;
  /** Ports accepted on, in the order of `listen`; once started. */
  readonly ports: readonly number[];
}
