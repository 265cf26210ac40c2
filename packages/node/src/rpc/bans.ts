import { ipv4Number } from "@anulo/rpc";

/** An address or subnet that may not connect until a moment (Unix seconds). */
export interface Ban {
  /** As text: `a.b.c.d` or `a.b.c.d/n`. */
  readonly host: string;
  /** The address as a number, 0 for a subnet. */
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
}

interface Subnet {
  readonly address: number;
  readonly bits: number;
}

function parseSubnet(text: string): Subnet | undefined {
  const [host = "", bits = "", ...more] = text.split("/");
  const address = ipv4Number(host);
  if (address === undefined || more.length > 0 || !/^\d{1,2}$/.test(bits) || Number(bits) > 32)
    return undefined;
  return { address, bits: Number(bits) };
}

/** The address with its bytes in the order they are written, as a subnet compares them. */
function written(address: number): number {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(address);
  return bytes.readUInt32BE();
}

function contains({ address, bits }: Subnet, other: number): boolean {
  const size = 2 ** (32 - bits);
  return Math.floor(written(address) / size) === Math.floor(written(other) / size);
}

/** Starts with nobody banned; `now` in Unix seconds. */
export function createBans(now: () => number): Bans {
  const hosts = new Map<string, Ban>();
  const subnets = new Map<string, Ban & { readonly subnet: Subnet }>();
  const inForce = (ban: Ban) => ban.until > now();
  return {
    list() {
      const addresses = [...hosts.values()].filter(inForce).sort((a, b) => (a.host < b.host ? -1 : 1));
      return [...addresses, ...[...subnets.values()].filter(inForce)];
    },
    set(host, seconds) {
      const subnet = host.includes("/") ? parseSubnet(host) : undefined;
      const address = ipv4Number(host);
      if (subnet === undefined && address === undefined) return false;
      const until = seconds === "lift" ? 0 : now() + seconds;
      const table: Map<string, Ban> = subnet === undefined ? hosts : (subnets as Map<string, Ban>);
      if (seconds === "lift") table.delete(host);
      else if (subnet === undefined) hosts.set(host, { host, ip: address!, until });
      else subnets.set(host, { host, ip: 0, until, subnet });
      return true;
    },
    secondsLeft(text) {
      const address = ipv4Number(text);
      if (address === undefined) return undefined;
      const covering = [...subnets.values()].filter(({ subnet }) => contains(subnet, address));
      const ends = [hosts.get(text), ...covering].map((ban) => ban?.until ?? 0);
      return Math.max(0, Math.max(...ends) - now());
    },
  };
}
