import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "@anulo/devnet";
import { loadChain, type RecordedChain } from "../fixtures.ts";
import { loadBlocks } from "../load-chain.ts";
import { type DaemonOptions, type Maker, type RunningDaemon, startDaemon } from "../programs/servers.ts";
import { until } from "../until.ts";

/** The heap a besieged node has to do with, in MiB. */
const HEAP_MIB = 1024;
const CONNECT_WITHIN_MS = 60_000;

/** A folder with the recorded chain, from which each siege takes copies. */
export interface Template {
  /** What runs the nodes, ours or another build of ours. */
  readonly maker: Maker;
  readonly folder: string;
  readonly chain: RecordedChain;
  copy(): string;
  remove(): void;
}

export async function createTemplate(entry?: string): Promise<Template> {
  const maker: Maker = { kind: "ours", ...(entry !== undefined && { entry }) };
  const folder = mkdtempSync(join(tmpdir(), "anulo-siege-"));
  const chain = loadChain();
  const dataDir = join(folder, "template");
  const loading = await startDaemon(maker, { dataDir, extra: ["--disable-rpc-ban"] });
  try {
    await loadBlocks(loading.url, chain.blocks);
  } finally {
    await loading.stop();
  }
  let copies = 0;
  return {
    maker,
    folder,
    chain,
    copy() {
      const path = join(folder, `copy-${copies++}`);
      cpSync(dataDir, path, { recursive: true });
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The besieged node and the honest peer beside it. */
export interface Scene {
  readonly target: RunningDaemon;
  readonly honest: RunningDaemon;
  stop(): Promise<void>;
}

async function startTarget(template: Template, options: DaemonOptions): Promise<RunningDaemon> {
  const { extra = [], nodeFlags = [], ...rest } = options;
  return await startDaemon(template.maker, {
    dataDir: template.copy(),
    restricted: true,
    peers: [],
    ...rest,
    nodeFlags: [`--max-old-space-size=${HEAP_MIB}`, ...nodeFlags],
    extra,
  });
}

/** Starts both on copies of the chain, connects them, and lets a block go from one to the other. */
export async function startScene(template: Template, options: DaemonOptions): Promise<Scene> {
  const target = await startTarget(template, options);
  const folders = [target.dataDir];
  let honest: RunningDaemon | undefined;
  const stop = async () => {
    await honest?.stop();
    await target.stop();
    for (const path of folders) rmSync(path, { recursive: true, force: true });
  };
  try {
    const dataDir = template.copy();
    folders.push(dataDir);
    honest = await startDaemon(template.maker, { dataDir, peers: [`127.0.0.1:${target.p2pPort}`] });
    const peer = new HonestPeer(target, honest, template.chain.wallets.alice.address);
    if (!(await until(async () => (await peer.connectionId()) !== undefined, CONNECT_WITHIN_MS))) {
      throw new Error("the honest peer did not reach the node");
    }
    // The first block pays for RandomX.
    for (let i = 0; i < 2; i++) await peer.mine(CONNECT_WITHIN_MS);
    return { target, honest, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the peer beside the attackers does: it mines, and expects its blocks to arrive. */
export class HonestPeer {
  readonly #target: RunningDaemon;
  readonly #honest: RunningDaemon;
  readonly #address: string;

  constructor(target: RunningDaemon, honest: RunningDaemon, address: string) {
    this.#target = target;
    this.#honest = honest;
    this.#address = address;
  }

  /** The connection to the node as the peer knows it; undefined while there is none. */
  async connectionId(): Promise<string | undefined> {
    const { connections } = await call(this.#honest.url, "get_connections");
    const connection = (connections as { connection_id: string; state: string }[] | undefined)?.[0];
    return connection?.state === "normal" ? connection.connection_id : undefined;
  }

  /**
   * Mines a block and waits until the node has it, or the peer itself has left it for the node's longer branch:
   * milliseconds, or undefined where neither happens in time.
   */
  async mine(withinMs: number): Promise<number | undefined> {
    const mined = await call(this.#honest.url, "generateblocks", {
      amount_of_blocks: 1,
      wallet_address: this.#address,
    });
    const hash = String((mined.blocks as string[])[0]);
    const begin = performance.now();
    const header = async ({ url }: RunningDaemon) => {
      const answer = await call(url, "get_block_header_by_hash", { hash }).catch(() => undefined);
      return answer?.block_header as { orphan_status: boolean } | undefined;
    };
    const isDecided = async () =>
      (await header(this.#target)) !== undefined || (await header(this.#honest))?.orphan_status === true;
    return (await until(isDecided, withinMs)) ? performance.now() - begin : undefined;
  }
}
