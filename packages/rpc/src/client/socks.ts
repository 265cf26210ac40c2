import { isIP } from "node:net";
import type { Connect } from "./dial.ts";

/** A SOCKS proxy. */
export type SocksProxy = { readonly host: string; readonly port: number };

/** `[address:]port`, an IP address of this machine when left out; undefined for anything else. */
export function parseSocksProxy(text: string): SocksProxy | undefined {
  const [, given, digits] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const host = given?.replace(/^\[(.*)\]$/, "$1") ?? "127.0.0.1";
  const port = Number(digits);
  return isIP(host) !== 0 && port > 0 && port <= 65535 ? { host, port } : undefined;
}

/**
 * Opens connections through a SOCKS proxy, which looks names up itself: version 4a, and 5 for IPv6, which the other
 * cannot name. Source: net/socks.cpp, net/socks_connect.cpp.
 */
export function throughProxy(proxy: SocksProxy): Connect {
  return async (target, signal) => {
    // Loaded when first needed: it takes a thread longer to read than all the rest of its code.
    const { SocksClient } = await import("socks");
    signal.throwIfAborted();
    const opening = SocksClient.createConnection({
      proxy: { ...proxy, type: target.host.includes(":") ? 5 : 4 },
      command: "connect",
      destination: target,
    });
    // The client of SOCKS knows no signal: what comes too late is closed.
    return await new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error("gave up"));
      signal.addEventListener("abort", giveUp, { once: true });
      opening.then(
        ({ socket }) => {
          signal.removeEventListener("abort", giveUp);
          if (signal.aborted) socket.destroy();
          else resolve(socket);
        },
        (error: Error) => reject(error),
      );
    });
  };
}
