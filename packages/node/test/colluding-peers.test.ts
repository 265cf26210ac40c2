import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { readRecord, writeRecord } from "@anulo/protocol";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { chainAnswer } from "../src/peers/chain-history.ts";
import { messages, type PayloadOf } from "../src/peers/messages.ts";
import { emptyChain, loadBlocks, now } from "./chain-fixture.ts";
import {
  connect,
  type End,
  heightOf,
  meetStranger,
  type StillClock,
  type Stranger,
  speaking,
  stillClock,
  stopNode,
  type TestNode,
  topOf,
} from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

let full: TestNode;
const open: TestNode[] = [];

before(async () => {
  full = speaking(await emptyChain());
  open.push(full);
  await loadBlocks(full.chain.parts, recordedChain().slice(0, 224));
});

after(async () => {
  for (const each of open) await stopNode(each);
});

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}

interface Scene {
  readonly clock: StillClock;
  readonly node: TestNode;
  readonly strangers: Liar[];
}

/** Lets seconds pass until the condition holds; false if it still does not after so many. */
async function holdsWithin(
  { clock, strangers }: Scene,
  limit: number,
  holds: () => boolean,
): Promise<boolean> {
  for (let seconds = 0; seconds < limit && !holds(); seconds++) {
    clock.pass(1);
    await turns(50);
    for (const liar of strangers) await liar.answer();
  }
  return holds();
}

async function setScene(): Promise<Scene> {
  const clock = stillClock(now());
  const node = speaking(await emptyChain(), { clock, blocksPerRequest: 20 });
  open.push(node);
  return { clock, node, strangers: [] };
}

function answerOf(ask: PayloadOf<"requestChain">): PayloadOf<"chain"> {
  const steps = chainAnswer(full.chain.parts.store.read, ask, 0);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value!;
}

/** A stranger that may answer requests for its chain, sends none of its blocks, and never falls silent. */
interface Liar {
  readonly stranger: Stranger;
  /** Deals with what it was asked since the last call. */
  answer(): Promise<void>;
}

/** Meets one with the true chain, or with one of so many blocks of which it says no more. */
function meetLiar(node: TestNode, clock: StillClock, options: { host: string; height?: number }): Liar {
  const { host, height } = options;
  const claims = full.protocol.syncData();
  if (height !== undefined) Object.assign(claims, { currentHeight: height, topId: noBlock });
  const stranger = meetStranger(node, claims, { host, lastReceived: clock.seconds });
  let read = 0;
  return {
    stranger,
    async answer() {
      for (const { id, bytes } of stranger.heard.slice(read)) {
        read++;
        if (id !== messages.requestChain.id || height !== undefined) continue;
        await stranger.say(messages.chain, answerOf(readRecord(messages.requestChain.payload, bytes)));
      }
    },
  };
}

function isAskedForBlocks({ stranger }: Liar): boolean {
  return stranger.heard.some(({ id }) => id === messages.requestBlocks.id);
}

const noBlock = new Uint8Array(32).fill(0xee);

const never = () => false;

// Closes: a peer whose claim nobody could prove kept a fresh node from taking transactions and blocks, and one that was
// dropped for it was followed by the next.
test("a node with the whole chain of a peer counts as synchronized, whatever longer chains others claim", async () => {
  const scene = await setScene();
  const { clock, node, strangers } = scene;
  const meetAnother = () => {
    const host = `10.1.0.${strangers.length + 1}`;
    strangers.push(meetLiar(node, clock, { host, height: 100_000 }));
  };
  meetAnother();
  const honest = connect(node, full, "10.0.0.2");
  assert.ok(await holdsWithin(scene, 60, () => heightOf(node) === heightOf(full)));
  await holdsWithin(scene, 30, never);
  assert.equal(node.protocol.sync.isSynchronized, false, "the longer chain was not waited for");
  let seconds = 0;
  const isSynchronized = () => {
    // Each is followed by another before it is dropped.
    if (seconds++ % 25 === 0) meetAnother();
    return node.protocol.sync.isSynchronized;
  };
  assert.ok(await holdsWithin(scene, 300, isSynchronized), "it waits for blocks that nobody sends");
  assert.equal(honest.atA.dropped, undefined);
  assert.deepEqual(node.faults, []);
});

test("a node is not synchronized while the only peer claims more than it sends", async () => {
  const scene = await setScene();
  scene.strangers.push(meetLiar(scene.node, scene.clock, { host: "10.1.0.1", height: 100_000 }));
  await holdsWithin(scene, 120, never);
  assert.equal(scene.node.protocol.sync.isSynchronized, false);
});

/** Has a peer's answers about its chain name this many blocks at most. */
function shorten(end: End, count: number): void {
  const { id: chainId, payload } = messages.chain;
  end.tamper = (id, bytes) => {
    if (id !== chainId) return bytes;
    const answer = readRecord(payload, bytes);
    const m_block_ids = answer.m_block_ids.slice(0, count);
    return writeRecord(payload, {
      ...answer,
      m_block_ids,
      m_block_weights: answer.m_block_weights.slice(0, count),
    });
  };
}

// Closes: blocks of an earlier answer were asked of no other peer once the next answer had taken its place.
test("blocks that a peer withholds are asked of one whose list has moved on beyond them", async () => {
  const scene = await setScene();
  const { node, clock, strangers } = scene;
  const liar = meetLiar(node, clock, { host: "10.1.0.1" });
  strangers.push(liar);
  assert.ok(await holdsWithin(scene, 5, () => isAskedForBlocks(liar)));
  const honest = connect(node, full, "10.0.0.2");
  shorten(honest.atA, 50);
  await holdsWithin(scene, 100, () => heightOf(node) === heightOf(full));
  assert.equal(topOf(node), topOf(full));
  assert.equal(honest.atA.dropped, undefined);
});

// Closes: each peer more that withheld the same blocks held them up for half a minute more.
test("blocks that many peers withhold are asked of more and more of them at once", async () => {
  const scene = await setScene();
  const { node, clock, strangers } = scene;
  await loadBlocks(node.chain.parts, recordedChain().slice(0, 210));
  for (let i = 1; i <= 15; i++) strangers.push(meetLiar(node, clock, { host: `10.1.0.${i}` }));
  assert.ok(await holdsWithin(scene, 5, () => strangers.some(isAskedForBlocks)));
  connect(node, full, "10.0.0.2");
  meetStranger(node, {}, { host: "10.1.1.1" });
  let isTooEarly = false;
  const hasAll = () => {
    if (heightOf(node) === heightOf(full)) return true;
    isTooEarly ||= node.protocol.sync.isSynchronized;
    return false;
  };
  await holdsWithin(scene, 180, hasAll);
  assert.equal(topOf(node), topOf(full));
  assert.equal(isTooEarly, false, "a peer with a shorter chain was enough to count as synchronized");
});

/** The chain, with each look for a block by its id counted. */
function counting(chain: OpenChain): { chain: OpenChain; lookups(): number } {
  const { store } = chain.parts;
  let count = 0;
  const heightOf: typeof store.read.heightOf = (id) => {
    count++;
    return store.read.heightOf(id);
  };
  const read = Object.assign(Object.create(store.read), { heightOf });
  const parts = { ...chain.parts, store: Object.assign(Object.create(store), { read }) };
  return { chain: { ...chain, parts }, lookups: () => count };
}

// Closes: a long list, most of whose blocks came from others meanwhile, that was looked through in one turn.
test("blocks of a list that others sent meanwhile are passed over without a look at each", async () => {
  const clock = stillClock(now());
  const { chain, lookups } = counting(await emptyChain());
  const node = speaking(chain, { clock, blocksPerRequest: 20 });
  open.push(node);
  const scene = { clock, node, strangers: [meetLiar(node, clock, { host: "10.1.0.1" })] };
  assert.ok(await holdsWithin(scene, 5, () => scene.strangers.every(isAskedForBlocks)));
  connect(node, full, "10.0.0.2");
  assert.ok(await holdsWithin(scene, 100, () => heightOf(node) === heightOf(full)));
  const [{ stranger }] = scene.strangers as [Liar];
  const link = node.protocol.links.find(({ peer }) => peer === stranger.peer)!;
  assert.ok(link.needed.length > 150, `${link.needed.length} blocks`);
  // It is given up in one turn.
  const before = lookups();
  clock.pass(250);
  assert.equal(link.needed.length, 0);
  assert.ok(lookups() - before < 60, `${lookups() - before} lookups`);
});
