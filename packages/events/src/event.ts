import { type Json, type JsonObject, packJson, unpackJson } from "./json.ts";

/** What a source (a wallet) reports: its type and further fields. */
export type NewEvent = { readonly type: string; readonly [field: string]: Json };

/** An event of the log: numbered 1, 2, 3…, with the name of its wallet and the time it was added, in seconds since 1970. */
export type LoggedEvent = NewEvent & {
  readonly sequence: number;
  readonly wallet: string;
  readonly time: number;
};

/** Maximum size of a stored event. */
const MAX_EVENT_BYTES = 64 * 1024;
const MAX_NAME_BYTES = 255;
const TYPE = /^[A-Za-z0-9_.-]{1,64}$/;
const ownFields = ["sequence", "wallet", "time"];

/** Encodes an event for storage, without its number. Throws a RangeError for one that is invalid or too large. */
export function encodeEvent(event: NewEvent, place: { wallet: string; time: number }): Buffer {
  if (!TYPE.test(event.type)) throw new RangeError("an event's type is 1 to 64 letters, digits, _ . or -");
  const own = ownFields.find((field) => Object.hasOwn(event, field));
  if (own !== undefined) throw new RangeError(`an event has no ${own} of its own: the log adds it`);
  if (Buffer.byteLength(place.wallet) > MAX_NAME_BYTES) throw new RangeError("a wallet's name is too long");
  const { type, ...fields } = event;
  const bytes = Buffer.from(packJson({ type, ...place, ...fields }));
  if (bytes.length > MAX_EVENT_BYTES) throw new RangeError(`an event has ${bytes.length} bytes`);
  return bytes;
}

export function decodeEvent(sequence: number, bytes: Uint8Array): LoggedEvent {
  const fields = unpackJson(Buffer.from(bytes).toString()) as JsonObject;
  return { sequence, ...fields } as LoggedEvent;
}
