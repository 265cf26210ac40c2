import { type Exact, isExactObject } from "@anulo/devnet";

/** Shorter texts are no identifiers: replacing them would change what was meant to stay. */
const shortestIdentifier = 16;

/**
 * Values that a run makes anew (transaction ids, keys, metadata), by their recorded counterparts: later requests
 * of the recording carry the recorded ones and must be sent with those of this run.
 */
export class Translation {
  readonly #actual = new Map<string, string>();

  learn(recorded: Exact, actual: Exact): void {
    if (typeof recorded !== "string" || typeof actual !== "string") return;
    // The first place counts: lists that come later may be in another order.
    if (recorded.length >= shortestIdentifier && !this.#actual.has(recorded)) this.set(recorded, actual);
  }

  set(recorded: string, actual: string): void {
    this.#actual.set(recorded, actual);
  }

  text(recorded: string): string {
    const whole = this.#actual.get(recorded);
    if (whole !== undefined) return whole;
    let text = recorded;
    for (const [from, to] of this.#actual) {
      if (text.length > from.length && text.includes(from)) text = text.replaceAll(from, to);
    }
    return text;
  }

  value(recorded: Exact): Exact {
    if (typeof recorded === "string") return this.text(recorded);
    if (Array.isArray(recorded)) return recorded.map((item) => this.value(item));
    if (!isExactObject(recorded)) return recorded;
    return Object.fromEntries(Object.entries(recorded).map(([key, item]) => [key, this.value(item)]));
  }
}
