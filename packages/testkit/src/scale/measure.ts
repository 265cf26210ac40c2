import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Exact } from "../exact-json.ts";
import { call, post } from "../http/call.ts";
import { type RunningDaemon, startDaemon } from "../programs/servers.ts";

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

const RING_SIZE = 16;
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

/** The middle one of some runs. */
async function medianMs(runs: number, run: (at: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < runs; at++) times.push(await wallMs(() => run(at)));
  return times.sort((a, b) => a - b)[runs >> 1]!;
}

interface Scene {
  readonly node: RunningDaemon;
  readonly outputs: number;
  readonly add: (measurement: Measurement) => void;
}

const distribution = { amounts: [0], from_height: 0, to_height: 0, cumulative: false, binary: true };

/** As wallets fetch it: in a binary form that is no JSON. */
async function fetchDistribution(url: string): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: "0",
    method: "get_output_distribution",
    params: distribution,
  });
  const response = await fetch(`${url}/json_rpc`, { method: "POST", body });
  if (!response.ok) throw new Error(`get_output_distribution: HTTP ${response.status}`);
  await response.arrayBuffer();
}

async function measureIdle({ node, add }: Scene): Promise<void> {
  await delay(IDLE_MS);
  add({ name: "memory, idle", unit: "MiB", value: statusMiB(node, "RssAnon") });
  add({ name: "memory with pages of the file, idle", unit: "MiB", value: statusMiB(node, "VmRSS") });
}

async function measureReads({ node, outputs, add }: Scene): Promise<void> {
  const first = () => fetchDistribution(node.url);
  add({ name: "output distribution, first", unit: "ms", value: await wallMs(first) });
  add({ name: "output distribution, again", unit: "ms", value: await medianMs(5, first) });
  const histogram = () => call(node.url, "get_output_histogram", { amounts: [0] });
  add({ name: "histogram, first", unit: "ms", value: await wallMs(histogram) });
  add({ name: "histogram, again", unit: "ms", value: await medianMs(5, histogram) });
  // Another place of the chain for each question, spread over all of it.
  const outs = (at: number): Exact => ({
    outputs: Array.from({ length: RING_SIZE }, (_, i) => ({
      amount: 0,
      index: ((at * RING_SIZE + i) * 7_919_993) % outputs,
    })),
    get_txid: false,
  });
  const ring = (at: number) => post(`${node.url}/get_outs`, outs(at));
  add({ name: "16 random outputs, first", unit: "ms", value: await wallMs(() => ring(1000)) });
  add({ name: "16 random outputs", unit: "ms", value: await medianMs(100, ring) });
  const images = (at: number): Exact => ({
    key_images: Array.from({ length: RING_SIZE }, (_, i) =>
      Buffer.alloc(32, `image ${at} ${i} `).toString("hex"),
    ),
  });
  const spent = (at: number) => post(`${node.url}/is_key_image_spent`, images(at));
  add({ name: "16 key images looked up", unit: "ms", value: await medianMs(50, spent) });
  const transfer = async (at: number) => {
    await call(node.url, "get_fee_estimate");
    await first();
    await ring(2 * at + 200);
    await ring(2 * at + 201);
    await spent(at);
  };
  add({ name: "calls of a transfer", unit: "ms", value: await medianMs(10, transfer) });
}

/** Blocks added one by one, as they come; each is flushed, as a second passes between two on any network. */
async function measureBlocks({ node, add }: Scene): Promise<void> {
  const generate = (count: number, more: { readonly prev_block?: string } = {}) =>
    call(node.url, "generateblocks", {
      amount_of_blocks: count,
      wallet_address: MINER,
      starting_nonce: 0,
      ...more,
    });
  await generate(ADDED);
  const cpu = cpuMs(node);
  for (let i = 0; i < ADDED; i++) await generate(1);
  add({ name: "a block added", unit: "ms CPU", value: (cpuMs(node) - cpu) / ADDED });
  await delay(IDLE_MS / 2);
  const written = writtenBytes(node);
  const SPACED = 4;
  for (let i = 0; i < SPACED; i++) {
    await generate(1);
    await delay(1500);
  }
  const aBlock = (writtenBytes(node) - written) / SPACED;
  add({ name: "disk writes of an idle day", unit: "MB a day", value: (aBlock * BLOCKS_A_DAY) / 1e6 });
  const height = Number((await call(node.url, "get_info")).height);
  const below = await call(node.url, "get_block_header_by_height", { height: height - 1 - REORGANISED });
  const prev = String((below.block_header as { hash?: unknown }).hash);
  const { blocks } = await generate(REORGANISED, { prev_block: prev });
  const last = String((blocks as readonly Exact[]).at(-1));
  const reorganised = await wallMs(() => generate(1, { prev_block: last }));
  add({ name: "reorganisation of 100 blocks", unit: "ms", value: reorganised });
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
    const scene = { node, outputs, add };
    await measureIdle(scene);
    await measureReads(scene);
    await measureBlocks(scene);
    await measureIdle({
      ...scene,
      add: ({ name, ...rest }) => add({ name: `${name} after that`, ...rest }),
    });
    const pruning = () => call(node.url, "prune_blockchain", {});
    add({ name: "pruning", unit: "ms", value: await wallMs(pruning) });
    return measurements;
  } catch (error) {
    throw new Error(`the node said: ${node.output()}`, { cause: error });
  } finally {
    await node.stop();
  }
}
