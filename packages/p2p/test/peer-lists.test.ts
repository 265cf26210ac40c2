import assert from "node:assert/strict";
import { test } from "node:test";
import { BadBytes } from "@anulo/protocol";
import { type PeerAddress, parsePeerAddress } from "../src/address.ts";
import { chooseGray, chooseWhite, type PeerChoice } from "../src/choose-peer.ts";
import { readLists, writeLists } from "../src/lists-file.ts";
import { entryOf, type KnownPeer, listLimits, PeerLists } from "../src/peer-lists.ts";
import { systemRandom } from "../src/random.ts";

function known(text: string, more: Partial<KnownPeer> = {}): KnownPeer {
  return {
    address: parsePeerAddress(text, 18080),
    peerId: 1n,
    lastSeen: 0,
    pruningSeed: 0,
    rpcPort: 0,
    ...more,
  };
}

const createLists = (allowLocal = false) => new PeerLists({ random: systemRandom, allowLocal });
const hosts = (list: readonly KnownPeer[]) => list.map(({ address }) => address.host);
const anyone = () => true;

test("what others tell is gray, without times, and only if it can be true", () => {
  const lists = createLists();
  const entries = [
    known("1.2.3.4", { lastSeen: 99 }),
    known("127.0.0.1"),
    known("192.168.1.1"),
    known("0.0.0.0"),
    known("5.6.7.8:18081", { rpcPort: 18081 }),
    known("5.6.7.9:0"),
    known("7.7.7.7", { pruningSeed: 5 }),
    known("7.7.7.8", { pruningSeed: 387 }),
  ];
  lists.addAnnounced(entries.map(entryOf), ({ host }) => host !== "8.8.8.8");
  assert.deepEqual(hosts(lists.gray).sort(), ["1.2.3.4", "7.7.7.8"]);
  assert.ok(lists.gray.every(({ lastSeen }) => lastSeen === 0));
});

test("who was spoken to is white, and no longer gray; others' word does not change it", () => {
  const lists = createLists();
  lists.addAnnounced([entryOf(known("1.2.3.4"))], anyone);
  lists.addWhite(known("1.2.3.4", { lastSeen: 50, pruningSeed: 385, rpcPort: 9 }));
  lists.addAnnounced([entryOf(known("1.2.3.4"))], anyone);
  assert.deepEqual(hosts(lists.gray), []);
  lists.addWhite(known("1.2.3.4", { lastSeen: 60 }));
  assert.deepEqual(lists.white, [known("1.2.3.4", { lastSeen: 60, pruningSeed: 385, rpcPort: 9 })]);
  lists.addWhite(known("1.2.3.4:1", { lastSeen: 70 }));
  assert.deepEqual(
    lists.white.map(({ address }) => address.port),
    [1],
    "one node a host",
  );
});

test("the lists are bounded: the white one loses the oldest", () => {
  const lists = createLists();
  for (let i = 0; i < listLimits.white + 10; i++)
    lists.addWhite(known(`9.1.${i >> 8}.${i & 255}`, { lastSeen: 10 + i }));
  assert.equal(lists.counts.white, listLimits.white);
  assert.equal(lists.white.at(-1)!.lastSeen, 20);
  for (let j = 0; j < 30; j++) {
    const entries = Array.from({ length: 250 }, (_, i) => entryOf(known(`8.${j}.7.${i}`)));
    lists.addAnnounced(entries, anyone);
  }
  assert.equal(lists.counts.gray, listLimits.gray);
});

test("others are told a random part, without times", () => {
  const lists = createLists();
  for (let i = 0; i < 500; i++) lists.addWhite(known(`9.1.${i >> 8}.${i & 255}`, { lastSeen: 10 + i }));
  const [first, second] = [hosts(lists.sample(250)), hosts(lists.sample(250))];
  assert.equal(new Set(first).size, 250);
  assert.notDeepEqual(first, second);
  assert.equal(entryOf(lists.sample(1)[0]!).last_seen, 0n);
});

test("private addresses are kept only where they are wanted, this machine's never", () => {
  const lists = createLists(true);
  lists.addWhite(known("192.168.1.1"));
  lists.addWhite(known("127.0.0.1"));
  assert.deepEqual(hosts(lists.white), ["192.168.1.1"]);
  lists.forget(({ host }) => host.startsWith("192."));
  assert.deepEqual(lists.counts, { white: 0, gray: 0 });
});

function choice(list: KnownPeer[], connected: string[] = [], stripe = 0): PeerChoice {
  return {
    peers: list,
    connected: connected.map((text): PeerAddress => parsePeerAddress(text)),
    isUsable: ({ address }) => !connected.includes(address.host),
    stripe,
    random: systemRandom,
  };
}

test("a node of another neighbourhood is preferred, and each host counts once", () => {
  const list = [known("1.1.1.2"), known("1.1.2.2"), known("2.2.2.2"), known("2.2.2.2:5")];
  for (let i = 0; i < 20; i++) {
    assert.equal(chooseWhite(choice(list, ["1.1.1.9", "1.1.2.9"]))!.address.host, "2.2.2.2");
    assert.equal(chooseGray(choice(list, ["1.1.1.9", "1.1.2.9"]))!.address.host, "2.2.2.2");
  }
  assert.ok(chooseWhite(choice(list, ["1.1.1.9", "1.1.2.9", "2.2.2.9"])), "else any");
  assert.equal(chooseWhite(choice([known("1.1.2.2")], ["1.1.2.2"])), undefined);
  const counts = new Map<string, number>();
  for (let i = 0; i < 600; i++) {
    const { host } = chooseGray(choice(list))!.address;
    counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  assert.ok(
    [...counts.values()].every((count) => count > 100),
    JSON.stringify([...counts]),
  );
});

test("a neighbourhood counts as one node, and each of its nodes may be that one", () => {
  const crowd = Array.from({ length: 200 }, (_, i) => known(`1.1.1.${i}`));
  const list = [...crowd, known("2.2.2.2"), known("3.3.3.3")];
  const counts = new Map<string, number>();
  const inCrowd = new Set<string>();
  for (let i = 0; i < 600; i++) {
    const { address } = chooseGray(choice(list))!;
    const place = address.host.split(".")[0]!;
    counts.set(place, (counts.get(place) ?? 0) + 1);
    if (place === "1") inCrowd.add(address.host);
  }
  assert.ok(
    ["1", "2", "3"].every((place) => counts.get(place)! > 100),
    JSON.stringify([...counts]),
  );
  assert.ok(inCrowd.size > 50, `${inCrowd.size}`);
});

test("of the white list the twenty last seen are called, the later the likelier", () => {
  const list = Array.from({ length: 50 }, (_, i) => known(`${i + 1}.0.0.1`));
  const counts = new Array<number>(50).fill(0);
  for (let i = 0; i < 2000; i++) {
    const at = list.indexOf(chooseWhite(choice(list))!);
    counts[at] = counts[at]! + 1;
  }
  assert.ok(counts.slice(20).every((count) => count === 0));
  assert.ok(counts[0]! > counts[5]! && counts[0]! > 400, counts.join());
});

test("where a part of the chain is wanted, nodes that keep it come first and others not at all", () => {
  const list = [
    known("1.0.0.1", { pruningSeed: 384 }),
    known("2.0.0.1"),
    known("3.0.0.1", { pruningSeed: 386 }),
  ];
  const chosen = new Set(Array.from({ length: 100 }, () => chooseWhite(choice(list, [], 3))!.address.host));
  assert.deepEqual([...chosen].sort(), ["2.0.0.1", "3.0.0.1"]);
});

test("lists are written and read; damaged ones are refused", () => {
  const lists = new Map([
    [
      "public" as const,
      {
        white: [
          known("1.2.3.4", { lastSeen: 1_700_000_000, rpcPort: 5, pruningSeed: 384, peerId: 2n ** 63n }),
        ],
        gray: [known("[2001:db8::1]:7"), known("5.6.7.8")],
        anchors: [parsePeerAddress("9.9.9.9:1")],
      },
    ],
  ]);
  const bytes = writeLists(lists);
  assert.deepEqual(readLists(bytes), lists);
  assert.throws(() => readLists(bytes.subarray(0, 60)), BadBytes);
  assert.throws(() => readLists(new Uint8Array(10)), BadBytes);
});
