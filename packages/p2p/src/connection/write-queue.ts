import type { FairShare, Turn } from "../throttle.ts";
import type { Transport } from "./transport.ts";

/** Bytes written in one turn. */
const PIECE_BYTES = 64 * 1024;
/** Messages waiting, at most. Source: abstract_tcp_server2.h `ABSTRACT_SERVER_SEND_QUE_MAX_COUNT`. */
const MAX_MESSAGES = 1000;
/** Bytes waiting, at most: one message of the longest kind, and some. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/** Bytes kept for all connections together. */
export interface ByteBudget {
  used: number;
  readonly max: number;
  /** Called when `used` went above `max`: somebody has to go. */
  exceeded(): void;
}

/** Messages on their way out: each connection writes a piece in its turn, as bandwidth allows. */
export class WriteQueue implements Turn {
  readonly #transport: Transport;
  readonly #uplink: FairShare;
  readonly #budget: ByteBudget;
  #messages: Uint8Array[] = [];
  #bytes = 0;
  #isBlocked = false;
  #isClosed = false;
  /** Bytes handed to the transport so far. */
  written = 0;

  constructor(transport: Transport, uplink: FairShare, budget: ByteBudget) {
    this.#transport = transport;
    this.#uplink = uplink;
    this.#budget = budget;
  }

  /** Bytes waiting. */
  get waiting(): number {
    return this.#bytes;
  }

  /** False: closed, or too much waits. */
  push(message: Uint8Array): boolean {
    if (this.#isClosed || this.#messages.length >= MAX_MESSAGES) return false;
    if (this.#bytes + message.length > MAX_WAITING_BYTES) return false;
    if (message.length === 0) return true;
    this.#messages.push(message);
    this.#bytes += message.length;
    this.#budget.used += message.length;
    if (!this.#isBlocked) this.#uplink.enter(this);
    if (this.#budget.used > this.#budget.max) this.#budget.exceeded();
    return !this.#isClosed;
  }

  move(): number {
    const [head] = this.#messages;
    if (head === undefined || this.#isBlocked || this.#isClosed) return 0;
    const piece = head.subarray(0, PIECE_BYTES);
    if (piece.length === head.length) this.#messages.shift();
    else this.#messages[0] = head.subarray(piece.length);
    this.#bytes -= piece.length;
    this.#budget.used -= piece.length;
    this.written += piece.length;
    this.#isBlocked = !this.#transport.write(piece);
    return piece.length;
  }

  drained(): void {
    this.#isBlocked = false;
    if (this.#bytes > 0 && !this.#isClosed) this.#uplink.enter(this);
  }

  close(): void {
    this.#isClosed = true;
    this.#uplink.leave(this);
    this.#budget.used -= this.#bytes;
    this.#bytes = 0;
    this.#messages = [];
  }
}
