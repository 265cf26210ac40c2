/** What a transport tells the one who started it. */
export interface TransportEvents {
  received(chunk: Uint8Array): void;
  /** After a `write` that returned false: more may be written. */
  drained(): void;
  /** Once, also after `close`. */
  closed(): void;
}

/** A stream of bytes both ways: a socket, or two ends in memory. */
export interface Transport {
  /** Begins to deliver what arrives. */
  start(events: TransportEvents): void;
  /** False: full, `drained` will follow. */
  write(bytes: Uint8Array): boolean;
  pause(): void;
  resume(): void;
  /** Closes at once; what was not sent yet is lost. */
  close(): void;
}
