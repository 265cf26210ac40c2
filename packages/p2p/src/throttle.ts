import type { Clock } from "./clock.ts";

/** A budget of bytes that refills at a rate; at most the bytes of one second are saved up. */
export class TokenBucket {
  readonly #clock: Clock;
  #bytesPerSecond: number;
  #tokens: number;
  #filledAt: number;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
    this.#tokens = bytesPerSecond;
    this.#filledAt = clock.milliseconds();
  }

  get bytesPerSecond(): number {
    return this.#bytesPerSecond;
  }

  set bytesPerSecond(rate: number) {
    this.#fill();
    this.#bytesPerSecond = rate;
    this.#tokens = Math.min(this.#tokens, rate);
  }

  #fill(): void {
    const now = this.#clock.milliseconds();
    const gained = ((now - this.#filledAt) / 1000) * this.#bytesPerSecond;
    this.#tokens = Math.min(this.#bytesPerSecond, this.#tokens + gained);
    this.#filledAt = now;
  }

  /**
   * Subtracts bytes that were transferred; the budget may become negative, and is closed until it is positive again.
   */
  take(bytes: number): void {
    this.#fill();
    this.#tokens -= bytes;
  }

  get isOpen(): boolean {
    this.#fill();
    return this.#tokens > 0;
  }

  /** Milliseconds until the budget is open, 0 when it is. */
  get wait(): number {
    this.#fill();
    return this.#tokens > 0 ? 0 : Math.max(1, Math.ceil(((1 - this.#tokens) / this.#bytesPerSecond) * 1000));
  }
}

/** A transfer that moves one piece of bytes when its turn comes. */
export interface Turn {
  /** Moves a piece and returns how many bytes; 0 if there is nothing to move now. */
  move(): number;
}

/** Shares a budget among many transfers: each moves one piece per turn, while the budget is open. */
export class FairShare {
  readonly bucket: TokenBucket;
  readonly #clock: Clock;
  readonly #waiting = new Set<Turn>();
  #cancel: (() => void) | undefined;
  #isServing = false;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.bucket = new TokenBucket(clock, bytesPerSecond);
  }

  /** Queues for a turn, which comes at once while the budget is open and nothing waits. */
  enter(turn: Turn): void {
    this.#waiting.add(turn);
    if (this.#cancel === undefined && !this.#isServing) this.#serve();
  }

  leave(turn: Turn): void {
    this.#waiting.delete(turn);
  }

  stop(): void {
    this.#cancel?.();
    this.#waiting.clear();
  }

  #serve(): void {
    this.#cancel = undefined;
    this.#isServing = true;
    while (this.bucket.isOpen) {
      const [turn] = this.#waiting;
      if (turn === undefined) break;
      this.#waiting.delete(turn);
      const moved = turn.move();
      if (moved === 0) continue;
      this.bucket.take(moved);
      this.#waiting.add(turn);
    }
    this.#isServing = false;
    if (this.#waiting.size > 0) this.#cancel = this.#clock.after(this.bucket.wait, () => this.#serve());
  }
}
