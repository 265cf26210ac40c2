import assert from "node:assert/strict";
import { test } from "node:test";
import { epee, readRecord, writeRecord } from "@anulo/protocol";
import {
  BadAddress,
  formatPeerAddress,
  isLocal,
  isLoopback,
  neighbourhoodOf,
  type PeerAddress,
  parsePeerAddress,
} from "../src/address.ts";
import { anonymityZones } from "../src/anonymity.ts";
import { findAddresses } from "../src/find-addresses.ts";
import { formatIpv6, parseIpv6 } from "../src/ip.ts";
import { addressField, ipv4Number, ipv4Text, nodeDataRecord } from "../src/records.ts";
import { seedNodesOf } from "../src/seed-nodes.ts";

const onion = "xwvz3ekocr3dkyxfkmgm2hvbpzx2ysqmaxgter7znnqrhoicygkfswid.onion";
const i2p = "s3l6ke4ed3df466khuebb4poienoingwof7oxtbo6j4n56sghe3a.b32.i2p";

test("addresses are read and written", () => {
  const cases = [
    ["1.2.3.4", "1.2.3.4:9", "ipv4"],
    ["1.2.3.4:18080", "1.2.3.4:18080", "ipv4"],
    ["[2001:DB8::1]:18080", "[2001:db8::1]:18080", "ipv6"],
    ["2001:db8:0:0:1:0:0:1", "[2001:db8::1:0:0:1]:9", "ipv6"],
    ["::ffff:1.2.3.4", "1.2.3.4:9", "ipv4"],
    ["[::]:1", "[::]:1", "ipv6"],
    [`${onion}:18083`, `${onion}:18083`, "tor"],
    [onion.toUpperCase().replace("ONION", "onion"), `${onion}:9`, "tor"],
    ["xmrto2bturnore26.onion:1", "xmrto2bturnore26.onion:1", "tor"],
    [`${i2p}:0`, i2p, "i2p"],
  ] as const;
  for (const [text, formatted, kind] of cases) {
    const address = parsePeerAddress(text, 9);
    assert.equal(formatPeerAddress(address), formatted);
    assert.equal(address.kind, kind);
  }
});

test("what is no address is refused", () => {
  const bad = [
    "",
    "x",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "01.2.3.4",
    "1.2.3.4:",
    "1.2.3.4:65536",
    "1.2.3.4:-1",
  ];
  const bad6 = [
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7:8:9",
    "12345::",
    "[::1",
    "::1]",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7",
  ];
  const hidden = [
    "a.onion",
    `b${onion.slice(1)}`,
    `${i2p.slice(1)}`,
    `${i2p.slice(0, 51)}b.b32.i2p`,
    "x.i2p",
  ];
  for (const text of [...bad, ...bad6, ...hidden]) {
    assert.throws(() => parsePeerAddress(text), BadAddress, text);
  }
});

test("IPv6 is written in its shortest form", () => {
  const cases = ["::", "::1", "1::", "2001:db8::1", "1:0:0:2::3", "0:1:2:3:4:5:6:7", "fe80::1:2:3:4"];
  for (const text of cases) assert.equal(formatIpv6(parseIpv6(text)!), text);
});

test("an address tells whose it is", () => {
  const of = (text: string) => parsePeerAddress(text);
  assert.deepEqual(
    ["127.8.9.1", "::1", "1.1.1.1"].map((text) => isLoopback(of(text))),
    [true, true, false],
  );
  const local = [
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "172.31.9.9",
    "fe80::1",
    "fd00::1",
    "0.0.0.0",
    "::",
  ];
  for (const text of local) assert.ok(isLocal(of(text)), text);
  for (const text of ["172.32.0.1", "11.0.0.1", "2001:db8::1", onion]) assert.ok(!isLocal(of(text)), text);
  assert.equal(neighbourhoodOf(of("1.2.3.4")), neighbourhoodOf(of("1.2.3.9")));
  assert.notEqual(neighbourhoodOf(of("1.2.3.4")), neighbourhoodOf(of("1.2.9.4")));
  assert.equal(neighbourhoodOf(of("2001:db8::1")), neighbourhoodOf(of("2001:db8:9::1")));
});

function overTheWire(address: PeerAddress | undefined): PeerAddress | undefined {
  const holder = epee.record({ address: addressField });
  return readRecord(holder, writeRecord(holder, { address })).address;
}

test("addresses go over the wire, and unknown kinds are passed over", () => {
  for (const text of ["1.2.3.4:5", "[2001:db8::1]:6", `${onion}:7`, `${i2p}:8`]) {
    const address = parsePeerAddress(text);
    assert.deepEqual(overTheWire(address), address);
  }
  const strange = epee.record({ address: epee.record({ type: epee.u8 }) });
  const bytes = writeRecord(strange, { address: { type: 9 } });
  assert.equal(readRecord(epee.record({ address: addressField }), bytes).address, undefined);
  assert.equal(ipv4Number("1.2.3.4"), 0x04030201);
  assert.equal(ipv4Text(0xff030201), "1.2.3.255");
});

test("zones are read from what flags say", () => {
  const zones = anonymityZones(
    ["tor,127.0.0.1:9050,10,disable_noise", "i2p,127.0.0.1:9000"],
    [`${onion},127.0.0.1:18083,100`],
  );
  assert.deepEqual(zones, [
    {
      zone: "tor",
      proxy: { host: "127.0.0.1", port: 9050 },
      noise: false,
      maxOut: 10,
      inbound: {
        address: { kind: "tor", host: onion, port: 0 },
        listen: { host: "127.0.0.1", port: 18083 },
        maxIn: 100,
      },
    },
    { zone: "i2p", proxy: { host: "127.0.0.1", port: 9000 }, noise: true },
  ]);
  const bad: [string[], string[]][] = [
    [["ipv4,127.0.0.1:1"], []],
    [["tor,127.0.0.1"], []],
    [["tor,127.0.0.1:1,0"], []],
    [["tor,127.0.0.1:1,1,2,3"], []],
    [["tor,127.0.0.1:1", "tor,127.0.0.1:2"], []],
    [[], [`${onion},127.0.0.1:1`]],
    [["tor,127.0.0.1:1"], ["1.2.3.4,127.0.0.1:1"]],
    [["tor,127.0.0.1:1"], [onion]],
  ];
  for (const [proxies, inbounds] of bad) assert.throws(() => anonymityZones(proxies, inbounds), BadAddress);
});

test("the seed nodes are addresses", () => {
  const { addresses } = seedNodesOf("mainnet");
  assert.equal(addresses.filter(({ kind }) => kind === "tor").length, 6);
  assert.equal(addresses.filter(({ kind }) => kind === "i2p").length, 3);
  const portsOf = (kind: string) =>
    new Set(addresses.filter((each) => each.kind === kind).map(({ port }) => port));
  assert.deepEqual([...portsOf("ipv4"), ...portsOf("tor"), ...portsOf("i2p")], [18080, 18083, 1]);
  assert.ok(seedNodesOf("mainnet").names.every((name) => /^[a-z.]+:18080$/.test(name)));
  for (const [network, port] of [
    ["testnet", 28080],
    ["stagenet", 38080],
  ] as const) {
    assert.deepEqual(seedNodesOf(network).names, []);
    assert.equal(seedNodesOf(network).addresses.length, 5);
    assert.ok(seedNodesOf(network).addresses.every((each) => each.port === port));
  }
  assert.deepEqual(seedNodesOf("regtest"), { names: [], addresses: [] });
});

test("names are looked up on this machine where that is allowed, and never those of hidden services", async () => {
  const find = (text: string, canLookUp = true) => findAddresses(text, { defaultPort: 5, canLookUp });
  const found = await find("localhost:7");
  assert.ok(found.length > 0 && found.every((address) => isLoopback(address) && address.port === 7));
  assert.ok((await find("localhost")).every(({ port }) => port === 5));
  await assert.rejects(find("localhost", false), BadAddress);
  // No name has a part as long as that: nobody has to be asked.
  await assert.rejects(find(`${"a".repeat(64)}.example`), BadAddress);
  assert.deepEqual(await find("1.2.3.4", false), [{ kind: "ipv4", host: "1.2.3.4", port: 5 }]);
  assert.deepEqual(await find("[::1]:9", false), [{ kind: "ipv6", host: "::1", port: 9 }]);
  for (const text of ["1.2.3", "x.onion", "x.i2p"]) await assert.rejects(find(text), BadAddress);
});

test("no address is written, and what a node does not say of itself is nothing", () => {
  assert.throws(() => addressField.toPortable(undefined), /^TypeError: an address to write$/);
  const told = epee.record({ network_id: epee.fixedBytes(16), peer_id: epee.u64, my_port: epee.u32 });
  const short = { network_id: new Uint8Array(16), peer_id: 1n, my_port: 2 };
  assert.deepEqual(readRecord(nodeDataRecord, writeRecord(told, short)), {
    ...short,
    rpc_port: 0,
    rpc_credits_per_hash: 0,
    support_flags: 0,
  });
});
