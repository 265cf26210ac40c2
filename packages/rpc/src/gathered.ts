const LEAST_CAPACITY = 4096;

/** Bytes one after another in memory that grows with them, however small their pieces. */
export class Gathered {
  #bytes = Buffer.alloc(0);
  #length = 0;

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(LEAST_CAPACITY, 2 * length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#bytes.length;
  }
}
