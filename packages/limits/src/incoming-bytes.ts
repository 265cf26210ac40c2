const SEGMENT_BYTES = 64 * 1024;
/** The part of all bytes after which memory for all of them is taken: a sender commits us to four times what it sent. */
const JOINED_FROM = 1 / 4;
const NO_BYTES = Buffer.alloc(0);

/**
 * Bytes of known length that arrive in pieces. Memory grows with those that have arrived, not with the length that was
 * announced. They are joined while the others arrive, so that the last piece of many takes no longer than any other.
 */
export class IncomingBytes {
  readonly #length: number;
  /** Those that arrived before memory for all was taken, until they are copied there. */
  #segments: (Buffer | undefined)[] = [];
  #whole: Buffer | undefined;
  /** Bytes in the segments, and how many of them are in place. */
  #segmentBytes = 0;
  #joinedBytes = 0;
  #filled = 0;

  /** `length` in bytes. */
  constructor(length: number) {
    this.#length = length;
  }

  /** Bytes that have arrived, which are as many as the memory in use. */
  get filled(): number {
    return this.#filled;
  }

  /** Adds the bytes that belong to it and returns the rest of the piece. */
  add(piece: Uint8Array): Uint8Array {
    const size = Math.min(piece.length, this.#length - this.#filled);
    if (this.#whole === undefined && this.#filled >= JOINED_FROM * this.#length) this.#takeMemory();
    if (this.#whole === undefined) this.#addToSegments(piece.subarray(0, size));
    else this.#whole.set(piece.subarray(0, size), this.#filled);
    this.#filled += size;
    // As many as have arrived since: thus all are there with the last piece.
    if (this.#whole !== undefined) this.#copySegments(this.#filled - this.#segmentBytes);
    return piece.subarray(size);
  }

  /** Returns all bytes once they are there, and undefined before; to be called no more after that. */
  takeWhole(): Buffer | undefined {
    if (this.#filled < this.#length) return undefined;
    if (this.#whole === undefined) this.#takeMemory();
    this.#copySegments(this.#segmentBytes);
    return this.#whole;
  }

  #takeMemory(): void {
    const [first = NO_BYTES] = this.#segments;
    this.#segmentBytes = this.#filled;
    if (first.length === this.#length) {
      this.#whole = first;
      this.#joinedBytes = this.#segmentBytes;
    } else this.#whole = Buffer.allocUnsafeSlow(this.#length);
  }

  #addToSegments(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const filled = this.#filled + from;
      const at = filled % SEGMENT_BYTES;
      if (at === 0)
        this.#segments.push(Buffer.allocUnsafeSlow(Math.min(SEGMENT_BYTES, this.#length - filled)));
      const segment = this.#segments.at(-1)!;
      const count = Math.min(bytes.length - from, segment.length - at);
      segment.set(bytes.subarray(from, from + count), at);
      from += count;
    }
  }

  /** Copies whole segments until at least `most` of their bytes, or all of them, are in place. */
  #copySegments(most: number): void {
    while (this.#joinedBytes < Math.min(most, this.#segmentBytes)) {
      const at = this.#joinedBytes / SEGMENT_BYTES;
      const count = Math.min(SEGMENT_BYTES, this.#segmentBytes - this.#joinedBytes);
      this.#whole!.set(this.#segments[at]!.subarray(0, count), this.#joinedBytes);
      this.#segments[at] = undefined;
      this.#joinedBytes += count;
    }
  }
}
