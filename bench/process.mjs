// What a program has cost so far, as Linux counts it: processor time and memory, alone or with the processes it started.
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** Parent and processor ticks of a process, with and without children that have ended; undefined once it has ended. */
function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ").map(Number);
    const [own, children] = [fields[11] + fields[12], fields[13] + fields[14]];
    return { parent: fields[1], own, withChildren: own + children };
  } catch {
    return undefined;
  }
}

/** Seconds of processor time of a process, of all its threads. */
export function cpuSeconds(pid) {
  return statOf(pid).own / TICKS_PER_SECOND;
}

/** A process and its living descendants, by number. */
function treeOf(root) {
  const stats = new Map();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (stat !== undefined) stats.set(Number(name), stat);
  }
  const isInTree = (pid) => pid === root || (stats.has(pid) && isInTree(stats.get(pid).parent));
  return new Map([...stats].filter(([pid]) => isInTree(pid)));
}

/** Seconds of processor time of a process and its descendants, those that have ended included. */
export function treeCpuSeconds(root) {
  const ticks = [...treeOf(root).values()].map(({ withChildren }) => withChildren);
  return ticks.reduce((sum, some) => sum + some, 0) / TICKS_PER_SECOND;
}

/** Memory of a process in MiB: `VmRSS` now, `VmHWM` at most so far. */
export function memoryMiB(pid, name = "VmRSS") {
  const [, kib] = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(
    readFileSync(`/proc/${pid}/status`, "latin1"),
  );
  return Number(kib) / 1024;
}

/** The sum of `memoryMiB` over a process and its descendants; what they share is counted for each. */
export function treeMemoryMiB(root, name) {
  return [...treeOf(root).keys()].reduce((sum, pid) => sum + memoryMiB(pid, name), 0);
}
