import { costs } from "../costs.ts";
import { method, path } from "../define.ts";
import { list, object, omitEmpty, or, zero } from "../schema/composites.ts";
import { flag, int, text, uint, uint16, uint32 } from "../schema/scalars.ts";
import { accessStatus, nodeStatus, noParams } from "./fields.ts";
import { peerHost, peerId } from "./peer-address.ts";

/** A connection to a peer; rates in bytes per second, times in seconds. */
const connection = object({
  address: text,
  address_type: uint,
  avg_download: uint,
  avg_upload: uint,
  connection_id: text,
  current_download: uint,
  current_upload: uint,
  height: uint,
  host: text,
  incoming: flag,
  ip: text,
  live_time: uint,
  local_ip: flag,
  localhost: flag,
  peer_id: text,
  port: text,
  pruning_seed: uint32,
  recv_count: uint,
  recv_idle_time: uint,
  rpc_credits_per_hash: uint32,
  rpc_port: uint16,
  send_count: uint,
  send_idle_time: uint,
  state: text,
  support_flags: uint32,
});

const peer = object({
  host: peerHost,
  id: peerId,
  ip: uint32,
  last_seen: uint,
  port: uint16,
  pruning_seed: omitEmpty(or(uint32, 0)),
  rpc_credits_per_hash: omitEmpty(or(uint32, 0)),
  rpc_port: omitEmpty(or(uint16, 0)),
});

const publicNode = object({ host: text, last_seen: uint, rpc_port: uint16, rpc_credits_per_hash: uint32 });

const span = object({
  connection_id: text,
  nblocks: uint,
  rate: uint,
  remote_address: text,
  size: uint,
  speed: uint,
  start_block_height: uint,
});

/** Peers, connections, bans and bandwidth. */
export const network = {
  getConnections: method({
    name: "get_connections",
    cost: costs.medium,
    reads: true,
    access: "unrestricted",
    summary: "Connections to peers.",
    params: noParams,
    result: object({ connections: list(connection), ...nodeStatus }),
  }),
  syncInfo: method({
    name: "sync_info",
    cost: costs.medium,
    reads: true,
    access: "unrestricted",
    summary: "How far the node is and what its peers are sending.",
    params: noParams,
    result: object({
      height: uint,
      next_needed_pruning_seed: uint32,
      overview: text,
      peers: list(object({ info: connection })),
      spans: omitEmpty(list(span)),
      target_height: uint,
      ...accessStatus,
    }),
  }),
  setBans: method({
    name: "set_bans",
    access: "unrestricted",
    summary: "Bans addresses for some seconds, or lifts bans.",
    params: object({
      bans: list(object({ host: zero(text), ip: zero(uint32), ban: zero(flag), seconds: zero(uint32) })),
    }),
    result: object(nodeStatus),
  }),
  getBans: method({
    name: "get_bans",
    cost: costs.medium,
    reads: true,
    access: "unrestricted",
    summary: "Banned addresses; seconds is the Unix time of the end, or upstream what remains.",
    params: noParams,
    result: object({ bans: list(object({ host: text, ip: uint32, seconds: uint })), ...nodeStatus }),
  }),
  banned: method({
    name: "banned",
    reads: true,
    access: "unrestricted",
    summary: "Whether an address is banned and for how many seconds.",
    params: object({ address: zero(text) }),
    result: object({ banned: flag, seconds: uint, status: or(text, "OK") }),
  }),
  getPeerList: path({
    name: "/get_peer_list",
    cost: costs.medium,
    reads: true,
    access: "unrestricted",
    summary: "Peers the node knows: seen online (white) or only heard of (gray).",
    params: object({ public_only: or(flag, true), include_blocked: or(flag, false) }),
    result: object({ gray_list: list(peer), white_list: list(peer), ...nodeStatus }),
  }),
  getPublicNodes: path({
    name: "/get_public_nodes",
    cost: costs.medium,
    reads: true,
    summary: "Peers that offer their RPC to anybody.",
    params: object({ gray: or(flag, false), white: or(flag, true), include_blocked: or(flag, false) }),
    result: object({ gray: omitEmpty(list(publicNode)), white: omitEmpty(list(publicNode)), ...nodeStatus }),
  }),
  getNetStats: path({
    name: "/get_net_stats",
    reads: true,
    access: "unrestricted",
    summary: "Packets and bytes sent and received since the start.",
    params: noParams,
    result: object({
      start_time: uint,
      total_bytes_in: uint,
      total_bytes_out: uint,
      total_packets_in: uint,
      total_packets_out: uint,
      ...nodeStatus,
    }),
  }),
  getLimit: path({
    name: "/get_limit",
    reads: true,
    summary: "Bandwidth limits in kB per second.",
    params: noParams,
    result: object({ limit_down: uint, limit_up: uint, ...nodeStatus }),
  }),
  setLimit: path({
    name: "/set_limit",
    access: "unrestricted",
    summary: "Sets bandwidth limits in kB per second; -1 is the default, 0 leaves a limit as it is.",
    params: object({ limit_down: zero(int), limit_up: zero(int) }),
    result: object({ limit_down: int, limit_up: int, ...nodeStatus }),
  }),
  outPeers: path({
    name: "/out_peers",
    access: "unrestricted",
    summary: "Sets or tells the greatest number of outgoing peers.",
    params: object({ set: or(flag, true), out_peers: zero(uint32) }),
    result: object({ out_peers: uint32, ...nodeStatus }),
  }),
  inPeers: path({
    name: "/in_peers",
    access: "unrestricted",
    summary: "Sets or tells the greatest number of incoming peers.",
    params: object({ set: or(flag, true), in_peers: zero(uint32) }),
    result: object({ in_peers: uint32, ...nodeStatus }),
  }),
  setBootstrapDaemon: path({
    name: "/set_bootstrap_daemon",
    access: "unrestricted",
    summary: "Names another node to answer while this one synchronizes.",
    params: object({ address: zero(text), username: zero(text), password: zero(text), proxy: zero(text) }),
    result: object({ status: or(text, "OK") }),
  }),
};
