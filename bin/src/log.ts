import { createLog, type Log, type LogLine } from "@anulo/rpc";
import { createLogFile } from "./log-file.ts";

export interface LogSettings {
  /** A level from 0 to 4, or category:level pairs; by default `MONERO_LOGS` of the environment, else level 0. */
  readonly categories: string | undefined;
  readonly format: "text" | "json";
  /** If set, replaces the terminal. */
  readonly file: string | undefined;
  /** Bytes after which a new file is started; 0 for no limit. */
  readonly maxFileSize: number;
  /** Number of old files that are kept; 0 for all. */
  readonly maxFiles: number;
}

/** Opens the log of a program; throws if its file cannot be written, before anything else starts. */
export function openLog({ categories, format, file, maxFileSize, maxFiles }: LogSettings): Log {
  const out = file === undefined ? process.stderr : createLogFile({ path: file, maxFileSize, maxFiles });
  // Clears a status line on the terminal before each log line.
  const clear = file === undefined && process.stderr.isTTY ? "\r\u001b[K" : "";
  const formatLine = { text: formatText, json: formatJson }[format];
  return createLog({
    write: (line) => void out.write(`${clear}${formatLine(line, new Date())}\n`),
    categories: categories ?? process.env.MONERO_LOGS,
  });
}

/** One line for users: time, severity, category, event, then `name=value` for each field. */
export function formatText({ severity, category, event, fields }: LogLine, time: Date): string {
  const fieldTexts = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${JSON.stringify(plain(value))}`,
  );
  return `${time.toISOString()} ${severity} ${category} ${event}${fieldTexts.join("")}`;
}

/** One line of JSON for programs. */
export function formatJson({ severity, category, event, fields }: LogLine, time: Date): string {
  const entries = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
  return JSON.stringify({ time, severity, category, event, ...Object.fromEntries(entries) });
}

/** Converts values that JSON does not support: errors to their stack, bigint to text. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return value.stack ?? value.message;
  if (typeof value === "bigint") return String(value);
  return value ?? null;
}
