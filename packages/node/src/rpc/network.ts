import { formatPeerAddress, type KnownPeer, networkDefaults, type PeerNetwork } from "@anulo/p2p";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor, ipv4Text } from "@anulo/rpc";
import { overviewOf, speedOf } from "../peers/block-queue.ts";
import { BadBootstrap } from "./bootstrap-choice.ts";
import type { NodeContext } from "./context.ts";
import { describeConnection, describeKnownPeer } from "./describe-peer.ts";
import { refusal } from "./refusal.ts";

interface BanRequest {
  readonly host: string;
  readonly ip: number;
  readonly ban: boolean;
  readonly seconds: number;
}

/** Source: core_rpc_server.cpp `on_set_bans`. */
function setBans({ bans: requests }: { bans: readonly BanRequest[] }, { bans }: NodeContext) {
  for (const { host, ip, ban, seconds } of requests) {
    if (host === "" && ip === 0) throw refusal("wrongParam", "No ip/host supplied");
    const isSet = bans.set(host === "" ? ipv4Text(ip) : host, ban ? seconds : "lift");
    if (!isSet) throw refusal("wrongParam", "Unsupported host/subnet type");
  }
  return {};
}

/** Difference S6: `seconds` is when the ban ends, upstream how long it lasts. */
function getBans({ bans, parts, dialect }: NodeContext) {
  const entries = bans.list().map(({ host, ip, until }) => {
    return { host, ip, seconds: dialect === "contract" ? until : until - parts.now() };
  });
  return { bans: entries };
}

function setLimit(request: { limit_down: number; limit_up: number }, { network }: NodeContext) {
  const { limit_down: down, limit_up: up } = request;
  if (down < -1 || up < -1) return { status: "Invalid parameter", limit_down: 0, limit_up: 0 };
  network.setLimits({
    ...(down !== 0 && { down: down === -1 ? networkDefaults.limitDown : down }),
    ...(up !== 0 && { up: up === -1 ? networkDefaults.limitUp : up }),
  });
  return limits(network);
}

function limits({ limits: { down, up } }: PeerNetwork) {
  return { limit_down: down, limit_up: up };
}

/** Source: core_rpc_server.cpp `on_sync_info`. */
function syncInfo(context: NodeContext) {
  const { parts, peers, network } = context;
  const { queue, isSynchronized, target } = peers.sync;
  const height = parts.store.read.height();
  return {
    height,
    next_needed_pruning_seed: context.neededStripe(),
    overview: overviewOf(queue, height),
    peers: network.peers().map((peer) => ({ info: describeConnection(peer, context) })),
    spans: queue.spans.map(({ start, blocks, link, rate, bytes }) => ({
      connection_id: toHex(link.peer.connectionId),
      nblocks: blocks.length,
      rate: Math.round(rate),
      remote_address: formatPeerAddress(link.peer.address),
      size: bytes,
      speed: speedOf(queue, link),
      start_block_height: start,
    })),
    target_height: isSynchronized ? 0 : target,
  };
}

/** The lists of one network, or of all; without banned nodes unless they are requested. */
function knownPeers({ network }: NodeContext, options: { publicOnly: boolean; includeBlocked: boolean }) {
  const zones = options.publicOnly ? (["public"] as const) : (["public", "i2p", "tor"] as const);
  const isShown = ({ address }: KnownPeer) =>
    options.includeBlocked || (network.bans.secondsLeft(address.host) ?? 0) === 0;
  const entriesOf = (list: "white" | "gray") =>
    zones.flatMap((zone) => network.lists(zone)[list].filter(isShown).map(describeKnownPeer));
  return { white: entriesOf("white"), gray: entriesOf("gray") };
}

function publicNodes(
  request: { gray: boolean; white: boolean; include_blocked: boolean },
  context: NodeContext,
) {
  const peers = knownPeers(context, { publicOnly: true, includeBlocked: request.include_blocked });
  const open = (list: "white" | "gray") =>
    (request[list] ? peers[list] : []).filter(({ rpc_port }) => rpc_port !== 0);
  return { white: open("white"), gray: open("gray") };
}

function setBootstrapDaemon(
  request: { address: string; username: string; password: string; proxy: string },
  { bootstrap }: NodeContext,
) {
  const { address, username: user, password, proxy } = request;
  const hasLogin = user !== "" || password !== "";
  try {
    bootstrap.choose({ address, proxy, login: hasLogin ? { user, password } : undefined });
    return {};
  } catch (error) {
    if (error instanceof BadBootstrap) return { status: "Failed to set bootstrap daemon" };
    throw error;
  }
}

/** Handlers of the calls about peers. */
export function networkHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.network, {
    getConnections: (_, context) => ({
      connections: context.network.peers().map((peer) => describeConnection(peer, context)),
    }),
    syncInfo: (_, context) => syncInfo(context),
    setBans,
    getBans: (_, context) => getBans(context),
    banned({ address }, { bans }) {
      const seconds = bans.secondsLeft(address);
      if (seconds === undefined) throw refusal("wrongParam", "Unsupported host type");
      return { banned: seconds > 0, seconds };
    },
    getPeerList({ public_only, include_blocked }, context) {
      const peers = knownPeers(context, { publicOnly: public_only, includeBlocked: include_blocked });
      return { gray_list: peers.gray, white_list: peers.white };
    },
    getPublicNodes: publicNodes,
    getNetStats(_, { startTime, network }) {
      const { bytesIn, bytesOut, packetsIn, packetsOut } = network.stats;
      return {
        start_time: startTime,
        total_bytes_in: bytesIn,
        total_bytes_out: bytesOut,
        total_packets_in: packetsIn,
        total_packets_out: packetsOut,
      };
    },
    getLimit: (_, { network }) => limits(network),
    setLimit,
    outPeers({ set, out_peers }, { network }) {
      if (set) network.setMaxOut(out_peers);
      return { out_peers: network.maxOut };
    },
    inPeers({ set, in_peers }, { network }) {
      if (set) network.setMaxIn(in_peers);
      return { in_peers: network.maxIn };
    },
    setBootstrapDaemon,
  });
}
