import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { call, type Exact, post } from "@anulo/devnet";
import { type RunningDaemon, startDaemon } from "../programs/servers.ts";
import { buildDatabase } from "../scale/build.ts";
import { startSync } from "../sync/measure.ts";
import { prepareChain } from "../sync/prepare.ts";
import type { LoopWatch } from "./loop-report.ts";

const REORGANISED = 100;
const POPPED = 1000;
const OUTPUTS_PER_BLOCK = 40;
const BLOCKS = 3000;
const MINER =
  "42ey1afDFnn4886T7196doS9GPMzexD9gXpsZJDwVjeRVdFCSoHnv7KPbBeGpzJBzHRCAs9UxqeoyFQMYbqSWYTfJJQAWDm";

/** A node at work while others ask it. */
export interface BusyNode {
  readonly pid: number;
  /** Port of its owner. */
  readonly port: number;
  /** What keeps it busy; resolves when it is done. */
  work(): Promise<unknown>;
  stop(): Promise<unknown>;
}

export interface SceneOptions {
  /** Where databases are made; each is removed at the end. */
  readonly folder: string;
  readonly watch: LoopWatch;
}

function busyNode({ url, pid, stop }: RunningDaemon, work: () => Promise<unknown>): BusyNode {
  return { pid, port: Number(new URL(url).port), work, stop };
}

/** A node on a made-up chain of full blocks, the newest of which can be taken off. */
async function startOnFullBlocks({ folder, watch }: SceneOptions): Promise<RunningDaemon> {
  const dataDir = mkdtempSync(join(folder, "full-"));
  mkdirSync(join(dataDir, "regtest"));
  await buildDatabase({
    path: join(dataDir, "regtest", "chain.mdb"),
    blocks: BLOCKS,
    outputsPerBlock: OUTPUTS_PER_BLOCK,
    wholeFrom: BLOCKS - POPPED - 2 * REORGANISED,
    startTime: Math.floor(Date.now() / 1000) - 120 * (BLOCKS + 100),
    onProgress() {},
  });
  const node = await startDaemon({ kind: "ours" }, { dataDir, extra: ["--disable-rpc-ban"], ...watch });
  const stop = async () => {
    await node.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { ...node, stop };
}

function generate({ url }: RunningDaemon, count: number, prevBlock?: string) {
  const more = prevBlock === undefined ? {} : { prev_block: prevBlock };
  return call(url, "generateblocks", {
    amount_of_blocks: count,
    wallet_address: MINER,
    starting_nonce: 0,
    ...more,
  });
}

/** Starts a node, and prepares what it will do. */
export type Scene = (options: SceneOptions) => Promise<BusyNode>;

async function startReorganisation(options: SceneOptions): Promise<BusyNode> {
  const node = await startOnFullBlocks(options);
  // The first block pays for RandomX.
  await generate(node, 1);
  const height = Number((await call(node.url, "get_info")).height);
  const below = await call(node.url, "get_block_header_by_height", { height: height - 1 - REORGANISED });
  const fork = String((below.block_header as { hash?: unknown }).hash);
  const { blocks } = await generate(node, REORGANISED, fork);
  const last = String((blocks as readonly Exact[]).at(-1));
  return busyNode(node, () => generate(node, 1, last));
}

async function startPops(options: SceneOptions): Promise<BusyNode> {
  const node = await startOnFullBlocks(options);
  return busyNode(node, () => post(`${node.url}/pop_blocks`, { nblocks: POPPED }));
}

async function startToSync({ folder, watch }: SceneOptions): Promise<BusyNode> {
  const source = mkdtempSync(join(folder, "source-"));
  const target = mkdtempSync(join(folder, "target-"));
  const chain = await prepareChain(source, { blocks: 5120, payments: 10 });
  const order = { source, target, height: chain.height, knownBlocks: chain.knownBlocks, ...watch };
  const running = await startSync(order);
  return {
    pid: running.pid,
    port: Number(new URL(running.url).port),
    work: () => running.end(),
    async stop() {
      await running.stop();
      for (const path of [source, target]) rmSync(path, { recursive: true, force: true });
    },
  };
}

async function startIdle(options: SceneOptions): Promise<BusyNode> {
  return busyNode(await startOnFullBlocks(options), async () => {});
}

export const sceneByName: Readonly<Record<string, Scene>> = {
  idle: startIdle,
  syncing: startToSync,
  [`reorganising ${REORGANISED} blocks`]: startReorganisation,
  [`popping ${POPPED} blocks`]: startPops,
};
