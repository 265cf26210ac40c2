// What a task costs: seconds on the wall, and processor seconds of a program with all its threads and children.
import { readdirSync, readFileSync } from "node:fs";
import { median, timed } from "./timing.mjs";

const TICKS_PER_SECOND = 100;

/** Parent and processor ticks of a process; undefined when it has just ended. */
function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ");
    // Its own, and those of children that have ended.
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return { parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}

/** Processor seconds of a process and its descendants so far. */
export function treeCpuSeconds(root) {
  const parents = new Map();
  const ticks = new Map();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (stat === undefined) continue;
    parents.set(Number(name), stat.parent);
    ticks.set(Number(name), stat.ticks);
  }
  const isInTree = (pid) => pid !== undefined && (pid === root || isInTree(parents.get(pid)));
  let sum = 0;
  for (const [pid, used] of ticks) if (isInTree(pid)) sum += used;
  return sum / TICKS_PER_SECOND;
}

/** Milliseconds a task takes: on the wall, and of the processor by a program (0 counts: ticks are 10 ms). */
export async function costOf({ pid }, task) {
  const before = treeCpuSeconds(pid);
  const wall = 1000 * (await timed(task));
  return { wall, cpu: 1000 * (treeCpuSeconds(pid) - before) };
}

/**
 * Costs of the same task on both sides, turn by turn: the median of the wall, the mean of the processor's.
 * `task(side)` does it; `programs[side]` is who works; `prepare(side)` comes before, unmeasured.
 */
export async function costsOf(programs, rounds, task, prepare = async () => {}) {
  const costs = { native: [], ours: [] };
  for (let round = 0; round < rounds; round++) {
    for (const side of ["native", "ours"]) {
      await prepare(side);
      costs[side].push(await costOf(programs[side], () => task(side)));
    }
  }
  const of = (kind, combine) => ({
    ours: combine(costs.ours.map((cost) => cost[kind])),
    native: combine(costs.native.map((cost) => cost[kind])),
  });
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { wall: of("wall", median), cpu: of("cpu", mean) };
}

/** Two rows of the table: on the wall and of the processor, each with its limit or none. */
export function costRows(name, { wall, cpu }, limits) {
  const limit = (atMost) => (atMost === undefined ? {} : { atMost });
  return [
    { name, unit: "ms", ...wall, ...limit(limits.wall) },
    { name: "  processor time", unit: "ms", ...cpu, ...limit(limits.cpu) },
  ];
}
