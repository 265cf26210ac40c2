import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import { nodeTls } from "../../loaded-later.ts";
import type { Opener } from "../http/listener.ts";
import { createIdentity, type Identity } from "./self-signed.ts";

/** How a service uses TLS. Source: rpc_args.cpp, net_ssl.cpp. */
export type TlsOptions = {
  /** `enabled`: TLS only; `autodetect`: the first byte of a connection decides. */
  readonly mode: "enabled" | "autodetect";
  /** If left out, a key is generated at the first connection, with a self-signed certificate. */
  readonly identity?: Identity;
  /** Which clients may connect; any client if left out. */
  readonly clients?: {
    /** PEM text of the authorities whose certificates are accepted. */
    readonly authorities?: string;
    /** SHA-256 of certificates that are accepted whoever signed them, in lower-case hexadecimal. */
    readonly fingerprints: readonly string[];
  };
};

/** First byte of a TLS connection: a handshake record. Source: RFC 8446, section 5.1. */
const HANDSHAKE = 0x16;

type Open = Parameters<Opener>[1];

/**
 * Starts TLS on sockets of one port; a caller that takes longer than `slowMs` for it is cut off. Throws an Error for
 * keys and certificates that do not fit.
 */
export function createTlsOpener({ mode, identity, clients }: TlsOptions, slowMs: number): Opener {
  // Errors are thrown now, not when the first caller connects.
  if (identity !== undefined || clients?.authorities !== undefined) {
    nodeTls().createSecureContext({
      ...(identity !== undefined && { key: identity.privateKey, cert: identity.certificate }),
      ...(clients?.authorities !== undefined && { ca: clients.authorities }),
    });
  }
  let server: Server | undefined;
  const start = (open: Open): Server => {
    const { privateKey: key, certificate: cert } = identity ?? createIdentity(Date.now());
    const created = nodeTls().createServer({
      key,
      cert,
      minVersion: "TLSv1.2",
      handshakeTimeout: slowMs,
      allowHalfOpen: true,
      requestCert: clients !== undefined,
      rejectUnauthorized: false,
      ...(clients?.authorities !== undefined && { ca: clients.authorities }),
    });
    created.on("secureConnection", (socket) => {
      if (clients === undefined || isWelcome(socket, clients.fingerprints)) open(socket);
      else socket.destroy();
    });
    created.on("tlsClientError", (_error, socket) => socket.destroy());
    return created;
  };
  const secure = (socket: Socket, open: Open): void => {
    server ??= start(open);
    server.emit("connection", socket);
  };
  return (socket, open) => {
    if (mode === "enabled") secure(socket, open);
    else
      byFirstByte(socket, slowMs, {
        secure: () => secure(socket, open),
        plain: (firstBytes) => open(socket, firstBytes),
      });
  };
}

function byFirstByte(
  socket: Socket,
  slowMs: number,
  { secure, plain }: { readonly secure: () => void; readonly plain: (firstBytes: Buffer) => void },
): void {
  const cut = (): void => {
    socket.destroy();
  };
  socket.setTimeout(slowMs, cut);
  socket.once("error", cut);
  socket.once("end", cut);
  socket.once("data", (firstBytes: Buffer) => {
    socket.setTimeout(0);
    socket.removeListener("timeout", cut);
    socket.removeListener("error", cut);
    socket.removeListener("end", cut);
    if (firstBytes[0] !== HANDSHAKE) {
      plain(firstBytes);
      return;
    }
    socket.pause();
    socket.unshift(firstBytes);
    secure();
  });
}

function isWelcome(socket: TLSSocket, fingerprints: readonly string[]): boolean {
  if (socket.authorized) return true;
  const { raw } = socket.getPeerCertificate();
  if (raw === undefined) return false;
  return fingerprints.includes(createHash("sha256").update(raw).digest("hex"));
}
