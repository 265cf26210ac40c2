// What it costs a node to take in a payment (117 of 120 are 2-in/2-out), and the memory it holds with a chain of 500 blocks.
import { loadBlocks, loadChain, sendTransaction, startDaemon } from "@anulo/testkit";
import { cpuSeconds, memoryMiB } from "./process.mjs";
import { median } from "./timing.mjs";

/** CPU milliseconds of a node for each of these transactions, sent one after the other. */
async function cpuForEach({ pid, url }, transactions) {
  const before = cpuSeconds(pid);
  for (const { hex } of transactions) await sendTransaction(url, hex);
  return (1000 * (cpuSeconds(pid) - before)) / transactions.length;
}

/** Turns of this many transactions a side, so that both see the same weather. */
const TURN = 30;
/** Turns that both take before those that count: for a while V8 goes on compiling what it finds to be used. */
const WARM_UP_TURNS = 1;

/** The rows of the table. */
export async function measure() {
  const { blocks, poolTransactions } = loadChain();
  const nodes = {
    ours: await startDaemon({ kind: "ours" }),
    native: await startDaemon({ kind: "real" }),
  };
  try {
    for (const { url } of Object.values(nodes)) await loadBlocks(url, blocks);
    const memory = { ours: memoryMiB(nodes.ours.pid), native: memoryMiB(nodes.native.pid) };
    const cpu = { ours: [], native: [] };
    for (let at = 0; at < poolTransactions.length; at += TURN) {
      const turn = poolTransactions.slice(at, at + TURN);
      for (const side of ["native", "ours"]) cpu[side].push(await cpuForEach(nodes[side], turn));
    }
    const typical = (values) => median(values.slice(WARM_UP_TURNS));
    const each = { ours: typical(cpu.ours), native: typical(cpu.native) };
    if (process.env.ANULO_BENCH_TURNS) console.log(cpu);
    return [
      { name: "a 2-in/2-out payment taken in, CPU", unit: "ms", ...each, atMost: 0.45 },
      { name: "memory with 500 blocks", unit: "MiB", ...memory, atMost: 1 },
    ];
  } finally {
    for (const node of Object.values(nodes)) await node.stop();
  }
}
