import type { Socket } from "node:net";
import { BytePieces } from "../../schema/byte-pieces.ts";
import type { Body } from "../answer.ts";
import type { ResponseHold } from "../caller-share.ts";
import type { HttpAnswer } from "./http-answer.ts";

/** Bodies up to this size (bytes) are sent with their head in one piece. */
const SMALL_BODY = 64 * 1024;
/** Longer bodies are written in pieces of this size (bytes), whose memory is released once they are sent. */
const PIECE_BYTES = 64 * 1024;
/** Maximum number of bytes in the system's buffer before we wait for the caller to read. */
const MAX_WAITING_BYTES = 4 * PIECE_BYTES;

/** A response that is being sent to a caller that may read slowly. */
export class Outgoing {
  readonly #socket: Socket;
  /** Until it is cut into pieces, which are released one by one. */
  #answer: HttpAnswer | undefined;
  readonly #hold: ResponseHold | undefined;
  /** Pieces of the body that are not written yet, last first: each is dropped when it is written. */
  readonly #pieces: Buffer[] = [];
  #remaining = 0;
  /** Number of bytes sent since `#windowAt`. */
  #windowBytes = 0;
  #windowAt = performance.now();
  #isOver = false;
  /** Called once everything was sent, if `start` returned false. */
  onSent: () => void = () => {};

  constructor(socket: Socket, answer: HttpAnswer) {
    this.#socket = socket;
    this.#answer = answer;
    this.#hold = answer.hold;
  }

  /** Starts sending; returns true if everything was sent at once. */
  start(): boolean {
    const { head, body } = this.#answer!;
    const socket = this.#socket;
    this.#answer = undefined;
    if (body.length <= SMALL_BODY) {
      writeSmall(socket, head, body instanceof BytePieces ? body.toString() : body);
      this.#remaining = head.length + body.length;
      if (socket.writableLength > 0) socket.write("", () => this.#onTaken(this.#remaining));
    } else {
      this.#remaining = body.length;
      this.#cut(body);
      // Head and first piece are sent together.
      socket.cork();
      socket.write(head, "latin1");
      this.#sendMore();
      socket.uncork();
    }
    if (this.#remaining > 0 && (socket.writableLength > 0 || this.#pieces.length > 0)) return false;
    this.end();
    return true;
  }

  /** Releases the memory that is still in use. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces.length = 0;
    this.#hold?.release();
  }

  /** Whether less than `leastRate` bytes per second was sent during `slowMs`. */
  isTooSlow(
    now: number,
    { slowMs, leastRate }: { readonly slowMs: number; readonly leastRate: number },
  ): boolean {
    if (now - this.#windowAt < slowMs) return false;
    const isSlow = this.#windowBytes < (leastRate * slowMs) / 1000;
    this.#windowBytes = 0;
    this.#windowAt = now;
    return isSlow;
  }

  /**
   * Copies the pieces, since a view of the body would keep all of it in memory; what comes in pieces is kept elsewhere
   * too, or released piece by piece.
   */
  #cut(body: Body): void {
    if (body instanceof BytePieces) for (const piece of body.pieces) this.#view(piece);
    else this.#copy(body);
    this.#pieces.reverse();
  }

  #view(body: Buffer): void {
    for (let from = 0; from < body.length; from += PIECE_BYTES)
      this.#pieces.push(body.subarray(from, from + PIECE_BYTES));
  }

  #copy(body: string | Buffer): void {
    for (let from = 0; from < body.length; from += PIECE_BYTES) {
      const to = Math.min(body.length, from + PIECE_BYTES);
      this.#pieces.push(
        typeof body === "string"
          ? Buffer.from(body.slice(from, to), "latin1")
          : Buffer.from(body.subarray(from, to)),
      );
    }
  }

  #sendMore(): void {
    while (this.#pieces.length > 0 && this.#socket.writableLength < MAX_WAITING_BYTES) {
      const piece = this.#pieces.pop()!;
      this.#socket.write(piece, () => this.#onTaken(piece.length));
    }
  }

  #onTaken(bytes: number): void {
    if (this.#isOver) return;
    this.#windowBytes += bytes;
    this.#remaining -= bytes;
    if (this.#remaining > 0) {
      this.#hold?.resize(this.#remaining);
      this.#sendMore();
      return;
    }
    this.end();
    this.onSent();
  }
}

function writeSmall(socket: Socket, head: string, body: string | Buffer): void {
  if (typeof body === "string") {
    socket.write(head + body, "latin1");
    return;
  }
  const whole = Buffer.allocUnsafe(head.length + body.length);
  whole.write(head, "latin1");
  body.copy(whole, head.length);
  socket.write(whole);
}
