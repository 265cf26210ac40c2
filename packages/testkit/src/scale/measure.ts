import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Exact } from "@anulo/devnet";
import { call, post } from "@anulo/devnet";
import { type RunningDaemon, startDaemon } from "../programs/servers.ts";
import { createQuestions } from "./questions.ts";

/** What one size costs, by the names of `docs/scale.md`, each with its unit. */
export interface Measurement {
  readonly name: string;
  readonly unit: "ms" | "MiB" | "ms CPU" | "MB a day" | "s";
  readonly value: number;
}

export interface MeasureOptions {
  readonly dataDir: string;
  readonly outputs: number;
}

const REORGANISED = 100;
const ADDED = 20;
const IDLE_MS = 5000;
const BLOCKS_A_DAY = 720;
const ours = { kind: "ours" } as const;
/** Who is paid for blocks. */
const MINER =
  "42ey1afDFnn4886T7196doS9GPMzexD9gXpsZJDwVjeRVdFCSoHnv7KPbBeGpzJBzHRCAs9UxqeoyFQMYbqSWYTfJJQAWDm";

function statusMiB({ pid }: RunningDaemon, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
}

/** Milliseconds of processor time of all threads, in steps of ten. */
function cpuMs({ pid }: RunningDaemon): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

function writtenBytes({ pid }: RunningDaemon): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

async function wallMs(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** The least of some figures: what other programs take of the machine's time only adds to it. */
async function leastOf(runs: number, run: (at: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < runs; at++) least = Math.min(least, await run(at));
  return least;
}

function leastMs(runs: number, run: (at: number) => Promise<unknown>): Promise<number> {
  return leastOf(runs, (at) => wallMs(() => run(at)));
}

/** Mines blocks onto the tip, or beside it. */
function generate({ url }: RunningDaemon, count: number, more: { readonly prev_block?: string } = {}) {
  const request = { amount_of_blocks: count, wallet_address: MINER, starting_nonce: 0, ...more };
  return call(url, "generateblocks", request);
}

interface Scene {
  readonly node: RunningDaemon;
  readonly outputs: number;
  readonly add: (measurement: Measurement) => void;
}

/** What takes the node long enough for its processor time to be measurable. */
async function measureLong({ node, add }: Scene, name: string, run: () => Promise<unknown>): Promise<void> {
  const cpu = cpuMs(node);
  add({ name, unit: "ms", value: await wallMs(run) });
  add({ name, unit: "ms CPU", value: cpuMs(node) - cpu });
}

async function measureIdle({ node, add }: Scene): Promise<void> {
  await delay(IDLE_MS);
  add({ name: "memory, idle", unit: "MiB", value: statusMiB(node, "RssAnon") });
  add({ name: "memory with pages of the file, idle", unit: "MiB", value: statusMiB(node, "VmRSS") });
}

async function measureReads(scene: Scene): Promise<void> {
  const { node, outputs, add } = scene;
  const questions = createQuestions(node.url, outputs);
  const { distribution, distributionInJson, histogram, feeEstimate, ring, keyImages } = questions;
  await measureLong(scene, "output distribution, first", distribution);
  add({ name: "output distribution, again", unit: "ms", value: await leastMs(20, distribution) });
  const followsBlock = async () => {
    await generate(node, 1);
    return wallMs(distribution);
  };
  add({ name: "output distribution, after a block", unit: "ms", value: await leastOf(10, followsBlock) });
  await distributionInJson();
  add({
    name: "output distribution as JSON, again",
    unit: "ms",
    value: await leastMs(20, distributionInJson),
  });
  add({ name: "histogram, first", unit: "ms", value: await wallMs(histogram) });
  add({ name: "histogram, again", unit: "ms", value: await leastMs(20, histogram) });
  add({ name: "16 random outputs, first", unit: "ms", value: await wallMs(() => ring(1000)) });
  add({ name: "16 random outputs", unit: "ms", value: await leastMs(100, ring) });
  add({ name: "16 key images looked up", unit: "ms", value: await leastMs(100, keyImages) });
  const transfer = async (at: number) => {
    await feeEstimate();
    await distribution();
    await ring(2 * at + 200);
    await ring(2 * at + 201);
    await keyImages(at);
  };
  add({ name: "calls of a transfer", unit: "ms", value: await leastMs(20, transfer) });
  questions.close();
}

/** Blocks added one by one, as they come; each is flushed, as a second passes between two on any network. */
async function measureBlocks(scene: Scene): Promise<void> {
  const { node, add } = scene;
  await generate(node, ADDED);
  const cpu = cpuMs(node);
  for (let i = 0; i < ADDED; i++) await generate(node, 1);
  add({ name: "a block added", unit: "ms CPU", value: (cpuMs(node) - cpu) / ADDED });
  await delay(IDLE_MS / 2);
  const bytesBefore = writtenBytes(node);
  const SPACED = 4;
  for (let i = 0; i < SPACED; i++) {
    await generate(node, 1);
    await delay(1500);
  }
  const aBlock = (writtenBytes(node) - bytesBefore) / SPACED;
  add({ name: "disk writes of an idle day", unit: "MB a day", value: (aBlock * BLOCKS_A_DAY) / 1e6 });
  const height = Number((await call(node.url, "get_info")).height);
  const below = await call(node.url, "get_block_header_by_height", { height: height - 1 - REORGANISED });
  const prev = String((below.block_header as { hash?: unknown }).hash);
  const { blocks } = await generate(node, REORGANISED, { prev_block: prev });
  const last = String((blocks as readonly Exact[]).at(-1));
  const reorganise = () => generate(node, 1, { prev_block: last });
  await measureLong(scene, "reorganisation of 100 blocks", reorganise);
  const before = cpuMs(node);
  await post(`${node.url}/pop_blocks`, { nblocks: REORGANISED });
  add({ name: "a block undone", unit: "ms CPU", value: (cpuMs(node) - before) / REORGANISED });
}

/** Runs a node on a made-up chain and measures what users and peers notice of its size. */
export async function measureNode({ dataDir, outputs }: MeasureOptions): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const add = (measurement: Measurement) => void measurements.push(measurement);
  const start = performance.now();
  const node = await startDaemon(ours, { dataDir, extra: ["--disable-rpc-ban"] });
  try {
    await call(node.url, "get_info");
    add({ name: "start to the first answer", unit: "ms", value: performance.now() - start });
    add({ name: "start to the first answer", unit: "ms CPU", value: cpuMs(node) });
    const scene = { node, outputs, add };
    await measureIdle(scene);
    await measureReads(scene);
    await measureBlocks(scene);
    await measureIdle({
      ...scene,
      add: ({ name, ...rest }) => add({ name: `${name} after that`, ...rest }),
    });
    await measureLong(scene, "pruning", () => call(node.url, "prune_blockchain", {}));
    return measurements;
  } catch (error) {
    throw new Error(`the node said: ${node.output()}`, { cause: error });
  } finally {
    await node.stop();
  }
}
