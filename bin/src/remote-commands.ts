import { formatAmount } from "@anulo/protocol";
import type { Client, daemonMethods } from "@anulo/rpc";
import { BadUsage } from "./flags.ts";

export type NodeClient = Client<typeof daemonMethods>;

/** A command that queries or changes a running node. */
export interface RemoteCommand {
  /** The arguments after the name, for the help. */
  readonly words: string;
  readonly help: string;
  /** Minimum and maximum number of arguments. */
  readonly count: readonly [least: number, most: number];
  /** Returns the text to print. Throws BadUsage for invalid arguments. */
  run(node: NodeClient, words: readonly string[]): Promise<string>;
}

/** Parses a whole number. Throws BadUsage. */
function numberOf(word: string | undefined, what: string): number {
  if (word === undefined || !/^\d{1,10}$/.test(word)) throw new BadUsage(`${what} must be a whole number`);
  return Number(word);
}

const isHash = (word: string) => /^[0-9a-f]{64}$/i.test(word);

/** Throws the status of the node's response if it is not OK. */
function settled<T extends { readonly status: string }>(answer: T): T {
  if (answer.status !== "OK") throw new BadUsage(`the node answered: ${answer.status}`);
  return answer;
}

const table = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => row.join("  ")).join("\n");

/** Seconds since a time (Unix seconds). */
const secondsSince = (moment: number) => Math.max(0, Math.floor(Date.now() / 1000) - moment);

const questions: Record<string, RemoteCommand> = {
  status: {
    words: "",
    help: "height, network, peers, difficulty, pool",
    count: [0, 0],
    async run(node) {
      const info = settled(await node.getInfo({}));
      const target = Math.max(Number(info.target_height), Number(info.height));
      return [
        `height ${info.height} of ${target} on ${info.nettype}, ${info.synchronized ? "synchronized" : "not synchronized"}`,
        `top block ${info.top_block_hash}`,
        `difficulty ${info.difficulty}, ${info.tx_pool_size} transactions in the pool`,
        `peers: ${info.outgoing_connections_count} out, ${info.incoming_connections_count} in; ${info.alt_blocks_count} alternative blocks`,
        `version ${info.version}, up ${secondsSince(Number(info.start_time))} s`,
      ].join("\n");
    },
  },
  peers: {
    words: "",
    help: "the connected peers",
    count: [0, 0],
    async run(node) {
      const { connections } = settled(await node.getConnections({}));
      const rows = connections.map((peer) => [
        peer.incoming ? "in " : "out",
        peer.address,
        `height ${peer.height}`,
        peer.state,
        `${peer.live_time} s`,
      ]);
      return rows.length === 0 ? "no peers" : table(rows);
    },
  },
  sync: {
    words: "",
    help: "how far the chain is, and what is being fetched",
    count: [0, 0],
    async run(node) {
      const { height, target_height: target, peers, spans = [] } = settled(await node.syncInfo({}));
      const most = Math.max(Number(height), Number(target));
      return `height ${height} of ${most} (${Math.floor((100 * Number(height)) / most)} %), ${peers.length} peers, ${spans.length} runs of blocks under way`;
    },
  },
  pool: {
    words: "",
    help: "what waits for a block",
    count: [0, 0],
    async run(node) {
      const { pool_stats: pool } = settled(await node.getTransactionPoolStats({}));
      const { txs_total: count, bytes_total: bytes, fee_total: fee, num_failing: failing } = pool;
      return `${count} transactions, ${bytes} bytes, fees ${formatAmount(BigInt(fee))}, ${failing} failing`;
    },
  },
  fee: {
    words: "",
    help: "fees by priority, for each byte",
    count: [0, 0],
    async run(node) {
      const { fee, fees } = settled(await node.getFeeEstimate({}));
      const levels = fees.length === 0 ? [fee] : fees;
      return levels
        .map((level, i) => `priority ${i + 1}: ${formatAmount(BigInt(level))} for each byte`)
        .join("\n");
    },
  },
  block: {
    words: "HEIGHT|ID",
    help: "a block of the chain",
    count: [1, 1],
    async run(node, [word = ""]) {
      const params = isHash(word) ? { hash: word } : { height: BigInt(numberOf(word, "HEIGHT")) };
      const { block_header: header, tx_hashes: ids } = settled(await node.getBlock(params as never));
      return [
        `height ${header.height}, ${new Date(1000 * Number(header.timestamp)).toISOString()}`,
        `id ${header.hash}`,
        `previous ${header.prev_hash}`,
        `version ${header.major_version}, difficulty ${header.difficulty}, reward ${formatAmount(BigInt(header.reward))}`,
        `${ids.length} transactions${ids.map((id) => `\n  ${id}`).join("")}`,
      ].join("\n");
    },
  },
  tx: {
    words: "ID",
    help: "a transaction of the chain or the pool",
    count: [1, 1],
    async run(node, [word = ""]) {
      if (!isHash(word)) throw new BadUsage("ID must be 64 hexadecimal digits");
      const { txs } = settled(await node.getTransactions({ txs_hashes: [word], decode_as_json: false }));
      const [entry] = txs;
      if (entry === undefined) return "neither in the chain nor in the pool";
      if (entry.in_pool) return "in the pool";
      return `in block ${entry.block_height}, ${entry.confirmations} confirmations`;
    },
  },
  bans: {
    words: "",
    help: "addresses and subnets that are shut out",
    count: [0, 0],
    async run(node) {
      const { bans } = settled(await node.getBans({}));
      return bans.length === 0 ? "no bans" : table(bans.map(({ host }) => [host]));
    },
  },
  mining: {
    words: "",
    help: "whether and how fast the node mines",
    count: [0, 0],
    async run(node) {
      const mining = settled(await node.miningStatus({}));
      if (!mining.active) return "not mining";
      return `mining with ${mining.threads_count} threads, ${mining.speed} H/s, to ${mining.address}`;
    },
  },
};

const setBan = async (node: NodeClient, host: string, seconds: number): Promise<void> => {
  settled(await node.setBans({ bans: [{ host, ban: seconds > 0, seconds }] }));
};

/** Default duration of a ban in seconds, as in monerod. Source: cryptonote_config.h `P2P_IP_BLOCKTIME`. */
const BAN_SECONDS = 86_400;

const orders: Record<string, RemoteCommand> = {
  ban: {
    words: "ADDRESS [SECONDS]",
    help: "shut out an address or a subnet (for a day)",
    count: [1, 2],
    async run(node, [host = "", seconds]) {
      const duration = seconds === undefined ? BAN_SECONDS : numberOf(seconds, "SECONDS");
      await setBan(node, host, duration);
      return `${host} is banned for ${duration} s`;
    },
  },
  unban: {
    words: "ADDRESS",
    help: "end such a ban",
    count: [1, 1],
    async run(node, [host = ""]) {
      await setBan(node, host, 0);
      return `${host} is not banned`;
    },
  },
  log: {
    words: "0..4|CATEGORIES",
    help: "set what is logged",
    count: [1, 1],
    async run(node, [argument = ""]) {
      if (/^[0-4]$/.test(argument)) {
        settled(await node.setLogLevel({ level: Number(argument) }));
        return `log level ${argument}`;
      }
      return settled(await node.setLogCategories({ categories: argument })).categories;
    },
  },
  pop: {
    words: "COUNT",
    help: "take the newest blocks off the chain",
    count: [1, 1],
    async run(node, [count]) {
      const { height } = settled(await node.popBlocks({ nblocks: numberOf(count, "COUNT") }));
      return `height ${height}`;
    },
  },
  prune: {
    words: "",
    help: "drop the proofs of old transactions, but of one stripe of the chain",
    count: [0, 0],
    async run(node) {
      const { pruned } = settled(await node.pruneBlockchain({ check: false }));
      return pruned ? "pruned" : "not pruned";
    },
  },
  stop: {
    words: "",
    help: "stop the node",
    count: [0, 0],
    async run(node) {
      settled(await node.stopDaemon({}));
      return "stopping";
    },
  },
};

/** Commands by the words that follow `anulo node`. */
export const remoteCommands: Readonly<Record<string, RemoteCommand>> = { ...questions, ...orders };
