import type { Duplex } from "node:stream";
import { ClientConnection } from "./client-connection.ts";

/** A call that needs a connection. */
export interface Caller {
  /** True once it no longer needs one. */
  readonly isOver: boolean;
  /** Set by the pool while a connection is opened for it: gives that up. */
  giveUp: () => void;
}

type Waiting = {
  readonly caller: Caller;
  /** Left out, one may be opened. */
  readonly begin: (connection?: ClientConnection) => void;
};

/** The connections to one service, kept open between calls. */
export class ConnectionPool {
  readonly #dial: (signal: AbortSignal) => Promise<Duplex>;
  readonly #most: number;
  readonly #open = new Set<ClientConnection>();
  readonly #idle: ClientConnection[] = [];
  /** Number of connections that are being opened. */
  #opening = 0;
  #waiting: Waiting[] = [];
  #isClosed = false;

  /** `most`: maximum number of open connections. */
  constructor(most: number, dial: (signal: AbortSignal) => Promise<Duplex>) {
    this.#most = most;
    this.#dial = dial;
  }

  /** A connection for the call, which has to be given back with `release`; rejects if none can be opened. */
  take(caller: Caller): ClientConnection | Promise<ClientConnection> {
    return this.#takeIdle() ?? this.#takeLater(caller);
  }

  #takeIdle(): ClientConnection | undefined {
    const connection = this.#idle.pop();
    if (connection !== undefined) connection.isNeeded = true;
    return connection;
  }

  async #takeLater(caller: Caller): Promise<ClientConnection> {
    while (this.#open.size + this.#opening >= this.#most) {
      const connection = await new Promise<ClientConnection | undefined>((begin) =>
        this.#waiting.push({ caller, begin }),
      );
      if (connection !== undefined) return connection;
    }
    return await this.#connect(caller);
  }

  async #connect(caller: Caller): Promise<ClientConnection> {
    const controller = new AbortController();
    caller.giveUp = () => controller.abort();
    this.#opening += 1;
    try {
      const stream = await this.#dial(controller.signal);
      const connection = new ClientConnection(stream, () => this.#onClosed(connection));
      this.#open.add(connection);
      if (this.#isClosed) connection.destroy(new Error("closed"));
      return connection;
    } finally {
      this.#opening -= 1;
      caller.giveUp = () => undefined;
      this.#wakeNext();
    }
  }

  /** Takes back a connection whose exchange has ended. */
  release(connection: ClientConnection): void {
    if (!connection.isFree) return;
    connection.isNeeded = false;
    this.#idle.push(connection);
    this.#wakeNext();
  }

  #onClosed(connection: ClientConnection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#wakeNext();
  }

  /** Lets the next call try, if there is a connection for it. */
  #wakeNext(): void {
    if (this.#idle.length === 0 && this.#open.size + this.#opening >= this.#most) return;
    let next = this.#waiting.shift();
    while (next?.caller.isOver) next = this.#waiting.shift();
    if (next !== undefined) next.begin(this.#takeIdle());
  }

  /** Closes all connections for good. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.destroy(new Error("closed"));
  }
}
