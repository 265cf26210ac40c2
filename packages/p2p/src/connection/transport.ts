/** The events of a transport. */
export interface TransportEvents {
  received(chunk: Uint8Array): void;
  /** More may be written, after a `write` that returned false. */
  drained(): void;
  /** The connection is closed; called once, also after `close`. */
  closed(): void;
}

/** A stream of bytes in both directions: a socket, or two ends in memory. */
export interface Transport {
  /** Begins to deliver bytes that arrive. */
  start(events: TransportEvents): void;
  /** Returns false when the buffer is full: `drained` follows. */
  write(bytes: Uint8Array): boolean;
  pause(): void;
  resume(): void;
  /** Closes at once; bytes that were not sent yet are lost. */
  close(): void;
}
