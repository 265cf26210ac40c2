/** The properties of a request that are known before its body. */
export type RequestHead = {
  readonly method: string;
  /** The path with the query, as the caller wrote it. */
  readonly target: string;
  /** Size of the body in bytes; undefined if it is chunked. */
  readonly length: number | undefined;
  /** The caller requested that the connection be closed. */
  readonly saysClose: boolean;
  /** No other request may follow: the caller requested it, or uses HTTP/1.0. */
  readonly isLast: boolean;
  readonly expectsContinue: boolean;
  readonly authorization: string | undefined;
  readonly origin: string | undefined;
  readonly contentType: string | undefined;
  readonly host: string | undefined;
  /** Relation of this service to the page for which a browser sends the request. */
  readonly fetchSite: string | undefined;
  /** Sent by browsers with every request, and by hardly any program. */
  readonly acceptLanguage: string | undefined;
  /** Sent by browsers to trustworthy origins only, and by the `fetch` of Node.js. */
  readonly fetchMode: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The id by which the caller finds this request in our log. */
  readonly requestId: string | undefined;
  readonly accept: string | undefined;
  readonly lastEventId: string | undefined;
};

const REQUEST_LINE = /^([A-Z]+) ([!-~\x80-\xff]+) HTTP\/1\.([01])$/;
/** Names are tokens right before the colon, values have no control characters, no line continues another. */
const HEADER_LINES = /^(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~\x80-\xff]*)*$/;
const LENGTH = /^[0-9]{1,15}$/;

type Known = {
  length?: number | "bad";
  encoding?: string;
  connection?: string;
  expect?: string;
  authorization?: string;
  origin?: string;
  contentType?: string;
  host?: string;
  fetchSite?: string;
  acceptLanguage?: string;
  fetchMode?: string;
  idempotencyKey?: string;
  requestId?: string;
  accept?: string;
  lastEventId?: string;
};

/**
 * Parses the lines before a body, without the empty one that ends them; undefined if they are not an HTTP/1 request, or
 * if the end of its body is ambiguous. Source: RFC 9112.
 */
export function parseRequestHead(text: string): RequestHead | undefined {
  const lineEnd = text.indexOf("\r\n");
  const line = REQUEST_LINE.exec(lineEnd === -1 ? text : text.slice(0, lineEnd));
  if (line === null) return undefined;
  const fields: Known = {};
  if (lineEnd !== -1 && !readHeaders(text.slice(lineEnd), fields)) return undefined;
  const { length = 0, encoding, connection = "" } = fields;
  if (length === "bad") return undefined;
  // What is chunked in HTTP/1.0 may have been passed on by a program that does not know chunks.
  const isForbidden = fields.length !== undefined || line[3] === "0";
  if (encoding !== undefined && (encoding.toLowerCase() !== "chunked" || isForbidden)) return undefined;
  const saysClose = connection !== "" && hasToken(connection, "close");
  return {
    method: line[1]!,
    target: line[2]!,
    length: encoding === undefined ? length : undefined,
    saysClose,
    isLast: saysClose || (line[3] === "0" && !hasToken(connection, "keep-alive")),
    expectsContinue: fields.expect?.toLowerCase() === "100-continue",
    authorization: fields.authorization,
    origin: fields.origin,
    contentType: fields.contentType,
    host: fields.host,
    fetchSite: fields.fetchSite,
    acceptLanguage: fields.acceptLanguage,
    fetchMode: fields.fetchMode,
    idempotencyKey: fields.idempotencyKey,
    requestId: fields.requestId,
    accept: fields.accept,
    lastEventId: fields.lastEventId,
  };
}

/** False if the lines are not valid headers. */
function readHeaders(lines: string, fields: Known): boolean {
  if (!HEADER_LINES.test(lines)) return false;
  let at = 2;
  while (at <= lines.length) {
    const next = lines.indexOf("\r\n", at);
    const end = next === -1 ? lines.length : next;
    const colon = lines.indexOf(":", at);
    if (!readHeader(lines.slice(at, colon), withoutSpaces(lines.slice(colon + 1, end)), fields)) return false;
    at = end + 2;
  }
  return true;
}

const isSpace = (code: number) => code === 0x20 || code === 0x09;

/**
 * A value without the spaces and tabs around it. `trim` takes more for space, such as the byte A0, with which programs
 * between a caller and us read another value.
 */
function withoutSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/**
 * False if a header occurs twice that decides about the body, the host, or the authentication. Most names differ in
 * length, which is compared first.
 */
function readHeader(name: string, value: string, fields: Known): boolean {
  switch (name.length) {
    case 4:
      if (!/^host$/i.test(name)) return true;
      if (fields.host !== undefined) return false;
      fields.host = value;
      return true;
    case 6:
      if (/^origin$/i.test(name)) fields.origin = value;
      else if (/^expect$/i.test(name)) fields.expect = value;
      else if (/^accept$/i.test(name)) fields.accept = joined(fields.accept, value);
      return true;
    case 10:
      if (/^connection$/i.test(name)) fields.connection = joined(fields.connection, value);
      return true;
    case 12:
      if (/^content-type$/i.test(name)) fields.contentType = value;
      else if (/^x-request-id$/i.test(name)) fields.requestId = value;
      return true;
    case 13:
      if (/^authorization$/i.test(name)) fields.authorization ??= value;
      if (!/^last-event-id$/i.test(name)) return true;
      if (fields.lastEventId !== undefined) return false;
      fields.lastEventId = value;
      return true;
    case 14:
      if (/^sec-fetch-site$/i.test(name)) fields.fetchSite = value.toLowerCase();
      else if (/^sec-fetch-mode$/i.test(name)) fields.fetchMode = value;
      if (!/^content-length$/i.test(name)) return true;
      if (fields.length !== undefined) return false;
      fields.length = LENGTH.test(value) ? Number(value) : "bad";
      return true;
    case 15:
      if (/^accept-language$/i.test(name)) fields.acceptLanguage = value;
      if (!/^idempotency-key$/i.test(name)) return true;
      if (fields.idempotencyKey !== undefined) return false;
      fields.idempotencyKey = value;
      return true;
    case 17:
      if (!/^transfer-encoding$/i.test(name)) return true;
      if (fields.encoding !== undefined) return false;
      fields.encoding = value;
      return true;
    default:
      return true;
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`;
}

function hasToken(list: string, token: string): boolean {
  return list.split(",").some((part) => part.trim().toLowerCase() === token);
}
