import { type CostLimits, type MaybePromise, whenReady } from "@anulo/limits";
import { BYTES_PER_VALUE } from "../costs.ts";
import type { Admission, Caller, ResponseHold } from "./caller-share.ts";
import { OverBudget } from "./over-budget.ts";

/** Thrown if the caller has left before the response was built. */
export class CallerLeft extends Error {
  override name = "CallerLeft";
}

/** The resources that one request uses of its port, from its parsed body to its response. */
export class RequestBudget {
  readonly #caller: Caller;
  readonly #bodyBytes: number;
  #admission: Admission | undefined;
  #responseBytes = 0;
  #usedBytes = 0;

  constructor(caller: Caller, bodyBytes: number) {
    this.#caller = caller;
    this.#bodyBytes = bodyBytes;
  }

  /** Memory that the parsed request of a call may use. */
  memoryFor({ memoryBytes }: CostLimits): number {
    return Math.min(memoryBytes, this.#caller.share.limits.requestMemoryBytes);
  }

  /** Reserves the memory of the parsed request; throws OverBudget. */
  checkRequest(cost: CostLimits, values: number): void {
    if (this.#bodyBytes > cost.requestBytes || values * BYTES_PER_VALUE > this.memoryFor(cost))
      throw new OverBudget("request", "request too large");
    this.#reserve(this.#bodyBytes + values * BYTES_PER_VALUE);
  }

  /** Reserves the memory of a request that is parsed from its text, with the values so far; throws OverBudget. */
  reserveWithText(values: number): void {
    this.#reserve(2 * this.#bodyBytes + values * BYTES_PER_VALUE);
  }

  /** Reserves memory for a copy of the body beside what the request has; throws OverBudget. */
  reserveCopy(): void {
    this.#reserve(this.#caller.request.bytes + this.#bodyBytes);
  }

  /** To be called once the copy is gone. */
  releaseCopy(): void {
    // Of a caller that has left nothing is reserved any more.
    this.#caller.request.resize(Math.max(0, this.#caller.request.bytes - this.#bodyBytes));
  }

  #reserve(bytes: number): void {
    if (!this.#caller.request.resize(bytes)) throw new OverBudget("port", "too many requests");
  }

  /** Waits until the response may be built; throws CallerLeft or OverBudget. */
  admit(cost: CostLimits): MaybePromise<void> {
    // One before it was for a response that did not come: no request waits for memory while it has some.
    this.end();
    const admission = this.#caller.share.admit(this.#caller, cost);
    return whenReady(admission, (admitted) => this.#begin(admitted, cost));
  }

  #begin(admission: Admission | undefined, cost: CostLimits): void {
    if (admission === undefined && !this.#caller.hasLeft) throw new OverBudget("port", "waited for too long");
    if (admission === undefined) throw new CallerLeft();
    this.#admission = admission;
    this.#responseBytes = Math.min(cost.responseBytes, this.#caller.share.limits.answerBytes);
    if (this.#caller.hasLeft) throw new CallerLeft();
  }

  /** Checks that the response may grow by `bytes`, beside those counted; throws OverBudget or CallerLeft. */
  check(bytes: number): void {
    if (this.#caller.hasLeft) throw new CallerLeft();
    this.checkLength(bytes);
  }

  /** The same for a response that is built, whether its caller has left or not. */
  checkLength(bytes: number): void {
    if (this.#usedBytes + bytes > this.#responseBytes) throw new OverBudget("response", "response too long");
  }

  /** Counts bytes of the response. */
  spend(bytes: number): void {
    this.check(bytes);
    this.#usedBytes += bytes;
  }

  /**
   * To be called when the response is built; returns the object that holds its memory until it is sent. Throws
   * OverBudget.
   */
  settle(bytes: number): ResponseHold | undefined {
    this.#admission?.end();
    if (this.#admission === undefined) return undefined;
    if (bytes > this.#responseBytes) throw new OverBudget("response", "response too long");
    if (!this.#admission.hold.resize(bytes)) throw new OverBudget("port", "responses take all memory");
    const { hold } = this.#admission;
    this.#admission = undefined;
    return hold;
  }

  /** Releases what is still reserved if nothing is sent. */
  end(): void {
    this.#admission?.end();
    this.#admission?.hold.release();
    this.#admission = undefined;
  }
}
