import { createHash } from "node:crypto";
import { formatIpv4, formatIpv6, mappedIpv4, parseIpv4, parseIpv6 } from "./ip.ts";

/** The network an address belongs to. */
export type Zone = "public" | "tor" | "i2p";

/** Where a node is reached. `host`: dotted IPv4, IPv6 in its shortest form, `….onion` or `….b32.i2p`. */
export interface PeerAddress {
  readonly kind: "ipv4" | "ipv6" | "tor" | "i2p";
  readonly host: string;
  readonly port: number;
}

/** Text that is not an address. */
export class BadAddress extends Error {
  override name = "BadAddress";
}

const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** Decodes base32 text without padding to bytes; bits left over at the end are dropped. Source: RFC 4648. */
function decodeBase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text.toLowerCase()) {
    value = ((value << 5) | base32.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return Uint8Array.from(bytes);
}

const ONION_V2_LETTERS = 16;
const ONION_V3_LETTERS = 56;
const I2P_LETTERS = 52;

/** Version 3: public key (32 bytes), checksum (2), version. Source: Tor rend-spec-v3, 6. */
function isOnionV3(name: string): boolean {
  const bytes = decodeBase32(name);
  const version = bytes[34]!;
  const hash = createHash("sha3-256")
    .update(".onion checksum")
    .update(bytes.subarray(0, 32))
    .update(Uint8Array.of(version))
    .digest();
  return version === 3 && hash[0] === bytes[32] && hash[1] === bytes[33];
}

/** `….onion` of version 2, or of version 3 with its checksum. Source: net/tor_address.cpp `host_check`. */
export function isTorHost(host: string): boolean {
  const [, name] = /^([a-z2-7]+)\.onion$/i.exec(host) ?? [];
  return name?.length === ONION_V2_LETTERS || (name?.length === ONION_V3_LETTERS && isOnionV3(name));
}

/**
 * Whether the name is `….b32.i2p`: the hash of a destination (256 bits, so the last letter carries only one bit).
 * Source: net/i2p_address.cpp.
 */
export function isI2pHost(host: string): boolean {
  const [, name] = /^([a-z2-7]+)\.b32\.i2p$/i.exec(host) ?? [];
  return name?.length === I2P_LETTERS && base32.indexOf(name.toLowerCase().at(-1)!) % 16 === 0;
}

/** Parses an IPv4 or IPv6 address; IPv4 inside IPv6 becomes IPv4. Returns undefined for a name. */
export function ipAddress(host: string, port: number): PeerAddress | undefined {
  const ipv4 = parseIpv4(host);
  if (ipv4 !== undefined) return { kind: "ipv4", host: formatIpv4(ipv4), port };
  const ipv6 = parseIpv6(host);
  if (ipv6 === undefined) return undefined;
  const mapped = mappedIpv4(ipv6);
  if (mapped !== undefined) return { kind: "ipv4", host: formatIpv4(mapped), port };
  return { kind: "ipv6", host: formatIpv6(ipv6), port };
}

/**
 * Splits `host`, `host:port`, `[ipv6]`, `[ipv6]:port` or bare IPv6 into host and port. Throws BadAddress for a port
 * that is invalid.
 */
export function splitHostPort(text: string, defaultPort: number): { host: string; port: number } {
  const [, bracketed, named, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/s.exec(text) ?? [];
  const host = bracketed ?? named;
  if (host === undefined) return { host: text, port: defaultPort };
  if (digits === undefined) return { host, port: defaultPort };
  if (!/^\d{1,5}$/.test(digits) || Number(digits) > 65535) throw new BadAddress(`not a port: ${digits}`);
  return { host, port: Number(digits) };
}

/** Parses an address; throws BadAddress for a name that would have to be looked up. */
export function parsePeerAddress(text: string, defaultPort = 0): PeerAddress {
  const { host, port } = splitHostPort(text, defaultPort);
  if (host.endsWith(".onion")) {
    if (!isTorHost(host)) throw new BadAddress(`not a Tor address: ${host}`);
    return { kind: "tor", host: host.toLowerCase(), port };
  }
  if (host.endsWith(".i2p")) {
    if (!isI2pHost(host)) throw new BadAddress(`not an I2P address: ${host}`);
    return { kind: "i2p", host: host.toLowerCase(), port };
  }
  const address = ipAddress(host, port);
  if (address === undefined) throw new BadAddress(`not an address: ${text}`);
  return address;
}

/** `host:port`; IPv6 in brackets. The port of a Tor or I2P address is left out when it is 0. */
export function formatPeerAddress({ kind, host, port }: PeerAddress): string {
  if (kind === "ipv6") return `[${host}]:${port}`;
  return kind === "ipv4" || port !== 0 ? `${host}:${port}` : host;
}

/**
 * Hosts of connections that Tor or I2P delivers: these networks hide the caller's address. Source:
 * net/{tor,i2p}_address.cpp.
 */
export const unknownHosts = { tor: "<unknown tor host>", i2p: "<unknown i2p host>" } as const;

export function zoneOf({ kind }: PeerAddress): Zone {
  return kind === "tor" || kind === "i2p" ? kind : "public";
}

export function isSameAddress(a: PeerAddress, b: PeerAddress): boolean {
  return a.host === b.host && a.port === b.port;
}

/** Whether the address is this machine's own. */
export function isLoopback({ kind, host }: PeerAddress): boolean {
  return kind === "ipv4" ? host.startsWith("127.") : kind === "ipv6" && host === "::1";
}

/**
 * Whether the address belongs to a private network. Source: local_ip.h. Beyond it, unique local IPv6 (fc00::/7) and the
 * unspecified addresses count too, since no node can be reached at them.
 */
export function isLocal({ kind, host }: PeerAddress): boolean {
  if (kind === "ipv4") return /^(0\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(host);
  return kind === "ipv6" && (host === "::" || /^(fe[89ab]|f[cd])/.test(host));
}

/**
 * The part of an address that nodes of one owner tend to share: the first 24 bits of IPv4, the first 32 of IPv6;
 * otherwise the whole host. Source: node_server `make_new_connection_from_peerlist`, which does this for IPv4 (#10113).
 */
export function neighbourhoodOf({ kind, host }: PeerAddress): string {
  if (kind === "ipv4") return host.split(".", 3).join(".");
  if (kind === "ipv6") return formatIpv6(Uint8Array.from(parseIpv6(host)!.fill(0, 4)));
  return host;
}
