import { formatPeerAddress, ipv4Number, isLocal, isLoopback, type KnownPeer, type Peer } from "@anulo/p2p";
import { toHex } from "@anulo/protocol";
import type { NodeContext } from "./context.ts";

/** Source: enums.h `address_type`. */
const addressTypes = { ipv4: 1, ipv6: 2, i2p: 3, tor: 4 } as const;
const KIB = 1024;

function averageRate(bytes: number, seconds: number): number {
  return seconds <= 0 ? 0 : Math.floor(bytes / seconds / KIB);
}

/** A connection in the RPC; rates in KiB per second. Source: cryptonote_protocol_handler.inl `get_connections`. */
export function describeConnection(peer: Peer, { parts, peers }: NodeContext) {
  const { address, traffic, since } = peer;
  const { kind, host, port } = address;
  const now = parts.now();
  const age = Math.max(0, now - since);
  return {
    address: formatPeerAddress(address),
    address_type: addressTypes[kind],
    avg_download: averageRate(traffic.received, age),
    avg_upload: averageRate(traffic.sent, age),
    connection_id: toHex(peer.connectionId),
    current_download: Math.floor(traffic.receiveRate / KIB),
    current_upload: Math.floor(traffic.sendRate / KIB),
    height: peer.syncData.currentHeight,
    host,
    incoming: peer.direction === "in",
    ip: kind === "ipv4" ? host : "",
    live_time: age,
    local_ip: isLocal(address),
    localhost: isLoopback(address),
    peer_id: peer.peerId.toString(16).padStart(16, "0"),
    port: kind === "ipv4" ? String(port) : "",
    pruning_seed: peer.syncData.pruningSeed,
    recv_count: traffic.received,
    recv_idle_time: Math.max(0, now - traffic.lastReceived),
    rpc_credits_per_hash: 0,
    rpc_port: peer.rpcPort,
    send_count: traffic.sent,
    send_idle_time: Math.max(0, now - traffic.lastSent),
    state: peers.stateOf(peer) ?? "before_handshake",
    support_flags: peer.supportFlags,
  };
}

/** A known node in the RPC: a hidden one with its port in `host`. Source: core_rpc_server.cpp `on_get_peer_list`. */
export function describeKnownPeer({ address, peerId, lastSeen, pruningSeed, rpcPort }: KnownPeer) {
  const isHidden = address.kind === "tor" || address.kind === "i2p";
  return {
    host: isHidden ? formatPeerAddress(address) : address.host,
    id: peerId,
    ip: ipv4Number(address.host) ?? 0,
    last_seen: lastSeen,
    port: isHidden ? 0 : address.port,
    pruning_seed: pruningSeed,
    rpc_credits_per_hash: 0,
    rpc_port: rpcPort,
  };
}
