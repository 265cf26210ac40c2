/** Does something at regular intervals, and sooner where that is asked for. */
import { setTimeout as delay } from "node:timers/promises";

export type HeartbeatParts = {
  readonly intervalMs: number;
  readonly beat: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** Returns milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Resolves after this time, or once the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

const waitForTimer = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  /** Each pause has a signal of its own: one that lasts would remember every pause. */
  #pause = new AbortController();
  #isDue = false;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Has the next beat come at once, or as soon as the one under way has ended. */
  beatSoon(): void {
    this.#isDue = true;
    this.#pause.abort();
  }

  /** Resolves once the beat under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pause.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { intervalMs, beat, onFailure, elapsed, wait = waitForTimer } = this.#parts;
    let next = elapsed();
    while (!this.#isStopped) {
      // A beat that took long is followed soon by the next, and one that came early by none that is late.
      const now = elapsed();
      next = Math.min(Math.max(next + intervalMs, now), now + intervalMs);
      this.#pause = new AbortController();
      if (!this.#isDue) await wait(next - now, this.#pause.signal);
      this.#isDue = false;
      if (this.#isStopped) return;
      await beat().catch(onFailure);
    }
  }
}
