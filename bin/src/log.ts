import { createLog, type Log, type LogLine } from "@anulo/rpc";
import { createLogFile } from "./log-file.ts";

export interface LogSettings {
  /** A level from 0 to 4, or category:level pairs; by default `MONERO_LOGS` of the environment, else level 0. */
  readonly categories: string | undefined;
  readonly format: "text" | "json";
  /** Instead of the terminal. */
  readonly file: string | undefined;
  /** Bytes after which a new file is begun; 0 for never. */
  readonly maxFileSize: number;
  /** Old files kept; 0 for all. */
  readonly maxFiles: number;
}

/** Opens the log of a program; throws where its file cannot be written, before anything starts. */
export function openLog({ categories, format, file, maxFileSize, maxFiles }: LogSettings): Log {
  const out = file === undefined ? process.stderr : createLogFile({ path: file, maxFileSize, maxFiles });
  // A line that is shown on the terminal makes room.
  const clear = file === undefined && process.stderr.isTTY ? "\r\u001b[K" : "";
  const formatLine = { text: formatText, json: formatJson }[format];
  return createLog({
    write: (line) => void out.write(`${clear}${formatLine(line, new Date())}\n`),
    categories: categories ?? process.env.MONERO_LOGS,
  });
}

/** One line for people: time, severity, category, event, then `name=value` for each field. */
export function formatText({ severity, category, event, fields }: LogLine, time: Date): string {
  const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(plain(value))}`);
  return `${time.toISOString()} ${severity} ${category} ${event}${shown.join("")}`;
}

/** One line of JSON for programs. */
export function formatJson({ severity, category, event, fields }: LogLine, time: Date): string {
  const shown = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
  return JSON.stringify({ time, severity, category, event, ...Object.fromEntries(shown) });
}

/** What JSON can hold: errors as their stack, exact numbers as text. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return value.stack ?? value.message;
  if (typeof value === "bigint") return String(value);
  return value ?? null;
}
