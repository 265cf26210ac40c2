/** New blocks that meet a node in the middle of fetching a chain. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readRecord } from "@anulo/protocol";
import { popBlocks } from "../src/chain/chain.ts";
import { chainAnswer } from "../src/peers/chain-history.ts";
import { checkChain } from "../src/peers/check-answers.ts";
import { messages, type PayloadOf } from "../src/peers/messages.ts";
import type { PeerProtocolOptions } from "../src/peers/peer-protocol.ts";
import { emptyChain, loadBlocks } from "./chain-fixture.ts";
import { connect, meetStranger, speaking, stopNode, type TestNode, until } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

const BLOCKS = 120;
const open: TestNode[] = [];

async function node(options: Partial<PeerProtocolOptions> = {}): Promise<TestNode> {
  const made = speaking(await emptyChain(), options);
  open.push(made);
  return made;
}

async function fullNode(): Promise<TestNode> {
  const made = await node();
  await loadBlocks(made.chain.parts, recordedChain().slice(0, BLOCKS - 1));
  return made;
}

after(async () => {
  for (const each of open) await stopNode(each);
});

// Closes: a block that a node mines while it adds fetched ones, and that is announced to no peer.
test("a block of our own is told while fetched ones are added, and those are not", async () => {
  const [empty, full] = [await node({ blocksPerRequest: 10 }), await fullNode()];
  const { atB, close } = connect(empty, full);
  let relayed = 0;
  atB.tamper = (id, bytes) => {
    if (id === messages.newFluffyBlock.id) relayed++;
    return bytes;
  };
  let wasBusy: boolean | undefined;
  empty.chain.events.listen((event) => {
    if (event.type !== "blockAdded" || event.height < 50 || wasBusy !== undefined) return;
    wasBusy = empty.protocol.sync.isBusy;
    empty.chain.parts.emit({ type: "blockAdded", height: 5, id: crypto.getRandomValues(new Uint8Array(32)) });
  });
  await until(empty, () => empty.chain.parts.store.read.height() === BLOCKS && !empty.protocol.sync.isBusy);
  await until(full, () => relayed > 0);
  close();
  assert.equal(wasBusy, true);
  assert.equal(relayed, 1);
});

// Closes: a peer's block that comes while its chain is fetched, and is ignored until the next timed sync.
for (const isTold of [true, false]) {
  const told = isTold ? "a new block is asked for its chain again" : "no new block is not asked again";
  test(`a peer that meanwhile told of ${told}`, async () => {
    const full = await fullNode();
    const { read } = full.chain.parts.store;
    const stranger = meetStranger(full, {
      topId: new Uint8Array(32).fill(1),
      currentHeight: BLOCKS,
    });
    const asked = () => stranger.heard.filter(({ id }) => id === messages.requestChain.id).length;
    stranger.claim({ topId: new Uint8Array(32).fill(2), currentHeight: BLOCKS });
    await until(full, () => asked() === 1);
    const top = read.height() - 1;
    if (isTold) {
      const b = { pruned: false, block: read.blockBlob(top)!, weight: 0, txs: [] };
      await stranger.say(messages.newFluffyBlock, { b, current_blockchain_height: BLOCKS });
    }
    await stranger.say(messages.chain, {
      start_height: top,
      total_height: BLOCKS,
      cumulative_difficulty: 0n,
      cumulative_difficulty_top64: 0n,
      m_block_ids: [read.blockInfo(top)!.hash],
      m_block_weights: [],
      first_block: new Uint8Array(),
    });
    assert.equal(stranger.dropped, undefined);
    assert.equal(asked(), isTold ? 2 : 1);
    stranger.leave();
  });
}

/** What a node answers to a question for its chain. */
function chainOf({ chain }: TestNode, ask: PayloadOf<"requestChain">): PayloadOf<"chain"> {
  const steps = chainAnswer(chain.parts.store.read, ask, 0);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value!;
}

// Closes: an honest peer that is dropped because blocks were popped between our question and its answer.
test("a chain that follows a block popped since it was asked for is asked for again", async () => {
  const full = await fullNode();
  const model = await fullNode();
  const stranger = meetStranger(full, { topId: new Uint8Array(32).fill(1), currentHeight: BLOCKS + 1 });
  const questions = () =>
    stranger.heard
      .filter(({ id }) => id === messages.requestChain.id)
      .map(({ bytes }) => readRecord(messages.requestChain.payload, bytes));
  await until(full, () => questions().length === 1);
  const answer = chainOf(model, questions()[0]!);
  await popBlocks(full.chain.parts, 20);
  await stranger.say(messages.chain, answer);
  assert.equal(stranger.dropped, undefined);
  assert.equal(questions().length, 2);
  await stranger.say(messages.chain, chainOf(model, questions()[1]!));
  assert.equal(stranger.dropped, undefined);
  assert.ok(
    stranger.heard.some(({ id }) => id === messages.requestBlocks.id),
    "its blocks are asked for",
  );
  stranger.leave();
});

// Closes: an honest peer that is dropped because another peer's blocks were added while its answer was looked at.
test("a chain stays right while it is looked at, whether ours grows or shrinks", async () => {
  const [model, growing] = [await fullNode(), await node()];
  const { parts } = growing.chain;
  await loadBlocks(parts, recordedChain().slice(0, 60));
  const known = { read: parts.store.read, isInvalid: () => false, isExpected: () => false };
  const genesis = parts.store.read.blockInfo(0)!.hash;
  const answer = chainOf(model, { block_ids: [genesis], prune: false });
  const lookThrough = async (act: () => Promise<void>) => {
    const steps = checkChain(known, answer, { overlap: 1000 });
    for (let looked = 0; looked < 80; looked++) steps.next();
    await act();
    while (!steps.next().done);
  };
  await lookThrough(() => loadBlocks(parts, recordedChain().slice(60, 100)));
  await lookThrough(() => popBlocks(parts, 70));
  assert.equal(parts.store.read.height(), 31);
});
