import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import type { FlagTable } from "./flags.ts";

export const detachFlags = {
  detach: { kind: "switch", help: "run in the background" },
  pidfile: { kind: "text", value: "FILE", help: "write the number of the process there" },
} as const satisfies FlagTable;

/** Starts the same command again, in the background; returns its process id. */
export function startDetached(command: string, args: readonly string[]): number | undefined {
  const program = process.argv[1] ?? "";
  // The last value of a flag counts, whatever its source.
  const words = [program, command, ...args, "--detach=false"];
  const child = spawn(process.execPath, words, { detached: true, stdio: "ignore" });
  child.unref();
  return child.pid;
}

/** Stores this process's id in a file until it ends; throws if the file cannot be written. */
export function keepPidFile(file: string | undefined): void {
  if (file === undefined) return;
  writeFileSync(file, `${process.pid}\n`);
  process.once("exit", () => rmSync(file, { force: true }));
}
