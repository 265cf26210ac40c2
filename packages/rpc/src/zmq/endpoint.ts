import type { ListenOptions } from "node:net";
import { networkInterfaces } from "node:os";

/** A text that names no place to publish at. */
export class BadEndpoint extends Error {
  override name = "BadEndpoint";
}

/** Where subscribers connect, and the text it was read from. */
export type ZmqEndpoint = { readonly text: string } & (
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  /** `path` of a socket in the file system; after a leading zero a name of Linux's abstract sockets. */
  | { readonly kind: "ipc"; readonly path: string }
);

/** The address of a network interface, where one has this name. */
function interfaceAddress(name: string): string | undefined {
  return networkInterfaces()[name]?.find(({ family }) => family === "IPv4")?.address;
}

/**
 * Reads `tcp://host:port` and `ipc://path`. The host is an address (IPv6 in brackets), a name, a network interface or
 * `*`; port `*` is a free one. Throws BadEndpoint. Source: zmq_tcp(7), zmq_ipc(7).
 */
export function parseZmqEndpoint(text: string): ZmqEndpoint {
  const [, path] = /^ipc:\/\/(.+)$/s.exec(text) ?? [];
  if (path !== undefined && path !== "*")
    return { text, kind: "ipc", path: path.startsWith("@") ? `\0${path.slice(1)}` : path };
  const [, bracketed, plain, digits] = /^tcp:\/\/(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5}|\*)$/.exec(text) ?? [];
  const address = bracketed ?? plain;
  const port = digits === "*" ? 0 : Number(digits);
  if (address === undefined || port > 65_535)
    throw new BadEndpoint(`not tcp://ip:port or ipc://path: ${text}`);
  const host = address === "*" ? "0.0.0.0" : (interfaceAddress(address) ?? address);
  return { text, kind: "tcp", host, port };
}

/** What a server of node:net listens with. */
export function listenOptions(endpoint: ZmqEndpoint): ListenOptions {
  return endpoint.kind === "ipc" ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
}
