import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { PeerOptions } from "@anulo/node";
import {
  anonymityZones,
  BadAddress,
  blocklistNames,
  type Endpoint,
  findAddresses,
  type PeerAddress,
  type PeerStorage,
  seedNodesOf,
} from "@anulo/p2p";
import { type NetworkName, networks } from "@anulo/protocol";
import { parseSocksProxy, type SocksProxy } from "@anulo/socks";
import { BadUsage, type FlagTable, throwUsage, type Values } from "./flags.ts";
import { checkPort } from "./service-flags.ts";
import { readTextFile } from "./text-file.ts";

/** Flags about other nodes, with the original's names. */
export const peerFlags = {
  offline: { kind: "switch", help: "talk to no peers" },
  "p2p-bind-ip": { kind: "text", value: "ADDRESS", help: "where peers are accepted (0.0.0.0)" },
  "p2p-bind-port": { kind: "number", value: "PORT", help: "port for peers (18080)" },
  "p2p-use-ipv6": { kind: "switch", help: "also IPv6 peers" },
  "p2p-bind-ipv6-address": { kind: "text", value: "ADDRESS", help: "where IPv6 peers are accepted (::)" },
  "p2p-bind-port-ipv6": { kind: "number", value: "PORT", help: "port for IPv6 peers (18080)" },
  "p2p-ignore-ipv4": { kind: "switch", help: "do without IPv4 where it cannot be bound" },
  "p2p-external-port": { kind: "number", value: "PORT", help: "port to announce to peers, behind a router" },
  "hide-my-port": { kind: "switch", help: "do not tell peers where to reach this node" },
  "allow-local-ip": { kind: "switch", help: "take addresses of private networks for peers" },
  "add-peer": { kind: "each", value: "ADDRESS:PORT", help: "a peer to know" },
  "add-priority-node": { kind: "each", value: "ADDRESS:PORT", help: "a peer to stay connected to" },
  "add-exclusive-node": { kind: "each", value: "ADDRESS:PORT", help: "a peer to speak to, and to no other" },
  "seed-node": { kind: "each", value: "ADDRESS:PORT", help: "a node to ask for peers" },
  "out-peers": { kind: "text", value: "N", help: "connections opened, at most (12)" },
  "in-peers": { kind: "text", value: "N", help: "connections accepted, at most (1000)" },
  "max-connections-per-ip": { kind: "number", value: "N", help: "connections accepted of one address (1)" },
  "limit-rate": { kind: "text", value: "KB", help: "kB per second, either way" },
  "limit-rate-up": { kind: "text", value: "KB", help: "kB per second sent (8192)" },
  "limit-rate-down": { kind: "text", value: "KB", help: "kB per second received (32768)" },
  "ban-list": { kind: "text", value: "FILE", help: "addresses and subnets to shut out, one a line" },
  "enable-dns-blocklist": {
    kind: "switch",
    help: "shut out addresses that most publishers of a list in DNS agree on (mainnet)",
  },
  proxy: {
    kind: "text",
    value: "[socks5://[USER:PASSWORD@]]ADDRESS:PORT",
    help: "SOCKS proxy to reach peers through",
  },
  "proxy-allow-dns-leaks": { kind: "switch", help: "look names up outside the proxy" },
  "tx-proxy": {
    kind: "each",
    value: "tor|i2p,[socks5://[USER:PASSWORD@]]ADDRESS:PORT[,N][,disable_noise]",
    help: "SOCKS proxy for own transactions; a comma in its login is written %2C",
  },
  "anonymous-inbound": {
    kind: "each",
    value: "ADDRESS,[IP:]PORT[,N]",
    help: "our Tor or I2P address and where it is delivered",
  },
  "public-node": { kind: "switch", help: "tell peers of the restricted RPC port, for anybody to use" },
  "pad-transactions": { kind: "switch", help: "hide the size of relayed transactions" },
  "no-sync": { kind: "switch", help: "do not fetch blocks from peers" },
  "no-igd": { kind: "switch", noEffect: "no port is ever mapped" },
  igd: {
    kind: "text",
    choices: ["disabled", "enabled", "delayed"],
    noEffect: "no port is ever mapped",
  },
} as const satisfies FlagTable;

type PeerFlags = Values<typeof peerFlags>;

/** A number, or undefined if it is left out or -1, which stands for the default. Throws BadUsage. */
function countOf(
  flags: PeerFlags,
  name: keyof PeerFlags & ("out-peers" | "in-peers" | `limit-rate${string}`),
) {
  const text = flags[name];
  if (text === undefined || text === "-1") return undefined;
  const isRate = name.startsWith("limit-rate");
  const isCount = /^\d{1,9}$/.test(text) && (Number(text) > 0 || !isRate);
  if (!isCount) throw new BadUsage(`--${name} needs a whole number${isRate ? " above 0" : ""}: ${text}`);
  return Number(text);
}

/** Resolves with the result of `read`; a bad address becomes bad usage of the flag. */
async function ofFlag<T>(name: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    return throwUsage(`--${name}`, BadAddress, error);
  }
}

async function addressesOf(
  flags: PeerFlags,
  name: "add-peer" | "add-priority-node" | "add-exclusive-node" | "seed-node",
  defaultPort: number,
): Promise<PeerAddress[]> {
  const canLookUp = mayLookUp(flags);
  const find = (text: string) => ofFlag(name, () => findAddresses(text, { defaultPort, canLookUp }));
  return (await Promise.all(flags[name].map(find))).flat();
}

/** Behind a proxy names are not looked up: a lookup would reveal which nodes we want to reach. */
function mayLookUp(flags: PeerFlags): boolean {
  return flags.proxy === undefined || flags["proxy-allow-dns-leaks"];
}

function listenersOf(flags: PeerFlags, defaultPort: number): Endpoint[] {
  const port = checkPort("p2p-bind-port", flags["p2p-bind-port"] ?? defaultPort);
  const port6 = checkPort("p2p-bind-port-ipv6", flags["p2p-bind-port-ipv6"] ?? defaultPort);
  const ipv4 = { host: flags["p2p-bind-ip"] ?? "0.0.0.0", port, isOptional: flags["p2p-ignore-ipv4"] };
  const ipv6 = { host: flags["p2p-bind-ipv6-address"] ?? "::", port: port6 };
  return flags["p2p-use-ipv6"] ? [ipv4, ipv6] : [ipv4];
}

function usesBlocklist(flags: PeerFlags, network: NetworkName): boolean {
  return flags["enable-dns-blocklist"] && network === "mainnet" && mayLookUp(flags);
}

/** Peer lists in a file, which is replaced as a whole. */
function fileStorage(path: string): PeerStorage {
  return {
    load() {
      try {
        return readFileSync(path);
      } catch {
        return undefined;
      }
    },
    save(bytes) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(`${path}.new`, bytes, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
  };
}

async function nodesOf(flags: PeerFlags, network: NetworkName): Promise<PeerOptions["nodes"]> {
  const { p2p: port } = networks[network].ports;
  const { addresses, names } = seedNodesOf(network);
  return {
    add: await addressesOf(flags, "add-peer", port),
    priority: await addressesOf(flags, "add-priority-node", port),
    exclusive: await addressesOf(flags, "add-exclusive-node", port),
    seed: [...(await addressesOf(flags, "seed-node", port)), ...addresses],
    seedNames: names,
  };
}

function advertisedPortOf(flags: PeerFlags): number | undefined {
  if (flags["hide-my-port"]) return 0;
  return checkPort("p2p-external-port", flags["p2p-external-port"] ?? 0) || undefined;
}

interface PeerSurroundings {
  readonly network: NetworkName;
  /** The file of the peer lists. */
  readonly listsFile: string;
  /** Port of restricted RPC, if there is one. */
  readonly restrictedPort: number | undefined;
}

/** The error does not contain the text, which may hold a password. */
function proxyOf(text: string): SocksProxy {
  const proxy = parseSocksProxy(text);
  if (proxy === undefined) throw new BadUsage("--proxy must be [socks5://[USER:PASSWORD@]]ADDRESS:PORT");
  return proxy;
}

/** Returns the peer options of the flags. Throws BadUsage. */
export async function peerOptionsOf(
  flags: PeerFlags,
  { network, listsFile, restrictedPort }: PeerSurroundings,
): Promise<PeerOptions> {
  if (flags["public-node"] && restrictedPort === undefined) {
    throw new BadUsage("--public-node needs --rpc-restricted-bind-port");
  }
  const rate = countOf(flags, "limit-rate");
  const { proxy, "ban-list": banList } = flags;
  const parseZones = () => anonymityZones(flags["tx-proxy"], flags["anonymous-inbound"]);
  return {
    listen: listenersOf(flags, networks[network].ports.p2p),
    advertisedPort: advertisedPortOf(flags),
    rpcPort: flags["public-node"] ? restrictedPort : 0,
    maxOut: countOf(flags, "out-peers"),
    maxIn: countOf(flags, "in-peers"),
    maxPerIp: flags["max-connections-per-ip"],
    limitUp: countOf(flags, "limit-rate-up") ?? rate,
    limitDown: countOf(flags, "limit-rate-down") ?? rate,
    nodes: await nodesOf(flags, network),
    proxy: proxy === undefined ? undefined : proxyOf(proxy),
    canLookUp: mayLookUp(flags),
    zones: await ofFlag("tx-proxy", parseZones),
    banList: banList === undefined ? undefined : readTextFile("ban-list", banList),
    blocklistNames: usesBlocklist(flags, network) ? blocklistNames : [],
    allowLocal: flags["allow-local-ip"],
    ipv6: flags["p2p-use-ipv6"],
    storage: fileStorage(listsFile),
    padTransactions: flags["pad-transactions"],
    noSync: flags["no-sync"],
  };
}
