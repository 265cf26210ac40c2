import { HEADER_LINES } from "../server/http/request-head.ts";

/** The properties of a response that are known before its body. */
export type ResponseHead = {
  readonly status: number;
  /** Size of the body in bytes; undefined if it is chunked, or ends with the connection. */
  readonly length: number | undefined;
  /** The body ends where the service closes the connection. */
  readonly endsWithConnection: boolean;
  /** Another request may follow on the connection. */
  readonly keepsOpen: boolean;
  /** What the service requests for authentication. */
  readonly challenges: readonly string[];
};

const STATUS_LINE = /^HTTP\/1\.([01]) ([0-9]{3})(?: [\t -~\x80-\xff]*)?$/;
const LENGTH = /^[0-9]{1,15}$/;

const CONTENT_LENGTH = /\r\ncontent-length:([^\r]*)/gi;
const TRANSFER_ENCODING = /\r\ntransfer-encoding:([^\r]*)/gi;
const CONNECTION = /\r\nconnection:([^\r]*)/gi;
const CHALLENGE = /\r\nwww-authenticate:([^\r]*)/gi;

const valuesOf = (lines: string, header: RegExp): string[] =>
  Array.from(lines.matchAll(header), ([, value]) => value!.trim());

/**
 * Parses the lines before a body, without the empty one that ends them; undefined if they are not an HTTP/1 response,
 * or if the end of its body is ambiguous. Source: RFC 9112.
 */
export function parseResponseHead(text: string): ResponseHead | undefined {
  const lineEnd = text.indexOf("\r\n");
  const line = STATUS_LINE.exec(lineEnd === -1 ? text : text.slice(0, lineEnd));
  const lines = lineEnd === -1 ? "" : text.slice(lineEnd);
  if (line === null || !HEADER_LINES.test(lines)) return undefined;
  const status = Number(line[2]);
  const framing = framingOf(status, lines);
  if (framing === undefined) return undefined;
  const tokens = valuesOf(lines, CONNECTION).flatMap((value) => value.toLowerCase().split(/[\t ,]+/));
  const keepsOpen = !tokens.includes("close") && (line[1] === "1" || tokens.includes("keep-alive"));
  return {
    status,
    ...framing,
    keepsOpen: keepsOpen && !framing.endsWithConnection,
    challenges: valuesOf(lines, CHALLENGE),
  };
}

type Framing = Pick<ResponseHead, "length" | "endsWithConnection">;

/** Source: RFC 9112, section 6.3. */
function framingOf(status: number, lines: string): Framing | undefined {
  const [lengths, encodings] = [valuesOf(lines, CONTENT_LENGTH), valuesOf(lines, TRANSFER_ENCODING)];
  if (status < 200 || status === 204 || status === 304) return { length: 0, endsWithConnection: false };
  if (encodings.length > 0) {
    const isChunked = encodings.length === 1 && encodings[0]!.toLowerCase() === "chunked";
    return isChunked && lengths.length === 0 ? { length: undefined, endsWithConnection: false } : undefined;
  }
  if (lengths.length === 0) return { length: undefined, endsWithConnection: true };
  const isClear = lengths.length === 1 && LENGTH.test(lengths[0]!);
  return isClear ? { length: Number(lengths[0]), endsWithConnection: false } : undefined;
}
