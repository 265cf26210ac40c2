import assert from "node:assert/strict";
import { test } from "node:test";
import { epee } from "@anulo/protocol";
import { ipAddress } from "../src/address.ts";
import { handle, notification } from "../src/messages.ts";
import type { PeerNetworkOptions } from "../src/options.ts";
import { PeerFault } from "../src/peer.ts";
import { createTestNode, FakeClock, FakeInternet, settle } from "./fakes.ts";

function world() {
  const clock = new FakeClock();
  const internet = new FakeInternet();
  const node = (ip: string, options: Omit<Parameters<typeof createTestNode>[2], "ip"> = {}) =>
    createTestNode(internet, clock, { ip, ...options });
  return { clock, internet, node };
}

const cost = { requestBytes: 100, memoryBytes: 1000, rows: 0, responseBytes: 0 };
const number = notification({ id: 2999, name: "number", payload: epee.record({ n: epee.u32 }), cost });

test("two nodes shake hands, tell each other of their chains and close", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1");
  const bob = node("2.2.2.2", { nodes: { exclusive: [alice.address] }, rpcPort: 18089, advertisedPort: 0 });
  bob.height = 9;
  await alice.network.start();
  await bob.network.start();
  await settle();
  assert.deepEqual(alice.events, ["sync in 2.2.2.2 9", "connected in 2.2.2.2"]);
  assert.deepEqual(bob.events, ["sync out 1.1.1.1 5", "connected out 1.1.1.1"]);
  const [peer] = alice.network.peers();
  assert.equal(peer!.supportFlags, 1);
  assert.equal(peer!.rpcPort, 18089);
  assert.equal(peer!.syncData.cumulativeDifficulty, (1n << 64n) + 9n);
  assert.notEqual(peer!.peerId, bob.network.peers()[0]!.peerId);
  bob.height = 10;
  await clock.pass(62);
  assert.equal(alice.events.at(-1), "sync in 2.2.2.2 10");
  assert.equal(peer!.syncData.currentHeight, 10);
  await bob.network.stop();
  await settle();
  assert.equal(alice.events.at(-1), "closed in 2.2.2.2");
  assert.equal(peer!.isOpen, false);
  assert.equal(peer!.reserve(1), undefined, "nothing is kept for who has left");
  assert.equal(alice.network.peers().length, 0);
  assert.deepEqual([...alice.errors, ...bob.errors], []);
  const { bytesIn, bytesOut, packetsIn } = alice.network.stats;
  assert.equal(bytesIn, bob.network.stats.bytesOut);
  assert.equal(bytesOut, bob.network.stats.bytesIn);
  assert.ok(packetsIn >= 3);
  await alice.network.stop();
});

test("an incoming peer that can be called back becomes known, and others are told of it", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1");
  const bob = node("2.2.2.2", { nodes: { exclusive: [alice.address] } });
  const hidden = node("4.4.4.4", { nodes: { exclusive: [alice.address] }, advertisedPort: 0 });
  for (const one of [alice, bob, hidden]) await one.network.start();
  await settle();
  assert.deepEqual(
    alice.network.lists("public").white.map(({ address }) => address),
    [bob.address],
  );
  const carol = node("3.3.3.3", { nodes: { seed: [alice.address] } });
  await carol.network.start();
  await settle();
  assert.deepEqual(
    carol.network.lists("public").gray.map(({ address }) => address.host),
    ["2.2.2.2"],
  );
  await clock.pass(3);
  const called = carol.network.peers().filter(({ direction }) => direction === "out");
  assert.deepEqual(called.map(({ address }) => address.host).sort(), ["1.1.1.1", "2.2.2.2"]);
  for (const one of [alice, bob, carol, hidden]) await one.network.stop();
  assert.deepEqual(
    [alice, bob, carol, hidden].flatMap(({ errors }) => errors),
    [],
  );
});

test("a node of another network is dropped, and banned when it insists", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1");
  const stranger = node("2.2.2.2", {
    networkId: new Uint8Array(16),
    nodes: { exclusive: [alice.address] },
  });
  await alice.network.start();
  await stranger.network.start();
  await clock.pass(600);
  assert.deepEqual(alice.events, []);
  assert.deepEqual(
    alice.network.bans.list().map(({ host }) => host),
    ["2.2.2.2"],
  );
});

test("a node does not become its own peer", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1", { nodes: { priority: [{ kind: "ipv4", host: "1.1.1.1", port: 18080 }] } });
  await alice.network.start();
  await clock.pass(5);
  assert.deepEqual(alice.events, []);
  assert.equal(alice.network.bans.list().length, 0);
});

test("one address gets one place, and there are no more places than set", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1", { maxIn: 2 });
  await alice.network.start();
  const others = ["2.2.2.2", "3.3.3.3", "4.4.4.4"].map((ip) => {
    return node(ip, { nodes: { exclusive: [alice.address] } });
  });
  for (const other of others) await other.network.start();
  await clock.pass(3);
  assert.equal(alice.network.peers().length, 2);
  alice.network.setMaxIn(1);
  await settle();
  assert.equal(alice.network.peers().length, 1);
});

for (const maxPerIp of [1, 2, 3]) {
  test(`of four nodes behind one address, ${maxPerIp} are let in where so many may be, beside one elsewhere`, async () => {
    const { clock, node } = world();
    const alice = node("1.1.1.1", { maxPerIp });
    await alice.network.start();
    const caller = (ip: string) => node(ip, { listen: [], nodes: { exclusive: [alice.address] } });
    const callers = [...Array.from({ length: 4 }, () => caller("2.2.2.2")), caller("3.3.3.3")];
    for (const each of callers) await each.network.start();
    await clock.pass(3);
    const hosts = alice.network.peers().map(({ address }) => address.host);
    assert.equal(hosts.filter((host) => host === "2.2.2.2").length, maxPerIp);
    assert.equal(hosts.filter((host) => host === "3.3.3.3").length, 1);
  });
}

// Closes: all places for incoming peers taken by one host, which has more addresses of IPv6 than there are of IPv4.
test("nodes in one block of 64 bits of IPv6 count as one", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1", {});
  await alice.network.start();
  const caller = (ip: string) => node(ip, { listen: [], nodes: { exclusive: [alice.address] } });
  for (const ip of ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]) await caller(ip).network.start();
  await clock.pass(3);
  const hosts = alice.network.peers().map(({ address }) => address.host);
  assert.equal(hosts.filter((host) => /^2001:db8::[12]$/.test(host)).length, 1);
  assert.ok(hosts.includes("2001:db8:0:1::1"));
  assert.equal(hosts.length, 2);
});

test("messages come in order, one at a time, and the faulty are dropped", async () => {
  const { node } = world();
  const seen: number[] = [];
  let inside = 0;
  const takeNumber = handle(number, async (_, { n }) => {
    assert.equal(inside++, 0);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
    seen.push(n);
    if (n === 7) throw new PeerFault("seven", { score: 11 });
    if (n === 5) throw new Error("a bug of ours");
  });
  const alice = node("1.1.1.1", { notifications: [takeNumber] });
  const bob = node("2.2.2.2", { nodes: { exclusive: [alice.address] } });
  await alice.network.start();
  await bob.network.start();
  await settle();
  const [peer] = bob.network.peers();
  for (let n = 0; n < 10; n++) assert.ok(peer!.notify(number, { n }));
  await settle();
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(alice.errors.length, 1);
  assert.equal(alice.network.peers().length, 0);
  assert.ok(alice.network.bans.secondsLeft("2.2.2.2")! > 0);
  assert.equal(peer!.notify(number, { n: 1 }), false);
});

test("what a handler of the handshake refuses is never connected", async () => {
  const { node } = world();
  const alice = node("1.1.1.1", {
    onSyncData: () => {
      throw new PeerFault("another chain", { banSeconds: 60 });
    },
  });
  const bob = node("2.2.2.2", { nodes: { exclusive: [alice.address] } });
  await alice.network.start();
  await bob.network.start();
  await settle();
  assert.deepEqual(alice.events, []);
  assert.equal(alice.network.bans.secondsLeft("2.2.2.2"), 60);
});

test("a banned address is dropped at once and not let in again", async () => {
  const { clock, node } = world();
  const alice = node("1.1.1.1");
  const bob = node("2.2.2.2", { nodes: { exclusive: [alice.address] } });
  await alice.network.start();
  await bob.network.start();
  await settle();
  alice.network.bans.set("2.2.0.0/16", 30);
  await settle();
  assert.equal(alice.network.peers().length, 0);
  await clock.pass(20);
  assert.equal(alice.network.peers().length, 0);
  await clock.pass(100);
  assert.equal(alice.network.peers().length, 1);
});

test("an exclusive node is called less and less often while it is away, and found when it is back", async () => {
  const { clock, internet, node } = world();
  const alice = node("1.1.1.1");
  const bob = node("2.2.2.2", {
    nodes: { exclusive: [alice.address], add: [{ ...alice.address, host: "9.9.9.9" }] },
  });
  await bob.network.start();
  await clock.pass(120);
  assert.ok(internet.dialed.length >= 6 && internet.dialed.length <= 9, String(internet.dialed.length));
  assert.ok(internet.dialed.every((dialed) => dialed.startsWith("1.1.1.1:")));
  await alice.network.start();
  await clock.pass(61);
  assert.equal(bob.network.peers().length, 1);
});

test("an address that failed is tried again after a minute while nobody is reached, else after an hour", async () => {
  const { clock, internet, node } = world();
  const alice = node("1.1.1.1", { nodes: { exclusive: [{ kind: "ipv4", host: "9.9.9.9", port: 1 }] } });
  const bob = node("2.2.2.2", { nodes: { add: [alice.address] } });
  const dialed = (host: string) => internet.dialed.filter((to) => to.startsWith(host)).length;
  await bob.network.start();
  await settle();
  await clock.pass(60);
  assert.equal(dialed("1.1.1.1"), 1);
  await clock.pass(1);
  assert.equal(dialed("1.1.1.1"), 2);
  await alice.network.start();
  await clock.pass(61);
  assert.equal(bob.network.peers().length, 1);
  // It would try what it is told of, too.
  await bob.network.stop();
  const carol = node("3.3.3.3", {
    nodes: { add: [alice.address, { kind: "ipv4", host: "4.4.4.4", port: 1 }] },
    advertisedPort: 0,
  });
  await carol.network.start();
  await settle();
  await clock.pass(3600);
  assert.deepEqual([carol.network.peers().length, dialed("4.4.4.4")], [1, 1]);
  await clock.pass(1);
  assert.equal(dialed("4.4.4.4"), 2);
});

test("nodes of IPv6 are called only where that is wanted", async () => {
  for (const ipv6 of [undefined, false, true]) {
    const { clock, internet, node } = world();
    const add = ["2001:db8::1", "5.5.5.5"].map((host) => ipAddress(host, 18080)!);
    const alice = node("1.1.1.1", { nodes: { add }, ...(ipv6 !== undefined && { ipv6 }) });
    await alice.network.start();
    await clock.pass(1);
    const hosts = ["5.5.5.5:18080", ...(ipv6 === true ? ["2001:db8::1:18080"] : [])];
    assert.deepEqual([...internet.dialed].sort(), hosts.sort());
    await alice.network.stop();
  }
});

test("lists are kept: known peers are called again, anchors first", async () => {
  const { clock, internet, node } = world();
  const others = ["1.1.1.1", "2.2.2.2", "3.3.3.3"].map((ip) => node(ip));
  for (const other of others) await other.network.start();
  let kept: Uint8Array | undefined;
  const storage = {
    load: () => kept,
    save(bytes: Uint8Array) {
      kept = bytes;
    },
  };
  const first = node("7.7.7.7", { nodes: { add: others.map(({ address }) => address) }, storage, maxOut: 2 });
  await first.network.start();
  await clock.pass(2);
  const called = first.network.peers().map(({ address }) => address.host);
  assert.equal(called.length, 2);
  await first.network.stop();
  internet.dialed.length = 0;
  const second = node("7.7.7.7", { storage, maxOut: 2 });
  await second.network.start();
  await clock.pass(1);
  const hosts = internet.dialed.map((dialed) => dialed.split(":")[0]).filter((host) => host !== "7.7.7.7");
  assert.deepEqual(hosts.sort(), called.sort());
  assert.equal(second.network.lists("public").white.length, 3);
  kept = new Uint8Array([1, 2, 3]);
  const third = node("7.7.7.7", { storage });
  await third.network.start();
  assert.equal(third.network.lists("public").white.length, 0);
});

// Closes: outgoing connections that were all to nodes of one party stayed so for as long as these pleased.
test("an outgoing peer without anything new makes room for another, unless some are fetched from", async () => {
  const { clock, node } = world();
  const others = ["2.2.2.2", "3.3.3.3", "4.4.4.4", "5.5.5.5"].map((ip) => node(ip));
  const addresses = others.map(({ address }) => address);
  for (const other of others) await other.network.start();
  let fetching: string[] = [];
  const isSynchronized: PeerNetworkOptions["isSynchronized"] = (peer) =>
    !fetching.includes(peer.address.host);
  const alice = node("1.1.1.1", { nodes: { add: addresses }, maxOut: 3, advertisedPort: 0, isSynchronized });
  await alice.network.start();
  await clock.pass(90);
  const called = () => alice.network.peers().map(({ address }) => address.host);
  const first = called();
  assert.equal(first.length, 3);
  fetching = first.slice(0, 2);
  await clock.pass(210);
  assert.deepEqual(called(), first);
  fetching = [];
  await clock.pass(102);
  const left = addresses.map(({ host }) => host).filter((host) => !first.includes(host));
  assert.deepEqual(called(), [...first.slice(0, 2), ...left]);
  for (const one of [alice, ...others]) await one.network.stop();
});

test("the two oldest outgoing peers are not replaced", async () => {
  const { clock, node } = world();
  const others = ["2.2.2.2", "3.3.3.3", "4.4.4.4"].map((ip) => node(ip));
  for (const other of others) await other.network.start();
  const add = others.map(({ address }) => address);
  const alice = node("1.1.1.1", { nodes: { add }, maxOut: 2, advertisedPort: 0, isSynchronized: () => true });
  await alice.network.start();
  await clock.pass(310);
  assert.deepEqual(
    alice.events.filter((event) => event.startsWith("closed")),
    [],
  );
  assert.equal(alice.network.peers().length, 2);
  for (const one of [alice, ...others]) await one.network.stop();
});

test("a node that is called first of all is not replaced", async () => {
  const { clock, node } = world();
  const others = ["2.2.2.2", "3.3.3.3", "4.4.4.4", "5.5.5.5"].map((ip) => node(ip));
  for (const other of others) await other.network.start();
  const [spare, ...priority] = others.map(({ address }) => address);
  const nodes = { add: [spare!], priority };
  const options = { nodes, maxOut: 3, advertisedPort: 0, isSynchronized: () => true };
  const alice = node("1.1.1.1", options);
  await alice.network.start();
  await clock.pass(310);
  assert.deepEqual(
    alice.events.filter((event) => event.startsWith("closed")),
    [],
  );
  assert.equal(alice.network.peers().length, 3);
  for (const one of [alice, ...others]) await one.network.stop();
});

test("seeds are asked when nobody is known, by name too, and left alone afterwards", async () => {
  const { clock, internet, node } = world();
  const seed = node("1.1.1.1");
  const bob = node("2.2.2.2");
  await seed.network.start();
  await bob.network.start();
  const helper = node("5.5.5.5", { nodes: { exclusive: [seed.address] } });
  await helper.network.start();
  await settle();
  internet.names.set("seeds.example", ["1.1.1.1"]);
  const carol = node("3.3.3.3", { nodes: { seedNames: ["seeds.example:18080"] } });
  await carol.network.start();
  await clock.pass(5);
  assert.ok(carol.network.peers().some(({ address }) => address.host === "5.5.5.5"));
});

test("whom most of the block lists name is shut out, the others are not", async () => {
  const { internet, node } = world();
  const names = ["a.example", "b.example", "c.example"];
  for (const name of names.slice(0, 2)) internet.texts.set(name, ["9.9.9.9;8.8.8.0/24"]);
  internet.texts.set("c.example", ["7.7.7.7"]);
  const alice = node("1.1.1.1", { blocklistNames: names });
  await alice.network.start();
  await settle();
  const { bans } = alice.network;
  assert.ok(bans.secondsLeft("9.9.9.9")! > 0 && bans.secondsLeft("8.8.8.5")! > 0);
  assert.equal(bans.secondsLeft("7.7.7.7"), 0);
});

test("once stopped, a node calls nobody, also of seeds it was asking", async () => {
  const { clock, internet, node } = world();
  const seeds = Array.from({ length: 5 }, (_, i) => ({ kind: "ipv4", host: `9.9.9.${i}`, port: 1 }) as const);
  const alice = node("1.1.1.1", { nodes: { seed: seeds } });
  await alice.network.start();
  const stopping = alice.network.stop();
  const called = internet.dialed.length;
  await stopping;
  await clock.pass(40);
  assert.equal(internet.dialed.length, called);
  assert.deepEqual(alice.errors, []);
});

test("offline, nothing is opened and nobody called", async () => {
  const { clock, internet, node } = world();
  const alice = node("1.1.1.1", {
    offline: true,
    nodes: { priority: [{ kind: "ipv4", host: "2.2.2.2", port: 1 }] },
  });
  await alice.network.start();
  await clock.pass(5);
  assert.deepEqual(alice.network.ports, []);
  assert.deepEqual(internet.dialed, []);
  await alice.network.stop();
});

test("behind a proxy nobody is told where we are, and names are not looked up", async () => {
  const { clock, internet, node } = world();
  const alice = node("1.1.1.1");
  await alice.network.start();
  internet.names.set("seeds.example", ["1.1.1.1"]);
  const bob = node("2.2.2.2", {
    proxy: { host: "127.0.0.1", port: 9050 },
    rpcPort: 18089,
    nodes: { priority: [alice.address], seedNames: ["seeds.example:1"] },
  });
  await bob.network.start();
  await clock.pass(2);
  assert.deepEqual([...new Set(internet.dialed)], ["1.1.1.1:18080 via 9050"]);
  assert.equal(alice.network.peers()[0]!.rpcPort, 0);
  assert.deepEqual(alice.network.lists("public").white, []);
});

test("in a hidden zone ids are alike, our address is told, and only transactions pass", async () => {
  const { clock, internet } = world();
  const onion = "xwvz3ekocr3dkyxfkmgm2hvbpzx2ysqmaxgter7znnqrhoicygkfswid.onion";
  const other = "4pixvbejrvihnkxmduo2agsnmc3rrulrqc7s3cbwwrep6h6hrzsibeqd.onion";
  const transactions = notification({ ...number, id: 2002, name: "transactions" });
  const seen: string[] = [];
  const notifications = [
    handle(transactions, () => void seen.push("transactions")),
    handle(number, () => void seen.push("number")),
  ];
  const address = { kind: "tor", host: onion, port: 18083 } as const;
  const proxy = { host: "127.0.0.1", port: 9050 };
  // Where the hidden service delivers: the fake internet knows it by the hidden name.
  const alice = createTestNode(internet, clock, {
    ip: onion,
    listen: [],
    notifications,
    zones: [{ zone: "tor", proxy, inbound: { address, listen: { host: "127.0.0.1", port: 18083 } } }],
  });
  const bob = createTestNode(internet, clock, {
    ip: other,
    listen: [],
    notifications,
    nodes: { priority: [address] },
    zones: [
      {
        zone: "tor",
        proxy,
        inbound: { address: { ...address, host: other }, listen: { host: "127.0.0.1", port: 18083 } },
      },
    ],
    timedSyncSeconds: 10,
  });
  await alice.network.start();
  await bob.network.start();
  await clock.pass(1);
  const [peer] = bob.network.peers();
  assert.equal(peer!.zone, "tor");
  assert.equal(peer!.peerId, 1n);
  const [incoming] = alice.network.peers();
  assert.equal(incoming!.address.host, "<unknown tor host>");
  assert.equal(incoming!.zone, "tor");
  assert.equal(peer!.notify(number, { n: 1 }), false);
  assert.equal(peer!.notify(transactions, { n: 1 }), true);
  await settle();
  assert.deepEqual(seen, ["transactions"]);
  await clock.pass(70);
  const { white, gray } = alice.network.lists("tor");
  const told = [...white, ...gray].map((known) => known.address.host);
  assert.deepEqual(told, [other], "asked for news, the calling side told where it is");
  assert.deepEqual([...alice.errors, ...bob.errors], []);
});

test("a node that is stopped while it sends and receives leaves nothing to happen later, and no open port", async () => {
  const { clock, internet, node } = world();
  const long = notification({ id: 2999, name: "long", payload: epee.record({ bytes: epee.blob }), cost });
  const message = { bytes: new Uint8Array(50_000) };
  const alice = node("1.1.1.1", { limitUp: 1, limitDown: 1 });
  const bob = node("2.2.2.2", { nodes: { exclusive: [alice.address] } });
  await alice.network.start();
  await bob.network.start();
  await settle();
  const before = clock.pending;
  for (const { network } of [alice, bob]) network.peers()[0]!.notify(long, message);
  await settle();
  assert.equal(clock.pending, before + 2, "to go on with each direction");
  await alice.network.stop();
  await bob.network.stop();
  await settle();
  assert.equal(clock.pending, 0);
  assert.throws(() => internet.call("3.3.3.3", alice.address), /nobody listens/);
});
