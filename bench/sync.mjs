// Fetching a chain from the original program over peer-to-peer: our node against the original itself.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { call, loadBlocks, loadChain, startDaemon } from "@anulo/testkit";
import { median } from "./timing.mjs";

const rounds = { ours: 3, native: 1 };
const makers = { ours: { kind: "ours" }, native: { kind: "real" } };
/** Ticks of the processor clock in a second, as the kernel counts for processes. */
const TICKS = 100;

/** Seconds of processor time a process and its children, ended or not, have used. Linux alone tells. */
function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
  const own = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === ""
    ? own
    : children.split(" ").reduce((sum, child) => sum + processorSeconds(child), own);
}

/** Mebibytes a process holds in memory, at most so far. */
function peakMemory(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

/** A node of the original that has the recorded chain and waits for peers. */
async function startSource(chain) {
  const dataDir = mkdtempSync(join(tmpdir(), "anulo-"));
  const offline = await startDaemon(makers.native, { dataDir });
  await loadBlocks(offline.url, chain.blocks);
  await offline.stop();
  const source = await startDaemon(makers.native, { dataDir, peers: [] });
  return {
    address: `127.0.0.1:${source.p2pPort}`,
    async stop() {
      await source.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Seconds of wall and processor, and MiB, until a new node has the whole chain; both from its start. */
async function fetchOnce(maker, source, height) {
  const from = performance.now();
  const node = await startDaemon(maker, { peers: [source.address] });
  try {
    while (Number((await call(node.url, "get_info")).height) < height) await delay(50);
    const wall = (performance.now() - from) / 1000;
    return { wall, processor: processorSeconds(node.pid), memory: peakMemory(node.pid) };
  } finally {
    await node.stop();
  }
}

/** The rows of the table: ours to native. */
export async function measure() {
  const chain = loadChain();
  const source = await startSource(chain);
  const runs = { ours: [], native: [] };
  try {
    for (const side of ["native", "ours"]) {
      for (let i = 0; i < rounds[side]; i++) {
        runs[side].push(await fetchOnce(makers[side], source, chain.blocks.length + 1));
      }
    }
  } finally {
    await source.stop();
  }
  const of = (what) => ({
    ours: median(runs.ours.map((run) => run[what])),
    native: median(runs.native.map((run) => run[what])),
  });
  const size = `${chain.blocks.length} blocks from the original`;
  return [
    { name: `sync, ${size}: start to top`, unit: "s", ...of("wall"), atMost: 1 },
    { name: `sync, ${size}: processor`, unit: "s", ...of("processor"), atMost: 1 },
    { name: "sync: memory at most", unit: "MiB", ...of("memory"), atMost: 1 },
  ];
}
