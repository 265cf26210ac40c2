import { connect, createServer, isIPv6, type Server, type Socket } from "node:net";
import type { PeerAddress } from "../address.ts";
import { ipAddress } from "../address.ts";
import type { Endpoint } from "../options.ts";
import type { Transport } from "./transport.ts";

/** A connection that could not be opened. */
export class DialFailed extends Error {
  override name = "DialFailed";
}

/** Wraps a connected socket as a transport. */
export function socketTransport(socket: Socket): Transport {
  socket.setNoDelay(true);
  // Until the transport is started an error must not end the process; the close that follows is reported later.
  socket.on("error", () => {});
  return {
    start({ received, drained, closed }) {
      socket.on("data", received).on("drain", drained).on("end", closed).on("close", closed);
      if (socket.destroyed) queueMicrotask(closed);
      else socket.resume();
    },
    write: (bytes) => socket.write(bytes),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.destroy(),
  };
}

/** Opens a connection to an IP address. Throws DialFailed; `signal` cancels the attempt. */
export function dialTcp({ host, port }: Endpoint, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (reason: string) => {
      signal.removeEventListener("abort", giveUp);
      socket.destroy();
      reject(new DialFailed(reason));
    };
    const giveUp = () => fail("gave up");
    signal.addEventListener("abort", giveUp, { once: true });
    socket.once("error", (error) => fail(error.message));
    socket.once("connect", () => {
      signal.removeEventListener("abort", giveUp);
      socket.pause();
      resolve(socket);
    });
    if (signal.aborted) giveUp();
  });
}

/** A port that accepts connections. */
export interface OpenPort {
  readonly port: number;
  close(): Promise<void>;
}

type Accept = (transport: Transport, from: PeerAddress) => void;

function accepted(socket: Socket, accept: Accept): void {
  const from = ipAddress(socket.remoteAddress?.replace(/%.*/, "") ?? "", socket.remotePort ?? 0);
  if (from === undefined) socket.destroy();
  else accept(socketTransport(socket), from);
}

/** Listens on an IP address; port 0 means any free port. Rejects where that is not possible. */
export async function listenTcp({ host, port }: Endpoint, accept: Accept): Promise<OpenPort> {
  const server: Server = createServer({ pauseOnConnect: true }, (socket) => accepted(socket, accept));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, ipv6Only: isIPv6(host) }, resolve);
  });
  // A connection that cannot be accepted, for example because no file descriptor is free, must not end the process.
  server.on("error", () => {});
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was opened");
  return {
    port: address.port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
