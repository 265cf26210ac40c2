import { ipAddress, type PeerAddress } from "./address.ts";
import { formatIpv4, parseIpv4 } from "./ip.ts";
import { ipv4Number } from "./records.ts";

/** An address or subnet that may not connect until a moment (Unix seconds). */
export interface Ban {
  /** As text: an address, or `a.b.c.d/n`. */
  readonly host: string;
  /** An IPv4 address as a number, first byte lowest; 0 for anything else. */
  readonly ip: number;
  readonly until: number;
}

/** Addresses and subnets that are shut out. */
export interface Bans {
  /** Those in force: addresses in order, then subnets. */
  list(): Ban[];
  /** Bans for some seconds; 0 seconds or `lift` ends a ban. False for text that is neither address nor subnet. */
  set(host: string, seconds: number | "lift"): boolean;
  /** Seconds an address remains banned, 0 when it is not; undefined for text that is no address. */
  secondsLeft(address: string): number | undefined;
  /** Whether anybody may be banned; where nobody is, there is nothing to look up. */
  isInUse(): boolean;
  /** How many there are, with those that have ended and were not looked up since. */
  count(): number;
  /** Called after each ban with what tells whether it covers an address. */
  onBan(listen: (covers: (address: PeerAddress) => boolean) => void): void;
}

interface Subnet {
  /** Its first address, the first byte highest, as a subnet compares them. */
  readonly address: number;
  readonly bits: number;
  /** `a.b.c.d/n` of its first address. */
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

/** An IPv4 address as a subnet compares it; undefined for anything else. */
function orderedHost(host: string): number | undefined {
  const ipv4 = parseIpv4(host);
  return ipv4 && orderedNumber(ipv4);
}

function contains({ address, bits }: Subnet, host: number | undefined): boolean {
  const size = 2 ** (32 - bits);
  return host !== undefined && Math.floor(host / size) === Math.floor(address / size);
}

/** Starts with nobody banned; `now` in Unix seconds. */
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

/** The longest ban there is, in seconds: for good. */
export const PERMANENT_SECONDS = 2 ** 40;

/**
 * Bans what a list names: an address or subnet a line, `#` begins a remark. Returns the lines that name neither.
 * Source: node_server `handle_command_line`, --ban-list.
 */
export function banAll(bans: Bans, text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim());
  return lines.filter((line) => line !== "" && !bans.set(line, PERMANENT_SECONDS));
}
