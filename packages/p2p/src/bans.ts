import { ipAddress, type PeerAddress } from "./address.ts";
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
   * Bans for some seconds; 0 seconds or `lift` ends a ban. Returns false for text that is neither address nor subnet.
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
  const size = 2 ** (32 - Number(bits));
  const first = Math.floor(orderedNumber(address) / size) * size;
  const bytes = Uint8Array.of(first >>> 24, first >>> 16, first >>> 8, first);
  return { address: first, bits: Number(bits), name: `${formatIpv4(bytes)}/${Number(bits)}` };
}

/** An IPv4 address as a number, in the order in which subnets compare addresses; undefined for anything else. */
function orderedHost(host: string): number | undefined {
  const ipv4 = parseIpv4(host);
  return ipv4 && orderedNumber(ipv4);
}

function contains({ address, bits }: Subnet, host: number | undefined): boolean {
  const size = 2 ** (32 - bits);
  return host !== undefined && Math.floor(host / size) === Math.floor(address / size);
}

/** Creates an empty list of bans; `now` returns Unix seconds. */
export function createBans(now: () => number): Bans {
  const hosts = new Map<string, Ban>();
  const subnets = new Map<string, Ban & { readonly subnet: Subnet }>();
  const listeners: Parameters<Bans["onBan"]>[0][] = [];
  const inForce = (ban: Ban) => ban.until > now();
  const setSubnet = (subnet: Subnet, until: number) => {
    subnets.set(subnet.name, { host: subnet.name, ip: 0, until, subnet });
    for (const tell of listeners) tell((address) => contains(subnet, orderedHost(address.host)));
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
      const host = subnet?.name ?? ipAddress(text, 0)?.host;
      if (host === undefined) return false;
      const until = seconds === "lift" ? 0 : now() + seconds;
      if (until <= now()) (subnet === undefined ? hosts : subnets).delete(host);
      else if (subnet === undefined) setHost(host, until);
      else setSubnet(subnet, until);
      return true;
    },
    secondsLeft(text) {
      const host = ipAddress(text, 0)?.host;
      if (host === undefined) return undefined;
      const own = hosts.get(host);
      if (own !== undefined && !inForce(own)) hosts.delete(host);
      let until = own?.until ?? 0;
      const ordered = subnets.size === 0 ? undefined : orderedHost(host);
      for (const [name, ban] of subnets) {
        if (!inForce(ban)) subnets.delete(name);
        else if (ban.until > until && contains(ban.subnet, ordered)) until = ban.until;
      }
      return Math.max(0, until - now());
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
