import { daemon, type Implemented, implementFor, ipv4Text } from "@anulo/rpc";
import { type NodeContext, refusal } from "./context.ts";
import { defaultLimits } from "./settings.ts";

interface BanRequest {
  readonly host: string;
  readonly ip: number;
  readonly ban: boolean;
  readonly seconds: number;
}

/** Source: node_server `block_host`, whose default is a day. */
function setBans({ bans: wanted }: { bans: readonly BanRequest[] }, { bans }: NodeContext) {
  for (const { host, ip, ban, seconds } of wanted) {
    if (host === "" && ip === 0) throw refusal("wrongParam", "A ban needs a host or an ip");
    const known = bans.set(host === "" ? ipv4Text(ip) : host, ban ? seconds : "lift");
    if (!known) throw refusal("wrongParam", "Unsupported host/subnet type");
  }
  return {};
}

/** Difference S6: `seconds` is when the ban ends, upstream how long it lasts. */
function getBans({ bans, parts, dialect }: NodeContext) {
  const shown = bans.list().map(({ host, ip, until }) => {
    return { host, ip, seconds: dialect === "contract" ? until : until - parts.now() };
  });
  return { bans: shown };
}

function setLimit(request: { limit_down: number; limit_up: number }, { settings }: NodeContext) {
  const { limit_down: down, limit_up: up } = request;
  if (down < -1 || up < -1) return { status: "Invalid parameter", limit_down: 0, limit_up: 0 };
  if (down !== 0) settings.limitDown = down === -1 ? defaultLimits.down : down;
  if (up !== 0) settings.limitUp = up === -1 ? defaultLimits.up : up;
  return { limit_down: settings.limitDown, limit_up: settings.limitUp };
}

/** Handlers of the calls about peers. This node has none yet: it answers as one that runs offline. */
export function networkHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.network, {
    getConnections: () => ({ connections: [] }),
    syncInfo: (_, { parts }) => ({
      height: parts.store.read.height(),
      next_needed_pruning_seed: 1,
      overview: "[]",
      peers: [],
      spans: [],
      target_height: 0,
    }),
    setBans,
    getBans: (_, context) => getBans(context),
    banned({ address }, { bans }) {
      const seconds = bans.secondsLeft(address);
      if (seconds === undefined) throw refusal("wrongParam", "Unsupported host type");
      return { banned: seconds > 0, seconds };
    },
    getPeerList: () => ({ gray_list: [], white_list: [] }),
    getPublicNodes: () => ({ gray: [], white: [] }),
    getNetStats: (_, { startTime }) => ({
      start_time: startTime,
      total_bytes_in: 0,
      total_bytes_out: 0,
      total_packets_in: 0,
      total_packets_out: 0,
    }),
    getLimit: (_, { settings }) => ({ limit_down: settings.limitDown, limit_up: settings.limitUp }),
    setLimit,
    outPeers({ set, out_peers }, { settings }) {
      if (set) settings.outPeers = out_peers;
      return { out_peers: settings.outPeers };
    },
    inPeers({ set, in_peers }, { settings }) {
      if (set) settings.inPeers = in_peers;
      return { in_peers: settings.inPeers };
    },
    setBootstrapDaemon({ address }, { settings }) {
      settings.bootstrapDaemon = address;
      return {};
    },
  });
}
