import { Resolver } from "node:dns/promises";
import type { Socket } from "node:net";
import { connectThrough, SocksFailed, type SocksProxy } from "@anulo/socks";
import type { PeerAddress } from "../address.ts";
import type { Endpoint } from "../options.ts";
import { DialFailed, dialTcp, listenTcp, type OpenPort, socketTransport } from "./tcp.ts";
import type { Transport } from "./transport.ts";

/** The network functions in use: real sockets, or a replacement in tests. */
export interface NetworkIo {
  listen(endpoint: Endpoint, accept: (transport: Transport, from: PeerAddress) => void): Promise<OpenPort>;
  /** Connects to `target`, through the proxy `via` if there is one. Throws DialFailed; `signal` cancels the attempt. */
  dial(target: Endpoint, via: SocksProxy | undefined, signal: AbortSignal): Promise<Transport>;
  /** Looks up the IPv4 addresses of a name; empty if it has none or no server answers. */
  lookUp(name: string): Promise<string[]>;
  /** Looks up the TXT records of a name; empty if it has none or no server answers. */
  lookUpTexts(name: string): Promise<string[]>;
}

const LOOKUP_TIMEOUT_MS = 5000;

async function dialSocks(proxy: SocksProxy, target: Endpoint, signal: AbortSignal): Promise<Socket> {
  try {
    return await connectThrough(proxy, target, signal);
  } catch (error) {
    throw error instanceof SocksFailed ? new DialFailed(error.message) : error;
  }
}

/** The sockets and resolver of this machine. */
export const systemNetworkIo: NetworkIo = {
  listen: listenTcp,
  async dial(target, via, signal) {
    const socket = via === undefined ? dialTcp(target, signal) : dialSocks(via, target, signal);
    return socketTransport(await socket);
  },
  async lookUp(name) {
    try {
      return await new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: 1 }).resolve4(name);
    } catch {
      return [];
    }
  },
  async lookUpTexts(name) {
    try {
      const records = await new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: 1 }).resolveTxt(name);
      return records.map((parts) => parts.join(""));
    } catch {
      return [];
    }
  },
};
