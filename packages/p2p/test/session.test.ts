/** What a connection makes of answers that are wrong, of too many requests, and of a node that is stopped meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { epee, writeRecord } from "@anulo/protocol";
import type { PeerAddress } from "../src/address.ts";
import { handshake, ping, supportFlags, timedSync } from "../src/commands.ts";
import type { Transport } from "../src/connection/transport.ts";
import { type Frame, requestFrame, responseFrame } from "../src/levin/frame.ts";
import { FrameReader } from "../src/levin/frame-reader.ts";
import { createPeerNetwork } from "../src/network.ts";
import { syncDataField } from "../src/records.ts";
import {
  type Caller,
  createPipe,
  createTestNode,
  FakeClock,
  FakeInternet,
  networkId,
  settle,
  syncDataAt,
} from "./fakes.ts";

/** A greeting as old nodes send it, without a word of what they support. */
const oldGreeting = epee.record({
  node_data: epee.record({ network_id: epee.fixedBytes(16), peer_id: epee.u64, my_port: epee.u32 }),
  payload_data: syncDataField,
});
const node_data = { network_id: networkId, peer_id: 77n, my_port: 0 };
const support = { rpc_port: 0, rpc_credits_per_hash: 0, support_flags: 1 };

async function world(options: Partial<Parameters<typeof createTestNode>[2]> = {}) {
  const clock = new FakeClock();
  const internet = new FakeInternet();
  const node = createTestNode(internet, clock, { ip: "1.1.1.1", ...options });
  await node.network.start();
  const meet = async (from: string, greeting: Uint8Array): Promise<Caller> => {
    const caller = internet.call(from, node.address);
    caller.end.write(requestFrame(handshake.id, greeting));
    await settle();
    assert.equal(caller.end.isClosed, false);
    return caller;
  };
  const payload_data = syncDataAt(3);
  return {
    clock,
    internet,
    node,
    meetOld: (from: string) => meet(from, writeRecord(oldGreeting, { node_data, payload_data })),
    meetNew: (from: string) =>
      meet(from, writeRecord(handshake.request, { node_data: { ...node_data, ...support }, payload_data })),
  };
}

function framesOf({ received }: Caller): Frame[] {
  const reader = new FrameReader(() => 1_000_000);
  reader.push(received());
  const frames: Frame[] = [];
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame);
  return frames;
}

const requestsOf = (caller: Caller, command: { readonly id: number }) =>
  framesOf(caller).filter(({ header }) => header.expectsResponse && header.command === command.id);

test("a node that says nothing of what it supports is asked, and one that does is not", async () => {
  const { node, meetOld, meetNew } = await world();
  const [old, today] = [await meetOld("2.2.2.2"), await meetNew("3.3.3.3")];
  assert.deepEqual(
    [old, today].map((caller) => requestsOf(caller, supportFlags).length),
    [1, 0],
  );
  const flags = () => node.network.peers().map(({ supportFlags: flags }) => flags);
  assert.deepEqual(flags(), [0, 1]);
  const answer = writeRecord(supportFlags.response, { support_flags: 5 });
  old.end.write(responseFrame(supportFlags.id, 1, answer));
  await settle();
  assert.deepEqual(flags(), [5, 1]);
  assert.deepEqual(node.errors, []);
});

test("a peer whose answer to a question of ours can't be read is dropped", async () => {
  const { clock, node, meetOld, meetNew } = await world({ timedSyncSeconds: 10 });
  const old = await meetOld("2.2.2.2");
  old.end.write(responseFrame(supportFlags.id, 1, Uint8Array.of(1, 2, 3)));
  await settle();
  assert.equal(old.end.isClosed, true);
  const today = await meetNew("3.3.3.3");
  await clock.pass(11);
  assert.equal(requestsOf(today, timedSync).length, 1);
  today.end.write(responseFrame(timedSync.id, 1, Uint8Array.of(1, 2, 3)));
  await settle();
  assert.equal(today.end.isClosed, true);
  assert.deepEqual([node.network.peers().length, node.errors], [0, []]);
});

test("a question that a peer refuses costs it nothing", async () => {
  const { node, meetOld } = await world();
  const old = await meetOld("2.2.2.2");
  // Only what is above zero is success, whatever comes with it.
  const flags = writeRecord(supportFlags.response, { support_flags: 5 });
  old.end.write(responseFrame(supportFlags.id, -6, new Uint8Array()));
  const another = await meetOld("3.3.3.3");
  another.end.write(responseFrame(supportFlags.id, 0, flags));
  await settle();
  assert.deepEqual([old.end.isClosed, another.end.isClosed, node.errors], [false, false, []]);
  assert.deepEqual(
    node.network.peers().map(({ supportFlags }) => supportFlags),
    [0, 0],
  );
});

test("a peer may ask sixty times in a minute of the clock", async () => {
  const { clock, meetNew } = await world();
  const question = requestFrame(ping.id, writeRecord(ping.request, {}));
  const ask = async ({ end }: Caller, count: number) => {
    for (let i = 0; i < count; i++) end.write(question);
    await settle();
    return !end.isClosed;
  };
  const toNextMinute = 60 - (clock.seconds() % 60);
  // The handshake is a request, too.
  const [first, second, third] = [
    await meetNew("2.2.2.2"),
    await meetNew("3.3.3.3"),
    await meetNew("4.4.4.4"),
  ];
  assert.equal(await ask(first, 59), true);
  assert.equal(await ask(first, 1), false);
  assert.equal(await ask(second, 59), true);
  assert.equal(await ask(third, 59), true);
  await clock.pass(toNextMinute - 1);
  assert.equal(await ask(second, 1), false);
  await clock.pass(1);
  assert.equal(await ask(third, 60), true);
  assert.equal(await ask(third, 1), false);
});

test("packets and bytes are counted from none on, both ways, also of connections that are gone", async () => {
  const { clock, internet, node } = await world();
  assert.deepEqual(node.network.stats, { bytesIn: 0, bytesOut: 0, packetsIn: 0, packetsOut: 0 });
  const nodes = { exclusive: [node.address] };
  const other = createTestNode(internet, clock, { ip: "2.2.2.2", nodes, advertisedPort: 0 });
  await other.network.start();
  await settle();
  const swapped = () => {
    const { bytesIn, bytesOut, packetsIn, packetsOut } = other.network.stats;
    return { bytesIn: bytesOut, bytesOut: bytesIn, packetsIn: packetsOut, packetsOut: packetsIn };
  };
  const open = node.network.stats;
  assert.ok(open.packetsIn > 0 && open.packetsOut > 0);
  assert.deepEqual(open, swapped());
  await other.network.stop();
  await settle();
  assert.equal(node.network.peers().length, 0);
  assert.deepEqual(node.network.stats, open);
  assert.deepEqual(node.network.stats, swapped());
});

test("a connection that is made once the node stops is closed, and nothing is said on it", async () => {
  const clock = new FakeClock();
  const [ours, theirs] = createPipe();
  let heard = 0;
  theirs.start({ received: () => void heard++, drained() {}, closed() {} });
  let connect: (transport: Transport) => void = () => {};
  const network = createPeerNetwork(
    {
      networkId,
      listen: [],
      syncData: () => syncDataAt(1),
      onSyncData() {},
      onConnected() {},
      onClosed() {},
      notifications: [],
      clock,
      nodes: { exclusive: [{ kind: "ipv4", host: "2.2.2.2", port: 1 }] },
    },
    {
      ...new FakeInternet().wiresOf("1.1.1.1"),
      dial: () =>
        new Promise((resolve) => {
          connect = resolve;
        }),
    },
  );
  await network.start();
  await settle();
  await network.stop();
  connect(ours);
  await settle();
  assert.deepEqual([ours.isClosed, heard], [true, 0]);
});

test("seeds are asked where those that are known are not enough", async () => {
  const { clock, internet, node } = await world();
  const seed = { kind: "ipv4", host: "9.9.9.9", port: 1 } as const;
  const other = createTestNode(internet, clock, {
    ip: "2.2.2.2",
    maxOut: 2,
    nodes: { add: [node.address], seed: [seed] },
  });
  await other.network.start();
  await clock.pass(2);
  assert.equal(other.network.peers().length, 1);
  internet.dialed.length = 0;
  await clock.pass(35);
  assert.ok(internet.dialed.includes("9.9.9.9:1"));
  other.network.setMaxOut(1);
  await clock.pass(1);
  internet.dialed.length = 0;
  await clock.pass(35);
  assert.ok(!internet.dialed.includes("9.9.9.9:1"), "it has as many as it wants");
});

/** Has an address answer every handshake, and tell of some nodes. */
async function answerAsSeed(
  internet: FakeInternet,
  { host, port }: { readonly host: string; readonly port: number },
  told: readonly PeerAddress[],
): Promise<void> {
  const entry = { id: 1n, last_seen: 0n, pruning_seed: 0, rpc_port: 0, rpc_credits_per_hash: 0 };
  const answer = writeRecord(handshake.response, {
    node_data: { ...node_data, ...support },
    payload_data: syncDataAt(3),
    local_peerlist_new: told.map((adr) => ({ adr, ...entry })),
  });
  await internet.wiresOf(host).listen({ host, port }, (transport) => {
    const received = () => void transport.write(responseFrame(handshake.id, 1, answer));
    transport.start({ received, drained() {}, closed() {} });
  });
}

test("a seed whose answer is refused counts as none, and the next one is asked", async () => {
  const [clock, internet] = [new FakeClock(), new FakeInternet()];
  const host = "xwvz3ekocr3dkyxfkmgm2hvbpzx2ysqmaxgter7znnqrhoicygkfswid.onion";
  const seeds = ["8.8.8.8", "9.9.9.9"].map((ip) => ({ kind: "ipv4", host: ip, port: 18080 }) as const);
  for (const seed of seeds) await answerAsSeed(internet, seed, [{ kind: "tor", host, port: 1 }]);
  const node = createTestNode(internet, clock, { ip: "1.1.1.1", nodes: { seed: seeds } });
  await node.network.start();
  await clock.pass(2);
  assert.deepEqual([...internet.dialed].sort(), ["8.8.8.8:18080", "9.9.9.9:18080"]);
  assert.deepEqual([node.network.peers(), node.network.lists("public").gray, node.errors], [[], [], []]);
  await node.network.stop();
});

test("once a minute a node that others told of is called, and forgotten where nobody is there", async () => {
  const [clock, internet] = [new FakeClock(), new FakeInternet()];
  const told = ["5.5.5.5", "6.6.6.6"].map((host) => ({ kind: "ipv4", host, port: 18080 }) as const);
  const seed = { kind: "ipv4", host: "8.8.8.8", port: 18080 } as const;
  await answerAsSeed(internet, seed, told);
  const node = createTestNode(internet, clock, { ip: "1.1.1.1", maxOut: 0, nodes: { seed: [seed] } });
  await node.network.start();
  await clock.pass(50);
  const grayCount = () => node.network.lists("public").gray.length;
  const calls = () => internet.dialed.filter((to) => /^[56]\./.test(to)).length;
  assert.deepEqual([grayCount(), calls()], [2, 0]);
  await clock.pass(15);
  assert.deepEqual([grayCount(), calls()], [1, 1]);
  await clock.pass(60);
  assert.equal(calls(), 2);
  await node.network.stop();
});

test("of strangers of one address the oldest makes room, and nobody else's", async () => {
  const { internet, node } = await world();
  const other = internet.call("3.3.3.3", node.address);
  const callers: Caller[] = [];
  for (let i = 0; i < 50 && callers.every(({ end }) => !end.isClosed); i++) {
    callers.push(internet.call("2.2.2.2", node.address));
    await settle();
  }
  assert.deepEqual(
    callers.map(({ end }) => end.isClosed),
    [true, ...Array(callers.length - 1).fill(false)],
  );
  assert.ok(callers.length > 2);
  assert.equal(other.end.isClosed, false);
});

test("a node connects to twelve others, unless it is told otherwise", async () => {
  const [clock, internet] = [new FakeClock(), new FakeInternet()];
  const others = Array.from({ length: 15 }, (_, i) =>
    createTestNode(internet, clock, { ip: `${20 + i}.1.1.1`, maxOut: 0 }),
  );
  for (const other of others) await other.network.start();
  const nodes = { add: others.map(({ address }) => address) };
  const node = createTestNode(internet, clock, { ip: "1.1.1.1", nodes });
  await node.network.start();
  await clock.pass(10);
  assert.equal(node.network.peers().length, 12);
  for (const each of [node, ...others]) await each.network.stop();
});

/** A clock that also goes on by hours at once: what is due meanwhile happens with the next second that passes. */
function createClockAhead() {
  const fake = new FakeClock();
  let ahead = 0;
  const milliseconds = () => fake.milliseconds() + ahead;
  return {
    clock: {
      milliseconds,
      seconds: () => Math.floor(milliseconds() / 1000),
      after: (wait: number, run: () => void) => fake.after(wait, run),
    },
    skip: (seconds: number) => {
      ahead += seconds * 1000;
    },
    pass: (seconds: number) => fake.pass(seconds),
  };
}

test("that nobody connects is said once an hour, of a port that others may use", async () => {
  const countsOf = async (options: Partial<Parameters<typeof createTestNode>[2]>) => {
    let count = 0;
    const log = { error() {}, warn: () => void count++, info() {}, debug() {} };
    const { clock, skip, pass } = createClockAhead();
    const node = createTestNode(new FakeInternet(), clock, { ip: "1.1.1.1", ...options, log });
    await node.network.start();
    const counts: number[] = [];
    for (let hour = 0; hour < 2; hour++) {
      skip(3590);
      await pass(5);
      counts.push(count);
      await pass(6);
      counts.push(count);
    }
    await node.network.stop();
    return counts;
  };
  assert.deepEqual(await countsOf({}), [0, 1, 1, 2]);
  assert.deepEqual(await countsOf({ maxIn: 0 }), [0, 0, 0, 0]);
  assert.deepEqual(await countsOf({ advertisedPort: 0 }), [0, 0, 0, 0]);
});

test("lists are kept every half hour, and once the node stops", async () => {
  let saved = 0;
  const storage = { load: () => undefined, save: () => void saved++ };
  const { clock, skip, pass } = createClockAhead();
  const node = createTestNode(new FakeInternet(), clock, { ip: "1.1.1.1", storage });
  await node.network.start();
  const counts: number[] = [];
  for (let half = 0; half < 2; half++) {
    skip(1790);
    for (const seconds of [9, 1]) {
      await pass(seconds);
      counts.push(saved);
    }
  }
  await pass(5);
  assert.deepEqual([...counts, saved], [0, 1, 1, 2, 2]);
  await node.network.stop();
  assert.equal(saved, 3);
});
