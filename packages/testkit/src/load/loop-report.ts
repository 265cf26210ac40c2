import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";

/** How late the event loop of a node was, in milliseconds, and how much of a core its main thread used. */
export interface LoopReport {
  readonly p99Ms: number;
  readonly maxMs: number;
  /**
   * Processor time of the main thread from one look at the clock to the next, which come every 5 ms unless a turn takes
   * longer: it does not count what other programs take of the cores.
   */
  readonly turnP99Ms: number;
  readonly turnMaxMs: number;
  readonly cores: number;
}

const REPORT_WITHIN_MS = 30_000;

/** What a program is started with to be watched. */
export interface LoopWatch {
  readonly nodeFlags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What was seen of a process since the last report. Rejects if the process does not answer. */
  report(pid: number): Promise<LoopReport>;
}

/** `folder` is for the reports. */
export function createLoopWatch(folder: string): LoopWatch {
  const path = join(folder, "loop");
  return {
    nodeFlags: ["--import", new URL("loop-watch.js", import.meta.url).href],
    env: { ANULO_LOOP_REPORT: path },
    async report(pid) {
      const file = `${path}.${pid}`;
      rmSync(file, { force: true });
      process.kill(pid, "SIGUSR2");
      if (!(await until(async () => existsSync(file), REPORT_WITHIN_MS)))
        throw new Error("no report of the loop");
      return JSON.parse(readFileSync(file, "utf8")) as LoopReport;
    },
  };
}
