/**
 * Any web page can have a browser send requests to a service on its user's machine. What pages may read is the
 * browser's affair (CORS); that they have things done is ours.
 */
import { isIP } from "node:net";
import type { RequestHead } from "./http/request-head.ts";

/** What a browser sends for a page of any origin without asking first. Source: Fetch standard, "CORS-safelisted". */
const UNASKED = /^(?:$|text\/plain\b|application\/x-www-form-urlencoded\b|multipart\/form-data\b)/i;

/** What a page was loaded from: its host as browsers write it; undefined for none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** A name whose address its owner can change to this machine's. */
function isRebindable(host: string): boolean {
  const name = host.replace(/:\d*$/, "").replace(/^\[|\]$/g, "");
  return isIP(name) === 0 && !/(?:^|\.)localhost$/i.test(name);
}

/**
 * Whether a page whose origin is not among those allowed sent this: without the browser having asked, or, where no
 * login keeps it out, as a page that gave its own name our address (DNS rebinding). No pages are served here.
 */
export function isOfForeignPage(
  { origin, contentType = "", host = "" }: RequestHead,
  { origins, hasLogin }: { readonly origins: ReadonlySet<string>; readonly hasLogin: boolean },
): boolean {
  if (origin === undefined || origins.has("*") || origins.has(origin)) return false;
  if (UNASKED.test(contentType)) return true;
  return !hasLogin && hostOf(origin) === host.toLowerCase() && isRebindable(host);
}
