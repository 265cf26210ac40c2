import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { nodeTls } from "../loaded-later.ts";

/**
 * Which certificates of a service are accepted: any, one for its name by the system's authorities, or the listed ones.
 */
export type ServerTrust =
  | "anyone"
  | "system"
  | {
      /** PEM text of the authorities whose certificates are accepted, for whatever name. */
      readonly authorities?: string;
      /** SHA-256 (or SHA-1) of certificates that are accepted whoever signed them, in lower-case hexadecimal. */
      readonly fingerprints: readonly string[];
    };

/** How a client uses TLS. Survives structured cloning. Source: net_ssl.h `ssl_options_t`. */
export type ServerTls = {
  /** `autodetect`: TLS if the service supports it, with any certificate; an attacker on the path can prevent it. */
  readonly mode: "disabled" | "enabled" | "autodetect";
  readonly trust: ServerTrust;
  /** The client's own key and certificate, as PEM text. */
  readonly identity?: { readonly privateKey: string; readonly certificate: string };
};

/** The service's certificate is not accepted. */
class UntrustedCertificate extends Error {
  override name = "UntrustedCertificate";
}

function hasFingerprint({ raw }: { readonly raw?: Buffer }, fingerprints: readonly string[]): boolean {
  if (raw === undefined) return false;
  const digests = ["sha256", "sha1"].map((name) => createHash(name).update(raw).digest("hex"));
  return fingerprints.some((fingerprint) => digests.includes(fingerprint));
}

function isTrusted(socket: TLSSocket, trust: ServerTrust): boolean {
  if (trust === "anyone" || socket.authorized) return true;
  return trust !== "system" && hasFingerprint(socket.getPeerCertificate(), trust.fingerprints);
}

/** Throws an Error for keys and certificates that cannot be read or do not fit. */
export function checkTls({ identity, trust }: ServerTls): void {
  nodeTls().createSecureContext({
    ...(identity !== undefined && { key: identity.privateKey, cert: identity.certificate }),
    ...(typeof trust === "object" && trust.authorities !== undefined && { ca: trust.authorities }),
  });
}

/** Starts TLS on a connection. Rejects, and closes it, if that fails or the certificate is not accepted. */
export async function secure(
  stream: Duplex,
  { host, tls, signal }: { readonly host: string; readonly tls: ServerTls; readonly signal: AbortSignal },
): Promise<TLSSocket> {
  const { identity, trust } = tls;
  const authorities = typeof trust === "object" ? (trust.authorities ?? []) : undefined;
  const socket = nodeTls().connect({
    socket: stream,
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.2",
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(trust === "system" ? { host } : { checkServerIdentity: () => undefined }),
    ...(authorities !== undefined && { ca: authorities }),
    ...(identity !== undefined && { key: identity.privateKey, cert: identity.certificate }),
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => {
      signal.removeEventListener("abort", giveUp);
      socket.destroy();
      stream.destroy();
      reject(error);
    };
    const giveUp = () => fail(new Error("gave up"));
    signal.addEventListener("abort", giveUp, { once: true });
    socket.on("error", fail);
    socket.once("close", () => fail(new Error("closed during the handshake")));
    socket.once("secureConnect", () => {
      if (!isTrusted(socket, trust)) return fail(new UntrustedCertificate("the certificate is not trusted"));
      signal.removeEventListener("abort", giveUp);
      resolve();
    });
    if (signal.aborted) giveUp();
  });
  return socket;
}
