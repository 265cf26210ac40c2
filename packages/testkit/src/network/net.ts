import { rmSync } from "node:fs";
import { call, freePorts, post } from "@anulo/devnet";
import type { RecordedChain } from "../fixtures.ts";
import { type Maker, type RunningDaemon, startDaemon } from "../programs/servers.ts";
import type { ChainFolders } from "./chain-folders.ts";
import { Link } from "./link.ts";
import type { Plan, Program } from "./plan.ts";

const LANES = 4;

export interface NetOptions {
  readonly plan: Plan;
  readonly folders: ChainFolders;
  readonly log: (text: string) => void;
}

const hostOf = (node: number) => `127.1.${1 + Math.floor(node / 200)}.${1 + (node % 200)}`;
const hostOfLink = (link: number) => `127.2.${1 + Math.floor(link / 200)}.${1 + (link % 200)}`;

function makerOf(program: Program): Maker {
  return program === "ours" ? { kind: "ours" } : { kind: "real", release: program };
}

/** Originals take few threads, so that twenty of them fit on a small machine. */
const frugal = ["--max-concurrency", "1", "--out-peers", "8"];

/** Nodes, each on an address of its own, and the lines between them. */
export class Net {
  readonly nodes: readonly RunningDaemon[];
  readonly links: readonly Link[];
  readonly plan: Plan;
  readonly chain: RecordedChain;
  readonly log: (text: string) => void;

  private constructor(parts: Pick<Net, "nodes" | "links" | "plan" | "chain" | "log">) {
    this.log = parts.log;
    this.nodes = parts.nodes;
    this.links = parts.links;
    this.plan = parts.plan;
    this.chain = parts.chain;
  }

  static async start({ plan, folders, log }: NetOptions): Promise<Net> {
    const ports = await freePorts(plan.programs.length);
    const links = plan.links.map(
      ([from, to], i) =>
        new Link({ host: hostOfLink(i), from: hostOf(from), to: { host: hostOf(to), port: ports[to]! } }),
    );
    const addresses = await Promise.all(links.map((link) => link.listen()));
    const nodes: RunningDaemon[] = [];
    const startOne = async (node: number) => {
      const maker = makerOf(plan.programs[node]!);
      nodes[node] = await startDaemon(maker, {
        dataDir: folders.copy(maker.kind),
        p2pHost: hostOf(node),
        p2pPort: ports[node]!,
        peers: addresses.filter((_, i) => plan.links[i]![0] === node),
        extra: maker.kind === "real" ? [...frugal, "--prep-blocks-threads", "1"] : frugal,
      });
    };
    const net = new Net({ nodes, links, plan, chain: folders.chain, log });
    try {
      const waiting = plan.programs.map((_, i) => i);
      const lane = async () => {
        for (let node = waiting.shift(); node !== undefined; node = waiting.shift()) await startOne(node);
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    } catch (error) {
      await net.stop();
      throw error;
    }
    return net;
  }

  async stop(): Promise<void> {
    for (const link of this.links) link.stop();
    await Promise.all(
      this.nodes.map(async (node) => {
        await node?.stop();
        if (node !== undefined) rmSync(node.dataDir, { recursive: true, force: true });
      }),
    );
  }

  url(node: number): string {
    return this.nodes[node]!.url;
  }

  async top(node: number): Promise<{ height: number; hash: string; isSynchronized: boolean }> {
    const { height, top_block_hash, synchronized } = await call(this.url(node), "get_info");
    return { height: Number(height), hash: String(top_block_hash), isSynchronized: synchronized === true };
  }

  async tops(): Promise<{ height: number; hash: string; isSynchronized: boolean }[]> {
    return await Promise.all(this.nodes.map((_, i) => this.top(i)));
  }

  async mine(node: number, blocks: number): Promise<string[]> {
    const order = { amount_of_blocks: blocks, wallet_address: this.chain.wallets.alice.address };
    return ((await call(this.url(node), "generateblocks", order)).blocks as unknown[]).map(String);
  }

  /** Sends a payment to one node; false where it refuses it. */
  async pay(node: number, payment: number): Promise<boolean> {
    const { hex } = this.chain.poolTransactions[payment]!;
    const order = { tx_as_hex: hex, do_sanity_checks: false };
    return (await post(`${this.url(node)}/send_raw_transaction`, order)).status === "OK";
  }

  /** Where a payment is, as a node sees it. */
  async whereIs(node: number, payment: number): Promise<"block" | "pool" | "nowhere"> {
    const { hash } = this.chain.poolTransactions[payment]!;
    const { txs } = await post(`${this.url(node)}/get_transactions`, { txs_hashes: [hash] });
    const [entry] = (txs ?? []) as { in_pool: boolean }[];
    if (entry === undefined) return "nowhere";
    return entry.in_pool ? "pool" : "block";
  }

  /** Whom a node is connected to, a line each. */
  async connections(node: number): Promise<string[]> {
    const { connections = [] } = await call(this.url(node), "get_connections");
    return (
      connections as {
        address: string;
        incoming: boolean;
        state: string;
        height: number;
        live_time: number;
      }[]
    ).map(
      ({ address, incoming, state, height, live_time }) =>
        `${incoming ? "from" : "to"} ${address}: ${state}, height ${height}, for ${live_time} s`,
    );
  }

  async bans(): Promise<{ node: number; host: string }[]> {
    const all = await Promise.all(
      this.nodes.map(async (_, node) => {
        const { bans = [] } = await call(this.url(node), "get_bans");
        return (bans as { host: string }[]).map(({ host }) => ({ node, host }));
      }),
    );
    return all.flat();
  }
}
