// What a task costs: seconds on the wall, and processor seconds of a program with all its threads and children.
import { treeCpuSeconds } from "./process.mjs";
import { median, timed } from "./timing.mjs";

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
