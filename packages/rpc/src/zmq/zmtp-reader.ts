import { BadZmtp, checkGreeting, frameFlags, GREETING_BYTES } from "./zmtp.ts";

/** A frame that arrived whole. */
export interface ReceivedFrame {
  readonly isCommand: boolean;
  /** Whether more frames of the same message follow. */
  readonly hasMore: boolean;
  /** Valid until the next bytes are given. */
  readonly body: Uint8Array;
}

const KNOWN_FLAGS = frameFlags.more | frameFlags.long | frameFlags.command;

/** Cuts what a peer sends into its greeting and frames; holds at most one frame of the longest kind. */
export class ZmtpReader {
  readonly #maxFrameBytes: number;
  #rest: Uint8Array = new Uint8Array();
  #isGreeted = false;

  /** `maxFrameBytes`: the longest body of a frame. */
  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Whether the greeting has arrived whole. */
  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  /** The frames that are complete with these bytes. Throws BadZmtp. */
  *read(chunk: Uint8Array): Generator<ReceivedFrame, void> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = this.#isGreeted ? 0 : this.#readGreeting(bytes);
    while (this.#isGreeted) {
      const head = this.#readHead(bytes, at);
      if (head === undefined || head.end > bytes.length) break;
      at = head.end;
      yield { ...head, body: bytes.subarray(head.start, head.end) };
    }
    // A copy: a slice would keep the whole chunk.
    this.#rest = Uint8Array.prototype.slice.call(bytes, at);
  }

  /** Bytes of the greeting read: all of it, or none yet. */
  #readGreeting(bytes: Uint8Array): number {
    checkGreeting(bytes.subarray(0, GREETING_BYTES));
    if (bytes.length < GREETING_BYTES) return 0;
    this.#isGreeted = true;
    return GREETING_BYTES;
  }

  #readHead(bytes: Uint8Array, at: number) {
    const flags = bytes[at];
    if (flags === undefined) return undefined;
    const [isCommand, hasMore, isLong] = [
      (flags & frameFlags.command) !== 0,
      (flags & frameFlags.more) !== 0,
      (flags & frameFlags.long) !== 0,
    ];
    if ((flags & ~KNOWN_FLAGS) !== 0 || (isCommand && hasMore)) throw new BadZmtp("unknown flags of a frame");
    const start = at + (isLong ? 9 : 2);
    if (start > bytes.length) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = isLong ? view.getBigUint64(at + 1) : BigInt(bytes[at + 1]!);
    if (length > BigInt(this.#maxFrameBytes)) throw new BadZmtp("a frame that is too long");
    return { isCommand, hasMore, start, end: start + Number(length) };
  }
}
