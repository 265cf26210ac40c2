import { addressBlock } from "@anulo/limits";
import type { Subscriber } from "./subscriber.ts";
import type { ZmqLimits } from "./zmq-limits.ts";

/** Whether an address is of this machine, also where IPv4 comes through an IPv6 socket; local sockets have none. */
function isOwnMachine(address: string | undefined): boolean {
  return address === undefined || address === "" || /^(?:::ffff:)?127\.|^::1$/.test(address);
}

/** The open connections of a publisher, and who may join them. */
export class Connections implements Iterable<Subscriber> {
  readonly #limits: ZmqLimits;
  readonly #open = new Set<Subscriber>();

  constructor(limits: ZmqLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): Iterator<Subscriber> {
    return this.#open.values();
  }

  /** Adds a connection; where there is no room, one that wants nothing goes. False: there is no such one. */
  add(newcomer: Subscriber): boolean {
    if (!this.#makeRoom(newcomer.address)) return false;
    this.#open.add(newcomer);
    return true;
  }

  remove(subscriber: Subscriber): void {
    this.#open.delete(subscriber);
  }

  #makeRoom(address: string | undefined): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    if (!isOwnMachine(address)) {
      const block = addressBlock(address ?? "");
      const neighbours = [...this.#open].filter((it) => addressBlock(it.address ?? "") === block);
      if (neighbours.length >= connectionsPerAddress && !dropIdle(neighbours)) return false;
    }
    return this.#open.size < connections || dropIdle(this.#open);
  }
}

/** Closes the oldest connection without subscriptions, if there is one. */
function dropIdle(among: Iterable<Subscriber>): boolean {
  // In the order in which they came.
  for (const subscriber of among) {
    if (subscriber.subscriptions.size > 0) continue;
    subscriber.close("makes room for another");
    return true;
  }
  return false;
}
