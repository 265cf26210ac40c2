import { type CostLimits, type MaybePromise, whenReady } from "@anulo/limits";
import { BYTES_PER_VALUE } from "../costs.ts";
import type { Admission, Caller, ResponseHold } from "./caller-share.ts";

/** Raised where a call costs more than it is declared to, or than its port has left. */
export class OverBudget extends Error {
  override name = "OverBudget";
  /** `request`: what was asked is too much; `response`: it would be too long; `port`: others take what there is. */
  readonly of: "request" | "response" | "port";

  constructor(of: OverBudget["of"], message: string) {
    super(message);
    this.of = of;
  }
}

/** Raised where the caller has left before the response was made. */
export class CallerLeft extends Error {
  override name = "CallerLeft";
}

/** What one request takes of its port, from its parsed body to its response. */
export class RequestBudget {
  readonly #caller: Caller;
  readonly #bodyBytes: number;
  #admission: Admission | undefined;
  #responseBytes = 0;
  #made = 0;

  constructor(caller: Caller, bodyBytes: number) {
    this.#caller = caller;
    this.#bodyBytes = bodyBytes;
  }

  /** Memory that the request of a call may take once parsed. */
  memoryFor({ memoryBytes }: CostLimits): number {
    return Math.min(memoryBytes, this.#caller.share.limits.requestMemoryBytes);
  }

  /** Reserves what the request takes once parsed; throws OverBudget. */
  checkRequest(cost: CostLimits, values: number): void {
    const memory = values * BYTES_PER_VALUE;
    if (this.#bodyBytes > cost.requestBytes || memory > this.memoryFor(cost))
      throw new OverBudget("request", "request too large");
    if (!this.#caller.request.resize(this.#bodyBytes + memory))
      throw new OverBudget("port", "too many requests");
  }

  /** Waits until the response may be made; throws CallerLeft or OverBudget. */
  admit(cost: CostLimits): MaybePromise<void> {
    const admission = this.#caller.share.admit(this.#caller, cost);
    return whenReady(admission, (given) => this.#begin(given, cost));
  }

  #begin(admission: Admission | undefined, cost: CostLimits): void {
    if (admission === undefined && !this.#caller.hasLeft) throw new OverBudget("port", "waited for too long");
    if (admission === undefined) throw new CallerLeft();
    this.#admission = admission;
    this.#responseBytes = Math.min(cost.responseBytes, this.#caller.share.limits.answerBytes);
    if (this.#caller.hasLeft) throw new CallerLeft();
  }

  /** Whether `bytes` more may be made of the response, beside those counted; throws OverBudget or CallerLeft. */
  check(bytes: number): void {
    if (this.#caller.hasLeft) throw new CallerLeft();
    if (this.#made + bytes > this.#responseBytes) throw new OverBudget("response", "response too long");
  }

  /** Counts what is made of the response. */
  spend(bytes: number): void {
    this.check(bytes);
    this.#made += bytes;
  }

  /** The response is made; gives what holds its memory until it is sent. Throws OverBudget. */
  settle(bytes: number): ResponseHold | undefined {
    this.#admission?.end();
    if (this.#admission === undefined) return undefined;
    if (bytes > this.#responseBytes) throw new OverBudget("response", "response too long");
    if (!this.#admission.hold.resize(bytes)) throw new OverBudget("port", "responses take all memory");
    const { hold } = this.#admission;
    this.#admission = undefined;
    return hold;
  }

  /** Nothing is sent: gives back what is still held. */
  end(): void {
    this.#admission?.end();
    this.#admission?.hold.release();
    this.#admission = undefined;
  }
}
