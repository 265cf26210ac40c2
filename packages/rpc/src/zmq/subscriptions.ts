import type { ZmqLimits } from "./zmq-limits.ts";
import { BadZmtp } from "./zmtp.ts";

/** The beginnings of messages that one connection wants. */
export class Subscriptions {
  readonly #limits: ZmqLimits["subscriptions"];
  /** By their bytes as latin1. */
  readonly #prefixes = new Map<string, Buffer>();
  #bytes = 0;

  constructor(limits: ZmqLimits["subscriptions"]) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#prefixes.size;
  }

  /** False where it was there already. Throws BadZmtp where there are too many. */
  add(prefix: Uint8Array): boolean {
    const bytes = Buffer.from(prefix);
    const key = bytes.toString("latin1");
    if (this.#prefixes.has(key)) return false;
    const { count, bytes: maxBytes } = this.#limits;
    if (this.#prefixes.size >= count || this.#bytes + bytes.length > maxBytes)
      throw new BadZmtp("too many subscriptions");
    this.#prefixes.set(key, bytes);
    this.#bytes += bytes.length;
    return true;
  }

  /** False where it was not there. */
  remove(prefix: Uint8Array): boolean {
    const isRemoved = this.#prefixes.delete(Buffer.from(prefix).toString("latin1"));
    if (isRemoved) this.#bytes -= prefix.length;
    return isRemoved;
  }

  /** Whether a message that begins with these bytes is wanted. */
  matches(message: Buffer): boolean {
    for (const prefix of this.#prefixes.values()) {
      if (message.length >= prefix.length && prefix.compare(message, 0, prefix.length) === 0) return true;
    }
    return false;
  }

  /** Every prefix, as latin1. */
  prefixes(): Iterable<string> {
    return this.#prefixes.keys();
  }
}
