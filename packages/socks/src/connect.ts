import { connect, type Socket } from "node:net";
import type { SocksProxy } from "./proxy.ts";

/** The host to connect to: a name, which the proxy looks up, or an IP address. */
export type Target = { readonly host: string; readonly port: number };

/** A connection through a proxy failed; the message has the reason. */
export class SocksFailed extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "SocksFailed";
  }
}

/** Source: cryptonote_config.h `P2P_DEFAULT_SOCKS_CONNECT_TIMEOUT`. */
export const PROXY_TIMEOUT_MS = 45_000;

function dial({ host, port }: SocksProxy, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (reason: string) => {
      signal.removeEventListener("abort", giveUp);
      socket.destroy();
      reject(new SocksFailed(reason));
    };
    const giveUp = () => fail("gave up");
    signal.addEventListener("abort", giveUp, { once: true });
    socket.once("error", (error) => fail(error.message));
    socket.once("connect", () => {
      signal.removeEventListener("abort", giveUp);
      resolve(socket);
    });
    if (signal.aborted) giveUp();
  });
}

/**
 * Opens a connection through a SOCKS proxy, which looks names up itself. Bytes that the target sends early are lost
 * unless the socket is read from in the turn of the event loop in which this resolves. Rejects with SocksFailed, also
 * when `signal` aborts. Source: net/socks.cpp.
 */
export async function connectThrough(
  proxy: SocksProxy,
  target: Target,
  signal: AbortSignal,
): Promise<Socket> {
  // Few users have a proxy, so the library is loaded only when one is used.
  const { SocksClient } = await import("socks");
  const toProxy = await dial(proxy, signal);
  const giveUp = () => toProxy.destroy();
  signal.addEventListener("abort", giveUp, { once: true });
  const { host, port, login } = proxy;
  try {
    const { socket } = await SocksClient.createConnection({
      proxy: {
        host,
        port,
        type: proxy.version ?? (target.host.includes(":") ? 5 : 4),
        ...(login !== undefined && { userId: login.user, password: login.password }),
      },
      command: "connect",
      destination: target,
      existing_socket: toProxy,
      timeout: PROXY_TIMEOUT_MS,
    });
    return socket;
  } catch (error) {
    toProxy.destroy();
    if (signal.aborted) throw new SocksFailed("gave up");
    throw new SocksFailed(error instanceof Error ? error.message : "no connection through the proxy");
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
