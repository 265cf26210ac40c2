import type { Socket } from "node:net";
import { TimeSlice } from "@anulo/limits";
import type { ByteStream } from "./http-answer.ts";

/** A comment, which readers of event streams skip. Source: HTML Standard, section 9.2.7. */
const HEARTBEAT = ":\n\n";

/** A stream that is sent to a reader that may read slowly, with a heartbeat while there are no events. */
export class Streaming {
  readonly #socket: Socket;
  readonly #stream: ByteStream;
  #wroteAt = performance.now();
  /** Time at which bytes were last sent, or began to wait. */
  #takenAt = performance.now();
  #isOver = false;
  #onTaken: () => void = () => {};

  constructor(socket: Socket, stream: ByteStream) {
    this.#socket = socket;
    this.#stream = stream;
  }

  /** Sends the head and the whole stream; true once everything is sent, false if it was ended before. */
  async send(head: string): Promise<boolean> {
    this.#write(Buffer.from(head, "latin1"));
    const slice = new TimeSlice();
    while (!this.#isOver) {
      const bytes = await this.#stream.next();
      if (bytes === undefined) break;
      await this.#untilWaiting(this.#stream.maxWaitingBytes - bytes.length);
      if (!this.#isOver) this.#write(bytes);
      if (slice.isOver) await slice.yield();
    }
    await this.#untilWaiting(0);
    if (this.#isOver) return false;
    this.end();
    return true;
  }

  /** Stops reading from the stream. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.end();
    this.#onTaken();
  }

  /** Whether the waiting bytes have not decreased for this long. */
  isStuck(now: number, slowMs: number): boolean {
    return this.#socket.writableLength > 0 && now - this.#takenAt > slowMs;
  }

  /** Sends a heartbeat if nothing was sent for this long. */
  beat(now: number, heartbeatMs: number): void {
    if (this.#isOver || this.#socket.writableLength > 0 || now - this.#wroteAt < heartbeatMs) return;
    this.#write(Buffer.from(HEARTBEAT));
  }

  #write(bytes: Buffer): void {
    this.#wroteAt = performance.now();
    if (this.#socket.writableLength === 0) this.#takenAt = this.#wroteAt;
    this.#socket.write(bytes, () => {
      this.#takenAt = performance.now();
      this.#onTaken();
    });
  }

  /** Resolves once at most this many bytes wait for the reader, or the stream has ended. */
  async #untilWaiting(bytes: number): Promise<void> {
    while (!this.#isOver && this.#socket.writableLength > Math.max(0, bytes)) {
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    }
  }
}
