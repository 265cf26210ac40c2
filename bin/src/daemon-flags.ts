import { networks } from "@anulo/protocol";
import { parseSocksProxy, type SocksProxy } from "@anulo/socks";
import {
  BadTlsSettings,
  type DaemonAddress,
  type NetworkName,
  readDaemonTls,
  readPem,
  type WalletServiceOptions,
} from "@anulo/wallet";
import { BadUsage, type FlagTable, throwUsage, type Values } from "./flags.ts";
import { isLoopback, tlsModes } from "./rpc-flags.ts";
import { checkPort, parseLogin } from "./service-flags.ts";

/** Flags about the node of a wallet, with the original's names. Source: wallet2.cpp `options`. */
export const daemonFlags = {
  "daemon-address": { kind: "text", value: "ADDRESS:PORT", help: "the node (127.0.0.1:18081)" },
  "daemon-host": { kind: "text", value: "ADDRESS", help: "the node, on its usual port or --daemon-port" },
  "daemon-port": { kind: "number", value: "PORT", help: "the node, on this machine or --daemon-host" },
  "daemon-login": { kind: "text", value: "USER[:PASSWORD]", help: "the node's HTTP digest login" },
  "daemon-ssl": {
    kind: "text",
    choices: tlsModes,
    help: "TLS to the node: certainly, never, or where it speaks it (autodetect)",
  },
  "daemon-ssl-private-key": { kind: "text", value: "FILE", help: "our key towards the node, PEM" },
  "daemon-ssl-certificate": { kind: "text", value: "FILE", help: "our certificate towards the node, PEM" },
  "daemon-ssl-ca-certificates": {
    kind: "text",
    value: "FILE",
    help: "certificates of the node, or of authorities for it, PEM; means --daemon-ssl enabled",
  },
  "daemon-ssl-allowed-fingerprints": {
    kind: "each",
    value: "SHA256",
    help: "take the node's certificate with this digest; means --daemon-ssl enabled",
  },
  "daemon-ssl-allow-any-cert": { kind: "switch", help: "take any certificate of the node" },
  "daemon-ssl-allow-chained": {
    kind: "switch",
    noEffect: "chains to the authorities are always taken",
  },
  proxy: {
    kind: "text",
    value: "[socks5://[USER:PASSWORD@]]ADDRESS:PORT",
    help: "SOCKS proxy to reach the node through",
  },
  "trusted-daemon": { kind: "switch", help: "the node is ours (so on this machine)" },
  "untrusted-daemon": { kind: "switch", help: "the node is not ours, wherever it is" },
  "allow-mismatched-daemon-version": {
    kind: "switch",
    help: "take blocks of other hard forks than the network has at their height",
  },
  offline: { kind: "switch", help: "ask no node, nor DNS" },
} as const satisfies FlagTable;

type Flags = Values<typeof daemonFlags>;

function urlOf(flags: Flags, network: NetworkName): URL {
  const { "daemon-address": address, "daemon-host": host, "daemon-port": port = 0 } = flags;
  if (address !== undefined && host !== undefined && port !== 0)
    throw new BadUsage("can't specify daemon host or port more than once");
  checkPort("daemon-port", port);
  const usual = networks[network].ports.rpc;
  const text = address ?? `${host ?? "127.0.0.1"}:${port || usual}`;
  try {
    const url = new URL(/^https?:\/\//.test(text) ? text : `http://${text}`);
    if (url.protocol === "http:" && !/:\d+\/?$/.test(text)) url.port = String(usual);
    return url;
  } catch {
    // The text is not printed, since it may contain a login.
    throw new BadUsage("--daemon-address must be ADDRESS:PORT");
  }
}

function proxyOf({ proxy: text }: Flags): SocksProxy | undefined {
  if (text === undefined) return undefined;
  const proxy = parseSocksProxy(text);
  if (proxy === undefined) throw new BadUsage("Invalid address specified for --proxy");
  return proxy;
}

/**
 * A proxy, whose operator sees the traffic, and required TLS each need a choice of accepted certificates, or an address
 * that is itself a key.
 */
function checkProxy(flags: Flags, url: URL): void {
  const isNamed =
    flags["daemon-ssl-allow-any-cert"] ||
    flags["daemon-ssl-ca-certificates"] !== undefined ||
    flags["daemon-ssl-allowed-fingerprints"].length > 0 ||
    /\.(?:onion|i2p)$/.test(url.hostname);
  const reason = flags.proxy !== undefined ? "proxy" : flags["daemon-ssl"] === "enabled" && "daemon-ssl";
  if (!reason || isNamed) return;
  throw new BadUsage(
    `Enabling --${reason} requires --daemon-ssl-allow-any-cert or --daemon-ssl-ca-certificates or ` +
      "--daemon-ssl-allowed-fingerprints or use of a .onion/.i2p domain",
  );
}

function tlsOf(flags: Flags, url: URL): Pick<DaemonAddress, "tls"> {
  const settings = {
    support: flags["daemon-ssl"] ?? "autodetect",
    allowAnyCertificate: flags["daemon-ssl-allow-any-cert"],
    fingerprints: flags["daemon-ssl-allowed-fingerprints"],
    authorities: flags["daemon-ssl-ca-certificates"] ?? "",
    privateKey: flags["daemon-ssl-private-key"] ?? "",
    certificate: flags["daemon-ssl-certificate"] ?? "",
  };
  try {
    return { tls: readDaemonTls(settings, { url: url.origin, readPem }) };
  } catch (error) {
    return throwUsage("--daemon-ssl-*", BadTlsSettings, error);
  }
}

/** The node, and whether it is trusted. Throws BadUsage. Source: wallet2.cpp `make_basic`. */
export function daemonOf(
  flags: Flags,
  network: NetworkName,
): Pick<WalletServiceOptions, "daemon" | "trustedDaemon"> {
  if (flags["trusted-daemon"] && flags["untrusted-daemon"])
    throw new BadUsage("--trusted-daemon and --untrusted-daemon are both seen, assuming untrusted");
  const url = urlOf(flags, network);
  checkProxy(flags, url);
  if (flags.offline) return { daemon: { url: "" }, trustedDaemon: flags["trusted-daemon"] };
  const { "daemon-login": login } = flags;
  const proxy = proxyOf(flags);
  return {
    daemon: {
      url: url.origin,
      ...tlsOf(flags, url),
      ...(login !== undefined && { login: parseLogin(login, "daemon-login") }),
      ...(proxy !== undefined && { proxy }),
      takesOtherForks: flags["allow-mismatched-daemon-version"],
    },
    trustedDaemon: flags["trusted-daemon"] || (!flags["untrusted-daemon"] && isLoopback(url.hostname)),
  };
}
