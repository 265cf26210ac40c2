/** Connections to a port for few, from which nothing has come yet that only those few can send. */
import type { Socket } from "node:net";

/** Maximum number of such connections of one IP address from which nobody was ever let through, and of all of them. */
const MOST_OF_ADDRESS = 16;
const MOST_OF_STRANGERS = 64;
/** Milliseconds after which one that is still silent is cut. */
const PATIENCE_MS = 5000;
/** Number of IP addresses that are remembered because somebody there was let through. */
const MOST_KNOWN = 256;

type Waiting = { readonly address: string; readonly since: number };

/**
 * Bounds them before anything is read: where one is too many the oldest is cut, so those who talk at once get through
 * however many others say nothing. Addresses that were let through before share a larger bound, since they open many
 * connections at once.
 */
export class UnprovenConnections {
  readonly #mostOfKnown: number;
  readonly #addresses = new Set<string>();
  readonly #ofStrangers = new Map<Socket, Waiting>();
  readonly #ofKnown = new Map<Socket, Waiting>();

  /** `mostOfKnown`: number of such connections of all addresses that were let through before. */
  constructor(mostOfKnown: number) {
    this.#mostOfKnown = mostOfKnown;
  }

  add(socket: Socket, address: string, now: number): void {
    if (this.#addresses.has(address)) {
      if (this.#ofKnown.size >= this.#mostOfKnown) cutOldest(this.#ofKnown);
      this.#ofKnown.set(socket, { address, since: now });
      return;
    }
    const ofAddress = [...this.#ofStrangers].filter(([, waiting]) => waiting.address === address);
    if (ofAddress.length >= MOST_OF_ADDRESS) cut(this.#ofStrangers, ofAddress[0]![0]);
    else if (this.#ofStrangers.size >= MOST_OF_STRANGERS) cutOldest(this.#ofStrangers);
    this.#ofStrangers.set(socket, { address, since: now });
  }

  remove(socket: Socket): void {
    this.#ofStrangers.delete(socket);
    this.#ofKnown.delete(socket);
  }

  /** Somebody was let through on this connection. */
  prove(socket: Socket, address: string): void {
    this.remove(socket);
    this.#addresses.delete(address);
    this.#addresses.add(address);
    const [oldest] = this.#addresses;
    if (this.#addresses.size > MOST_KNOWN) this.#addresses.delete(oldest!);
  }

  /** Cuts those that have been silent for too long; to be called regularly. */
  check(now: number): void {
    for (const waiting of [this.#ofStrangers, this.#ofKnown])
      for (const [socket, { since }] of waiting) if (now - since > PATIENCE_MS) cut(waiting, socket);
  }
}

function cutOldest(waiting: Map<Socket, Waiting>): void {
  const [oldest] = waiting.keys();
  if (oldest !== undefined) cut(waiting, oldest);
}

function cut(waiting: Map<Socket, Waiting>, socket: Socket): void {
  waiting.delete(socket);
  socket.destroy();
}
