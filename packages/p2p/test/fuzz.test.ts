import assert from "node:assert/strict";
import { test } from "node:test";
import { BadBytes, peerLimits, type RecordField, readRecord, writeRecord } from "@anulo/protocol";
import fc from "fast-check";
import { BadAddress, formatPeerAddress, type PeerAddress, parsePeerAddress } from "../src/address.ts";
import { anonymityZones, parseEndpoint } from "../src/anonymity.ts";
import { banAll, createBans } from "../src/bans.ts";
import { handshake, ping, supportFlags, timedSync } from "../src/commands.ts";
import { formatIpv4, formatIpv6 } from "../src/ip.ts";
import { BadFrame, fragmentedFrames, notificationFrame, requestFrame } from "../src/levin/frame.ts";
import { FrameReader } from "../src/levin/frame-reader.ts";
import { readLists, writeLists } from "../src/lists-file.ts";
import { entryOf, PeerLists } from "../src/peer-lists.ts";
import { systemRandom } from "../src/random.ts";

const runs = { numRuns: 1000 } as const;

/** Objects as object literals make them. */
const plain = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T>(model, { noNullPrototype: true });

/** Whatever is given, there is a value or an error of this kind. */
function valueOr(expected: new (...args: never[]) => Error, run: () => unknown): void {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof expected, String(error));
  }
}

const port = fc.integer({ min: 1, max: 65_535 });
const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
const ipv6 = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .filter((bytes) => bytes[0] !== 0)
  .map(formatIpv6);
const address: fc.Arbitrary<PeerAddress> = fc.oneof(
  plain({ kind: fc.constant("ipv4" as const), host: ipv4.map(formatIpv4), port }),
  plain({ kind: fc.constant("ipv6" as const), host: ipv6, port }),
);
const known = plain({
  address,
  peerId: fc.bigInt(0n, 2n ** 64n - 1n),
  lastSeen: fc.integer({ min: 0, max: 2 ** 40 }),
  pruningSeed: fc.integer({ min: 384, max: 391 }),
  rpcPort: fc.nat(65_535),
});
const nodeData = plain({
  network_id: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  peer_id: fc.bigInt(0n, 2n ** 64n - 1n),
  my_port: fc.nat(),
  rpc_port: fc.nat(65_535),
  rpc_credits_per_hash: fc.nat(),
  support_flags: fc.nat(),
});
const syncData = plain({
  currentHeight: fc.nat(),
  topId: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  topVersion: fc.nat(255),
  cumulativeDifficulty: fc.bigInt(0n, 2n ** 128n - 1n),
  pruningSeed: fc.nat(),
});
const entries = fc.array(known.map(entryOf), { maxLength: 20 });
const greeting = plain({ node_data: nodeData, payload_data: syncData });
const answer = plain({ node_data: nodeData, payload_data: syncData, local_peerlist_new: entries });

/** Some bytes of good ones replaced, and perhaps the end cut off. */
function damaged(good: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255));
  return fc.tuple(fc.array(change, { maxLength: 5 }), fc.nat(good.length)).map(([changes, cut]) => {
    const bytes = new Uint8Array(good);
    for (const [at, byte] of changes) bytes[at] = byte;
    return cut % 4 === 0 ? bytes.subarray(0, cut) : bytes;
  });
}

test("messages are read as they were written", () => {
  fc.assert(
    fc.property(greeting, answer, (request, response) => {
      const { request: requestShape, response: responseShape } = handshake;
      assert.deepEqual(readRecord(requestShape, writeRecord(requestShape, request), peerLimits), request);
      assert.deepEqual(readRecord(responseShape, writeRecord(responseShape, response), peerLimits), response);
    }),
  );
});

test("any bytes are a message or BadBytes", () => {
  const shapes = [handshake, timedSync, ping, supportFlags].flatMap(({ request, response }) => [
    request,
    response,
  ]);
  const damagedAnswer = answer.chain((good) => damaged(writeRecord(handshake.response, good)));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), damagedAnswer), (bytes) => {
      for (const shape of shapes as RecordField<unknown>[])
        valueOr(BadBytes, () => readRecord(shape, bytes, peerLimits));
    }),
    runs,
  );
});

test("any bytes, in any pieces, are frames or BadFrame, and no more is held than came", () => {
  const good = Buffer.concat([
    requestFrame(1001, new Uint8Array(200)),
    fragmentedFrames(2002, new Uint8Array(500), 100),
    notificationFrame(2008, new Uint8Array(30)),
  ]);
  fc.assert(
    fc.property(
      fc.oneof(damaged(good), fc.uint8Array({ maxLength: 200 })),
      fc.integer({ min: 1, max: 400 }),
      (bytes, piece) => {
        const reader = new FrameReader(() => 1000);
        valueOr(BadFrame, () => {
          for (let at = 0; at < bytes.length; at += piece) {
            reader.push(bytes.subarray(at, at + piece));
            while (reader.next() !== undefined) {}
            assert.ok(reader.bufferedBytes <= at + piece);
          }
        });
      },
    ),
    runs,
  );
});

test("addresses are read as they were written, and other text is refused", () => {
  fc.assert(fc.property(address, (one) => assert.deepEqual(parsePeerAddress(formatPeerAddress(one)), one)));
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[\d.:[\]a-f]{0,40}$/),
    fc.stringMatching(/^[a-z2-7]{50,60}\.(onion|b32\.i2p)(:\d+)?$/),
  );
  fc.assert(
    fc.property(text, (given) => {
      valueOr(BadAddress, () => parsePeerAddress(given));
      valueOr(BadAddress, () => parseEndpoint(given));
      valueOr(BadAddress, () => anonymityZones([`tor,${given}`], [given]));
      banAll(
        createBans(() => 0),
        given,
      );
    }),
    runs,
  );
});

test("kept lists are read as they were written, and any other bytes are refused", () => {
  const lists = plain({ white: fc.array(known), gray: fc.array(known), anchors: fc.array(address) });
  fc.assert(
    fc.property(lists, (one) => {
      const all = new Map([["public" as const, one]]);
      assert.deepEqual(readLists(writeLists(all)), all);
    }),
  );
  fc.assert(
    fc.property(
      lists.chain((one) => damaged(writeLists(new Map([["public" as const, one]])))),
      (bytes) => valueOr(BadBytes, () => readLists(bytes)),
    ),
    runs,
  );
});

test("whatever is heard, the lists keep one entry an address and tell no times", () => {
  fc.assert(
    fc.property(fc.array(known, { maxLength: 40 }), fc.array(known, { maxLength: 40 }), (heard, met) => {
      const lists = new PeerLists({ random: systemRandom, allowLocal: true });
      for (const peer of met) lists.addWhite(peer);
      lists.addAnnounced(heard.map(entryOf), () => true);
      const all = [...lists.white, ...lists.gray].map(({ address: one }) => formatPeerAddress(one));
      assert.equal(new Set(all).size, all.length);
      assert.ok(
        lists
          .sample(250)
          .map(entryOf)
          .every(({ last_seen }) => last_seen === 0n),
      );
    }),
  );
});
