/**
 * Any web page can have a browser send requests to a service on its user's machine. What pages may read is the
 * browser's affair (CORS); that they have things done is ours.
 */
import { isIP } from "node:net";
import type { RequestHead } from "./http/request-head.ts";

/** What a browser sends for a page of any origin without asking first. Source: Fetch standard, "CORS-safelisted". */
const UNASKED = /^(?:$|text\/plain\b|application\/x-www-form-urlencoded\b|multipart\/form-data\b)/i;

/**
 * Names whose address no stranger can choose, unlike those of the public DNS: of one label, as in containers, or
 * below a domain that is kept out of it. Source: RFC 6761, RFC 6762, RFC 7686, RFC 8375; ICANN on `internal`.
 */
const PRIVATE_NAME =
  /^[^.]+\.?$|(?:^|\.)(?:localhost|local|lan|home\.arpa|internal|test|example|onion|i2p)\.?$/i;

/** What a page was loaded from: its host as browsers write it; undefined for none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** A name whose address its owner can change to this machine's. */
function isRebindable(host: string): boolean {
  const name = host.replace(/:\d*$/, "").replace(/^\[|\]$/g, "");
  return name !== "" && isIP(name) === 0 && !PRIVATE_NAME.test(name);
}

/** Who may use a port from a browser. */
export type PageRules = {
  /** Origins whose pages may: exact texts, or `*` for all. */
  readonly origins: ReadonlySet<string>;
  readonly hasLogin: boolean;
  /** A port for anybody is reached by any name. */
  readonly restricted: boolean;
  /** What is asked for is a file of a page served here: the same for everybody, and nothing is done for it. */
  readonly isFile?: boolean;
};

/** Why a request is refused: it comes from a page that may not send it, or for a name that is not this service's. */
export type PageFault = "page" | "host";

/**
 * Whether a browser sent this for a page whose origin is not among those allowed, by any method: without having
 * asked us first, or, where no login keeps it out, for a page that gave its own name our address (DNS rebinding).
 * Such a page is of the same origin to its browser, which then sends neither `Origin` with GET nor, without TLS,
 * `Sec-Fetch-Site`: only `Host` tells. Pages served here are held to the same: they call their own origin, with a
 * type of content that no other page can send unasked.
 */
export function pageFaultOf(head: RequestHead, rules: PageRules): PageFault | undefined {
  const { origin, host, method } = head;
  const { origins } = rules;
  if (origins.has("*") || (origin !== undefined && origins.has(origin))) return undefined;
  if (host !== undefined && isStolenName(host, rules)) return "host";
  // Before a browser sends what it must ask for, it asks by OPTIONS.
  if (method === "OPTIONS") return undefined;
  if (isSentForOtherSite(head) && !(rules.isFile && isSentForOwnPage(head))) return "page";
  return undefined;
}

/** Browsers name the origin of scripts that are modules, even of the page's own. Source: HTML Standard, "fetch a module script". */
function isSentForOwnPage({ origin, host, fetchSite }: RequestHead): boolean {
  if (fetchSite !== undefined && fetchSite !== "same-origin") return false;
  return origin !== undefined && host !== undefined && hostOf(origin) === host.toLowerCase();
}

function isStolenName(host: string, { origins, hasLogin, restricted }: PageRules): boolean {
  if (hasLogin || restricted || !isRebindable(host)) return false;
  const asked = host.toLowerCase();
  for (const origin of origins) if (hostOf(origin) === asked) return false;
  return true;
}

/** `Sec-Fetch-Site` is `none` for an address that the user typed. Source: Fetch Metadata, section 2.3. */
function isSentForOtherSite({ origin, contentType = "", fetchSite }: RequestHead): boolean {
  if (fetchSite !== undefined && fetchSite !== "none" && fetchSite !== "same-origin") return true;
  return origin !== undefined && UNASKED.test(contentType);
}
