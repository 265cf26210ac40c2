import type { ByteReservation } from "@anulo/limits";
import type { FairShare, Turn } from "../throttle.ts";
import type { PeerMemory } from "./peer-memory.ts";
import type { Transport } from "./transport.ts";

/** Bytes written per turn. */
const PIECE_BYTES = 64 * 1024;
/** Messages that may wait. Source: abstract_tcp_server2.h `ABSTRACT_SERVER_SEND_QUE_MAX_COUNT`. */
const MAX_MESSAGES = 1000;

/** Messages waiting to be sent: each connection writes one piece per turn, as the bandwidth allows. */
export class WriteQueue implements Turn {
  readonly #transport: Transport;
  readonly #uplink: FairShare;
  /** Bytes waiting. */
  readonly #waiting: ByteReservation;
  #messages: Uint8Array[] = [];
  #isBlocked = false;
  #isClosed = false;
  /** Callers that wait until at most `maxBytes` are queued. */
  #listeners: { readonly maxBytes: number; readonly resolve: () => void }[] = [];
  /** Bytes passed to the transport so far. */
  writtenBytes = 0;

  constructor(transport: Transport, uplink: FairShare, memory: PeerMemory) {
    this.#transport = transport;
    this.#uplink = uplink;
    this.#waiting = memory.reserve(0)!;
  }

  /** Bytes waiting. */
  get waiting(): number {
    return this.#waiting.bytes;
  }

  /** Resolves once at most `maxBytes` wait, or the queue is closed; returns undefined if that is so already. */
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

  /** Queues a message. Returns false if the queue is closed, or too much waits. */
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
    this.writtenBytes += piece.length;
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
