import type { SocksProxy } from "@anulo/socks";
import type { PeerAddress } from "./address.ts";
import { OUR_SUPPORT_FLAGS } from "./commands.ts";
import type { Transport } from "./connection/transport.ts";
import type { AnonymityZone, PeerNetworkOptions } from "./options.ts";
import type { ZoneOptions } from "./zone.ts";

/** Source: cryptonote_config.h `P2P_DEFAULT_CONNECTIONS_COUNT`, `P2P_DEFAULT_LIMIT_RATE_UP`, `..._DOWN` (kB per second). */
export const networkDefaults = {
  maxOut: 12,
  /** No limit of its own: `maxAccepted` bounds it. */
  maxIn: 0xffffffff,
  /** Each costs a file descriptor and memory. */
  maxAccepted: 1064,
  limitUp: 8192,
  limitDown: 32_768,
  maxPerIp: 1,
} as const;

/** What the options of zones are made of. */
export interface ZoneParts {
  readonly options: PeerNetworkOptions;
  /** Our id in the public network. */
  readonly peerId: bigint;
  /** The port at which peers are accepted, once it is open. */
  port(): number | undefined;
  dialThrough(
    proxy: SocksProxy | undefined,
  ): (address: PeerAddress, timeoutMs?: number) => Promise<Transport>;
}

/** Options of the public network. */
export function publicZoneOptions({ options, peerId, port, dialThrough }: ZoneParts): ZoneOptions {
  const { maxOut, maxIn, maxPerIp, proxy, offline } = options;
  const canPingBack = proxy === undefined;
  return {
    zone: "public",
    maxOut: maxOut ?? networkDefaults.maxOut,
    maxIn: maxIn ?? networkDefaults.maxIn,
    maxAccepted: maxAcceptedOf(options),
    maxPerIp: maxPerIp ?? networkDefaults.maxPerIp,
    canPingBack,
    ...(offline !== true && { dial: dialThrough(proxy) }),
    nodeData: () => ({
      network_id: options.networkId,
      peer_id: peerId,
      // Behind a proxy our address is not announced.
      my_port: canPingBack ? (options.advertisedPort ?? port() ?? 0) : 0,
      rpc_port: canPingBack ? (options.rpcPort ?? 0) : 0,
      rpc_credits_per_hash: 0,
      support_flags: OUR_SUPPORT_FLAGS,
    }),
  };
}

/** Options of an anonymity zone, in which all nodes use the same id. Source: node_server `config_t`. */
export function anonymityZoneOptions(
  { zone, proxy, maxOut, inbound }: AnonymityZone,
  parts: ZoneParts,
): ZoneOptions {
  const { options, dialThrough } = parts;
  return {
    zone,
    maxOut: maxOut ?? networkDefaults.maxOut,
    maxIn: inbound?.maxIn ?? networkDefaults.maxIn,
    maxAccepted: maxAcceptedOf(options),
    maxPerIp: undefined,
    canPingBack: false,
    ...(inbound !== undefined && { ourAddress: inbound.address }),
    ...(proxy !== undefined && options.offline !== true && { dial: dialThrough(proxy) }),
    nodeData: () => ({
      network_id: options.networkId,
      peer_id: 1n,
      my_port: 0,
      rpc_port: 0,
      rpc_credits_per_hash: 0,
      support_flags: 0,
    }),
  };
}

/** Zones share the descriptors that there are. */
function maxAcceptedOf({
  maxAccepted = networkDefaults.maxAccepted,
  zones = [],
}: PeerNetworkOptions): number {
  return Math.floor(Math.min(maxAccepted, networkDefaults.maxAccepted) / (1 + zones.length));
}
