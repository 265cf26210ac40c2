import { parseSocksProxy, type SocksProxy } from "@anulo/socks";
import { BadAddress, ipAddress, parsePeerAddress, splitHostPort } from "./address.ts";
import type { AnonymityZone, Endpoint } from "./options.ts";

/** Parses `ip:port`. Throws BadAddress. */
export function parseEndpoint(text: string): Endpoint {
  const { host, port } = splitHostPort(text, 0);
  const address = ipAddress(host, port);
  if (address === undefined || port === 0) throw new BadAddress(`not an address and port: ${text}`);
  return { host: address.host, port };
}

/** Parses a proxy; the error does not contain the text, which may hold a password. */
function parseProxy(text: string): SocksProxy {
  const proxy = parseSocksProxy(text);
  if (proxy === undefined) throw new BadAddress("not a SOCKS proxy");
  return proxy;
}

function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count === 0) throw new BadAddress("not a number of connections");
  return count;
}

/**
 * Parses `tor|i2p,proxy[,max_connections][,disable_noise]`, with the proxy as `parseSocksProxy` reads it. Throws
 * BadAddress. Source: net_node.cpp `get_proxies`.
 */
function parseTxProxy(text: string): AnonymityZone {
  const [zone, proxy = "", ...more] = text.split(",");
  if (zone !== "tor" && zone !== "i2p") throw new BadAddress("neither tor nor i2p before the first comma");
  if (more.length > 2) throw new BadAddress(`too many commas after the proxy of ${zone}`);
  const counts = more.filter((word) => word !== "disable_noise").map(parseCount);
  return {
    zone,
    proxy: parseProxy(proxy),
    noise: !more.includes("disable_noise"),
    ...(counts.length > 0 && { maxOut: counts.at(-1)! }),
  };
}

/**
 * Parses `address,[bind-ip:]port[,max_connections]`. Throws BadAddress. Source: net_node.cpp `get_anonymous_inbounds`.
 */
function parseAnonymousInbound(text: string): AnonymityZone {
  const [ours = "", listen = "", count, ...more] = text.split(",");
  if (more.length > 0) throw new BadAddress(`too many commas: ${text}`);
  const address = parsePeerAddress(ours);
  if (address.kind !== "tor" && address.kind !== "i2p") throw new BadAddress(`not a hidden address: ${ours}`);
  const endpoint = parseEndpoint(/^\d+$/.test(listen) ? `127.0.0.1:${listen}` : listen);
  const maxIn = count === undefined ? {} : { maxIn: parseCount(count) };
  return { zone: address.kind, inbound: { address, listen: endpoint, ...maxIn } };
}

/**
 * Joins the options of each anonymity zone. Throws BadAddress where they contradict each other. Source: node_server
 * `handle_command_line`.
 */
export function anonymityZones(txProxies: readonly string[], inbounds: readonly string[]): AnonymityZone[] {
  const zones = new Map<string, AnonymityZone>();
  for (const zone of txProxies.map(parseTxProxy)) {
    if (zones.has(zone.zone)) throw new BadAddress(`two proxies for ${zone.zone}`);
    zones.set(zone.zone, zone);
  }
  if (inbounds.length > 0 && zones.size === 0) {
    throw new BadAddress("an anonymous inbound address needs a proxy to send own transactions through");
  }
  for (const inbound of inbounds.map(parseAnonymousInbound)) {
    const existing = zones.get(inbound.zone);
    if (existing?.inbound !== undefined) throw new BadAddress(`two inbound addresses for ${inbound.zone}`);
    zones.set(inbound.zone, { ...existing, ...inbound });
  }
  return [...zones.values()];
}
