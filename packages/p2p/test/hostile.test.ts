import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { epee, writeRecord } from "@anulo/protocol";
import { systemClock } from "../src/clock.ts";
import { handshake, ping, timedSync } from "../src/commands.ts";
import type { MemoryHolder } from "../src/connection/peer-memory.ts";
import { HEADER_BYTES, notificationFrame, requestFrame, responseFrame } from "../src/levin/frame.ts";
import { FrameReader } from "../src/levin/frame-reader.ts";
import { handle, notification } from "../src/messages.ts";
import type { NodeData, PeerEntry } from "../src/records.ts";
import { sharedLimits } from "../src/shared-limits.ts";
import {
  type Caller,
  createTestNode,
  FakeClock,
  FakeInternet,
  networkId,
  settle,
  syncDataAt,
  type TestNode,
} from "./fakes.ts";

const cost = { requestBytes: 1_000_000, memoryBytes: 1000, rows: 0, responseBytes: 0 };
const blob = notification({ id: 2999, name: "blob", payload: epee.record({ n: epee.u32 }), cost });

async function world(options: Partial<Parameters<typeof createTestNode>[2]> = {}) {
  const clock = new FakeClock();
  const internet = new FakeInternet();
  const victim = createTestNode(internet, clock, {
    ip: "1.1.1.1",
    notifications: [handle(blob, () => {})],
    ...options,
  });
  await victim.network.start();
  return { clock, internet, victim, call: (from: string) => internet.call(from, victim.address) };
}

function nodeData(id: bigint): NodeData {
  return {
    network_id: networkId,
    peer_id: id,
    my_port: 0,
    rpc_port: 0,
    rpc_credits_per_hash: 0,
    support_flags: 1,
  };
}

function greeting(id = 77n): Uint8Array {
  const request = { node_data: nodeData(id), payload_data: syncDataAt(3) };
  return requestFrame(handshake.id, writeRecord(handshake.request, request));
}

/** Waits until the other side has closed, however many turns of the event loop a busy machine makes of its work. */
async function closes(end: { readonly isClosed: boolean }, message?: string): Promise<void> {
  for (let i = 0; i < 100 && !end.isClosed; i++) await settle();
  assert.ok(end.isClosed, message);
}

/**
 * Sends a message a second until the other side has closed. Its work must not be measured by the system's clock: it gives
 * a caller more time for an answer when it had no processor time left to read one, as on a busy machine.
 */
async function writeUntilClosed({ end }: Caller, clock: FakeClock, { leastSeconds = 0 } = {}): Promise<void> {
  let seconds = 0;
  for (; seconds < 400 && !end.isClosed; seconds++) {
    end.write(notificationFrame(blob.id, writeRecord(blob.payload, { n: seconds })));
    await clock.pass(1);
  }
  assert.ok(end.isClosed);
  assert.ok(seconds > leastSeconds, `closed after ${seconds} s`);
}

async function shakenHands(call: (from: string) => Caller, from: string): Promise<Caller> {
  const caller = call(from);
  caller.end.write(greeting());
  await settle();
  assert.equal(caller.end.isClosed, false);
  return caller;
}

/** The victim still welcomes others. */
async function assertServes(call: (from: string) => Caller, victim: TestNode): Promise<void> {
  await shakenHands(call, "8.8.8.8");
  const isPeer = () => victim.network.peers().some(({ address }) => address.host === "8.8.8.8");
  for (let i = 0; i < 100 && !isPeer(); i++) await settle();
  assert.ok(isPeer());
  assert.deepEqual(victim.errors, []);
}

test("garbage closes the connection", async () => {
  const { victim, call } = await world();
  for (const text of ["GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "\x01\x21\x01\x01\x01\x01\x01\x02"]) {
    const caller = call("6.6.6.6");
    caller.end.write(Buffer.from(text, "latin1"));
    await closes(caller.end, text);
  }
  await assertServes(call, victim);
});

test("before the handshake only a handshake or a ping is listened to", async () => {
  const { victim, call } = await world();
  const bodies = [
    notificationFrame(blob.id, new Uint8Array(10)),
    requestFrame(timedSync.id, writeRecord(timedSync.request, { payload_data: syncDataAt(1) })),
    requestFrame(1234, new Uint8Array()),
    responseFrame(handshake.id, 1, new Uint8Array()),
    notificationFrame(blob.id, new Uint8Array(1_000_000)).subarray(0, HEADER_BYTES),
  ];
  for (const bytes of bodies) {
    const caller = call("6.6.6.6");
    caller.end.write(bytes);
    await closes(caller.end);
    assert.equal(caller.received().length, 0);
  }
  const pinging = call("6.6.6.6");
  pinging.end.write(requestFrame(ping.id, writeRecord(ping.request, {})));
  await settle();
  assert.ok(pinging.received().length > HEADER_BYTES);
  await assertServes(call, victim);
});

test("malformed, repeated, misplaced and over-long messages of a peer drop it", async () => {
  const { victim, call } = await world();
  const tooMany: PeerEntry[] = Array.from({ length: 251 }, (_, i) => ({
    adr: { kind: "ipv4", host: `5.5.${i % 250}.5`, port: 1 },
    id: 1n,
    last_seen: 0n,
    pruning_seed: 0,
    rpc_port: 0,
    rpc_credits_per_hash: 0,
  }));
  const news = { payload_data: syncDataAt(1), local_peerlist_new: tooMany };
  const bodies = [
    greeting(),
    notificationFrame(blob.id, Uint8Array.of(1, 2, 3)),
    notificationFrame(blob.id, new Uint8Array(1_000_001)),
    requestFrame(timedSync.id, Uint8Array.of(1)),
    requestFrame(ping.id, new Uint8Array(4097)),
    responseFrame(timedSync.id, 1, writeRecord(timedSync.response, { ...news, local_peerlist_new: [] })),
  ];
  for (const bytes of bodies) {
    const caller = await shakenHands(call, "6.6.6.6");
    caller.end.write(bytes);
    await closes(caller.end);
  }
  await assertServes(call, victim);
});

test("what nobody asked for is refused at its first bytes", async () => {
  let isAsked = true;
  const answers = handle(blob, () => {}, { isExpected: () => isAsked });
  const { victim, call } = await world({ notifications: [answers] });
  const caller = await shakenHands(call, "6.6.6.6");
  const long = notificationFrame(blob.id, new Uint8Array(1_000_000));
  caller.end.write(long.subarray(0, 500_000));
  await settle();
  assert.equal(caller.end.isClosed, false);
  isAsked = false;
  const other = await shakenHands(call, "6.6.6.7");
  other.end.write(long.subarray(0, HEADER_BYTES));
  await closes(other.end);
  await assertServes(call, victim);
});

test("unknown messages are passed over, unknown requests get an error", async () => {
  const { call } = await world();
  const caller = await shakenHands(call, "6.6.6.6");
  const before = caller.received().length;
  caller.end.write(notificationFrame(4711, new Uint8Array(100)));
  caller.end.write(requestFrame(4712, new Uint8Array(100)));
  await settle();
  const reader = new FrameReader(() => 1000);
  reader.push(caller.received().subarray(before));
  assert.equal(reader.next()!.header.returnCode, -6);
  assert.equal(caller.end.isClosed, false);
});

test("who connects and says nothing, or too little, is gone in time", async () => {
  const { clock, victim, call } = await world();
  const silent = call("6.6.6.6");
  const slow = call("6.6.6.7");
  for (const byte of greeting().subarray(0, 9)) {
    slow.end.write(Uint8Array.of(byte));
    await clock.pass(1);
  }
  assert.equal(silent.end.isClosed, false);
  await clock.pass(2);
  assert.ok(silent.end.isClosed && slow.end.isClosed);
  await assertServes(call, victim);
});

test("a peer that trickles a long message is dropped, one that is only slow is not", async () => {
  const { clock, victim, call } = await world({ timedSyncSeconds: 1e6 });
  const long = notificationFrame(blob.id, new Uint8Array(900_000));
  const trickling = await shakenHands(call, "6.6.6.6");
  const slow = await shakenHands(call, "6.6.6.7");
  trickling.end.write(long.subarray(0, 100));
  for (let i = 0; i < 100; i++) {
    trickling.end.write(long.subarray(100 + i, 101 + i));
    slow.end.write(long.subarray(i * 2000, (i + 1) * 2000));
    await clock.pass(1);
    if (i === 60) assert.ok(trickling.end.isClosed);
  }
  assert.equal(slow.end.isClosed, false);
  await assertServes(call, victim);
});

test("unfinished messages of all peers together are bounded: the largest goes", async () => {
  const huge = notification({ ...blob, id: 2998, name: "huge", cost: { ...cost, requestBytes: 99_000_000 } });
  const notifications = [handle(blob, () => {}), handle(huge, () => {})];
  const { victim, call } = await world({ limitDown: 1e9, notifications });
  const header = notificationFrame(huge.id, new Uint8Array(90_000_000)).subarray(0, HEADER_BYTES);
  const megabyte = new Uint8Array(1_000_000);
  const callers: Caller[] = [];
  for (const [i, megabytes] of [40, 95, 70].entries()) {
    const caller = await shakenHands(call, `6.6.6.${i}`);
    caller.end.write(header);
    for (let sent = 0; sent < megabytes; sent++) caller.end.write(megabyte);
    await settle();
    callers.push(caller);
  }
  assert.deepEqual(
    callers.map(({ end }) => end.isClosed),
    [false, true, false],
  );
  await assertServes(call, victim);
});

test("a peer that falls silent is dropped after five minutes", async () => {
  const { clock, call } = await world({ timedSyncSeconds: 1e6 });
  const caller = await shakenHands(call, "6.6.6.6");
  await clock.pass(299);
  assert.equal(caller.end.isClosed, false);
  await clock.pass(4);
  assert.ok(caller.end.isClosed);
});

test("a peer that does not answer is dropped after two minutes", async () => {
  const { clock, call } = await world({ timedSyncSeconds: 10 });
  const caller = await shakenHands(call, "6.6.6.6");
  await writeUntilClosed(caller, clock, { leastSeconds: 120 });
});

test("a peer that does not read what it is sent is dropped before it costs much", async () => {
  const { clock, victim, call } = await world({ limitUp: 1e6, timedSyncSeconds: 1e6 });
  const caller = await shakenHands(call, "6.6.6.6");
  caller.end.pause();
  const [peer] = victim.network.peers();
  let sent = 0;
  while (peer!.send(notificationFrame(blob.id, new Uint8Array(1_000_000))) && sent < 1000) sent++;
  assert.ok(sent < 200, `${sent} MB were queued`);
  assert.equal(peer!.isOpen, false);
  const late = await shakenHands(call, "6.6.6.7");
  late.end.pause();
  victim.network.peers()[0]!.send(notificationFrame(blob.id, new Uint8Array(2_000_000)));
  await writeUntilClosed(late, clock);
});

test("requests without end are not answered without end", async () => {
  const { victim, call } = await world();
  const caller = await shakenHands(call, "6.6.6.6");
  const request = requestFrame(timedSync.id, writeRecord(timedSync.request, { payload_data: syncDataAt(1) }));
  for (let i = 0; i < 200; i++) caller.end.write(request);
  await closes(caller.end);
  await assertServes(call, victim);
});

test("strangers make room for new ones, peers do not", async () => {
  const { clock, victim, call } = await world({ maxIn: 100 });
  const friend = await shakenHands(call, "9.9.9.9");
  const strangers = Array.from({ length: 300 }, (_, i) => call(`6.${i >> 8}.${i & 255}.6`));
  const oneHost = Array.from({ length: 50 }, () => call("7.7.7.7"));
  await settle();
  const open = [...strangers, ...oneHost].filter(({ end }) => !end.isClosed);
  assert.ok(open.length <= 64, String(open.length));
  assert.ok(oneHost.filter(({ end }) => !end.isClosed).length <= 8);
  await assertServes(call, victim);
  await clock.pass(11);
  assert.ok([...strangers, ...oneHost].every(({ end }) => end.isClosed));
  assert.equal(friend.end.isClosed, false);
});

test("no more connections are accepted than there are descriptors for, and a peer finds its place", async () => {
  const { clock, call } = await world({ maxAccepted: 20 });
  const friend = await shakenHands(call, "9.9.9.9");
  const peers: Caller[] = [];
  for (let i = 0; i < 30; i++) {
    const peer = call(`6.6.${i}.6`);
    peer.end.write(greeting());
    await settle();
    peers.push(peer);
  }
  const strangers = Array.from({ length: 30 }, (_, i) => call(`7.7.${i}.7`));
  await settle();
  const open = [friend, ...peers, ...strangers].filter(({ end }) => !end.isClosed);
  assert.ok(open.length <= 20, String(open.length));
  assert.ok(strangers.filter(({ end }) => !end.isClosed).length <= 5);
  await clock.pass(11);
  assert.equal(friend.end.isClosed, false);
});

test("whatever bytes come, the node goes on", async () => {
  const { victim, internet, clock } = await world({ maxPerIp: 1000 });
  const news = { payload_data: syncDataAt(1), local_peerlist_new: [] };
  const good = [
    greeting(),
    requestFrame(timedSync.id, writeRecord(timedSync.request, { payload_data: syncDataAt(4) })),
    notificationFrame(blob.id, writeRecord(blob.payload, { n: 1 })),
    requestFrame(ping.id, writeRecord(ping.request, {})),
    responseFrame(timedSync.id, 1, writeRecord(timedSync.response, news)),
  ];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 48_271) % 0x7fffffff;
    return seed % below;
  };
  for (let round = 0; round < 300; round++) {
    const caller = internet.call(`6.${round >> 8}.${round & 255}.1`, victim.address);
    if (next(3) > 0) caller.end.write(greeting(BigInt(round)));
    const bytes = new Uint8Array(good[next(good.length)]!);
    for (let i = 0; i <= next(3); i++) bytes[next(bytes.length)] = next(256);
    caller.end.write(bytes);
    if (round % 20 === 0) await settle();
  }
  await settle();
  assert.deepEqual(victim.errors, []);
  await clock.pass(400);
  assert.equal(victim.network.peers().length, 0);
  await assertServes((from) => internet.call(from, victim.address), victim);
});

test("many messages that take long to handle let others go first", async () => {
  let handled = 0;
  const handler = handle(blob, () => {
    const start = performance.now();
    while (performance.now() - start < 5);
    handled++;
  });
  const { call } = await world({ notifications: [handler] });
  const caller = await shakenHands(call, "2.2.2.2");
  const frame = notificationFrame(blob.id, writeRecord(blob.payload, { n: 1 }));
  caller.end.write(Buffer.concat(Array.from({ length: 20 }, () => frame)));
  while (handled === 0) await setImmediate();
  assert.ok(handled < 5, `${handled} in one turn`);
  while (handled < 20) await setImmediate();
});

function openPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settleIt) => {
    resolve = settleIt;
  });
  return { promise, resolve };
}

const asking = notification({
  id: 2997,
  name: "asking",
  payload: epee.record({ n: epee.u32 }),
  cost: { ...cost, responseBytes: 1_000_000 },
});

// Closes: responses are put together for peers that read none of them.
test("a peer that reads nothing is sent no more than a few responses", async () => {
  let responses = 0;
  const handler = handle(asking, (peer) => {
    responses++;
    peer.send(notificationFrame(blob.id, new Uint8Array(1_000_000)));
  });
  const { victim, call } = await world({ notifications: [handler], limitUp: 1e6 });
  const caller = await shakenHands(call, "6.6.6.6");
  caller.end.pause();
  const frame = notificationFrame(asking.id, writeRecord(asking.payload, { n: 1 }));
  for (let i = 0; i < 50; i++) caller.end.write(frame);
  await settle();
  assert.ok(responses > 0 && responses <= 4, `${responses} responses`);
  assert.equal(caller.end.isClosed, false);
  caller.end.resume();
  while (responses < 50) await setImmediate();
  await assertServes(call, victim);
});

// Closes: strangers who together take the whole processor, with messages that are not responded to either.
test("what many peers ask for at once is handled a little at a time", async () => {
  let handled = 0;
  const handler = handle(blob, () => {
    const start = performance.now();
    while (performance.now() - start < 5);
    handled++;
  });
  const { call } = await world({ notifications: [handler], workClock: systemClock });
  const callers: Caller[] = [];
  for (let i = 0; i < 60; i++) callers.push(await shakenHands(call, `6.6.${i}.6`));
  const frame = notificationFrame(blob.id, writeRecord(blob.payload, { n: 1 }));
  for (const { end } of callers) end.write(frame);
  let most = 0;
  for (let before = 0; handled < 60; before = handled) {
    await setImmediate();
    most = Math.max(most, handled - before);
  }
  assert.ok(most <= 8, `${most} between two turns of the event loop`);
});

// Closes: memory of values parsed from messages that wait counts for nobody.
test("a message counts as its sender's memory, with what was read from it, until it is handled", async () => {
  let finish = () => {};
  const ids = notification({
    ...asking,
    payload: epee.record({ ids: epee.packedBytes(32) }),
    cost: { ...cost, memoryBytes: 1_000_000 },
  });
  const waits = handle(ids, () => {
    const { promise, resolve } = openPromise();
    finish = resolve;
    return promise;
  });
  const { victim, call } = await world({ notifications: [waits] });
  const caller = await shakenHands(call, "6.6.6.6");
  const { memory } = victim.network.peers()[0] as unknown as MemoryHolder;
  const many = { ids: Array.from({ length: 1000 }, () => new Uint8Array(32)) };
  caller.end.write(notificationFrame(ids.id, writeRecord(ids.payload, many)));
  await settle();
  assert.ok(memory.used > 2 * 32_000, `${memory.used} bytes`);
  finish();
  await settle();
  assert.equal(memory.used, 0);
});

test("a peer with no room left for what was read from its message is dropped", async () => {
  const ids = notification({
    ...asking,
    payload: epee.record({ ids: epee.packedBytes(32) }),
    cost: { ...cost, memoryBytes: 1_000_000 },
  });
  const { promise, resolve } = openPromise();
  const { call, victim } = await world({ notifications: [handle(ids, () => promise)] });
  const caller = await shakenHands(call, "6.6.6.6");
  const { memory } = victim.network.peers()[0] as unknown as MemoryHolder;
  const many = { ids: Array.from({ length: 1000 }, () => new Uint8Array(32)) };
  // There is room for the message itself.
  const held = memory.reserve(sharedLimits.memory.onePeerBytes - 50_000)!;
  caller.end.write(notificationFrame(ids.id, writeRecord(ids.payload, many)));
  await closes(caller.end);
  resolve();
  held.release();
  await settle();
  assert.equal(memory.used, 0);
  await assertServes(call, victim);
});
