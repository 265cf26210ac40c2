import { concatBytes } from "@anulo/protocol";
import {
  BadFrame,
  beginsAsFrame,
  type Frame,
  type FrameHeader,
  frameFlags,
  HEADER_BYTES,
  packetLimits,
  readHeader,
} from "./frame.ts";

/**
 * Fragments of one frame; the original sends at most 20. Without the limit, empty fragments would fill memory at no
 * cost to the sender.
 */
const MAX_FRAGMENTS = 1000;
const NO_BYTES = new Uint8Array();
const isFragment = ({ flags }: FrameHeader) => (flags & (frameFlags.request | frameFlags.response)) === 0;

/** The initial size of a payload's buffer. */
const FIRST_BUFFER_BYTES = 64 * 1024;

/**
 * A payload of known length that arrives in pieces; the buffer grows with the bytes that arrived, not with the length
 * that was announced.
 */
class IncomingPayload {
  readonly #length: number;
  #room: Uint8Array = NO_BYTES;
  #filled = 0;

  constructor(length: number) {
    this.#length = length;
  }

  get filled(): number {
    return this.#filled;
  }

  /** Adds the bytes that belong to the payload and returns the rest. */
  add(piece: Uint8Array): Uint8Array {
    const take = Math.min(piece.length, this.#length - this.#filled);
    const needed = this.#filled + take;
    if (needed > this.#room.length) {
      const doubled = Math.max(FIRST_BUFFER_BYTES, 2 * this.#room.length, needed);
      const room = new Uint8Array(Math.min(this.#length, doubled));
      room.set(this.#room.subarray(0, this.#filled));
      this.#room = room;
    }
    this.#room.set(piece.subarray(0, take), this.#filled);
    this.#filled = needed;
    return piece.subarray(take);
  }

  /** The payload, once it is complete. */
  get whole(): Uint8Array | undefined {
    return this.#filled === this.#length ? this.#room : undefined;
  }
}

/** Cuts received bytes into frames. Keeps at most one frame and the bytes of one `push`. */
export class FrameReader {
  readonly #maxBytes: (header: FrameHeader) => number;
  #rest: Uint8Array = NO_BYTES;
  #header: FrameHeader | undefined;
  #body: IncomingPayload | undefined;
  #fragments: Uint8Array[] = [];
  #fragmentBytes = 0;
  #packetLimit: number = packetLimits.beforeHandshake;

  /** `maxBytes` returns the largest payload accepted of a frame with this header. */
  constructor(maxBytes: (header: FrameHeader) => number) {
    this.#maxBytes = maxBytes;
  }

  /** Accepts longer frames, once the handshake is done. */
  raiseLimit(): void {
    this.#packetLimit = packetLimits.afterHandshake;
  }

  /** Bytes kept in memory. */
  get bufferedBytes(): number {
    return this.#rest.length + (this.#body?.filled ?? 0) + this.#fragmentBytes;
  }

  /** True while a frame, or a series of fragments, has begun and is not complete. */
  get isInsideFrame(): boolean {
    return this.#rest.length > 0 || this.#header !== undefined || this.#fragments.length > 0;
  }

  push(chunk: Uint8Array): void {
    this.#rest = this.#rest.length === 0 ? chunk : concatBytes(this.#rest, chunk);
  }

  /**
   * Returns the next complete frame, or undefined until more bytes have arrived. Throws BadFrame; then nothing more can
   * be read.
   */
  next(): Frame | undefined {
    for (;;) {
      this.#header ??= this.#readHeader();
      const header = this.#header;
      if (header === undefined) return undefined;
      const payload = this.#readBody(header.length);
      if (payload === undefined) return undefined;
      this.#header = undefined;
      if (!isFragment(header)) return { header, payload };
      const assembled = this.#addFragment(header.flags, payload);
      if (assembled !== undefined) return assembled;
    }
  }

  #readHeader(): FrameHeader | undefined {
    if (!beginsAsFrame(this.#rest)) throw new BadFrame("not a frame: wrong signature");
    if (this.#rest.length < HEADER_BYTES) return undefined;
    const header = readHeader(this.#rest.subarray(0, HEADER_BYTES));
    this.#rest = this.#rest.subarray(HEADER_BYTES);
    this.#checkLength(header);
    return header;
  }

  #readBody(length: number): Uint8Array | undefined {
    if (this.#body === undefined && this.#rest.length >= length) {
      const payload = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      return payload;
    }
    this.#body ??= new IncomingPayload(length);
    this.#rest = this.#body.add(this.#rest);
    const { whole } = this.#body;
    if (whole !== undefined) this.#body = undefined;
    return whole;
  }

  #checkLength(header: FrameHeader): void {
    const limit = isFragment(header)
      ? this.#packetLimit
      : Math.min(this.#packetLimit, this.#maxBytes(header));
    if (header.length > limit) {
      throw new BadFrame(`command ${header.command} with ${header.length} bytes, more than ${limit}`);
    }
  }

  /** Source: levin_protocol_handler_async.h `handle_recv`, the special noise and fragment command. */
  #addFragment(flags: number, payload: Uint8Array): Frame | undefined {
    const isBegin = (flags & frameFlags.begin) !== 0;
    const isEnd = (flags & frameFlags.end) !== 0;
    if (isBegin && isEnd) return undefined;
    if (isBegin) this.#dropFragments();
    else if (this.#fragments.length === 0) throw new BadFrame("a fragment without a beginning");
    this.#fragments.push(payload);
    this.#fragmentBytes += payload.length;
    if (this.#fragmentBytes > this.#packetLimit) throw new BadFrame("fragments above the packet limit");
    if (this.#fragments.length > MAX_FRAGMENTS) throw new BadFrame("too many fragments");
    if (!isEnd) return undefined;
    const whole = concatBytes(...this.#fragments);
    this.#dropFragments();
    if (whole.length < HEADER_BYTES) throw new BadFrame("fragments too short for a frame");
    const header = readHeader(whole.subarray(0, HEADER_BYTES));
    this.#checkLength(header);
    if (header.length > whole.length - HEADER_BYTES) throw new BadFrame("fragments shorter than their frame");
    // What follows the payload is padding.
    return { header, payload: whole.subarray(HEADER_BYTES, HEADER_BYTES + header.length) };
  }

  #dropFragments(): void {
    this.#fragments = [];
    this.#fragmentBytes = 0;
  }
}
