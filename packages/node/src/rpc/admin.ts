import {
  categoriesOfLevel,
  daemon,
  documentedCategories,
  type Implemented,
  implementFor,
  lasting,
} from "@anulo/rpc";
import type { NodeContext } from "./context.ts";
import { describeState, type StateInfo } from "./state-info.ts";

/** Version of the interface, major 3 minor 16: the original's wallets insist on the major. */
const INTERFACE_VERSION = (3 << 16) | 16;
/** Connections and known peers of the public network; a restricted port reports none. */
function peerCounts({ network, restricted }: NodeContext) {
  const peers = restricted ? [] : network.peers().filter(({ zone }) => zone === "public");
  const incoming = peers.filter(({ direction }) => direction === "in").length;
  const { white, gray } = restricted ? { white: 0, gray: 0 } : network.counts("public");
  return {
    grey_peerlist_size: gray,
    incoming_connections_count: incoming,
    outgoing_connections_count: peers.length - incoming,
    white_peerlist_size: white,
  };
}

/** What stays while chain, pool and second do. */
function stateInfo(context: NodeContext): StateInfo {
  const { parts, memory, restricted } = context;
  const facts = [parts.state.view(), parts.pool.cookie, parts.now(), context.changes()];
  return memory.info.get(restricted)!(facts, () => describeState(context));
}

function info(context: NodeContext) {
  const { restricted, bootstrap, peers, offline } = context;
  return lasting(stateInfo(context), {
    ...peerCounts(context),
    bootstrap_daemon_address: restricted ? "" : bootstrap.address,
    busy_syncing: peers.sync.isBusy,
    offline,
    restricted,
    rpc_connections_count: restricted ? 0 : context.connectionCount(),
    synchronized: peers.sync.isSynchronized,
    target_height: peers.sync.isSynchronized ? 0 : peers.sync.target,
    update_available: false,
    was_bootstrap_ever_used: !restricted && bootstrap.wasEverUsed,
  });
}

/** Handlers of the calls about the node itself. */
export function adminHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.admin, {
    getInfo: (_, context) => info(context),
    getInfoPath: (_, context) => info(context),
    getVersion: (_, { parts, peers: { sync } }) => ({
      current_height: parts.state.view().height,
      hard_forks: parts.network.hardForks.map(({ height, version }) => ({ height, hf_version: version })),
      release: false,
      target_height: sync.isSynchronized ? 0 : sync.target,
      version: INTERFACE_VERSION,
    }),
    async saveBc(_, { parts }) {
      await parts.store.flush();
      return {};
    },
    setLogLevel({ level }, { log }) {
      if (categoriesOfLevel(level) === undefined) return { status: "Error: log level not valid" };
      log.change(String(level));
      return {};
    },
    setLogCategories({ categories = documentedCategories }, { log }) {
      log.change(categories);
      return { categories: log.categories };
    },
    stopDaemon(_, context) {
      context.requestStop();
      return {};
    },
    update: ({ command }, { offline }) => {
      if (offline) return { status: "Daemon is running offline" };
      const isKnown = ["check", "download", "update"].includes(command);
      return { status: isKnown ? "Error checking for updates" : `unknown command: '${command}'` };
    },
    startSaveGraph: () => ({}),
    stopSaveGraph: () => ({}),
  });
}
