/**
 * The bytes of ZMTP 3.0 and 3.1 with the NULL mechanism.
 * Source: rfc.zeromq.org/spec/23 (ZMTP 3.0), rfc.zeromq.org/spec/37 (ZMTP 3.1).
 */

/** Bytes that are no ZMTP 3, or not what a subscriber may send: the connection ends. */
export class BadZmtp extends Error {
  override name = "BadZmtp";
}

export const GREETING_BYTES = 64;
/** Bytes of the greeting that are compared: signature, version, mechanism. */
const SIGNATURE_END = 10;
const MECHANISM = { start: 12, end: 32 } as const;
const MAJOR_VERSION = 3;
const MINOR_VERSION = 1;

export const frameFlags = { more: 1, long: 2, command: 4 } as const;
const SHORT_FRAME = 255;

/** The greeting of either side. */
export function greeting(): Buffer {
  const bytes = Buffer.alloc(GREETING_BYTES);
  bytes[0] = 0xff;
  // Where old peers expect a length: that of an empty identity with its flags.
  bytes[SIGNATURE_END - 2] = 1;
  bytes[SIGNATURE_END - 1] = 0x7f;
  bytes[SIGNATURE_END] = MAJOR_VERSION;
  bytes[SIGNATURE_END + 1] = MINOR_VERSION;
  bytes.write("NULL", MECHANISM.start, "latin1");
  return bytes;
}

/** Throws BadZmtp where these first bytes cannot become the greeting of a peer that speaks ZMTP 3 with NULL. */
export function checkGreeting(bytes: Uint8Array): void {
  const isSigned = bytes.length < 1 || bytes[0] === 0xff;
  const isSignatureEnded = bytes.length < SIGNATURE_END || (bytes[SIGNATURE_END - 1]! & 1) === 1;
  if (!isSigned || !isSignatureEnded) throw new BadZmtp("no signature of ZMTP");
  const major = bytes[SIGNATURE_END];
  if (major !== undefined && major < MAJOR_VERSION) throw new BadZmtp("older than ZMTP 3.0");
  if (bytes.length < GREETING_BYTES) return;
  const mechanism = Buffer.from(bytes.subarray(MECHANISM.start, MECHANISM.end)).toString("latin1");
  if (mechanism !== "NULL".padEnd(MECHANISM.end - MECHANISM.start, "\0"))
    throw new BadZmtp("a mechanism other than NULL");
}

/** One frame around `body`. */
export function frame(flags: number, body: Uint8Array): Buffer {
  const isLong = body.length > SHORT_FRAME;
  const head = Buffer.alloc(isLong ? 9 : 2);
  head[0] = isLong ? flags | frameFlags.long : flags;
  if (isLong) head.writeBigUInt64BE(BigInt(body.length), 1);
  else head[1] = body.length;
  return Buffer.concat([head, body]);
}

/** A command frame. */
export function commandFrame(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.of(name.length), Buffer.from(name, "latin1"), data]);
  return frame(frameFlags.command, body);
}

/** READY with the one property that PUB and SUB need. */
export function readyFrame(socketType: string): Buffer {
  const name = "Socket-Type";
  const length = Buffer.alloc(4);
  length.writeUInt32BE(socketType.length);
  const property = [Buffer.of(name.length), Buffer.from(name), length, Buffer.from(socketType)];
  return commandFrame("READY", Buffer.concat(property));
}

export interface Command {
  readonly name: string;
  readonly data: Uint8Array;
}

/** Divides the body of a command frame; throws BadZmtp. */
export function readCommand(body: Uint8Array): Command {
  const length = body[0];
  if (length === undefined || length === 0 || body.length < 1 + length)
    throw new BadZmtp("a command without name");
  const name = Buffer.from(body.subarray(1, 1 + length)).toString("latin1");
  return { name, data: body.subarray(1 + length) };
}

/** The properties of READY by name in lower case, as names are compared; throws BadZmtp. */
export function readProperties(data: Uint8Array): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const text = (from: number, to: number) => Buffer.from(data.subarray(from, to)).toString("latin1");
  for (let at = 0; at < data.length; ) {
    const valueLengthAt = at + 1 + data[at]!;
    if (valueLengthAt + 4 > data.length) throw new BadZmtp("a property that is cut off");
    const valueAt = valueLengthAt + 4;
    const end = valueAt + view.getUint32(valueLengthAt);
    if (end > data.length) throw new BadZmtp("a property that is cut off");
    properties.set(text(at + 1, valueLengthAt).toLowerCase(), text(valueAt, end));
    at = end;
  }
  return properties;
}
