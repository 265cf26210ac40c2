import assert from "node:assert/strict";
import { test } from "node:test";
import { type KnownPeer, type Peer, parsePeerAddress } from "@anulo/p2p";
import { describeConnection, describeKnownPeer } from "../src/rpc/describe-peer.ts";

const hidden = `${"a".repeat(52)}.b32.i2p:18083`;
const NOW = 5000;
const context = (state?: string) =>
  ({ parts: { now: () => NOW }, peers: { stateOf: () => state } }) as unknown as Parameters<
    typeof describeConnection
  >[1];

/** A peer of a hundred seconds. */
function peerAt(address: string, change: Partial<Peer> = {}): Peer {
  return {
    peerId: 0xabcn,
    connectionId: new Uint8Array(16).fill(5),
    address: parsePeerAddress(address),
    direction: "in",
    zone: "public",
    syncData: { currentHeight: 77, pruningSeed: 386 },
    supportFlags: 1,
    rpcPort: 18089,
    since: NOW - 100,
    traffic: {
      received: 350 * 1024,
      sent: 99 * 1024,
      receiveRate: 2047,
      sendRate: 2048,
      lastReceived: NOW - 7,
      lastSent: NOW - 8,
    },
    ...change,
  } as unknown as Peer;
}

test("a connection is described with its age, its rates in KiB and its idle times", () => {
  assert.deepEqual(describeConnection(peerAt("198.51.100.9:18080"), context("normal")), {
    address: "198.51.100.9:18080",
    address_type: 1,
    avg_download: 3,
    avg_upload: 0,
    connection_id: "05".repeat(16),
    current_download: 1,
    current_upload: 2,
    height: 77,
    host: "198.51.100.9",
    incoming: true,
    ip: "198.51.100.9",
    live_time: 100,
    local_ip: false,
    localhost: false,
    peer_id: "0000000000000abc",
    port: "18080",
    pruning_seed: 386,
    recv_count: 350 * 1024,
    recv_idle_time: 7,
    rpc_credits_per_hash: 0,
    rpc_port: 18089,
    send_count: 99 * 1024,
    send_idle_time: 8,
    state: "normal",
    support_flags: 1,
  });
});

test("a clock that was set back makes no age negative and no rate endless", () => {
  const { traffic } = peerAt(hidden);
  const late = { ...traffic, lastReceived: NOW + 1, lastSent: NOW + 2 };
  for (const since of [NOW, NOW + 10]) {
    const described = describeConnection(peerAt(hidden, { since, traffic: late }), context());
    const { live_time, avg_download, avg_upload, recv_idle_time, send_idle_time, state } = described;
    assert.deepEqual([live_time, avg_download, avg_upload, recv_idle_time, send_idle_time], [0, 0, 0, 0, 0]);
    assert.equal(state, "before_handshake");
  }
});

test("only addresses of IPv4 have a number and a port of their own", () => {
  const kinds = [
    ["10.1.2.3:18080", 1, "10.1.2.3", "18080", [true, false]],
    ["127.0.0.1:18080", 1, "127.0.0.1", "18080", [false, true]],
    ["[2001:db8::1]:18080", 2, "", "", [false, false]],
    [hidden, 3, "", "", [false, false]],
  ] as const;
  for (const [address, type, ip, port, [isLocal, isLoopback]] of kinds) {
    const found = describeConnection(peerAt(address, { direction: "out" }), context());
    assert.deepEqual([found.address, found.address_type, found.ip, found.port], [address, type, ip, port]);
    assert.deepEqual(
      [found.local_ip, found.localhost, found.incoming],
      [isLocal, isLoopback, false],
      address,
    );
  }
});

test("a known node is described with its port, a hidden one with the port in its name", () => {
  const known = { peerId: 7n, lastSeen: 1234, pruningSeed: 386, rpcPort: 18089 };
  const of = (address: string) =>
    describeKnownPeer({ ...known, address: parsePeerAddress(address) } as unknown as KnownPeer);
  const common = { id: 7n, last_seen: 1234, pruning_seed: 386, rpc_credits_per_hash: 0, rpc_port: 18089 };
  const number = 198 + 51 * 256 + 100 * 65536 + 9 * 2 ** 24;
  assert.deepEqual(of("198.51.100.9:18080"), { ...common, host: "198.51.100.9", ip: number, port: 18080 });
  assert.deepEqual(of("[2001:db8::1]:18080"), { ...common, host: "2001:db8::1", ip: 0, port: 18080 });
  assert.deepEqual(of(hidden), { ...common, host: hidden, ip: 0, port: 0 });
});
