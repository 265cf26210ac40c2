import type { ResponseHold } from "../caller-share.ts";

/** What goes back: the head with its empty line as a byte string, and the body. */
export type HttpAnswer = {
  readonly head: string;
  /** A byte string or bytes. */
  readonly body: string | Buffer;
  /** Nothing follows this answer on its connection. */
  readonly closes: boolean;
  /** The memory the body takes; shrinks as bytes leave. */
  readonly hold?: ResponseHold | undefined;
};
