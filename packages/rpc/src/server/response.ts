import type { Answer } from "./answer.ts";
import type { ResponseHold } from "./caller-share.ts";
import type { PageFault } from "./foreign-page.ts";
import type { ByteStream, HttpAnswer } from "./http/http-answer.ts";
import type { RequestHead } from "./http/request-head.ts";

/** Reasons as the original programs spell them. */
const reasons: Readonly<Record<Answer["status"], string>> = {
  200: "Ok",
  400: "Bad request",
  403: "Forbidden",
  404: "Not found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

const UNAUTHORIZED =
  "<html><head><title>Unauthorized Access</title></head><body><h1>401 Unauthorized</h1></body></html>";

/** Origins whose scripts may read responses: exact texts, or `*` for all. */
export type Origins = ReadonlySet<string>;

type Heading = {
  readonly status: string;
  /** If left out, the body lasts until the connection ends. */
  readonly length?: number;
  readonly type?: string;
  readonly closes: boolean;
  readonly origins: Origins;
  readonly more?: string;
};

/** Headers of every response, in the order of the original programs. Source: recordings `node_http`. */
function heading(head: RequestHead, { status, length, type, closes, origins, more = "" }: Heading): string {
  const typed = type === undefined ? "" : `Content-Type: ${type}\r\n`;
  const counted = length === undefined ? "" : `Content-Length: ${length}\r\n`;
  const close = closes ? "Connection: close\r\n" : "";
  const shared = head.origin === undefined ? "" : sharing(head, head.origin, origins);
  return `HTTP/1.1 ${status}\r\nServer: Epee-based\r\n${counted}${typed}Last-Modified: ${dateNow()}\r\nAccept-Ranges: bytes\r\n${close}${shared}${more}\r\n`;
}

/** Those of the original, and those that only this service has a use for. */
const ALLOWED_HEADERS = "Content-Type, Authorization, X-Requested-With, Idempotency-Key, Last-Event-ID";

/** The headers with which a script of an allowed origin may read the response. Source: http_protocol_handler.inl. */
function sharing({ method }: RequestHead, origin: string, origins: Origins): string {
  if (!origins.has("*") && !origins.has(origin)) return "";
  const allowed = method === "OPTIONS" ? ALLOWED_HEADERS : undefined;
  const headers = [
    `Access-Control-Allow-Origin: ${origin}`,
    "Access-Control-Expose-Headers: www-authenticate",
    ...(allowed === undefined ? [] : [`Access-Control-Allow-Headers: ${allowed}`]),
    "Access-Control-Allow-Methods: POST, PUT, GET, OPTIONS",
  ];
  return headers.map((header) => `${header}\r\n`).join("");
}

let dateSecond = 0;
let dateText = "";

/** The HTTP date, formatted once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** A response as HTTP, with the object that holds its memory. */
export function httpAnswer(
  head: RequestHead,
  { status, type, body, headers: more = "" }: Answer,
  origins: Origins,
  hold?: ResponseHold,
): HttpAnswer {
  const closes = head.saysClose || status === 413;
  const line = `${status} ${reasons[status]}`;
  const facts = { status: line, length: body.length, type, closes, origins, more };
  return { head: heading(head, facts), body, closes, hold };
}

/** A stream of events as HTTP: not buffered by proxies, and sent until the connection ends. */
export function streamAnswer(head: RequestHead, stream: ByteStream, origins: Origins): HttpAnswer {
  const more = "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n";
  const facts = { status: `200 ${reasons[200]}`, type: "text/event-stream", closes: true, origins, more };
  return { head: heading(head, facts), body: "", closes: true, stream };
}

/** The response after which a connection carries another protocol. */
export function switchAnswer(switchTo: NonNullable<HttpAnswer["switchTo"]>): HttpAnswer {
  const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: anulo-reads\r\n\r\n";
  return { head, body: "", closes: false, switchTo };
}

/** The response to a browser's preflight request for another origin. */
export function optionsAnswer(head: RequestHead, origins: Origins): HttpAnswer {
  const closes = head.saysClose;
  return { head: heading(head, { status: "200 OK", length: 0, closes, origins }), body: "", closes };
}

/** The response that requests credentials. */
export function challengeAnswer(
  head: RequestHead,
  challenges: readonly string[],
  origins: Origins,
): HttpAnswer {
  const closes = head.saysClose;
  const more = challenges.map((challenge) => `WWW-authenticate: ${challenge}\r\n`).join("");
  const facts = { status: "401 Unauthorized", length: UNAUTHORIZED.length, type: "text/html", closes };
  return { head: heading(head, { ...facts, origins, more }), body: UNAUTHORIZED, closes };
}

const forbidden: Readonly<Record<PageFault, string>> = {
  page: "Forbidden: the origin of this page is not among the allowed ones\n",
  host:
    "Forbidden: any web page could have the name in the header Host. Use the IP address of this service, set a " +
    "login, or allow the name by --rpc-access-control-origins http://NAME:PORT\n",
};

/** The response to a request that a browser may have sent for a web page without permission. */
export function forbiddenAnswer(head: RequestHead, fault: PageFault, origins: Origins): HttpAnswer {
  const body = forbidden[fault];
  const facts = { status: "403 Forbidden", length: body.length, type: "text/plain" };
  return { head: heading(head, { ...facts, closes: true, origins }), body, closes: true };
}
