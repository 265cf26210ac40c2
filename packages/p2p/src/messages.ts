import type { CostLimits } from "@anulo/limits";
import { BadBytes, openPortable, peerLimits, type RecordField, writeRecord } from "@anulo/protocol";
import { fragmentedFrames, noiseFrame, notificationFrame } from "./levin/frame.ts";
import type { Notification } from "./notification.ts";
import { type Peer, PeerFault } from "./peer.ts";

/** The declaration of a request and its answer. */
export interface Command<Q, A> {
  readonly id: number;
  readonly name: string;
  readonly request: RecordField<Q>;
  readonly response: RecordField<A>;
  /** The cost limits of a request. For a response, `responseBytes` and `memoryBytes` apply. */
  readonly cost: CostLimits;
}

/** Declares a notification. */
export function notification<T>(declared: Notification<T>): Notification<T> {
  return declared;
}

/** Declares a command. */
export function command<Q, A>(declared: Command<Q, A>): Command<Q, A> {
  return declared;
}

/** A notification with its handler function; created by `handle`. */
export interface NotificationHandler {
  readonly id: number;
  readonly name: string;
  readonly cost: CostLimits;
  /**
   * Whether we requested the message from the peer; if not, the peer is dropped at the first bytes. If left out, peers
   * may send it without a request.
   */
  isExpected?(peer: Peer): boolean;
  /** Reads the payload and calls the handler. Throws PeerFault for a payload of another shape. */
  receive(peer: Peer, payload: Uint8Array): void | Promise<void>;
}

/** The shape of a message to be read: its name for errors, its fields, and the memory it may take. */
interface MessageShape<T> {
  readonly name: string;
  readonly payload: RecordField<T>;
  readonly cost: Pick<CostLimits, "memoryBytes">;
}

interface ReadMessage<T> {
  readonly value: T;
  /** Estimated memory of the value, besides the bytes it was read from. */
  readonly memoryBytes: number;
}

/** Reads a payload; throws PeerFault for another shape, since the sender is at fault. */
export function readMessage<T>({ name, payload, cost }: MessageShape<T>, bytes: Uint8Array): ReadMessage<T> {
  try {
    const object = openPortable(bytes, { ...peerLimits, memoryBytes: cost.memoryBytes });
    return { value: payload.fromPortable(object), memoryBytes: object.memoryBytes };
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    throw new PeerFault(`malformed ${name}: ${error.message}`, { score: 1 });
  }
}

/** Reads the request of a command. */
export function readRequest<Q, A>({ name, request, cost }: Command<Q, A>, bytes: Uint8Array): Q {
  return readMessage({ name, payload: request, cost }, bytes).value;
}

/** Reads the response of a command. */
export function readResponse<Q, A>({ name, response, cost }: Command<Q, A>, bytes: Uint8Array): A {
  return readMessage({ name: `response to ${name}`, payload: response, cost }, bytes).value;
}

/** Encodes a notification as a frame that can be sent to several peers. */
export function encodeNotification<T>({ id, payload }: Notification<T>, value: T): Uint8Array {
  return notificationFrame(id, writeRecord(payload, value));
}

/** A frame of `frameBytes` without content, sent as cover traffic. */
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

/** Charges the memory of a message's values to the peer while the message is being handled. */
async function holdWhile(peer: Peer, bytes: number, handling: Promise<void>): Promise<void> {
  const reservation = peer.reserve(bytes);
  if (reservation === undefined) peer.drop("holds too much memory");
  try {
    await handling;
  } finally {
    reservation?.release();
  }
}

/** Joins a notification to its handler function, which may throw `PeerFault`. */
export function handle<T>(
  declared: Notification<T>,
  take: (peer: Peer, payload: T) => void | Promise<void>,
  options: Pick<NotificationHandler, "isExpected"> = {},
): NotificationHandler {
  const { id, name, cost } = declared;
  return {
    id,
    name,
    cost,
    ...options,
    receive: (peer, bytes) => {
      const { value, memoryBytes } = readMessage(declared, bytes);
      const handling = take(peer, value);
      return handling && holdWhile(peer, memoryBytes, handling);
    },
  };
}
