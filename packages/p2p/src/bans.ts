import { BadAddress, ipAddress, type PeerAddress, splitHostPort } from "./address.ts";
import { formatIpv4, parseIpv4 } from "./ip.ts";
import { ipv4Number } from "./records.ts";

/** An address or subnet that may not connect until some time (Unix seconds). */
export interface Ban {
  /** As text: an address, or `a.b.c.d/n`. */
  readonly host: string;
  /** An IPv4 address as a number, first byte lowest; 0 for anything else. */
  readonly ip: number;
  readonly until: number;
}

/** Banned addresses and subnets. */
export interface Bans {
  /** Bans in force: addresses in order, then subnets. */
  list(): Ban[];
  /**
   * Bans for some seconds; 0 seconds or `lift` ends a ban. A port behind the address is passed over. Returns false for
   * text that is neither address nor subnet.
   */
  set(host: string, seconds: number | "lift"): boolean;
  /**
   * Seconds for which an address remains banned, 0 when it is not banned; undefined for text that is not an address.
   */
  secondsLeft(address: string): number | undefined;
  /** Whether there is any ban; if not, addresses need not be looked up. */
  isInUse(): boolean;
  /** Number of bans, including those that have ended but were not looked up since. */
  count(): number;
  /** Calls the listener after each ban, with a function that tests whether the ban covers an address. */
  onBan(listen: (covers: (address: PeerAddress) => boolean) => void): void;
}

interface Subnet {
  /** The subnet's first address as a number, the first byte highest, so that addresses compare in order. */
  readonly address: number;
  readonly bits: number;
  /** `a.b.c.d/n` with the subnet's first address. */
  readonly name: string;
}

function orderedNumber(ipv4: Uint8Array): number {
  return new DataView(ipv4.buffer, ipv4.byteOffset, 4).getUint32(0);
}

function parseSubnet(text: string): Subnet | undefined {
  const [, host = "", bits = ""] = /^([^/]*)\/(\d{1,2})$/.exec(text) ?? [];
  const address = parseIpv4(host);
  if (address === undefined || Number(bits) > 32) return undefined;
  const first = subnetStart(orderedNumber(address), Number(bits));
  const bytes = Uint8Array.of(first >>> 24, first >>> 16, first >>> 8, first);
  return { address: first, bits: Number(bits), name: `${formatIpv4(bytes)}/${Number(bits)}` };
}

/** An IPv4 address as a number, in the order in which subnets compare addresses; undefined for anything else. */
function orderedHost(host: string): number | undefined {
  const ipv4 = parseIpv4(host);
  return ipv4 && orderedNumber(ipv4);
}

/** First address of the subnet of so many bits that an address is in. */
function subnetStart(host: number, bits: number): number {
  const size = 2 ** (32 - bits);
  return Math.floor(host / size) * size;
}

/**
 * Bans of subnets, found by address with one look a length of prefix: whole lists of addresses are looked up, and
 * lists of bans may have thousands of entries.
 */
function createSubnetBans() {
  const byBits = new Map<number, Map<number, Ban>>();
  return {
    set({ address, bits }: Subnet, ban: Ban): void {
      const ofBits = byBits.get(bits) ?? new Map<number, Ban>();
      byBits.set(bits, ofBits.set(address, ban));
    },
    delete({ address, bits }: Subnet): void {
      const ofBits = byBits.get(bits);
      ofBits?.delete(address);
      if (ofBits?.size === 0) byBits.delete(bits);
    },
    /** When the last ban of a subnet with this address ends; 0 where there is none. */
    latestEnd(host: number): number {
      let latest = 0;
      for (const [bits, ofBits] of byBits) {
        latest = Math.max(latest, ofBits.get(subnetStart(host, bits))?.until ?? 0);
      }
      return latest;
    },
  };
}

const MIN_CLEANUP = 1000;

/** The IP address in a text, which may have a port, as connections are described; undefined for other texts. */
function hostOf(text: string): string | undefined {
  const plain = ipAddress(text, 0)?.host;
  if (plain !== undefined || !/[\]:]/.test(text)) return plain;
  try {
    const { host, port } = splitHostPort(text, 0);
    return ipAddress(host, port)?.host;
  } catch (error) {
    if (error instanceof BadAddress) return undefined;
    throw error;
  }
}

/** Creates an empty list of bans; `now` returns Unix seconds. */
export function createBans(now: () => number): Bans {
  const hosts = new Map<string, Ban>();
  const subnets = new Map<string, Ban & { readonly subnet: Subnet }>();
  const bansOfSubnets = createSubnetBans();
  /** Number of bans at which those that have ended are dropped: they may be of addresses that never come back. */
  let nextCleanup = MIN_CLEANUP;
  const listeners: Parameters<Bans["onBan"]>[0][] = [];
  const inForce = (ban: Ban) => ban.until > now();
  const dropSubnet = (subnet: Subnet) => {
    subnets.delete(subnet.name);
    bansOfSubnets.delete(subnet);
  };
  const dropEnded = () => {
    if (hosts.size + subnets.size < nextCleanup) return;
    for (const [host, ban] of hosts) if (!inForce(ban)) hosts.delete(host);
    for (const ban of subnets.values()) if (!inForce(ban)) dropSubnet(ban.subnet);
    nextCleanup = Math.max(MIN_CLEANUP, 2 * (hosts.size + subnets.size));
  };
  const setSubnet = (subnet: Subnet, until: number) => {
    const ban = { host: subnet.name, ip: 0, until, subnet };
    subnets.set(subnet.name, ban);
    bansOfSubnets.set(subnet, ban);
    for (const tell of listeners) {
      tell(({ host }) => {
        const ordered = orderedHost(host);
        return ordered !== undefined && subnetStart(ordered, subnet.bits) === subnet.address;
      });
    }
  };
  const setHost = (host: string, until: number) => {
    hosts.set(host, { host, ip: ipv4Number(host) ?? 0, until });
    for (const tell of listeners) tell((address) => address.host === host);
  };
  return {
    list() {
      const addresses = [...hosts.values()].filter(inForce).sort((a, b) => (a.host < b.host ? -1 : 1));
      const nets = [...subnets.values()].filter(inForce);
      return [...addresses, ...nets.map(({ host, ip, until }) => ({ host, ip, until }))];
    },
    set(text, seconds) {
      const subnet = parseSubnet(text);
      const host = subnet?.name ?? hostOf(text);
      if (host === undefined) return false;
      const until = seconds === "lift" ? 0 : now() + seconds;
      if (until <= now()) {
        if (subnet === undefined) hosts.delete(host);
        else dropSubnet(subnet);
        return true;
      }
      if (subnet === undefined) setHost(host, until);
      else setSubnet(subnet, until);
      dropEnded();
      return true;
    },
    secondsLeft(text) {
      const host = hostOf(text);
      if (host === undefined) return undefined;
      const own = hosts.get(host);
      if (own !== undefined && !inForce(own)) hosts.delete(host);
      const ordered = subnets.size === 0 ? undefined : orderedHost(host);
      const ofSubnets = ordered === undefined ? 0 : bansOfSubnets.latestEnd(ordered);
      return Math.max(0, Math.max(own?.until ?? 0, ofSubnets) - now());
    },
    isInUse: () => hosts.size + subnets.size > 0,
    count: () => hosts.size + subnets.size,
    onBan(listen) {
      listeners.push(listen);
    },
  };
}

/** The duration (seconds) of a permanent ban. */
export const PERMANENT_SECONDS = 2 ** 40;

/**
 * Bans the entries of a list: one address or subnet per line, `#` begins a comment. Returns the lines that are neither.
 * Source: node_server `handle_command_line`, --ban-list.
 */
export function banAll(bans: Bans, text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim());
  return lines.filter((line) => line !== "" && !bans.set(line, PERMANENT_SECONDS));
}
