import assert from "node:assert/strict";
import { test } from "node:test";
import { blockId, pruningSeed, readBlock, readRecord, toHex, writeBlock } from "@anulo/protocol";
import { messages } from "../src/peers/messages.ts";
import { emptyChain, now } from "./chain-fixture.ts";
import { meetStranger, type Stranger, speaking, stillClock } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

const HEIGHT = 20_000;
const TOLD = 9000;
const model = readBlock(recordedChain()[0]!.blob);

/** A made-up chain: blocks that can be read, each with an id of its own. */
const blocks = Array.from({ length: TOLD }, (_, i) => {
  const block = {
    ...model,
    header: { ...model.header, nonce: i, previousId: new Uint8Array(32).fill(7) },
    transactionHashes: [],
  };
  return { id: blockId(block), blob: writeBlock(block) };
});
const heightOf = new Map(blocks.map(({ id }, i) => [toHex(id), i + 1]));

/** A node that has nothing, and peers that keep a stripe of a long chain. */
async function setUp() {
  const clock = stillClock(now());
  const chain = await emptyChain();
  const node = speaking(chain, { clock, blocksPerRequest: 10, maxQueueBytes: 1 });
  const genesis = chain.parts.store.read.blockInfo(0)!.hash;
  const meet = async (stripe: number, host: string, told = blocks): Promise<Stranger> => {
    const claims = {
      currentHeight: HEIGHT,
      topId: new Uint8Array(32).fill(9),
      topVersion: 16,
      pruningSeed: pruningSeed(stripe),
    };
    const stranger = meetStranger(node, claims, { host });
    clock.pass(0.1);
    await stranger.say(messages.chain, {
      start_height: 0,
      total_height: HEIGHT,
      cumulative_difficulty: 9n,
      cumulative_difficulty_top64: 0n,
      m_block_ids: [genesis, ...told.map(({ id }) => id)],
      m_block_weights: [],
      first_block: new Uint8Array(0),
    });
    return stranger;
  };
  const end = async () => {
    await node.protocol.stop();
    await chain.close();
  };
  return { clock, meet, end };
}

/** Heights a peer was asked for, question by question. */
function askedOf({ heard }: Stranger): number[][] {
  return heard
    .filter(({ id }) => id === messages.requestBlocks.id)
    .map(({ bytes }) => readRecord(messages.requestBlocks.payload, bytes))
    .map((ask) => ask.blocks.map((id) => heightOf.get(toHex(id))!));
}

function answer(stranger: Stranger, heights: readonly number[]): Promise<void> {
  const entries = heights.map((height) => {
    const { blob } = blocks[height - 1]!;
    return { pruned: false, block: blob, weight: 0, txs: [] };
  });
  return stranger.say(messages.blocks, {
    blocks: entries,
    missed_ids: [],
    current_blockchain_height: HEIGHT,
  });
}

test("a peer that keeps one stripe is asked for blocks of that stripe alone", async () => {
  const { meet, end } = await setUp();
  const [second, first] = [await meet(2, "10.0.0.2"), await meet(1, "10.0.0.1")];
  assert.deepEqual([first.dropped, second.dropped], [undefined, undefined]);
  assert.deepEqual(askedOf(second), [Array.from({ length: 10 }, (_, i) => 4096 + i)]);
  assert.deepEqual(askedOf(first), [Array.from({ length: 10 }, (_, i) => 1 + i)]);
  assert.deepEqual([first.dropped, second.dropped], [undefined, undefined]);
  await end();
});

test("a stripe fetched ahead does not keep the blocks before it from being fetched", async () => {
  const { meet, end } = await setUp();
  const ahead = await meet(2, "10.0.0.2");
  for (let answered = 0; askedOf(ahead).length > answered; answered++) {
    assert.ok(answered < 20, "no end of fetching ahead");
    await answer(ahead, askedOf(ahead)[answered]!);
  }
  assert.equal(new Set(askedOf(ahead).flat()).size, 10, "the first answer fills the queue");
  const first = await meet(1, "10.0.0.1");
  assert.equal(askedOf(first)[0]?.[0], 1);
  await end();
});

test("blocks that a peer does not send are asked of one that has all of them, once it is late", async () => {
  const { clock, meet, end } = await setUp();
  const told = blocks.slice(0, 50);
  const first = Array.from({ length: 10 }, (_, i) => 1 + i);
  const silent = await meet(1, "10.0.0.1", told);
  assert.deepEqual(askedOf(silent), [first]);
  clock.pass(4);
  const early = await meet(1, "10.0.0.2", told);
  assert.deepEqual(askedOf(early), []);
  clock.pass(2);
  assert.deepEqual(askedOf(early), [first], "it was there before they were late");
  clock.pass(6);
  const other = await meet(1, "10.0.0.3", [...blocks.slice(0, 5), ...blocks.slice(4000, 4100)]);
  assert.deepEqual(askedOf(other).flat(), [], "half of them are not in its chain");
  const pruned = await meet(2, "10.0.0.4", told);
  assert.deepEqual(askedOf(pruned).flat(), [], "it does not keep them");
  const whole = await meet(1, "10.0.0.5", told);
  assert.deepEqual(askedOf(whole), [first]);
  assert.deepEqual(
    [silent, early, other, pruned, whole].map(({ dropped }) => dropped),
    Array(5).fill(undefined),
  );
  await end();
});
