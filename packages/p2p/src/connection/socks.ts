import type { Socket } from "node:net";
import type { Endpoint } from "../options.ts";
import { DialFailed, dialTcp } from "./tcp.ts";

/** Source: cryptonote_config.h `P2P_DEFAULT_SOCKS_CONNECT_TIMEOUT`. */
export const SOCKS_TIMEOUT_MS = 45_000;

/**
 * Opens a connection through a SOCKS proxy, which looks names up itself. Version 4a as the original speaks
 * it; version 5 for IPv6, which the other cannot name. Throws DialFailed. Source: net_node.cpp `socks_connect_internal`.
 */
export async function dialSocks(proxy: Endpoint, target: Endpoint, signal: AbortSignal): Promise<Socket> {
  // Few nodes have a proxy: it is loaded by those that do.
  const { SocksClient } = await import("socks");
  const toProxy = await dialTcp(proxy, signal);
  const giveUp = () => toProxy.destroy();
  signal.addEventListener("abort", giveUp, { once: true });
  // It waits paused; the client begins to listen in this same turn.
  toProxy.resume();
  try {
    const { socket } = await SocksClient.createConnection({
      proxy: { ...proxy, type: target.host.includes(":") ? 5 : 4 },
      command: "connect",
      destination: target,
      existing_socket: toProxy,
      timeout: SOCKS_TIMEOUT_MS,
    });
    return socket;
  } catch (error) {
    toProxy.destroy();
    throw new DialFailed(error instanceof Error ? error.message : "no connection through the proxy");
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
