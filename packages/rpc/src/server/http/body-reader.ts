import { IncomingBytes } from "@anulo/limits";
import { Gathered } from "../../gathered.ts";
import type { RequestHead } from "./request-head.ts";

/** Thrown for invalid chunks. */
export class BadFraming extends Error {
  override name = "BadFraming";
}

/** Collects the bytes of one body as they arrive. */
export interface BodyReader {
  /** Takes what belongs to the body; returns what follows it once the body is complete. Throws BadFraming. */
  take(bytes: Buffer): Buffer | undefined;
  /** The bytes taken so far; empty if the body is not kept. */
  body(): Buffer;
  /** Memory that it uses, in bytes. */
  bufferedBytes(): number;
  /** True as soon as the body is known to be longer than allowed; no more bytes may be passed to it then. */
  isTooLarge(): boolean;
}

type BodyOptions = {
  readonly maxBytes: number;
  /** If false, the bytes are counted and dropped. */
  readonly keep: boolean;
};

/** A reader of the body that a head announces. */
export function createBodyReader({ length }: RequestHead, options: BodyOptions): BodyReader {
  return length === undefined ? chunkedBody(options) : new PlainBody(length, options);
}

const none = Buffer.alloc(0);

/** A class, since there is one object per request. */
class PlainBody implements BodyReader {
  readonly #length: number;
  readonly #options: BodyOptions;
  #remaining: number;
  /** The bytes of a body that arrives in several pieces. */
  #parts: IncomingBytes | undefined;
  #whole: Buffer | undefined;

  constructor(length: number, options: BodyOptions) {
    this.#length = length;
    this.#options = options;
    this.#remaining = length;
  }

  take(bytes: Buffer): Buffer | undefined {
    const { keep } = this.#options;
    if (bytes.length >= this.#remaining && this.#remaining === this.#length) {
      // Usually the body arrives in one piece, and nothing is copied.
      this.#whole = keep ? bytes.subarray(0, this.#length) : none;
      this.#remaining = 0;
      return bytes.length === this.#length ? none : bytes.subarray(this.#length);
    }
    const size = Math.min(this.#remaining, bytes.length);
    if (keep) {
      this.#parts ??= new IncomingBytes(this.#length);
      this.#parts.add(bytes.subarray(0, size));
    }
    this.#remaining -= size;
    if (this.#remaining === 0) this.#whole = this.#parts?.takeWhole();
    return this.#remaining === 0 ? bytes.subarray(size) : undefined;
  }

  body(): Buffer {
    return this.#whole ?? none;
  }

  bufferedBytes(): number {
    return this.#parts?.filled ?? 0;
  }

  isTooLarge(): boolean {
    return this.#length > this.#options.maxBytes;
  }
}

/** Maximum size in bytes of a line, and of all lines after the last chunk. */
const MAX_LINE = 1024;
const MAX_TRAILER = 4096;

/** Source: RFC 9112, section 7.1. */
function chunkedBody({ maxBytes, keep }: BodyOptions): BodyReader {
  const parts = new Gathered();
  let state: "size" | "data" | "data end" | "trailer" | "done" = "size";
  let line = "";
  let remaining = 0;
  let total = 0;
  let trailerBytes = 0;

  const takeData = (bytes: Buffer, at: number): number => {
    const size = Math.min(remaining, bytes.length - at);
    if (keep) parts.add(bytes.subarray(at, at + size));
    remaining -= size;
    if (remaining === 0) state = "data end";
    return at + size;
  };

  const onLine = (text: string): void => {
    if (state === "size") {
      remaining = chunkSize(text);
      total += remaining;
      state = remaining === 0 ? "trailer" : "data";
    } else if (state === "data end") {
      if (text !== "") throw new BadFraming("chunk longer than its size");
      state = "size";
    } else {
      trailerBytes += text.length + 2;
      if (trailerBytes > MAX_TRAILER) throw new BadFraming("trailer too long");
      if (text === "") state = "done";
    }
  };

  /** Takes bytes up to the end of a line, or all of them if there is none. */
  const takeLine = (bytes: Buffer, at: number): number => {
    const end = bytes.indexOf(0x0a, at);
    const next = end === -1 ? bytes.length : end + 1;
    if (line.length + next - at > MAX_LINE) throw new BadFraming("line too long");
    line += bytes.toString("latin1", at, next);
    if (end === -1) return next;
    if (!line.endsWith("\r\n")) throw new BadFraming("line without its end");
    const text = line.slice(0, -2);
    line = "";
    onLine(text);
    return next;
  };

  return {
    take(bytes) {
      let at = 0;
      while (at < bytes.length && total <= maxBytes && state !== "done") {
        at = state === "data" ? takeData(bytes, at) : takeLine(bytes, at);
      }
      return state === "done" ? bytes.subarray(at) : undefined;
    },
    body: () => parts.bytes,
    bufferedBytes: () => parts.capacity,
    isTooLarge: () => total > maxBytes,
  };
}

function chunkSize(line: string): number {
  const digits = /^([0-9a-fA-F]{1,8})(?:[ \t]*;[\t -~\x80-\xff]*)?$/.exec(line)?.[1];
  if (digits === undefined) throw new BadFraming("no size of a chunk");
  return Number.parseInt(digits, 16);
}
