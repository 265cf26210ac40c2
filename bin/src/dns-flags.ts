import type { NameServer } from "@anulo/rpc";
import type { AliasOptions } from "@anulo/wallet";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about names in place of addresses. */
export const dnsFlags = {
  "no-dns": { kind: "switch", help: "look up no names given in place of addresses (OpenAlias)" },
  "trust-dns-resolver": {
    kind: "switch",
    help: "pay to a name when the DNS resolver says that it checked its DNSSEC (else never)",
  },
} as const satisfies FlagTable;

/** Used if only "tcp" is specified. Source: dns_utils.cpp `DEFAULT_DNS_PUBLIC_ADDR`. */
const publicServers = ["194.150.168.168", "80.67.169.40", "89.233.43.71", "109.69.8.51", "193.58.251.251"];
const DNS_PORT = 53;

/**
 * The servers in DNS_PUBLIC: `tcp`, or `tcp://` and an IPv4 address. Throws BadUsage. Source: dns_utils.cpp
 * `parse_dns_public`.
 */
function parseDnsPublic(text: string): NameServer[] {
  if (text === "tcp") return publicServers.map((host) => ({ host, port: DNS_PORT }));
  const host = /^tcp:\/\/(\d{1,3}(?:\.\d{1,3}){3})$/.exec(text)?.[1];
  if (host === undefined || host.split(".").some((part) => Number(part) > 255))
    throw new BadUsage(`DNS_PUBLIC must be tcp, or tcp:// and an IPv4 address: ${text}`);
  return [{ host, port: DNS_PORT }];
}

/** How names are looked up; undefined if they are not. Throws BadUsage. */
export function aliasesOf(
  flags: Values<typeof dnsFlags> & { readonly offline: boolean },
  environment: NodeJS.ProcessEnv,
): AliasOptions | undefined {
  if (flags["no-dns"] || flags.offline) return undefined;
  const { DNS_PUBLIC: named = "" } = environment;
  return {
    trustServers: flags["trust-dns-resolver"],
    ...(named !== "" && { servers: parseDnsPublic(named) }),
  };
}
