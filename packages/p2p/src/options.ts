import type { SharedTurns } from "@anulo/limits";
import type { SocksProxy } from "@anulo/socks";
import type { PeerAddress } from "./address.ts";
import type { Clock } from "./clock.ts";
import type { NotificationHandler } from "./messages.ts";
import type { CoreSyncData, Peer } from "./peer.ts";
import type { RandomSource } from "./random.ts";

/** An IP address and port to listen on or to connect to. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** An endpoint to accept connections at; an optional one may fail to open. */
export interface ListenEndpoint extends Endpoint {
  readonly isOptional?: boolean;
}

/** A network that hides its nodes' addresses: our own transactions are sent there first, blocks never. */
export interface AnonymityZone {
  readonly zone: "tor" | "i2p";
  /** SOCKS proxy through which nodes of the zone are reached; if left out, only incoming connections are possible. */
  readonly proxy?: SocksProxy;
  readonly maxOut?: number;
  /** Constant-rate cover traffic on outgoing connections. */
  readonly noise?: boolean;
  /** Our address in the zone, and the endpoint to which its proxy delivers incoming connections. */
  readonly inbound?: { readonly address: PeerAddress; readonly listen: Endpoint; readonly maxIn?: number };
}

/** Receives log messages; they never contain secrets. */
export interface Log {
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Stores the peer lists between runs; the format is our own. */
export interface PeerStorage {
  load(): Uint8Array | undefined;
  /** Replaces the stored bytes, all or nothing. */
  save(bytes: Uint8Array): void;
}

/** Options of a peer network. */
export interface PeerNetworkOptions {
  /** 16 bytes that all nodes of a network share. */
  readonly networkId: Uint8Array;
  /** Endpoints at which peers are accepted; none if left out. Port 0 means any free port. */
  readonly listen?: readonly ListenEndpoint[] | undefined;
  /** The port that is announced to peers; if left out, the port we listen on. 0: none. */
  readonly advertisedPort?: number | undefined;
  /** Port of public RPC that is announced to peers; 0: none. */
  readonly rpcPort?: number | undefined;
  /** Maximum number of connections that we open, and that we accept. */
  readonly maxOut?: number | undefined;
  readonly maxIn?: number | undefined;
  /** Maximum number of connections that are accepted, before and after their handshake, whatever `maxIn` is. */
  readonly maxAccepted?: number | undefined;
  /** Maximum number of accepted connections of one IP address. */
  readonly maxPerIp?: number | undefined;
  /** kB (1,024 bytes) per second, for all connections together. */
  readonly limitUp?: number | undefined;
  readonly limitDown?: number | undefined;
  /**
   * Nodes to add to the lists (add), to stay connected to (priority), to connect to exclusively (exclusive), to ask for
   * addresses (seed).
   */
  readonly nodes?:
    | {
        /** Names (`host:port`) that are looked up when no other seed is known. */
        readonly seedNames?: readonly string[] | undefined;
        readonly priority?: readonly PeerAddress[] | undefined;
        readonly exclusive?: readonly PeerAddress[] | undefined;
        readonly add?: readonly PeerAddress[] | undefined;
        readonly seed?: readonly PeerAddress[] | undefined;
      }
    | undefined;
  /** SOCKS proxy for the public network. */
  readonly proxy?: SocksProxy | undefined;
  /** Whether names of seed nodes may be looked up; by default only if there is no proxy. */
  readonly canLookUp?: boolean | undefined;
  readonly zones?: readonly AnonymityZone[] | undefined;
  /** Text of a ban list: one address or subnet per line, `#` begins a comment. */
  readonly banList?: string | undefined;
  /** Names whose TXT records list addresses to ban, where most of the names agree. */
  readonly blocklistNames?: readonly string[] | undefined;
  /** Never opens or accepts a connection. */
  readonly offline?: boolean | undefined;
  /** Accepts addresses of private networks and of this machine as peers. */
  readonly allowLocal?: boolean | undefined;
  /** Accepts IPv6 addresses as peers. */
  readonly ipv6?: boolean | undefined;
  /** Seconds between two timed syncs with a peer; by default 60. */
  readonly timedSyncSeconds?: number | undefined;
  readonly storage?: PeerStorage | undefined;
  /** Our chain, as it is sent in handshakes and timed syncs. */
  syncData(): CoreSyncData;
  /**
   * Receives a peer's chain: on its handshake, just before `onConnected`, and on each timed sync. Throws PeerFault to
   * drop the peer; a peer dropped at the handshake was never reported as connected.
   */
  onSyncData(peer: Peer, data: CoreSyncData): void;
  /** Called after the handshake, before any of the peer's messages. */
  onConnected(peer: Peer): void;
  /** Called once for each peer that was connected. */
  onClosed(peer: Peer): void;
  /**
   * Handlers get one message of a peer at a time; nothing more is read from that peer until the handler's promise
   * settles.
   */
  readonly notifications: readonly NotificationHandler[];
  /** The stripe (1 to 8) of a pruned chain that new peers should have; 0: any. */
  neededStripe?(): number;
  /** Whether we have all blocks of a peer, so that another may take its place; by default of none. */
  isSynchronized?(peer: Peer): boolean;
  readonly clock?: Clock | undefined;
  /** Measures the processor time that peers take; by default the machine's clock, whatever `clock` is. */
  readonly workClock?: Clock | undefined;
  /** The works beside which that for peers goes on. */
  readonly turns?: SharedTurns | undefined;
  readonly random?: RandomSource | undefined;
  readonly log?: Log | undefined;
}
