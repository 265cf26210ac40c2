/**
 * Pieces of at least this length are kept as they are, unless they are a part of more memory, which would be kept with
 * them; all others are gathered in segments.
 */
const LONG_PIECE_BYTES = 16 * 1024;
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
  /** What arrived before memory for all was taken, until it is copied there. */
  #segments: Uint8Array[] = [];
  /** The last segment, as long as it has space, and the bytes in it. */
  #open: Buffer | undefined;
  #openBytes = 0;
  #whole: Buffer | undefined;
  /** Bytes in the segments, and how many bytes and segments of them are in place. */
  #segmentBytes = 0;
  #joinedBytes = 0;
  #joinedSegments = 0;
  #filled = 0;

  /** `length` in bytes. */
  constructor(length: number) {
    this.#length = length;
  }

  /** Bytes that have arrived, which are as many as the memory in use. */
  get filled(): number {
    return this.#filled;
  }

  /** Adds the bytes that belong to it and returns the rest of the piece, which must not change any more. */
  add(piece: Uint8Array): Uint8Array {
    const size = Math.min(piece.length, this.#length - this.#filled);
    if (this.#whole === undefined && this.#filled >= JOINED_FROM * this.#length) this.#takeMemory();
    if (this.#whole === undefined) this.#keep(piece.subarray(0, size));
    else this.#whole.set(piece.subarray(0, size), this.#filled);
    this.#filled += size;
    // As many as have arrived since: thus all are there with the last piece.
    if (this.#whole !== undefined) this.#join(this.#filled - this.#segmentBytes);
    return piece.subarray(size);
  }

  /** Returns all bytes once they are there, and undefined before; to be called no more after that. */
  takeWhole(): Buffer | undefined {
    if (this.#filled < this.#length) return undefined;
    if (this.#whole === undefined) this.#takeMemory();
    this.#join(this.#segmentBytes);
    return this.#whole;
  }

  #takeMemory(): void {
    this.#closeSegment();
    this.#segmentBytes = this.#filled;
    this.#whole = this.#length === 0 ? NO_BYTES : Buffer.allocUnsafeSlow(this.#length);
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length >= LONG_PIECE_BYTES && bytes.length === bytes.buffer.byteLength) {
      this.#closeSegment();
      this.#segments.push(bytes);
      return;
    }
    for (let from = 0; from < bytes.length; ) {
      const left = this.#length - this.#filled - from;
      this.#open ??= Buffer.allocUnsafeSlow(Math.min(SEGMENT_BYTES, left));
      const count = Math.min(bytes.length - from, this.#open.length - this.#openBytes);
      this.#open.set(bytes.subarray(from, from + count), this.#openBytes);
      this.#openBytes += count;
      from += count;
      if (this.#openBytes === this.#open.length) this.#closeSegment();
    }
  }

  #closeSegment(): void {
    if (this.#open !== undefined) this.#segments.push(this.#open.subarray(0, this.#openBytes));
    this.#open = undefined;
    this.#openBytes = 0;
  }

  /** Copies whole segments until at least `most` of their bytes, or all of them, are in place. */
  #join(most: number): void {
    while (this.#joinedBytes < Math.min(most, this.#segmentBytes)) {
      const segment = this.#segments[this.#joinedSegments]!;
      this.#whole!.set(segment, this.#joinedBytes);
      this.#segments[this.#joinedSegments] = NO_BYTES;
      this.#joinedBytes += segment.length;
      this.#joinedSegments += 1;
    }
  }
}
