/** How a wallet uses TLS to its node, from what callers and command lines specify. */
import { checkTls, type ServerTls, type ServerTrust } from "@anulo/rpc";

/** Named as in `set_daemon` and on the command line; "" where nothing is specified. */
export type DaemonTlsSettings = {
  /** `disabled`, `enabled` or `autodetect`. */
  readonly support: string;
  readonly allowAnyCertificate: boolean;
  /** SHA-256 or SHA-1, hexadecimal. */
  readonly fingerprints: readonly string[];
  /** Paths of PEM files. */
  readonly authorities: string;
  readonly privateKey: string;
  readonly certificate: string;
};

/** TLS settings that contradict each other or cannot be read; the message is for the caller. */
export class BadTlsSettings extends Error {
  override name = "BadTlsSettings";
}

export type ReadPem = (file: string) => string;

function readFingerprint(text: string): string {
  const digits = text.replaceAll(":", "").toLowerCase();
  if (!/^(?:[0-9a-f]{64}|[0-9a-f]{40})$/.test(digits))
    throw new BadTlsSettings("SHA-256 fingerprint should be 32 bytes long.");
  return digits;
}

function trustOf({ allowAnyCertificate, fingerprints, authorities }: DaemonTlsSettings, readPem: ReadPem) {
  if (allowAnyCertificate) return "anyone";
  if (fingerprints.length === 0 && authorities === "") return undefined;
  return {
    fingerprints: fingerprints.map(readFingerprint),
    ...(authorities !== "" && { authorities: readPem(authorities) }),
  } satisfies ServerTrust;
}

function identityOf({ privateKey, certificate }: DaemonTlsSettings, readPem: ReadPem) {
  if ((privateKey === "") !== (certificate === ""))
    throw new BadTlsSettings("private key and certificate must be either both given or both empty");
  if (privateKey === "") return {};
  return { identity: { privateKey: readPem(privateKey), certificate: readPem(certificate) } };
}

function isHiddenService(host: string): boolean {
  return /\.(?:onion|i2p)$/i.test(host);
}

/**
 * Reads the TLS settings for the node at `url`. Naming certificates turns TLS on, unless it is disabled; and `enabled`
 * requires named certificates, an explicit wish to accept any, or an address that is itself a key. Throws
 * BadTlsSettings.
 * Source: wallet2.cpp `make_basic`; wallet_rpc_server.cpp `on_set_daemon`.
 */
export function readDaemonTls(
  settings: DaemonTlsSettings,
  { url, readPem }: { readonly url: string; readonly readPem: ReadPem },
): ServerTls {
  const { support } = settings;
  if (support !== "disabled" && support !== "enabled" && support !== "autodetect")
    throw new BadTlsSettings("Invalid ssl support mode");
  if (support === "disabled") return { mode: "disabled", trust: "anyone" };
  const trust = trustOf(settings, readPem);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (support === "enabled" && trust === undefined && !isHiddenService(address?.hostname ?? ""))
    throw new BadTlsSettings("SSL is enabled but no user certificate or fingerprints were provided");
  const isCertain = support === "enabled" || typeof trust === "object" || address?.protocol === "https:";
  const tls: ServerTls = {
    mode: isCertain ? "enabled" : "autodetect",
    trust: trust ?? "anyone",
    ...identityOf(settings, readPem),
  };
  try {
    checkTls(tls);
  } catch (error) {
    throw new BadTlsSettings(`keys or certificates cannot be used: ${(error as Error).message}`);
  }
  return tls;
}
