import {
  BadBytes,
  type PortableLimits,
  peerLimits,
  type RecordField,
  readRecord,
  writeRecord,
} from "@anulo/protocol";
import { fragmentedFrames, noiseFrame, notificationFrame } from "./levin/frame.ts";
import { type Peer, PeerFault } from "./peer.ts";

/** A message that is not answered, declared once. */
export interface Notification<T> {
  readonly id: number;
  readonly name: string;
  readonly payload: RecordField<T>;
  /** Longest payload taken, in bytes; a longer one closes the connection before it is read. */
  readonly maxBytes: number;
  /** Counts the reader takes; by default those of peers (`peerLimits` of protocol). */
  readonly limits?: PortableLimits;
}

/** A request with its answer, declared once. */
export interface Command<Q, A> {
  readonly id: number;
  readonly name: string;
  readonly request: RecordField<Q>;
  readonly response: RecordField<A>;
  /** Longest payloads taken, in bytes. */
  readonly maxRequestBytes: number;
  readonly maxResponseBytes: number;
}

/** Declares a notification. */
export function notification<T>(declared: Notification<T>): Notification<T> {
  return declared;
}

/** Declares a command. */
export function command<Q, A>(declared: Command<Q, A>): Command<Q, A> {
  return declared;
}

/** A notification with the function that takes it; made by `handle`. */
export interface NotificationHandler {
  readonly id: number;
  readonly name: string;
  readonly maxBytes: number;
  /** Whether the peer may send it now; if not, it is dropped at the first bytes. Left out: always. */
  isExpected?(peer: Peer): boolean;
  /** Reads the payload and hands it on. Throws PeerFault for a payload of another shape. */
  take(peer: Peer, payload: Uint8Array): void | Promise<void>;
}

/** A payload read; one of another shape is its sender's fault. */
export function readMessage<T>(
  name: string,
  shape: RecordField<T>,
  bytes: Uint8Array,
  limits: PortableLimits = peerLimits,
): T {
  try {
    return readRecord(shape, bytes, limits);
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    throw new PeerFault(`malformed ${name}: ${error.message}`, { score: 1 });
  }
}

/** The frame of a notification, to be sent to several peers. */
export function encodeNotification<T>({ id, payload }: Notification<T>, value: T): Uint8Array {
  return notificationFrame(id, writeRecord(payload, value));
}

/** A frame of `frameBytes` that says nothing, as cover for those that do. */
export function noiseMessage(frameBytes: number): Uint8Array {
  return noiseFrame(frameBytes);
}

/** A notification in frames of exactly `frameBytes` each, one after the other, so that it looks like noise. */
export function fragmentMessage<T>(
  { id, payload }: Notification<T>,
  value: T,
  frameBytes: number,
): Uint8Array {
  return fragmentedFrames(id, writeRecord(payload, value), frameBytes);
}

/** Joins a notification to the function that takes its payload; it may throw `PeerFault`. */
export function handle<T>(
  declared: Notification<T>,
  take: (peer: Peer, payload: T) => void | Promise<void>,
  options: Pick<NotificationHandler, "isExpected"> = {},
): NotificationHandler {
  const { id, name, payload, maxBytes, limits = peerLimits } = declared;
  return {
    id,
    name,
    maxBytes,
    ...options,
    take: (peer, bytes) => take(peer, readMessage(name, payload, bytes, limits)),
  };
}
