import { adjustedTime, difficultyOfNextBlock, weightLimits } from "@anulo/consensus";
import { secondsPerBlock, toHex } from "@anulo/protocol";
import {
  categoriesOfLevel,
  daemon,
  documentedCategories,
  type Implemented,
  implementFor,
  lasting,
} from "@anulo/rpc";
import { isPublic } from "../pool/relay-phase.ts";
import type { NodeContext } from "./context.ts";
import { cumulativeDifficultyFields, difficultyFields } from "./wide-number.ts";

/** Version of the interface, major 3 minor 16: the original's wallets insist on the major. */
const INTERFACE_VERSION = (3 << 16) | 16;
/** The original version this program stands in for; upstream with the build mark of the Debian package. */
const VERSION = { contract: "0.18.5.3-anulo", upstream: "0.18.5.3-unknown" } as const;
/** A restricted port tells the size of the database in steps of 5 GiB. */
const SIZE_STEP = 5 * 1024 ** 3;
const UNKNOWN_SPACE = 2n ** 64n - 1n;

/** What the chain itself tells. */
function chainInfo({ parts }: NodeContext) {
  const { network, store, pool } = parts;
  const view = parts.state.view();
  const limits = weightLimits(view);
  const top = store.read.blockInfo(view.height - 1)!;
  return {
    adjusted_time: adjustedTime(view, parts.now()),
    block_size_limit: limits.blockLimit,
    block_size_median: limits.effectiveMedian,
    block_weight_limit: limits.blockLimit,
    block_weight_median: limits.effectiveMedian,
    ...cumulativeDifficultyFields(view.cumulativeDifficulty),
    ...difficultyFields(difficultyOfNextBlock(view)),
    height: view.height,
    mainnet: network.name === "mainnet",
    nettype: network.rpcName,
    stagenet: network.name === "stagenet",
    target: secondsPerBlock(view.hardForkVersion),
    testnet: network.name === "testnet",
    top_block_hash: toHex(view.topId),
    tx_count: top.firstTransactionId + top.transactionCount - view.height,
    tx_pool_size: pool.size,
  };
}

/** What only the full port tells. */
function privateInfo({ parts, startTime, restricted, dialect }: NodeContext) {
  const { store, pool } = parts;
  const size = store.fileSize();
  if (restricted) {
    return {
      alt_blocks_count: 0,
      database_size: Math.ceil(size / SIZE_STEP) * SIZE_STEP,
      free_space: UNKNOWN_SPACE,
      height_without_bootstrap: 0,
      start_time: 0,
      tx_pool_size: pool.entries().filter(({ row }) => isPublic(row)).length,
      version: "",
    };
  }
  return {
    alt_blocks_count: parts.sideBlocks.count,
    database_size: size,
    free_space: store.freeSpace(),
    height_without_bootstrap: store.read.height(),
    start_time: startTime,
    version: VERSION[dialect],
  };
}

/** Connections and known peers of the public network; a restricted port tells of none. */
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

export type StateInfo = ReturnType<typeof chainInfo> & ReturnType<typeof privateInfo>;

/** What stays while chain, pool and second do. */
function stateInfo(context: NodeContext): StateInfo {
  const { parts, memory, restricted } = context;
  const facts = [parts.state.view(), parts.pool.cookie, parts.now(), context.changes()];
  return memory.info.get(restricted)!(facts, () => ({ ...chainInfo(context), ...privateInfo(context) }));
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
