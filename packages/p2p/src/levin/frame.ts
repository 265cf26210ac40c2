/**
 * The header of a levin frame (33 bytes), which a payload follows. Peers exchange levin frames. Source:
 * contrib/epee/include/net/levin_base.h `bucket_head2`.
 */
export interface FrameHeader {
  /** Bytes of the payload. */
  readonly length: number;
  readonly expectsResponse: boolean;
  readonly command: number;
  /** In a response: a value above 0 means success. */
  readonly returnCode: number;
  readonly flags: number;
}

export interface Frame {
  readonly header: FrameHeader;
  readonly payload: Uint8Array;
}

export const HEADER_BYTES = 33;
/** The first eight bytes of every frame, as a little-endian number. */
const SIGNATURE = 0x0101010101012101n;
const PROTOCOL_VERSION = 1;

export const frameFlags = { request: 1, response: 2, begin: 4, end: 8 } as const;

/** Source: levin_base.h `LEVIN_ERROR_*`. */
export const returnCodes = { success: 1, unknownCommand: -6, badFormat: -7 } as const;

/** Largest payloads (bytes) accepted before and after the handshake. Source: levin_base.h `LEVIN_*_MAX_PACKET_SIZE`. */
export const packetLimits = { beforeHandshake: 256 * 1024, afterHandshake: 100_000_000 } as const;

/** Bytes that cannot be a frame of this connection. */
export class BadFrame extends Error {
  override name = "BadFrame";
}

const signatureBytes = new Uint8Array(8);
new DataView(signatureBytes.buffer).setBigUint64(0, SIGNATURE, true);

/** Whether the bytes, as far as they go, begin as a frame does. */
export function beginsAsFrame(bytes: Uint8Array): boolean {
  return signatureBytes.every((byte, i) => i >= bytes.length || bytes[i] === byte);
}

/**
 * Reads a header from its 33 bytes. Throws BadFrame for another signature or a payload above 4 GiB. As in the original,
 * the protocol's version is checked only for responses.
 */
export function readHeader(bytes: Uint8Array): FrameHeader {
  if (!beginsAsFrame(bytes)) throw new BadFrame("not a frame: wrong signature");
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  if (view.getUint32(12, true) !== 0) throw new BadFrame("a frame above 4 GiB");
  return {
    length: view.getUint32(8, true),
    expectsResponse: view.getUint8(16) !== 0,
    command: view.getUint32(17, true),
    returnCode: view.getInt32(21, true),
    flags: view.getUint32(25, true),
  };
}

function writeHeader(target: Uint8Array, header: FrameHeader): void {
  const view = new DataView(target.buffer, target.byteOffset, HEADER_BYTES);
  target.set(signatureBytes);
  view.setUint32(8, header.length, true);
  view.setUint8(16, header.expectsResponse ? 1 : 0);
  view.setUint32(17, header.command, true);
  view.setInt32(21, header.returnCode, true);
  view.setUint32(25, header.flags, true);
  view.setUint32(29, PROTOCOL_VERSION, true);
}

function frame(header: Omit<FrameHeader, "length">, payload: Uint8Array, frameBytes?: number): Uint8Array {
  const bytes = new Uint8Array(frameBytes ?? HEADER_BYTES + payload.length);
  writeHeader(bytes, { ...header, length: bytes.length - HEADER_BYTES });
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

export function requestFrame(command: number, payload: Uint8Array): Uint8Array {
  return frame({ command, expectsResponse: true, returnCode: 0, flags: frameFlags.request }, payload);
}

export function responseFrame(command: number, returnCode: number, payload: Uint8Array): Uint8Array {
  return frame({ command, expectsResponse: false, returnCode, flags: frameFlags.response }, payload);
}

/** A frame that gets no answer; with `frameBytes` it is padded with zeros to that total length. */
export function notificationFrame(command: number, payload: Uint8Array, frameBytes?: number): Uint8Array {
  const header = { command, expectsResponse: false, returnCode: 0, flags: frameFlags.request };
  return frame(header, payload, frameBytes);
}

/** A frame without content, of `frameBytes` in all (33 or more). Source: levin_base.cpp `make_noise_notify`. */
export function noiseFrame(frameBytes: number): Uint8Array {
  const flags = frameFlags.begin | frameFlags.end;
  return frame(
    { command: 0, expectsResponse: false, returnCode: 0, flags },
    new Uint8Array(frameBytes - HEADER_BYTES),
  );
}

/**
 * A notification in frames of exactly `frameBytes` each (66 or more): one padded frame, or several fragments, which
 * have the same length as noise frames. Source: levin_base.cpp `make_fragmented_notify`.
 */
export function fragmentedFrames(command: number, payload: Uint8Array, frameBytes: number): Uint8Array {
  if (frameBytes < 2 * HEADER_BYTES) throw new RangeError("fragments need 66 bytes");
  if (payload.length + HEADER_BYTES <= frameBytes) return notificationFrame(command, payload, frameBytes);
  const whole = notificationFrame(command, payload);
  const room = frameBytes - HEADER_BYTES;
  const count = Math.ceil(whole.length / room);
  const joined = new Uint8Array(count * frameBytes);
  for (let i = 0; i < count; i++) {
    const flags = i === 0 ? frameFlags.begin : i === count - 1 ? frameFlags.end : 0;
    const part = whole.subarray(i * room, (i + 1) * room);
    const header = { command: 0, expectsResponse: false, returnCode: 0, flags };
    joined.set(frame(header, part, frameBytes), i * frameBytes);
  }
  return joined;
}
