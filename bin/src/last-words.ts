import { writeFileSync } from "node:fs";
import type { Log } from "@anulo/rpc";

/** Logs the error if a bug ends the program, since no user may watch the terminal. */
export function logLastWords(log: Log): void {
  process.on("uncaughtExceptionMonitor", (error) => log.error("ended by a bug", { error }));
}

/**
 * Excludes the memory of this process, and with it every key, from core dumps; does nothing if the system does not
 * support this. Source: util.cpp `disable_core_dumps`; core(5), `coredump_filter`.
 */
export function leaveMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
  } catch {}
}
