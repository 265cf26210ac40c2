import type { Dialect, Login } from "@anulo/rpc";
import { BadUsage, type FlagTable } from "./flags.ts";

/** Flags both services know. */
export const serviceFlags = {
  help: { kind: "switch", help: "show this" },
  "rpc-bind-ip": { kind: "text", value: "ADDRESS", help: "where RPC listens (127.0.0.1)" },
  "rpc-login": { kind: "text", value: "USER:PASSWORD", help: "ask for this HTTP digest login" },
  "rpc-dialect": {
    kind: "text",
    choices: ["contract", "upstream"],
    help: "where documents and original program differ: follow which (contract)",
  },
  "rpc-ssl": { kind: "text", choices: ["disabled", "autodetect"], help: "TLS is not supported yet" },
  "confirm-external-bind": { kind: "switch", help: "allow --rpc-bind-ip to leave this machine" },
  "log-level": { kind: "number", value: "0..4", help: "how much to log (0)" },
  "log-file": { kind: "text", value: "FILE", help: "log to this file instead of the terminal" },
  "max-concurrency": { kind: "number", value: "N", help: "threads to work with (one a processor)" },
  "non-interactive": { kind: "switch", help: "accepted; nothing is asked in any case" },
} as const satisfies FlagTable;

/** The dialect asked for, or the default. */
export function dialectOf(text: string | undefined): Dialect {
  return text === "upstream" ? "upstream" : "contract";
}

/** `user:password`. Throws BadUsage. */
export function parseLogin(text: string): Login {
  const colon = text.indexOf(":");
  if (colon < 1 || colon === text.length - 1) throw new BadUsage("--rpc-login must be USER:PASSWORD");
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** A port to listen on. Throws BadUsage above 65535. */
export function checkPort(name: string, port: number): number {
  if (port > 65535) throw new BadUsage(`--${name} must be below 65536: ${port}`);
  return port;
}

/** The address to listen on. Throws BadUsage where it would open the service to others unasked. */
export function bindAddress(flag: string, address: string | undefined, isConfirmed: boolean): string {
  if (address === undefined) return "127.0.0.1";
  if (!isLoopback(address) && !isConfirmed) {
    throw new BadUsage(`--${flag} ${address} opens RPC to others: confirm with --confirm-external-bind`);
  }
  return address;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
