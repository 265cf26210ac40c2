/**
 * Any web page can make a browser send requests to a service on its user's machine. What pages may read is the
 * browser's concern (CORS); which actions they may cause is ours.
 */
import { isIP } from "node:net";
import type { RequestHead } from "./http/request-head.ts";

/**
 * Types of content that a browser sends for a page of any origin without preflight. Source: Fetch standard,
 * "CORS-safelisted".
 */
const UNASKED = /^(?:$|text\/plain\b|application\/x-www-form-urlencoded\b|multipart\/form-data\b)/i;

/** Names that browsers never ask a DNS server about. Source: RFC 6761 6.3, RFC 7686 2. */
const OWN_NAME = /(?:^|\.)(?:localhost|onion)\.?$/i;

/**
 * Names that the public DNS does not know: of one label, as in containers, or below a domain that is reserved. The DNS
 * of the network that a machine is in may still give them any address. Source: RFC 6761, RFC 6762, RFC 8375; ICANN on
 * `internal`.
 */
const PRIVATE_NAME = /^[^.]+\.?$|\.(?:local|lan|home\.arpa|internal|test|example|i2p)\.?$/i;

/** The host of an origin, as browsers write it; undefined if it has none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Whether a page may have a name with the address of this machine, by a DNS server that its author controls. */
function isRebindable(host: string, head: RequestHead): boolean {
  const name = host.replace(/:\d*$/, "").replace(/^\[|\]$/g, "");
  if (name === "" || isIP(name) !== 0 || OWN_NAME.test(name)) return false;
  return !PRIVATE_NAME.test(name) || isOfBrowser(head);
}

/**
 * Whether a browser sent this, whatever the page has it send: pages can change `Accept-Language`, but not leave it out,
 * and cannot set `Sec-Fetch-Mode`, which browsers only send together with `Sec-Fetch-Site`. Source: Fetch standard,
 * "HTTP-network-or-cache fetch", "forbidden request-header"; Fetch Metadata, section 2.
 */
function isOfBrowser({ acceptLanguage, fetchMode, fetchSite, origin }: RequestHead): boolean {
  if (origin !== undefined || fetchSite !== undefined) return true;
  // The fetch of Node.js sends both, too.
  return acceptLanguage !== undefined && fetchMode === undefined;
}

/** Which pages may use a port from a browser. */
export type PageRules = {
  /** Origins whose pages are allowed: exact texts, or `*` for all. */
  readonly origins: ReadonlySet<string>;
  readonly hasLogin: boolean;
  /** A port for strangers may be reached by any name. */
  readonly restricted: boolean;
  /** The request is for a file of a page served here: it is the same for all callers and causes no action. */
  readonly isFile?: boolean;
};

/**
 * Why a request is rejected: it comes from a page that may not send it, or for a host name that is not this service's.
 */
export type PageFault = "page" | "host";

/**
 * Whether a browser sent this for a page whose origin is not allowed, by any method: without preflight, or, if no login
 * protects the port, for a page that gave its own name our address (DNS rebinding). Such a page is of the same origin
 * to its browser, which then sends neither `Origin` with GET nor, without TLS, `Sec-Fetch-Site`: only `Host` reveals
 * it. Pages served here obey the same rules: they call their own origin, with a type of content that no other page can
 * send without preflight.
 */
export function pageFaultOf(head: RequestHead, rules: PageRules): PageFault | undefined {
  const { origin, host, method } = head;
  const { origins } = rules;
  if (origins.has("*") || (origin !== undefined && origins.has(origin))) return undefined;
  if (host !== undefined && isStolenName(host, head, rules)) return "host";
  // Browsers send preflight requests as OPTIONS.
  if (method === "OPTIONS") return undefined;
  if (isSentForOtherSite(head) && !(rules.isFile && isSentForOwnPage(head))) return "page";
  return undefined;
}

/**
 * Browsers send the origin for scripts that are modules, even of the page's own. Source: HTML Standard, "fetch a module
 * script".
 */
function isSentForOwnPage({ origin, host, fetchSite }: RequestHead): boolean {
  if (fetchSite !== undefined && fetchSite !== "same-origin") return false;
  return origin !== undefined && host !== undefined && hostOf(origin) === host.toLowerCase();
}

function isStolenName(
  host: string,
  head: RequestHead,
  { origins, hasLogin, restricted }: PageRules,
): boolean {
  if (hasLogin || restricted || !isRebindable(host, head)) return false;
  const requestHost = host.toLowerCase();
  for (const origin of origins) if (hostOf(origin) === requestHost) return false;
  return true;
}

/** `Sec-Fetch-Site` is `none` for an address that the user typed. Source: Fetch Metadata, section 2.3. */
function isSentForOtherSite({ origin, contentType = "", fetchSite }: RequestHead): boolean {
  if (fetchSite !== undefined && fetchSite !== "none" && fetchSite !== "same-origin") return true;
  return origin !== undefined && UNASKED.test(contentType);
}
