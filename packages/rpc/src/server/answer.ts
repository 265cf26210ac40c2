import type { PageType } from "../pages.ts";
import { BytePieces } from "../schema/byte-pieces.ts";

/** A byte string (each character is one byte) or bytes, in pieces if there are many. */
export type Body = string | Buffer | BytePieces;

/** The response to a caller, before it becomes HTTP. */
export type Answer = {
  readonly status: 200 | 400 | 403 | 404 | 405 | 409 | 410 | 413 | 500 | 503;
  readonly type:
    | "application/json"
    | "application/octet-stream"
    | "text/plain"
    | "text/plain; version=0.0.4"
    | PageType;
  readonly body: Body;
  /** Header lines beside those of every response, each with its line end. */
  readonly headers?: string;
};

/** A response of JSON, as a byte string or bytes. */
export function jsonAnswer(body: Body): Answer {
  return { status: 200, type: "application/json", body };
}

/** A response of bytes, whose pieces must not change until they are sent. */
export function binaryAnswer(pieces: readonly Uint8Array[]): Answer {
  const buffers = pieces.map((piece) => Buffer.from(piece.buffer, piece.byteOffset, piece.length));
  const body = buffers.length === 1 ? buffers[0]! : new BytePieces(buffers);
  return { status: 200, type: "application/octet-stream", body };
}

export const notFound: Answer = { status: 404, type: "text/plain", body: "" };
export const badRequest: Answer = { status: 400, type: "text/plain", body: "" };
export const notAllowed: Answer = {
  status: 405,
  type: "text/plain",
  body: "What changes something needs POST, or a login\n",
  headers: "Allow: POST\r\n",
};
/** To a process that has passed on what is not this one's to answer; nothing was done. */
export const misdirected: Answer = { status: 409, type: "text/plain", body: "" };
export const tooLarge: Answer = { status: 413, type: "text/plain", body: "" };
export const failed: Answer = { status: 500, type: "text/plain", body: "" };
export const overloaded: Answer = { status: 503, type: "text/plain", body: "" };
