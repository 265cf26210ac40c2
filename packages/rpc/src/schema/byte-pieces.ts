/** Long text or other bytes in pieces, so that all is in memory once and each piece is released when it has been sent. */
export class BytePieces {
  readonly pieces: readonly Buffer[];
  /** Number of bytes of all pieces. */
  readonly length: number;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** All of it as a byte string, in one copy. */
  toString(): string {
    return Buffer.concat(this.pieces).toString("latin1");
  }
}
