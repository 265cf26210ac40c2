import type { Socket } from "node:net";
import type { Body } from "../answer.ts";
import type { ResponseHold } from "../caller-share.ts";

/** A body of unknown length. */
export interface ByteStream {
  /** Maximum bytes of a part that wait for the reader, and maximum size of each part. */
  readonly maxWaitingBytes: number;
  /** The next part, undefined at the end. Never rejects. */
  next(): Promise<Buffer | undefined>;
  /** Ends the stream and releases its resources. */
  end(): void;
}

/** What a connection carries that is no HTTP any more. */
export interface OtherProtocol {
  /** Processes bytes that were read. Throws BadFraming for what ends the connection. */
  take(bytes: Buffer): void;
  /** The connection is closed. */
  end(): void;
}

/** An HTTP response: the head with its empty line as a byte string, and the body. */
export type HttpAnswer = {
  readonly head: string;
  readonly body: Body;
  /** True if the connection closes after this response. */
  readonly closes: boolean;
  /** The memory of the body; it shrinks as bytes are sent. */
  readonly hold?: ResponseHold | undefined;
  /** Sent after the body; the connection ends with it. */
  readonly stream?: ByteStream;
  /** What the connection carries after this response. */
  readonly switchTo?: (socket: Socket) => OtherProtocol;
};
