import { createHash } from "node:crypto";
import { type ExactObject, formatExact } from "@anulo/devnet";
import { demand } from "../wallet/stage.ts";

/** The same for equal events, in whatever order their fields are written. */
function fingerprint(event: ExactObject): string {
  const sorted = Object.fromEntries(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash("sha256").update(formatExact(sorted)).digest("base64").slice(0, 16);
}

/** What one consumer has seen: every event once and in order, or it throws. */
export class SeenEvents {
  readonly #consumer: string;
  readonly #fingerprints: string[] = [];
  /** Number of events that came again, each the same as before. */
  repeated = 0;

  constructor(consumer: string) {
    this.#consumer = consumer;
  }

  /** Sequence number of the last event. */
  get last(): number {
    return this.#fingerprints.length;
  }

  /** Adds the next event; true if it is new. `mayRepeat`: one that was seen before may come again, unchanged. */
  add(event: ExactObject, mayRepeat = false): boolean {
    const sequence = Number(event.sequence);
    const print = fingerprint(event);
    if (mayRepeat && sequence <= this.last) {
      this.#compare(sequence, print);
      this.repeated++;
      return false;
    }
    demand(sequence === this.last + 1, `${this.#consumer} got event ${sequence} after ${this.last}`);
    this.#fingerprints.push(print);
    return true;
  }

  /** Throws unless the other consumer has seen the same events. */
  demandSame(other: SeenEvents): void {
    demand(
      this.last === other.last,
      `${this.#consumer} has seen ${this.last} events, ${other.#consumer} ${other.last}`,
    );
    for (const [i, print] of other.#fingerprints.entries()) this.#compare(i + 1, print);
  }

  #compare(sequence: number, print: string): void {
    demand(
      this.#fingerprints[sequence - 1] === print,
      `event ${sequence} is another one than ${this.#consumer} has seen under this number`,
    );
  }
}
