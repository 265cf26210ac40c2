/** A warning about what is tried again all the time: the first failure is logged, not each of an outage. */
import type { Logger } from "@anulo/rpc";

export class RepeatedFailure {
  readonly #log: Logger;
  readonly #message: string;
  #isFailing = false;

  constructor(log: Logger, message: string) {
    this.#log = log;
    this.#message = message;
  }

  failed(error: unknown): void {
    this.#log[this.#isFailing ? "debug" : "warn"](this.#message, { error });
    this.#isFailing = true;
  }

  /** The next failure is the first of another outage. */
  succeeded(): void {
    this.#isFailing = false;
  }
}
