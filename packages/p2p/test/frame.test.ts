import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BadFrame,
  type Frame,
  fragmentedFrames,
  frameFlags,
  HEADER_BYTES,
  noiseFrame,
  notificationFrame,
  requestFrame,
  responseFrame,
} from "../src/levin/frame.ts";
import { FrameReader } from "../src/levin/frame-reader.ts";

function readAll(reader: FrameReader, bytes: Uint8Array, pieceBytes = bytes.length): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    reader.push(bytes.subarray(at, at + pieceBytes));
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame);
  }
  return frames;
}

const taking = (maxBytes: number) => new FrameReader(() => maxBytes);
const payload = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);

test("a request, a response and a notification have the bytes of the original", () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  assert.equal(
    hex(requestFrame(1003, Uint8Array.of(0xaa))),
    "0121010101010101" + "0100000000000000" + "01" + "eb030000" + "00000000" + "01000000" + "01000000" + "aa",
  );
  assert.equal(
    hex(responseFrame(1001, -7, new Uint8Array())),
    "0121010101010101" + "0000000000000000" + "00" + "e9030000" + "f9ffffff" + "02000000" + "01000000",
  );
  assert.equal(
    hex(notificationFrame(2002, new Uint8Array(2))),
    "0121010101010101" +
      "0200000000000000" +
      "00" +
      "d2070000" +
      "00000000" +
      "01000000" +
      "01000000" +
      "0000",
  );
});

test("a long frame is joined from what arrived, whatever the pieces", () => {
  // More than three of the segments in which a payload is kept until it is whole.
  const long = Uint8Array.from({ length: 200_003 }, (_, i) => (i * 31) % 251);
  const bytes = Buffer.concat([notificationFrame(2002, long), requestFrame(1003, payload)]);
  for (const pieceBytes of [1_000, 65_535, 65_536, 65_537, 131_072, 199_999]) {
    const reader = taking(long.length);
    reader.raiseLimit();
    const frames = readAll(reader, bytes, pieceBytes);
    assert.deepEqual(
      frames.map((frame) => Buffer.from(frame.payload)),
      [Buffer.from(long), Buffer.from(payload)],
    );
    assert.equal(reader.bufferedBytes, 0);
  }
});

test("frames are cut from pieces of any size", () => {
  const bytes = Buffer.concat([
    requestFrame(1001, payload),
    notificationFrame(2008, new Uint8Array()),
    responseFrame(1002, 1, payload.subarray(0, 40)),
  ]);
  for (const pieceBytes of [1, 7, 33, 34, 500, bytes.length]) {
    const frames = readAll(taking(1000), bytes, pieceBytes);
    assert.deepEqual(
      frames.map(({ header }) => [header.command, header.expectsResponse, header.returnCode, header.flags]),
      [
        [1001, true, 0, frameFlags.request],
        [2008, false, 0, frameFlags.request],
        [1002, false, 1, frameFlags.response],
      ],
    );
    assert.deepEqual(new Uint8Array(frames[0]!.payload), payload);
    assert.equal(frames[2]!.payload.length, 40);
  }
});

test("a wrong signature is refused at its first wrong byte", () => {
  const reader = taking(1000);
  reader.push(Uint8Array.of(0x01, 0x21));
  assert.equal(reader.next(), undefined);
  reader.push(Uint8Array.of(0x02));
  assert.throws(() => reader.next(), BadFrame);
});

test("an over-long payload is refused before any of it has come", () => {
  const header = requestFrame(1001, payload).subarray(0, HEADER_BYTES);
  assert.throws(() => readAll(taking(999), header), /more than 999/);
  const huge = new Uint8Array(header);
  huge[15] = 1;
  assert.throws(() => readAll(taking(2 ** 40), huge), BadFrame);
});

test("before the handshake 256 KiB are taken, afterwards as much as the command allows", () => {
  const long = notificationFrame(2004, new Uint8Array(256 * 1024 + 1));
  assert.throws(() => readAll(taking(2 ** 30), long), BadFrame);
  const reader = taking(2 ** 30);
  reader.raiseLimit();
  assert.equal(readAll(reader, long, 65_536)[0]!.payload.length, 256 * 1024 + 1);
});

test("memory grows with what has come, not with what is promised", () => {
  const reader = taking(2 ** 30);
  reader.raiseLimit();
  reader.push(notificationFrame(2004, new Uint8Array(50_000_000)).subarray(0, 1000));
  assert.equal(reader.next(), undefined);
  assert.equal(reader.bufferedBytes, 1000 - HEADER_BYTES);
  assert.equal(reader.isInsideFrame, true);
});

test("noise is as long as it is wanted, and passed over", () => {
  for (const length of [HEADER_BYTES, 66, 3072]) assert.equal(noiseFrame(length).length, length);
  const bytes = Buffer.concat([noiseFrame(3072), requestFrame(1003, new Uint8Array()), noiseFrame(33)]);
  assert.deepEqual(
    readAll(taking(10), bytes).map(({ header }) => header.command),
    [1003],
  );
});

test("a short message is padded, a long one comes in fragments; both are read as they were", () => {
  for (const size of [0, 10, 3072 - 33, 3072 - 32, 6000, 6078, 6079, 50_000]) {
    const message = Uint8Array.from({ length: size }, (_, i) => i % 256);
    const bytes = fragmentedFrames(2002, message, 3072);
    assert.equal(bytes.length % 3072, 0);
    const frames = readAll(taking(60_000), bytes, 1000);
    assert.deepEqual(
      frames.map(({ header }) => header.command),
      [2002],
    );
    assert.deepEqual(new Uint8Array(frames[0]!.payload.subarray(0, size)), message);
    assert.ok(frames[0]!.payload.subarray(size).every((byte) => byte === 0));
  }
});

test("fragments are bounded like whole frames", () => {
  const begin = (size: number) => {
    const bytes = noiseFrame(HEADER_BYTES + size);
    bytes[25] = frameFlags.begin;
    return bytes;
  };
  const middle = (size: number) => {
    const bytes = begin(size);
    bytes[25] = 0;
    return bytes;
  };
  assert.throws(() => readAll(taking(10), middle(5)), /without a beginning/);
  const tooMuch = Buffer.concat([begin(200_000), middle(200_000)]);
  assert.throws(() => readAll(taking(10), tooMuch), /too many bytes in fragments/);
  const afterHandshake = taking(10);
  afterHandshake.raiseLimit();
  assert.equal(readAll(afterHandshake, Buffer.concat([begin(600_000), middle(400_000)])).length, 0);
  assert.throws(() => readAll(afterHandshake, middle(100_000)), /too many bytes in fragments/);
  const empty = Buffer.concat([begin(0), ...Array.from({ length: 1000 }, () => middle(0))]);
  assert.throws(() => readAll(taking(10), empty), /too many fragments/);
  const inner = fragmentedFrames(2002, new Uint8Array(5000), 1000);
  assert.throws(() => readAll(taking(4999), inner), /more than 4999/);
  // Closes: limits of a command that its message passed by, as it came in fragments and said to be one itself.
  const nested = Uint8Array.from(inner);
  new DataView(nested.buffer).setUint32(HEADER_BYTES + 25, 0, true);
  assert.throws(() => readAll(taking(10), nested), /fragments of a fragment/);
});

test("any bytes give frames or a BadFrame", () => {
  const good = Buffer.concat([
    requestFrame(1001, payload),
    fragmentedFrames(2002, payload, 500),
    responseFrame(1002, 1, payload),
  ]);
  let seed = 1;
  const next = (below: number) => {
    seed = (seed * 48_271) % 0x7fffffff;
    return seed % below;
  };
  for (let round = 0; round < 2000; round++) {
    const bytes = new Uint8Array(good);
    for (let i = 0; i <= next(4); i++) bytes[next(bytes.length)] = next(256);
    try {
      readAll(taking(2000), bytes, 1 + next(300));
    } catch (error) {
      assert.ok(error instanceof BadFrame);
    }
  }
});
