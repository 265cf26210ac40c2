// Fetching a chain from the original program over peer-to-peer: our node against the original itself. First a chain of
// difficulty 1, whose work the original checks too and we do not since every hash meets it; then one with work to check.
import { setTimeout as delay } from "node:timers/promises";
import { call, loadChain, startDaemon } from "@anulo/testkit";
import { treeCpuSeconds, treeMemoryMiB } from "./process.mjs";
import { prepareSource } from "./source.mjs";
import { median } from "./timing.mjs";
import { loadWorkChain, WORK_DIFFICULTY } from "./work-chain.mjs";

const rounds = { ours: 3, native: 1 };
/** Who fetches, with which flags. */
const fetchers = {
  native: { maker: { kind: "real" } },
  ours: { maker: { kind: "ours" } },
  portable: { maker: { kind: "ours" }, extra: ["--portable-randomx"] },
};

/** Seconds of wall and processor, and MiB (what processes share is counted for each), until a new node has the whole chain; both from its start. */
async function fetchOnce({ maker, extra = [] }, { address, height, difficulty }) {
  const from = performance.now();
  const node = await startDaemon(maker, { peers: [address], difficulty, extra });
  try {
    while (Number((await call(node.url, "get_info")).height) < height) await delay(50);
    const wall = (performance.now() - from) / 1000;
    return {
      wall,
      processor: treeCpuSeconds(node.pid),
      memory: treeMemoryMiB(node.pid, "VmRSS"),
      peak: treeMemoryMiB(node.pid, "VmHWM"),
    };
  } finally {
    await node.stop();
  }
}

/** Medians of what it costs each side. */
async function compare(source, side) {
  const runs = { ours: [], native: [] };
  for (let i = 0; i < rounds.ours; i++) {
    if (i < rounds.native) runs.native.push(await fetchOnce(fetchers.native, source));
    runs.ours.push(await fetchOnce(fetchers[side], source));
  }
  return (what) => ({
    ours: median(runs.ours.map((run) => run[what])),
    native: median(runs.native.map((run) => run[what])),
  });
}

function rowsOf(name, of, atMost) {
  return [
    { name: `${name}: start to top`, unit: "s", ...of("wall"), atMost },
    { name: `${name}: processor`, unit: "s", ...of("processor"), atMost },
    { name: `${name}: memory then`, unit: "MiB", ...of("memory"), atMost: 1 },
    { name: `${name}: memory at most`, unit: "MiB", ...of("peak") },
  ];
}

/** Fetches these blocks of a difficulty; `cases` are rows' names, who fetches and the most that it may cost. */
async function measureChain(blocks, difficulty, cases) {
  const source = await prepareSource(difficulty, blocks);
  try {
    await source.open();
    const rows = [];
    for (const { name, side, atMost } of cases) {
      rows.push(...rowsOf(`sync, ${blocks.length} blocks ${name}`, await compare(source, side), atMost));
    }
    return rows;
  } finally {
    await source.remove();
  }
}

/** The rows of the table: ours to native. */
export async function measure() {
  const recorded = [{ name: "without work", side: "ours", atMost: 1 }];
  const worked = [
    { name: "with work, by librandomx", side: "ours", atMost: 1 },
    { name: "with work, without it", side: "portable", atMost: 1.5 },
  ];
  return [
    ...(await measureChain(loadChain().blocks, 1, recorded)),
    ...(await measureChain(loadWorkChain(), WORK_DIFFICULTY, worked)),
  ];
}
