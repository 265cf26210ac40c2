/**
 * Watches the event loop of the program it is loaded into by `--import`, and writes what it has seen since the last
 * time to the file ANULO_LOOP_REPORT, with the process id behind it, at SIGUSR2.
 */
import { openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { LoopReport } from "./loop-report.ts";

const TICK_MS = 5;

/** Milliseconds of processor time of this thread. Source: Linux, sched-stats. */
function createProcessorClock(): () => number {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const bytes = Buffer.alloc(100);
  return () => Number(bytes.toString("latin1", 0, readSync(file, bytes, 0, 100, 0)).split(" ")[0]) / 1e6;
}

function rankOf(values: number[], share: number): number {
  const sorted = values.sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function watch(path: string): void {
  const processorMs = createProcessorClock();
  let delays: number[] = [];
  let turns: number[] = [];
  let start = { at: performance.now(), ran: processorMs() };
  let last = start;
  const tick = () => {
    const now = { at: performance.now(), ran: processorMs() };
    delays.push(Math.max(0, now.at - last.at - TICK_MS));
    turns.push(now.ran - last.ran);
    last = now;
  };
  setInterval(tick, TICK_MS).unref();
  process.on("SIGUSR2", () => {
    tick();
    const report: LoopReport = {
      p99Ms: rankOf(delays, 0.99),
      maxMs: rankOf(delays, 1),
      turnP99Ms: rankOf(turns, 0.99),
      turnMaxMs: rankOf(turns, 1),
      cores: (last.ran - start.ran) / (last.at - start.at),
    };
    const file = `${path}.${process.pid}`;
    writeFileSync(`${file}.new`, JSON.stringify(report));
    renameSync(`${file}.new`, file);
    [delays, turns, start] = [[], [], last];
  });
}

if (isMainThread && process.env.ANULO_LOOP_REPORT !== undefined) watch(process.env.ANULO_LOOP_REPORT);
