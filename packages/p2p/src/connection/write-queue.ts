import type { ByteReservation } from "@anulo/limits";
import type { FairShare, Turn } from "../throttle.ts";
import type { PeerMemory } from "./peer-memory.ts";
import type { Transport } from "./transport.ts";

/** Bytes written in one turn. */
const PIECE_BYTES = 64 * 1024;
/** Messages waiting, at most. Source: abstract_tcp_server2.h `ABSTRACT_SERVER_SEND_QUE_MAX_COUNT`. */
const MAX_MESSAGES = 1000;

/** Messages on their way out: each connection writes a piece in its turn, as bandwidth allows. */
export class WriteQueue implements Turn {
  readonly #transport: Transport;
  readonly #uplink: FairShare;
  /** Bytes waiting. */
  readonly #waiting: ByteReservation;
  #messages: Uint8Array[] = [];
  #isBlocked = false;
  #isClosed = false;
  /** Who waits until no more than some bytes wait here. */
  #listeners: { readonly maxBytes: number; readonly resolve: () => void }[] = [];
  /** Bytes handed to the transport so far. */
  written = 0;

  constructor(transport: Transport, uplink: FairShare, memory: PeerMemory) {
    this.#transport = transport;
    this.#uplink = uplink;
    this.#waiting = memory.reserve(0)!;
  }

  /** Bytes waiting. */
  get waiting(): number {
    return this.#waiting.bytes;
  }

  /** Resolves once at most `maxBytes` wait, or it is closed; undefined where it is so already. */
  below(maxBytes: number): Promise<void> | undefined {
    if (this.#isClosed || this.waiting <= maxBytes) return undefined;
    return new Promise((resolve) => this.#listeners.push({ maxBytes, resolve }));
  }

  #notify(): void {
    if (this.#listeners.length === 0) return;
    const isDue = ({ maxBytes }: { readonly maxBytes: number }) => this.#isClosed || this.waiting <= maxBytes;
    const due = this.#listeners.filter(isDue);
    this.#listeners = this.#listeners.filter((listener) => !isDue(listener));
    for (const { resolve } of due) resolve();
  }

  /** False: closed, or too much waits. */
  push(message: Uint8Array): boolean {
    if (this.#isClosed || this.#messages.length >= MAX_MESSAGES) return false;
    if (message.length === 0) return true;
    if (!this.#waiting.resize(this.waiting + message.length)) return false;
    this.#messages.push(message);
    if (!this.#isBlocked) this.#uplink.enter(this);
    return !this.#isClosed;
  }

  move(): number {
    const [head] = this.#messages;
    if (head === undefined || this.#isBlocked || this.#isClosed) return 0;
    const piece = head.subarray(0, PIECE_BYTES);
    if (piece.length === head.length) this.#messages.shift();
    else this.#messages[0] = head.subarray(piece.length);
    this.#waiting.resize(this.waiting - piece.length);
    this.written += piece.length;
    this.#isBlocked = !this.#transport.write(piece);
    this.#notify();
    return piece.length;
  }

  drained(): void {
    this.#isBlocked = false;
    if (this.waiting > 0 && !this.#isClosed) this.#uplink.enter(this);
  }

  close(): void {
    this.#isClosed = true;
    this.#uplink.leave(this);
    this.#waiting.release();
    this.#messages = [];
    this.#notify();
  }
}
