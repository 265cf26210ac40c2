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

/** Where to accept connections; an optional one may fail to open. */
export interface ListenEndpoint extends Endpoint {
  readonly isOptional?: boolean;
}

/** A network that hides who speaks: transactions of ours go out there, blocks never. */
export interface AnonymityZone {
  readonly zone: "tor" | "i2p";
  /** SOCKS proxy through which nodes of the zone are reached; left out: only they reach us. */
  readonly proxy?: SocksProxy;
  readonly maxOut?: number;
  /** Constant-rate cover traffic on outgoing connections. */
  readonly noise?: boolean;
  /** Our address in the zone, and where its proxy delivers what arrives there. */
  readonly inbound?: { readonly address: PeerAddress; readonly listen: Endpoint; readonly maxIn?: number };
}

/** What is told about the course of things; never a secret. */
export interface Log {
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Where the peer lists are kept between runs; the format is ours. */
export interface PeerStorage {
  load(): Uint8Array | undefined;
  /** Replaces what was kept, all or nothing. */
  save(bytes: Uint8Array): void;
}

/** How a peer network is made. */
export interface PeerNetworkOptions {
  /** 16 bytes that all nodes of a network share. */
  readonly networkId: Uint8Array;
  /** Where to accept peers; left out: nowhere. Port 0: any free one. */
  readonly listen?: readonly ListenEndpoint[] | undefined;
  /** The port peers are told to reach us at; left out: the one listened on. 0: none. */
  readonly advertisedPort?: number | undefined;
  /** Port of public RPC to tell peers; 0: none. */
  readonly rpcPort?: number | undefined;
  /** Connections we open and accept, at most. */
  readonly maxOut?: number | undefined;
  readonly maxIn?: number | undefined;
  /** Accepted connections of one IP address. */
  readonly maxPerIp?: number | undefined;
  /** kB (1,024 bytes) per second, all connections together. */
  readonly limitUp?: number | undefined;
  readonly limitDown?: number | undefined;
  /** Addresses to know (add), to stay connected to (priority), to speak to alone (exclusive), to ask for others (seed). */
  readonly nodes?:
    | {
        /** Names (`host:port`) to look up when no seed is known otherwise. */
        readonly seedNames?: readonly string[] | undefined;
        readonly priority?: readonly PeerAddress[] | undefined;
        readonly exclusive?: readonly PeerAddress[] | undefined;
        readonly add?: readonly PeerAddress[] | undefined;
        readonly seed?: readonly PeerAddress[] | undefined;
      }
    | undefined;
  /** SOCKS proxy for the public network. */
  readonly proxy?: SocksProxy | undefined;
  /** Whether names of seed nodes may be looked up; by default not where there is a proxy. */
  readonly canLookUp?: boolean | undefined;
  readonly zones?: readonly AnonymityZone[] | undefined;
  /** Text of a ban list: an address or subnet a line, `#` starts a remark. */
  readonly banList?: string | undefined;
  /** Names of which most agree in their texts on whom to shut out. */
  readonly blocklistNames?: readonly string[] | undefined;
  /** Never open or accept a connection. */
  readonly offline?: boolean | undefined;
  /** Take addresses of private networks and this machine for peers. */
  readonly allowLocal?: boolean | undefined;
  /** Take IPv6 addresses for peers. */
  readonly ipv6?: boolean | undefined;
  /** Seconds between two exchanges of news with a peer; by default 60. */
  readonly timedSyncSeconds?: number | undefined;
  readonly storage?: PeerStorage | undefined;
  /** Our chain, for handshakes and timed syncs. */
  syncData(): CoreSyncData;
  /**
   * A peer's chain: on its handshake, just before `onConnected`, and on each timed sync.
   * Throw PeerFault to drop the peer; at the handshake it was never connected then.
   */
  onSyncData(peer: Peer, data: CoreSyncData): void;
  /** After the handshake, before any of the peer's messages. */
  onConnected(peer: Peer): void;
  /** Once for each peer that was connected. */
  onClosed(peer: Peer): void;
  /** One message of a peer at a time; while a handler's promise is open nothing more is read from that peer. */
  readonly notifications: readonly NotificationHandler[];
  /** The part (1 to 8) of a pruned chain that new peers should have; 0: any. */
  neededStripe?(): number;
  readonly clock?: Clock | undefined;
  readonly random?: RandomSource | undefined;
  readonly log?: Log | undefined;
}
