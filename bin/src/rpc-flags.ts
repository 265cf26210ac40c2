import type { Limits, Listener, RpcServerOptions, TlsOptions } from "@anulo/rpc";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";
import { readTextFile } from "./text-file.ts";

/** Whether TLS is used: always, never, or with clients that begin it. */
export const tlsModes = ["enabled", "disabled", "autodetect"] as const;

/** Flags of both services about access to their RPC. Source: rpc_args.cpp. */
export const rpcFlags = {
  "rpc-bind-ip": { kind: "text", value: "ADDRESS", help: "where RPC listens (127.0.0.1)" },
  "rpc-use-ipv6": { kind: "switch", help: "listen for RPC on --rpc-bind-ipv6-address, too" },
  "rpc-bind-ipv6-address": { kind: "text", value: "ADDRESS", help: "where RPC listens with IPv6 (::1)" },
  "rpc-ignore-ipv4": { kind: "switch", help: "with --rpc-use-ipv6: do not listen with IPv4" },
  "confirm-external-bind": { kind: "switch", help: "allow --rpc-bind-ip to leave this machine" },
  "rpc-access-control-origins": {
    kind: "text",
    value: "ORIGIN,..",
    help: "web pages of these origins may use RPC (*: all)",
  },
  "rpc-ssl": {
    kind: "text",
    choices: tlsModes,
    help: "TLS alone, never, or as the caller begins (autodetect)",
  },
  "rpc-ssl-private-key": { kind: "text", value: "FILE", help: "our key, PEM; else one is made" },
  "rpc-ssl-certificate": { kind: "text", value: "FILE", help: "our certificate, PEM" },
  "rpc-ssl-ca-certificates": {
    kind: "text",
    value: "FILE",
    help: "ask callers for a certificate by these authorities, PEM",
  },
  "rpc-ssl-allowed-fingerprints": {
    kind: "each",
    value: "SHA256",
    help: "ask callers for a certificate, and take this one",
  },
  "rpc-ssl-allow-chained": { kind: "switch", noEffect: "chains to the authorities are always taken" },
  "rpc-ssl-allow-any-cert": { kind: "switch", help: "ask callers for no certificate after all" },
  "rpc-max-connections": { kind: "number", value: "N", help: "open RPC connections (1000)" },
  "rpc-max-connections-per-public-ip": { kind: "number", value: "N", help: "of them from one address" },
  "rpc-max-connections-per-private-ip": { kind: "number", value: "N", help: "of them from one near address" },
  "rpc-response-soft-limit": {
    kind: "number",
    value: "BYTES",
    help: "answers waiting to be taken (512 MiB)",
  },
} as const satisfies FlagTable;

type Flags = Values<typeof rpcFlags>;

function identityOf(flags: Flags): Pick<TlsOptions, "identity"> {
  const { "rpc-ssl-private-key": key, "rpc-ssl-certificate": certificate } = flags;
  if (key === undefined && certificate === undefined) return {};
  if (key === undefined || certificate === undefined) {
    throw new BadUsage("--rpc-ssl-private-key and --rpc-ssl-certificate belong together");
  }
  return {
    identity: {
      privateKey: readTextFile("rpc-ssl-private-key", key),
      certificate: readTextFile("rpc-ssl-certificate", certificate),
    },
  };
}

function clientsOf(flags: Flags): Pick<TlsOptions, "clients"> {
  const { "rpc-ssl-ca-certificates": file, "rpc-ssl-allowed-fingerprints": texts } = flags;
  if ((file === undefined && texts.length === 0) || flags["rpc-ssl-allow-any-cert"]) return {};
  const fingerprints = texts.map((text) => text.replaceAll(":", "").toLowerCase());
  const bad = fingerprints.find((text) => !/^[0-9a-f]{64}$/.test(text));
  if (bad !== undefined)
    throw new BadUsage(`--rpc-ssl-allowed-fingerprints must be SHA-256, 64 digits: ${bad}`);
  const authorities =
    file === undefined ? {} : { authorities: readTextFile("rpc-ssl-ca-certificates", file) };
  return { clients: { fingerprints, ...authorities } };
}

/** If clients must present certificates, only TLS is accepted, as in the original. */
function tlsOf(flags: Flags): TlsOptions | undefined {
  const clients = clientsOf(flags);
  const mode = clients.clients === undefined ? (flags["rpc-ssl"] ?? "autodetect") : "enabled";
  return mode === "disabled" ? undefined : { mode, ...identityOf(flags), ...clients };
}

/** The options with which the RPC server is started. */
export interface RpcAccess extends Pick<RpcServerOptions<never>, "tls" | "origins"> {
  readonly limits: Partial<Limits>;
}

/** Throws BadUsage. */
export function rpcAccessOf(flags: Flags): RpcAccess {
  const tls = tlsOf(flags);
  const connections = flags["rpc-max-connections"];
  const publicOnes = flags["rpc-max-connections-per-public-ip"];
  const privateOnes = flags["rpc-max-connections-per-private-ip"];
  const heldBytes = flags["rpc-response-soft-limit"];
  const origins = flags["rpc-access-control-origins"]?.split(",").map((origin) => origin.trim());
  return {
    ...(tls !== undefined && { tls }),
    ...(origins !== undefined && { origins }),
    limits: {
      ...(connections !== undefined && { connections }),
      ...(publicOnes !== undefined && { connectionsPerPublicAddress: publicOnes }),
      ...(privateOnes !== undefined && { connectionsPerPrivateAddress: privateOnes }),
      ...(heldBytes !== undefined && { heldBytes }),
    },
  };
}

/** The flags for the addresses of one port. */
interface AddressFlags {
  readonly ipv4: string;
  readonly ipv6: string;
}

const mainAddress: AddressFlags = { ipv4: "rpc-bind-ip", ipv6: "rpc-bind-ipv6-address" };

/** The addresses on which a service listens on a port: IPv4, IPv6 or both. Throws BadUsage. */
export function listenersOf(
  flags: Flags & { readonly [name: string]: unknown },
  port: number,
  names: AddressFlags = mainAddress,
): Listener[] {
  const textOf = (name: string) => flags[name] as string | undefined;
  const isConfirmed = flags["confirm-external-bind"];
  const ipv4 = bindAddress(names.ipv4, textOf(names.ipv4), isConfirmed);
  if (!flags["rpc-use-ipv6"]) return [{ host: ipv4, port }];
  const bare = textOf(names.ipv6)?.replace(/^\[(.*)\]$/, "$1") ?? "::1";
  const ipv6 = bindAddress(names.ipv6, bare, isConfirmed);
  const both = [ipv4, ipv6].map((host) => ({ host, port }));
  return flags["rpc-ignore-ipv4"] ? both.slice(1) : both;
}

/** The address to listen on. Throws BadUsage if it would expose the service to others without confirmation. */
function bindAddress(flag: string, address: string | undefined, isConfirmed: boolean): string {
  if (address === undefined) return "127.0.0.1";
  if (address !== "localhost" && !isAddress(address))
    throw new BadUsage(`Invalid IP address given for --${flag}: ${address}`);
  if (!isLoopback(address) && !isConfirmed) {
    throw new BadUsage(`--${flag} ${address} opens RPC to others: confirm with --confirm-external-bind`);
  }
  return address;
}

/** Whether text is an IPv4 or IPv6 address. */
export function isAddress(text: string): boolean {
  if (text.includes(":")) return URL.canParse(`http://[${text}]/`);
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) && text.split(".").every((part) => Number(part) <= 255);
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
