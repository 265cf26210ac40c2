import { setMaxListeners } from "node:events";
import { PROXY_TIMEOUT_MS, type SocksProxy } from "@anulo/socks";
import type { PeerAddress } from "./address.ts";
import type { Clock } from "./clock.ts";
import type { NetworkIo } from "./connection/network-io.ts";
import { DialFailed } from "./connection/tcp.ts";
import type { Transport } from "./connection/transport.ts";

/** Source: cryptonote_config.h `P2P_DEFAULT_CONNECTION_TIMEOUT`. */
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Opens connections, directly or through a proxy; each attempt has a timeout, and all are cancelled when the network
 * stops.
 */
export function createDial(parts: {
  wires: NetworkIo;
  clock: Clock;
  proxy: SocksProxy | undefined;
  stopped: AbortSignal;
}) {
  const { wires, clock, proxy, stopped } = parts;
  // Each attempt under way listens, and strangers decide how many there are: those who connect are called back.
  setMaxListeners(0, stopped);
  const usual = proxy === undefined ? CONNECT_TIMEOUT_MS : PROXY_TIMEOUT_MS;
  return async ({ host, port }: PeerAddress, timeoutMs: number = usual): Promise<Transport> => {
    if (stopped.aborted) throw new DialFailed("the node stops");
    const late = new AbortController();
    const cancel = clock.after(timeoutMs, () => late.abort());
    const giveUp = () => late.abort();
    stopped.addEventListener("abort", giveUp, { once: true });
    try {
      return await wires.dial({ host, port }, proxy, late.signal);
    } finally {
      cancel();
      stopped.removeEventListener("abort", giveUp);
    }
  };
}
