import { isIP } from "node:net";

/** A SOCKS proxy, at an IP address. */
export type SocksProxy = {
  readonly host: string;
  readonly port: number;
  /** If 5, only version 5 is used; if left out, 4a, and 5 where 4a cannot name the target. */
  readonly version?: 5;
  /** At most 255 bytes each. Only version 5 has a login. */
  readonly login?: { readonly user: string; readonly password: string };
};

/** For version 4, 4a is used, which has the same messages for IPv4. */
const schemes = new Set(["", "socks", "socks4", "socks4a", "socks5"]);
/** One byte holds the length of a name or a password. Source: RFC 1929. */
const MAX_LOGIN_BYTES = 255;

function loginOf(text: string): SocksProxy["login"] | undefined {
  const colon = text.indexOf(":");
  const parts = colon === -1 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  try {
    const [user = "", password = ""] = parts.map(decodeURIComponent);
    const isShort = [user, password].every((part) => Buffer.byteLength(part) <= MAX_LOGIN_BYTES);
    return isShort ? { user, password } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses `[scheme://][user[:password]@]address:port`: an IP address, version 6 in brackets; a login, percent-encoded,
 * only with `socks5`. Returns undefined for anything else. Source: net/parse.cpp `socks::endpoint::get`.
 */
export function parseSocksProxy(text: string): SocksProxy | undefined {
  const [, scheme = "", loginText = "", bracketed, plain, digits] =
    /^(?:(\w*):\/\/)?(?:([^@/]*)@)?(?:\[([^@/[\]]+)\]|([^@/:[\]]+)):(\d{1,5})(?:\/.*)?$/s.exec(text) ?? [];
  const host = bracketed ?? plain ?? "";
  const port = Number(digits);
  const isAddress = isIP(host) === (bracketed === undefined ? 4 : 6);
  if (!schemes.has(scheme) || !isAddress || !(port > 0 && port <= 65535)) return undefined;
  const login = loginOf(loginText);
  if (login === undefined) return undefined;
  const hasLogin = login.user !== "" || login.password !== "";
  if (scheme === "socks5") return { host, port, version: 5, ...(hasLogin && { login }) };
  return hasLogin ? undefined : { host, port };
}
