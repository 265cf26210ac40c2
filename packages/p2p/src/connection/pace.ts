import type { Clock } from "../clock.ts";
import type { Traffic } from "../peer.ts";

/**
 * A connection without a frame for this long is closed. Source: cryptonote_config.h
 * `P2P_IDLE_CONNECTION_KILL_INTERVAL`.
 */
const IDLE_MS = 5 * 60_000;
/** A frame may take this long, and longer if its bytes arrive at least at the minimum rate. */
const FRAME_GRACE_MS = 30_000;
/** How long messages may wait for a peer that reads below the minimum rate. */
const WRITE_WINDOW_MS = 60_000;
/** Below this rate a connection only occupies a slot. */
const MIN_BYTES_PER_SECOND = 1024;

/** Counts the bytes of a connection and decides when it is too slow to keep. */
export class Pace {
  readonly #clock: Clock;
  #received = 0;
  #sent = 0;
  #lastReceived: number;
  #lastSent: number;
  #rates = { receive: 0, send: 0 };
  #lastTick: { readonly at: number; readonly received: number; readonly writtenBytes: number };
  #receivedAt: number;
  #frame: { readonly since: number; readonly received: number; readonly packet: number } | undefined;
  #writing: { readonly since: number; readonly writtenBytes: number } | undefined;
  packetsIn = 0;
  packetsOut = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastReceived = clock.seconds();
    this.#lastSent = clock.seconds();
    this.#receivedAt = clock.milliseconds();
    this.#lastTick = { at: this.#receivedAt, received: 0, writtenBytes: 0 };
  }

  received(bytes: number): void {
    this.#received += bytes;
    this.#lastReceived = this.#clock.seconds();
    this.#receivedAt = this.#clock.milliseconds();
  }

  queued(bytes: number): void {
    this.#sent += bytes;
    this.packetsOut++;
    this.#lastSent = this.#clock.seconds();
  }

  get traffic(): Traffic {
    return {
      received: this.#received,
      sent: this.#sent,
      lastReceived: this.#lastReceived,
      lastSent: this.#lastSent,
      receiveRate: Math.round(this.#rates.receive),
      sendRate: Math.round(this.#rates.send),
    };
  }

  /** The reason for which the connection should be closed; undefined if there is none. */
  tick(state: { isInsideFrame: boolean; isIdleOurs: boolean; waitingOut: number; writtenBytes: number }) {
    const now = this.#clock.milliseconds();
    this.#measure(now, state.writtenBytes);
    if (state.isIdleOurs) this.#receivedAt = now;
    if (!state.isInsideFrame || this.#frame?.packet !== this.packetsIn) this.#frame = undefined;
    if (state.isInsideFrame) this.#frame ??= { since: now, received: this.#received, packet: this.packetsIn };
    if (state.waitingOut === 0) this.#writing = undefined;
    else this.#writing ??= { since: now, writtenBytes: state.writtenBytes };
    if (now - this.#receivedAt > IDLE_MS) return "says nothing";
    if (this.#isFrameLate(now)) return "sends too slowly";
    return this.#isReaderLate(now, state.writtenBytes) ? "reads too slowly" : undefined;
  }

  #measure(now: number, writtenBytes: number): void {
    const { at, received, writtenBytes: before } = this.#lastTick;
    const seconds = (now - at) / 1000;
    if (seconds <= 0) return;
    // The rate is four fifths of the old rate and one fifth of the new one: about an average of five seconds.
    const blend = (past: number, bytes: number) => past * 0.8 + (bytes / seconds) * 0.2;
    this.#rates = {
      receive: blend(this.#rates.receive, this.#received - received),
      send: blend(this.#rates.send, writtenBytes - before),
    };
    this.#lastTick = { at: now, received: this.#received, writtenBytes };
  }

  #isFrameLate(now: number): boolean {
    if (this.#frame === undefined) return false;
    const came = this.#received - this.#frame.received;
    return now - this.#frame.since > FRAME_GRACE_MS + (came / MIN_BYTES_PER_SECOND) * 1000;
  }

  #isReaderLate(now: number, writtenBytes: number): boolean {
    if (this.#writing === undefined || now - this.#writing.since < WRITE_WINDOW_MS) return false;
    const bytes = writtenBytes - this.#writing.writtenBytes;
    this.#writing = { since: now, writtenBytes };
    return bytes < (MIN_BYTES_PER_SECOND * WRITE_WINDOW_MS) / 1000;
  }
}
