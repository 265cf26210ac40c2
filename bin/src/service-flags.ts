import { categoriesOfLevel, type Log, type Login } from "@anulo/rpc";
import { unknownVariables } from "./configuration.ts";
import { BadUsage, describeWithoutEffect, type FlagTable, type Values } from "./flags.ts";
import { logLastWords } from "./last-words.ts";
import { openLog } from "./log.ts";
import { rpcFlags } from "./rpc-flags.ts";

/** Flags of both services. */
export const serviceFlags = {
  help: { kind: "switch", help: "show this" },
  version: { kind: "switch", help: "show what this is" },
  ...rpcFlags,
  "rpc-login": { kind: "text", value: "USER[:PASSWORD]", help: "ask for this HTTP digest login" },
  "rpc-dialect": {
    kind: "text",
    choices: ["contract", "upstream"],
    help: "where documents and original program differ: follow which (contract)",
  },
  "log-level": {
    kind: "text",
    value: "0..4",
    help: "how much to log (0), or pairs such as *:WARNING,net.p2p:DEBUG",
  },
  "log-file": { kind: "text", value: "FILE", help: "log to this file instead of the terminal" },
  "log-format": { kind: "text", choices: ["text", "json"], help: "lines for people or for programs (text)" },
  "max-log-file-size": {
    kind: "number",
    value: "BYTES",
    help: "begin a new log file then (104850000; 0: never)",
  },
  "max-log-files": { kind: "number", value: "N", help: "old log files to keep (50; 0: all)" },
  "max-concurrency": { kind: "number", value: "N", help: "threads to work with (one a processor)" },
  "non-interactive": { kind: "switch", help: "ask for no password of a login" },
} as const satisfies FlagTable;

/** The log that the flags configure. Throws BadUsage for an invalid level. */
export function logOf(flags: Values<typeof serviceFlags>): Log {
  const level = flags["log-level"];
  if (level !== undefined && /^-?\d+$/.test(level) && categoriesOfLevel(Number(level)) === undefined)
    throw new BadUsage(`--log-level must be 0 to 4: ${level}`);
  const log = openedLog(flags);
  logLastWords(log);
  return log;
}

function openedLog(flags: Values<typeof serviceFlags>): Log {
  const file = flags["log-file"];
  try {
    return openLog({
      categories: flags["log-level"],
      format: flags["log-format"] ?? "text",
      file,
      maxFileSize: flags["max-log-file-size"] ?? 104_850_000,
      maxFiles: flags["max-log-files"] ?? 50,
    });
  } catch (error) {
    if (file === undefined) throw error;
    throw new BadUsage(`--log-file cannot be written: ${(error as Error).message}`);
  }
}

/** Logs once which of the flags used have no effect, and which variables of the environment are unknown. */
export function logWithoutEffect(log: Log, table: FlagTable, flags: Values<FlagTable>): void {
  for (const variable of unknownVariables(table, process.env))
    log.in("global").warn(`no flag for the variable ${variable}`);
  const notice = describeWithoutEffect(table, flags);
  if (notice !== undefined) log.in("global").info(notice);
}

/** Parses `user:password`; the password may be empty. Throws BadUsage. Source: rpc_args.cpp `process`. */
export function parseLogin(text: string, flag = "rpc-login"): Login {
  const colon = text.indexOf(":");
  if (colon === 0) throw new BadUsage(`Username specified with --${flag} cannot be empty`);
  if (colon < 0) throw new BadUsage(`--${flag} must be USER:PASSWORD`);
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Printed by `--version`. */
export const versionText = "anulo 0.1.0, in place of Monero 0.18.5.3\n";

/** Checks a port to listen on. Throws BadUsage above 65535. */
export function checkPort(name: string, port: number): number {
  if (port > 65535) throw new BadUsage(`--${name} must be below 65536: ${port}`);
  return port;
}
