import { createWriteStream, openSync } from "node:fs";
import type { Logger } from "@anulo/rpc";
import { BadUsage } from "./flags.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A logger of one line an event; `level` 0 keeps errors and warnings, 1 to 4 everything. Throws BadUsage. */
export function createLog(level: number, file: string | undefined): Logger {
  if (level > 4) throw new BadUsage(`--log-level must be 0 to 4: ${level}`);
  // Opened at once: a log that cannot be written is told before anything starts.
  const out = file === undefined ? process.stderr : createWriteStream("", { fd: openSync(file, "a", 0o600) });
  const write = (severity: string, event: string, fields: Fields = {}) => {
    const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${formatField(value)}`);
    out.write(`${new Date().toISOString()} ${severity} ${event}${shown.join("")}\n`);
  };
  return {
    error: (event, fields) => write("error", event, fields),
    warn: (event, fields) => write("warn", event, fields),
    debug: (event, fields) => {
      if (level > 0) write("debug", event, fields);
    },
  };
}

function formatField(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.stack ?? value.message);
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value) ?? "undefined";
}
