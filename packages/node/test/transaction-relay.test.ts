import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { RuleViolation } from "@anulo/consensus";
import { readRecord, readTransaction, toHex, transactionHash, writeRecord } from "@anulo/protocol";
import { poisson } from "../src/peers/chance.ts";
import { messages } from "../src/peers/messages.ts";
import { createStemMap } from "../src/peers/stem-map.ts";
import { transactionsMessage } from "../src/peers/transactions-message.ts";
import { admit } from "../src/pool/admit.ts";
import { isPublic } from "../src/pool/entry.ts";
import { dropStale, release } from "../src/pool/maintain.ts";
import { emptyChain, emptyChainWithPool, loadBlocks, now } from "./chain-fixture.ts";
import {
  meetStranger,
  type StillClock,
  type Stranger,
  speaking,
  stillClock,
  type TestNode,
} from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";
import { putWaiting } from "./waiting-rows.ts";

const busy = recordedChain().findIndex(({ transactions }) => transactions.length > 1);
const [first, second] = recordedChain()[busy]!.transactions as [Uint8Array, Uint8Array];
const keyOf = (blob: Uint8Array) => toHex(transactionHash(readTransaction(blob)));

/** Chance that makes an epoch one of stems, or of fluff: 43 and 9 of 100. */
const stems = (size: number) => new Uint8Array(size).fill(0x7f);
const fluffs = (size: number) => new Uint8Array(size).fill(0x01);

const open: TestNode[] = [];

interface Stage {
  readonly node: TestNode;
  readonly clock: StillClock;
}

/** A node whose pool can take two transactions, and that counts as synchronized, unless it has yet to meet a peer. */
async function stage(
  random: (size: number) => Uint8Array,
  maxPoolWeight?: number,
  isOffline = true,
): Promise<Stage> {
  const clock = stillClock(now());
  const chain = await (maxPoolWeight === undefined ? emptyChain() : emptyChainWithPool(maxPoolWeight));
  const parts = { ...chain.parts, now: () => clock.seconds() };
  await loadBlocks(parts, recordedChain().slice(0, busy));
  const node = speaking({ ...chain, parts }, { clock, random, isOffline });
  open.push(node);
  return { node, clock };
}

afterEach(async () => {
  for (const { protocol, chain, faults } of open.splice(0)) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
});

function meet({ node, clock }: Stage, direction: "in" | "out", zone: "public" | "tor" = "public"): Stranger {
  const stranger = meetStranger(node, {}, { direction, zone });
  clock.pass(0.001);
  return stranger;
}

/** The transactions that a stranger received, message by message, and whether each was to be relayed to all. */
const told = ({ heard }: Stranger) =>
  heard
    .filter(({ id }) => id === messages.newTransactions.id)
    .map(({ bytes }) => readRecord(messages.newTransactions.payload, bytes))
    .map(({ txs, dandelionpp_fluff }) => ({ keys: txs.map(keyOf), isFluff: dandelionpp_fluff }));
const rowOf = ({ node }: Stage, blob: Uint8Array) => node.chain.parts.pool.get(keyOf(blob))!.row;
const submit = ({ node }: Stage, blob: Uint8Array, doNotRelay = false) =>
  admit(node.chain.parts, { blob, doNotRelay });
const send = (stranger: Stranger, txs: Uint8Array[], isFluff: boolean) =>
  stranger.say(messages.newTransactions, { txs, _: new Uint8Array(), dandelionpp_fluff: isFluff });

for (const [epoch, random] of Object.entries({ stem: stems, fluff: fluffs }))
  test(`our own transaction goes to one outgoing peer first in an epoch of ${epoch}, to all when nobody told it on`, async () => {
    const scene = await stage(random);
    const peers = [meet(scene, "out"), meet(scene, "out"), meet(scene, "in")];
    await submit(scene, first);
    const chosen = peers.filter((peer) => told(peer).length > 0);
    assert.equal(chosen.length, 1);
    assert.deepEqual(told(chosen[0]!), [{ keys: [keyOf(first)], isFluff: false }]);
    assert.equal(rowOf(scene, first).phase, "stem");
    assert.equal(isPublic(rowOf(scene, first)), false);
    scene.clock.pass(180);
    assert.equal(rowOf(scene, first).phase, "fluff");
    for (const peer of peers) assert.deepEqual(told(peer).at(-1), { keys: [keyOf(first)], isFluff: true });
  });

test("without an outgoing peer it goes to all", async () => {
  for (const random of [stems, fluffs]) {
    const scene = await stage(random);
    const peers = [meet(scene, "in"), meet(scene, "in")];
    await submit(scene, first);
    assert.equal(isPublic(rowOf(scene, first)), true);
    scene.clock.pass(60);
    for (const peer of peers) assert.deepEqual(told(peer), [{ keys: [keyOf(first)], isFluff: true }]);
  }
});

test("what a peer sends to be told to all goes to all others, together and sorted", async () => {
  const scene = await stage(stems);
  const [sender, other] = [meet(scene, "in"), meet(scene, "out")];
  await send(sender, [second], true);
  await send(sender, [first], true);
  assert.deepEqual(told(other), []);
  scene.clock.pass(60);
  const sorted = [first, second].sort(Buffer.compare).map(keyOf);
  assert.deepEqual(told(other), [{ keys: sorted, isFluff: true }]);
  assert.deepEqual(told(sender), []);
});

test("what comes by stem goes on by stem; what comes round goes to all", async () => {
  const scene = await stage(stems);
  const sender = meet(scene, "in");
  const next = meet(scene, "out");
  await send(sender, [first], false);
  assert.deepEqual(told(next), [{ keys: [keyOf(first)], isFluff: false }]);
  assert.equal(rowOf(scene, first).phase, "stem");
  await send(sender, [first], false);
  assert.equal(rowOf(scene, first).phase, "fluff");
  scene.clock.pass(60);
  assert.deepEqual(told(next).at(-1), { keys: [keyOf(first)], isFluff: true });
});

test("what comes by stem in an epoch of fluff goes to all others", async () => {
  const scene = await stage(fluffs);
  const [sender, ...others] = [meet(scene, "in"), meet(scene, "out"), meet(scene, "in")];
  await send(sender!, [first], false);
  assert.equal(rowOf(scene, first).phase, "fluff");
  scene.clock.pass(60);
  for (const peer of others) assert.deepEqual(told(peer), [{ keys: [keyOf(first)], isFluff: true }]);
  assert.deepEqual(told(sender!), []);
});

test("our own goes through an anonymity network where there is one", async () => {
  const scene = await stage(stems);
  const [hidden, seen] = [meet(scene, "out", "tor"), meet(scene, "out")];
  await submit(scene, first);
  scene.clock.pass(60);
  assert.equal(told(hidden).length, 1);
  assert.deepEqual(told(seen), []);
  assert.equal(rowOf(scene, first).phase, "local");
});

test("what comes from an anonymity network is kept back, then goes on by stem", async () => {
  const scene = await stage(stems);
  const [hidden, seen] = [meet(scene, "in", "tor"), meet(scene, "out")];
  await send(hidden, [first], false);
  assert.equal(rowOf(scene, first).phase, "forward");
  const waitSeconds = poisson(22, stems);
  assert.equal(rowOf(scene, first).lastRelayedTime, BigInt(now() + waitSeconds));
  assert.deepEqual(told(seen), []);
  scene.clock.pass(120);
  assert.deepEqual(told(seen)[0], { keys: [keyOf(first)], isFluff: false });
});

test("what is not to be relayed is told when it is released", async () => {
  const scene = await stage(stems);
  const peer = meet(scene, "in");
  await submit(scene, first, true);
  scene.clock.pass(60);
  assert.deepEqual(told(peer), []);
  assert.equal(isPublic(rowOf(scene, first)), false);
  release(scene.node.chain.parts, keyOf(first));
  scene.clock.pass(60);
  assert.equal(told(peer).length, 1);
});

test("a transaction no block takes is told again, at growing intervals", async () => {
  const scene = await stage(fluffs);
  const peer = meet(scene, "in");
  await submit(scene, first);
  const times: number[] = [];
  for (let minute = 0; minute < 120; minute++) {
    const before = told(peer).length;
    scene.clock.pass(60);
    if (told(peer).length > before) times.push(minute);
  }
  const gaps = times.slice(1).map((time, i) => time - times[i]!);
  assert.ok(gaps.length >= 4, `told again ${gaps.length} times`);
  assert.ok(
    gaps.every((gap, i) => i === 0 || gap >= gaps[i - 1]!),
    gaps.join(),
  );
  assert.ok(gaps.at(-1)! > 20);
});

test("what waits too long is dropped, and not taken again", async () => {
  const scene = await stage(fluffs);
  await submit(scene, first);
  scene.clock.pass(3 * 86_400);
  await dropStale(scene.node.chain.parts);
  assert.equal(scene.node.chain.parts.pool.size, 1);
  scene.clock.pass(1);
  await dropStale(scene.node.chain.parts);
  assert.equal(scene.node.chain.parts.pool.size, 0);
  await assert.rejects(submit(scene, first), (error) => {
    return error instanceof RuleViolation && error.violation.code === "EXPIRED";
  });
});

test("where there is too little room, what pays least per byte is dropped", async () => {
  const scene = await stage(fluffs, 5000);
  await submit(scene, first);
  await submit(scene, second);
  const { pool } = scene.node.chain.parts;
  assert.ok(pool.totalWeight <= 5000);
  assert.ok(pool.size < 2);
});

test("an invalid transaction drops its sender, a second spending of the same output does not", async () => {
  const scene = await stage(fluffs);
  const [liar, sender] = [meet(scene, "in"), meet(scene, "in")];
  const bad = Uint8Array.from(first);
  bad[bad.length - 40]! ^= 1;
  await send(liar, [bad], true);
  assert.notEqual(liar.dropped, undefined);
  await send(sender, [first], true);
  await send(sender, [first], true);
  assert.equal(sender.dropped, undefined);
});

test("a peer that asks what it lacks gets what everybody may know", async () => {
  const scene = await stage(stems);
  const [next, asker] = [meet(scene, "out"), meet(scene, "in")];
  await submit(scene, first);
  await send(next, [second], true);
  await asker.say(messages.poolComplement, { hashes: new Uint8Array() });
  assert.deepEqual(told(asker), [{ keys: [keyOf(second)], isFluff: false }]);
});

test("once the chain is synchronized a peer is told which public transactions are here", async () => {
  const clock = stillClock(now());
  const chain = await emptyChain();
  putWaiting(
    chain.parts,
    new Map([
      [1, {}],
      [2, { phase: "stem" }],
      [3, {}],
    ]),
  );
  const node = speaking(chain, { clock });
  open.push(node);
  const peers = [meetStranger(node), meetStranger(node)];
  clock.pass(2);
  const complements = peers.map(({ heard }) => heard.filter(({ id }) => id === messages.poolComplement.id));
  assert.deepEqual(
    complements.map(({ length }) => length),
    [1, 0],
  );
  const { hashes } = readRecord(messages.poolComplement.payload, complements[0]![0]!.bytes);
  const expected = chain.parts.pool.entries().filter(({ row }) => row.phase === "fluff");
  assert.equal(expected.length, 2);
  assert.equal(toHex(hashes), expected.map(({ key }) => key).join(""));
});

test("a padded message is a multiple of 1 KiB long", () => {
  for (const blobs of [[first], [first, second], []]) {
    const { payload } = transactionsMessage(blobs, { isFluff: true, isPadded: true });
    assert.match(Buffer.from(payload._).toString("latin1"), /^ +$/);
    assert.equal(writeRecord(messages.newTransactions.payload, payload).length % 1024, 0);
  }
});

test("stems: two of the outgoing connections, the same for each source, replaced when gone", () => {
  const map = createStemMap(["a", "b", "c", "d"], stems);
  assert.equal(map.size, 2);
  const sources = Array.from({ length: 20 }, (_, i) => `source ${i}`);
  const ways = sources.map((source) => map.stemOf(source)!);
  assert.deepEqual(
    sources.map((source) => map.stemOf(source)),
    ways,
  );
  const [one, two] = [...new Set(ways)] as [string, string];
  assert.equal(ways.filter((way) => way === one).length, 10);
  map.update([two, "e"]);
  assert.deepEqual(new Set(sources.map((source) => map.stemOf(source))), new Set([two, "e"]));
  map.update([]);
  assert.equal(map.stemOf("source 1"), undefined);
});

test("times of chance have the mean they should have", () => {
  let state = 1;
  const random = (size: number) =>
    Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
  const rounds = 2000;
  const sum = Array.from({ length: rounds }, () => poisson(39, random)).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum / rounds - 39) < 1, String(sum / rounds));
});

test("transactions are not looked at before the chain is compared with a peer's, nor from one whose chain is fetched", async () => {
  const scene = await stage(stems, undefined, false);
  const { chain, protocol } = scene.node;
  const equal = meetStranger(scene.node);
  await send(equal, [first], true);
  assert.equal(chain.parts.pool.get(keyOf(first)), undefined);
  scene.clock.pass(0.001);
  assert.equal(protocol.sync.isSynchronized, true);
  const { currentHeight } = protocol.syncData();
  const longer = meetStranger(scene.node, {
    currentHeight: currentHeight + 5,
    topId: new Uint8Array(32).fill(7),
  });
  scene.clock.pass(0.001);
  assert.equal(protocol.stateOf(longer.peer), "synchronizing");
  await send(longer, [first], true);
  assert.equal(chain.parts.pool.get(keyOf(first)), undefined);
  await send(equal, [second], true);
  assert.notEqual(chain.parts.pool.get(keyOf(second)), undefined);
  assert.deepEqual([equal.dropped, longer.dropped], [undefined, undefined]);
});
