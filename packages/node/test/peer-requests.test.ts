/** How much is asked of a peer at once, and for how long its answer is waited for. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Peer } from "@anulo/p2p";
import { readRecord } from "@anulo/protocol";
import { messages } from "../src/peers/messages.ts";
import type { PeerProtocolOptions } from "../src/peers/peer-protocol.ts";
import { emptyChain, now } from "./chain-fixture.ts";
import { idOf } from "./numbered-ids.ts";
import {
  meetStranger,
  type StillClock,
  type Stranger,
  speaking,
  stillClock,
  stopNode,
  type TestNode,
  until,
} from "./peer-network.ts";

const open: TestNode[] = [];

afterEach(async () => {
  for (const node of open.splice(0)) await stopNode(node);
});

interface Scene {
  readonly node: TestNode;
  readonly clock: StillClock;
}

async function stage(options: Partial<PeerProtocolOptions> = {}): Promise<Scene> {
  const clock = stillClock(now());
  const node = speaking(await emptyChain(), { clock, ...options });
  open.push(node);
  return { node, clock };
}

const BLOCKS = 300;

/** A stranger with a longer chain, which it has not told of yet. */
function meet(
  { node, clock }: Scene,
  more: { zone?: Peer["zone"]; lastReceived?: () => number } = {},
): Stranger {
  const claim = { topVersion: 16, currentHeight: BLOCKS, topId: idOf(BLOCKS - 1), pruningSeed: 0 };
  const stranger = meetStranger(node, claim, more);
  clock.pass(0.01);
  return stranger;
}

const countOf = ({ heard }: Stranger, name: keyof typeof messages) =>
  heard.filter(({ id }) => id === messages[name].id).length;

/** Tells of a chain of blocks that weigh so much, none where it is not said; how many blocks are asked for then. */
async function requestedOf(scene: Scene, weight: number | undefined): Promise<number> {
  const stranger = meet(scene);
  await until(scene.node, () => countOf(stranger, "requestChain") > 0);
  const ids = [
    scene.node.protocol.syncData().topId,
    ...Array.from({ length: BLOCKS - 1 }, (_, i) => idOf(i + 1)),
  ];
  await stranger.say(messages.chain, {
    start_height: 0,
    total_height: BLOCKS,
    cumulative_difficulty: 1n << 60n,
    cumulative_difficulty_top64: 0n,
    m_block_ids: ids,
    m_block_weights: weight === undefined ? [] : ids.map(() => weight),
    first_block: new Uint8Array(),
  });
  const { bytes } = stranger.heard.findLast(({ id }) => id === messages.requestBlocks.id)!;
  return readRecord(messages.requestBlocks.payload, bytes).blocks.length;
}

/** Bytes that an answer should have, and those that each block takes besides its own. */
const [ANSWER, OVERHEAD] = [512 * 1024, 4096];

test("as many blocks are asked for as make one answer, at least one and a hundred at the most", async () => {
  const requested = async (weight?: number) => requestedOf(await stage(), weight);
  assert.equal(await requested(), 20, "their sizes are unknown");
  assert.equal(await requested(ANSWER / 4 - OVERHEAD), 4);
  assert.equal(await requested(ANSWER / 4 - OVERHEAD + 1), 3);
  assert.equal(await requested(4 * ANSWER), 1);
  assert.equal(await requested(1), 100);
});

test("who says how many blocks to ask for has so many asked for, whatever they weigh", async () => {
  assert.equal(await requestedOf(await stage({ blocksPerRequest: 7 }), 4 * ANSWER), 7);
  assert.equal(await requestedOf(await stage({ blocksPerRequest: 1000 }), 1), 100);
});

test("no chain is fetched over an anonymity network, nor where none is to be fetched", async () => {
  assert.equal(countOf(meet(await stage()), "requestChain"), 1);
  assert.equal(countOf(meet(await stage(), { zone: "tor" }), "requestChain"), 0);
  assert.equal(countOf(meet(await stage({ noSync: true })), "requestChain"), 0);
});

/** The second after which a peer that never answers is dropped, by how many seconds ago its bytes come last. */
async function droppedAfter(quietSeconds: () => number): Promise<number> {
  const scene = await stage();
  const silent = meet(scene, { lastReceived: () => scene.clock.seconds() - quietSeconds() });
  for (let second = 1; second < 1000; second++) {
    scene.clock.pass(1);
    if (silent.dropped === undefined) continue;
    assert.deepEqual(silent.dropped, { reason: "does not answer", blame: { score: 5 } });
    return second;
  }
  return 1000;
}

test("a peer that is silent is asked once more after twenty seconds, and one that sends too slowly after four minutes", async () => {
  // Looked at each second: twice one second more than it may take.
  assert.equal(await droppedAfter(() => 100), 42);
  assert.equal(await droppedAfter(() => 21), 42);
  assert.equal(await droppedAfter(() => 20), 482);
  assert.equal(await droppedAfter(() => 0), 482);
});

test("a peer that answers late is asked for nothing twice", async () => {
  const scene = await stage();
  const stranger = meet(scene);
  scene.clock.pass(20);
  assert.equal(countOf(stranger, "requestChain"), 1);
  scene.clock.pass(1);
  assert.equal(countOf(stranger, "requestChain"), 2);
});
