import { writeFileSync } from "node:fs";
import type { Log } from "@anulo/rpc";

/** Has the log say why the program ends, too, where it ends by a bug; a terminal may have nobody in front of it. */
export function logLastWords(log: Log): void {
  process.on("uncaughtExceptionMonitor", (error) => log.error("ended by a bug", { error }));
}

/**
 * Keeps the memory of this process, and with it every key, out of files a crash leaves; answers nothing where the
 * system has no such choice. Source: util.cpp `disable_core_dumps`; core(5), `coredump_filter`.
 */
export function leaveMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
  } catch {}
}
