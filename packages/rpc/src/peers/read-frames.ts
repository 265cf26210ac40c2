/**
 * The bytes on a connection on which one process of a service passes reads on to another, many at a time: after an HTTP
 * request with a pass and its response of status 101, batches of requests one way and responses the other way, each
 * with its length before it. All numbers are little-endian.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Answer } from "../server/answer.ts";
import { isPassedStatus } from "./passed-status.ts";

/** The path of the HTTP request with which such a connection begins. */
export const READS_PATH = "/reads";

/** Maximum sizes: what is longer is passed on by a request of its own. */
export const mostRead = {
  bodyBytes: 4096,
  targetBytes: 1024,
  idBytes: 128,
  /** Bytes of a batch of requests without its length. */
  batchBytes: 65_536,
  answerBytes: 65_536,
  /** Requests of one connection that are not answered yet. */
  requests: 256,
};

/** A request, or the end of one whose caller has left. */
export type ReadRequest = {
  /** Identifies it on its connection: 32 bits. */
  readonly number: number;
  readonly kind: "request" | "restricted" | "left";
  readonly target: string;
  /** Identifies it in logs. */
  readonly id: string;
  readonly body: Uint8Array;
};

/** The response to a request; without an answer it has to be passed on otherwise. */
export type ReadResponse = { readonly number: number; readonly answer: Answer | undefined };

/** Thrown for bytes that no process of this service sends. */
export class BadFrames extends Error {
  override name = "BadFrames";
}

const LENGTH_BYTES = 4;
const MAC_BYTES = 16;
const REQUEST_HEAD_BYTES = 10;
const RESPONSE_HEAD_BYTES = 7;
const kinds = ["request", "restricted", "left"] as const satisfies ReadRequest["kind"][];
/** The status of no response: it is too long, or there are too many requests. */
const NOT_HERE = 0;
const types = ["application/json", "text/plain"] as const satisfies Answer["type"][];

/** Splits what arrives into frames. */
export class FrameReader {
  readonly #mostBytes: number;
  #rest: Buffer = Buffer.alloc(0);

  /** `mostBytes`: maximum size of a frame without its length. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The frames that are complete now, without their lengths: views of the bytes. Throws BadFrames. */
  *take(bytes: Buffer): Generator<Buffer> {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (rest.length >= LENGTH_BYTES) {
      const length = rest.readUInt32LE(0);
      if (length > this.#mostBytes) throw new BadFrames(`a frame of ${length} bytes`);
      if (rest.length < LENGTH_BYTES + length) break;
      yield rest.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
      rest = rest.subarray(LENGTH_BYTES + length);
    }
    this.#rest = rest;
  }
}

/** Counts the batches of one connection, each of which has a MAC of its requests and its number. */
export class BatchMac {
  readonly #key: Uint8Array;
  readonly #number = Buffer.alloc(8);
  #count = 0n;

  /** `key`: 32 bytes that only the two processes know, and of this connection alone. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The MAC of the next batch: 16 bytes. */
  next(requests: Uint8Array): Buffer {
    this.#number.writeBigUInt64LE(this.#count++);
    return createHmac("sha256", this.#key)
      .update(this.#number)
      .update(requests)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}

/** Whether a request is short enough for a batch. */
export function fitsBatch({ target, id, body }: Pick<ReadRequest, "target" | "id" | "body">): boolean {
  const { bodyBytes, targetBytes, idBytes } = mostRead;
  return body.length <= bodyBytes && target.length <= targetBytes && id.length <= idBytes;
}

/** Requests that are sent together; `target` and `id` have one byte a character. */
export class RequestBatch {
  readonly #bytes = Buffer.allocUnsafeSlow(LENGTH_BYTES + mostRead.batchBytes);
  #end = LENGTH_BYTES + MAC_BYTES;

  get isEmpty(): boolean {
    return this.#end === LENGTH_BYTES + MAC_BYTES;
  }

  /** False if there is no room left for it. */
  add({ number, kind, target, id, body }: ReadRequest): boolean {
    const bytes = this.#bytes;
    let at = this.#end;
    if (at + REQUEST_HEAD_BYTES + target.length + id.length + body.length > bytes.length) return false;
    bytes.writeUInt32LE(number, at);
    bytes[at + 4] = kinds.indexOf(kind);
    bytes[at + 5] = id.length;
    bytes.writeUInt16LE(target.length, at + 6);
    bytes.writeUInt16LE(body.length, at + 8);
    at += REQUEST_HEAD_BYTES;
    at += bytes.write(id, at, "latin1");
    at += bytes.write(target, at, "latin1");
    bytes.set(body, at);
    this.#end = at + body.length;
    return true;
  }

  /** The frame of all requests that were added, as a copy; the next one is empty. */
  take(mac: BatchMac): Buffer {
    const frame = Buffer.from(this.#bytes.subarray(0, this.#end));
    frame.writeUInt32LE(this.#end - LENGTH_BYTES);
    frame.set(mac.next(frame.subarray(LENGTH_BYTES + MAC_BYTES)), LENGTH_BYTES);
    this.#end = LENGTH_BYTES + MAC_BYTES;
    return frame;
  }
}

/** The requests of a batch, whose bodies are views of the frame. Throws BadFrames, also for a wrong MAC. */
export function requestsOf(frame: Buffer, mac: BatchMac): ReadRequest[] {
  const bytes = frame.subarray(MAC_BYTES);
  if (frame.length < MAC_BYTES || !timingSafeEqual(mac.next(bytes), frame.subarray(0, MAC_BYTES)))
    throw new BadFrames("a batch with a wrong MAC");
  const requests: ReadRequest[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + REQUEST_HEAD_BYTES > bytes.length) throw new BadFrames("a request breaks off");
    const number = bytes.readUInt32LE(at);
    const kind = kinds[bytes[at + 4]!];
    const idFrom = at + REQUEST_HEAD_BYTES;
    const targetFrom = idFrom + bytes[at + 5]!;
    const bodyFrom = targetFrom + bytes.readUInt16LE(at + 6);
    const end = bodyFrom + bytes.readUInt16LE(at + 8);
    if (kind === undefined || end > bytes.length) throw new BadFrames("a request breaks off");
    const id = bytes.toString("latin1", idFrom, targetFrom);
    requests.push({
      number,
      kind,
      id,
      target: bytes.toString("latin1", targetFrom, bodyFrom),
      body: bytes.subarray(bodyFrom, end),
    });
    at = end;
  }
  return requests;
}

/** The frame of a response; undefined stands for none, of which its request is passed on otherwise. */
export function responseFrame(number: number, answer: Answer | undefined): Buffer {
  const type = answer === undefined ? 0 : types.indexOf(answer.type as (typeof types)[number]);
  const isSent = answer !== undefined && type !== -1 && answer.body.length <= mostRead.answerBytes;
  const body = isSent ? answer.body : "";
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + RESPONSE_HEAD_BYTES + body.length);
  frame.writeUInt32LE(RESPONSE_HEAD_BYTES + body.length);
  frame.writeUInt32LE(number, 4);
  frame.writeUInt16LE(isSent ? answer.status : NOT_HERE, 8);
  frame[10] = isSent ? type : 0;
  if (body instanceof Buffer) frame.set(body, 11);
  else frame.write(body.toString(), 11, "latin1");
  return frame;
}

/** Reads the frame of a response. Throws BadFrames. */
export function responseOf(frame: Buffer): ReadResponse {
  if (frame.length < RESPONSE_HEAD_BYTES) throw new BadFrames("a response breaks off");
  const number = frame.readUInt32LE(0);
  const status = frame.readUInt16LE(4);
  const type = types[frame[6]!];
  if (status === NOT_HERE) return { number, answer: undefined };
  if (!isPassedStatus(status) || type === undefined) throw new BadFrames(`a response of status ${status}`);
  return { number, answer: { status, type, body: frame.toString("latin1", RESPONSE_HEAD_BYTES) } };
}
