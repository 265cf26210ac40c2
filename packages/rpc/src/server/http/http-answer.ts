import type { ResponseHold } from "../caller-share.ts";

/** A body of unknown length. */
export interface ByteStream {
  /** Bytes of a part that may wait for its reader, and of each part. */
  readonly maxWaitingBytes: number;
  /** The next part, undefined where there is none. Never rejects. */
  next(): Promise<Buffer | undefined>;
  /** Nothing more is drawn; gives back what is held for it. */
  end(): void;
}

/** What goes back: the head with its empty line as a byte string, and the body. */
export type HttpAnswer = {
  readonly head: string;
  /** A byte string or bytes. */
  readonly body: string | Buffer;
  /** Nothing follows this answer on its connection. */
  readonly closes: boolean;
  /** The memory the body takes; shrinks as bytes leave. */
  readonly hold?: ResponseHold | undefined;
  /** Follows the body; its end is that of the connection. */
  readonly stream?: ByteStream;
};
