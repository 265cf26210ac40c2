import type { Endpoint } from "@anulo/p2p";
import type { Login, ServerTls } from "@anulo/rpc";
import { parseSocksProxy, type SocksProxy } from "@anulo/socks";

/** Which node to ask while this one is behind. */
export interface BootstrapChoice {
  /** `host:port`, also as an http or https address; "auto": public nodes of the peer lists; "": none. */
  readonly address: string;
  readonly login?: Login | undefined;
  /** A SOCKS proxy, as `parseSocksProxy` reads it; "" for none. */
  readonly proxy?: string | undefined;
}

/** A choice that cannot be followed; the message says why. */
export class BadBootstrap extends Error {
  override name = "BadBootstrap";
}

/** A choice as it will be followed. */
export interface ReadChoice {
  /** The one node to ask; undefined: public nodes. */
  readonly node: Endpoint | undefined;
  readonly login: Login | undefined;
  readonly proxy: SocksProxy | undefined;
  readonly tls: ServerTls;
}

/** The parsed choice, undefined for none. Throws BadBootstrap. */
export function readChoice(choice: BootstrapChoice): ReadChoice | undefined {
  const { address, proxy = "" } = choice;
  if (address === "") return undefined;
  const node = address === "auto" ? undefined : readAddress(address);
  // Whose name and password these are nobody can know who does not know the node.
  const login = node === undefined ? undefined : choice.login;
  return { node, login, proxy: readProxy(proxy), tls: tlsOf(address) };
}

/**
 * As the address says, else TLS where it is spoken. Nodes sign their certificates themselves, and what this one
 * says is not trusted anyway. Source: http_client.h `set_server`.
 */
function tlsOf(address: string): ServerTls {
  const scheme = /^https?:/i.exec(address)?.[0].toLowerCase();
  const mode = scheme === "https:" ? "enabled" : scheme === "http:" ? "disabled" : "autodetect";
  return { mode, trust: "anyone" };
}

/** The port must be part of the text. */
function readAddress(text: string): Endpoint {
  const [, bracketed, named, digits] =
    /^(?:https?:\/\/)?(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,253})):(\d{1,5})\/?$/i.exec(text) ?? [];
  const host = bracketed ?? named;
  const port = Number(digits);
  if (host === undefined || port === 0 || port > 65535) {
    // Not shown: it may hold a login.
    throw new BadBootstrap("not host:port of a node");
  }
  return { host, port };
}

function readProxy(text: string): SocksProxy | undefined {
  if (text === "") return undefined;
  const proxy = parseSocksProxy(text);
  if (proxy === undefined) throw new BadBootstrap("not a SOCKS proxy");
  return proxy;
}

/** `host:port`, IPv6 in brackets. */
export function endpointText({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
