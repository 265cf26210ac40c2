import { connect as connectTcp } from "node:net";
import type { Duplex } from "node:stream";
import { type ServerTls, secure } from "./server-tls.ts";

/** Opens the connection to the service, in place of TCP; aborted by the signal. */
export type Connect = (
  target: { readonly host: string; readonly port: number },
  signal: AbortSignal,
) => Promise<Duplex>;

/** Opens the connections of one client. */
export interface Dialer {
  readonly dial: Connect;
  /**
   * To be called after a call that failed without a response: whether the service uses TLS, which is then used from now
   * on.
   */
  readonly reconsider: (target: { readonly host: string; readonly port: number }) => Promise<boolean>;
}

/** Milliseconds after which a service that does not respond to a TLS handshake is assumed not to support it. */
const HANDSHAKE_MS = 5_000;

export const overTcp: Connect = ({ host, port }, signal) =>
  new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port, noDelay: true });
    const giveUp = () => void socket.destroy(new Error("gave up"));
    signal.addEventListener("abort", giveUp, { once: true });
    const fail = (error: Error) => {
      signal.removeEventListener("abort", giveUp);
      reject(error);
    };
    socket.once("error", fail);
    socket.once("connect", () => {
      signal.removeEventListener("abort", giveUp);
      socket.removeListener("error", fail);
      resolve(socket);
    });
    if (signal.aborted) giveUp();
  });

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * Opens connections by `connect` (TCP if left out), with TLS as configured. With `autodetect`, TLS is tried first on
 * the way to another machine, as in the original; on this machine, where no other party can listen, it is tried last.
 * Source: net_helper.h `connect`.
 */
export function createDialer({ tls, connect = overTcp }: { tls: ServerTls; connect?: Connect }): Dialer {
  let mode = tls.mode === "autodetect" ? undefined : tls.mode;

  const withTls = async (...[target, signal]: Parameters<Connect>): Promise<Duplex> =>
    await secure(await connect(target, signal), { host: target.host, tls, signal });

  /** Uses TLS if the service supports it. */
  const tryTls = async (...[target, signal]: Parameters<Connect>): Promise<Duplex | undefined> => {
    const stream = await connect(target, signal);
    const soon = AbortSignal.any([signal, AbortSignal.timeout(HANDSHAKE_MS)]);
    try {
      return await secure(stream, { host: target.host, tls: { ...tls, trust: "anyone" }, signal: soon });
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  };

  const dial: Connect = async (target, signal) => {
    if (mode === "enabled") return await withTls(target, signal);
    if (mode === "disabled" || isThisMachine(target.host)) return await connect(target, signal);
    const secured = await tryTls(target, signal);
    mode = secured === undefined ? "disabled" : "enabled";
    return secured ?? (await connect(target, signal));
  };

  return {
    dial: tls.mode === "autodetect" ? dial : mode === "enabled" ? withTls : connect,
    reconsider: async (target) => {
      if (tls.mode !== "autodetect" || mode !== undefined) return false;
      const secured = await tryTls(target, AbortSignal.timeout(HANDSHAKE_MS)).catch(() => undefined);
      if (secured === undefined) return false;
      secured.destroy();
      mode = "enabled";
      return true;
    },
  };
}
