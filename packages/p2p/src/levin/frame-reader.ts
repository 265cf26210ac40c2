import { IncomingBytes } from "@anulo/limits";
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
/** Bytes of all fragments of one frame; the original sends at most 60 KiB. More would be joined for too long at once. */
const MAX_FRAGMENT_BYTES = 1024 * 1024;
const NO_BYTES = new Uint8Array();
const isFragment = ({ flags }: FrameHeader) => (flags & (frameFlags.request | frameFlags.response)) === 0;

/** Cuts received bytes into frames. Keeps at most one frame and the bytes of one `push`. */
export class FrameReader {
  readonly #maxBytes: (header: FrameHeader) => number;
  #rest: Uint8Array = NO_BYTES;
  #header: FrameHeader | undefined;
  #body: IncomingBytes | undefined;
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
    this.#body ??= new IncomingBytes(length);
    this.#rest = this.#body.add(this.#rest);
    const whole = this.#body.takeWhole();
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
    if (this.#fragmentBytes > Math.min(MAX_FRAGMENT_BYTES, this.#packetLimit))
      throw new BadFrame("too many bytes in fragments");
    if (this.#fragments.length > MAX_FRAGMENTS) throw new BadFrame("too many fragments");
    if (!isEnd) return undefined;
    const whole = concatBytes(...this.#fragments);
    this.#dropFragments();
    if (whole.length < HEADER_BYTES) throw new BadFrame("fragments too short for a frame");
    const header = readHeader(whole.subarray(0, HEADER_BYTES));
    // As a fragment it would be measured by no command's limit.
    if (isFragment(header)) throw new BadFrame("fragments of a fragment");
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
