import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { RuleViolation } from "@anulo/consensus";
import { readRecord, writeRecord } from "@anulo/protocol";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { messages } from "../src/peers/messages.ts";
import type { PeerProtocolOptions } from "../src/peers/peer-protocol.ts";
import { emptyChain, loadBlocks, now } from "./chain-fixture.ts";
import {
  connect,
  type End,
  heightOf,
  meetStranger,
  type StillClock,
  speaking,
  stillClock,
  stopNode,
  type TestNode,
  topOf,
  until,
} from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

let full: TestNode;
const open: TestNode[] = [];

async function node(chain?: OpenChain, options: Partial<PeerProtocolOptions> = {}): Promise<TestNode> {
  const made = speaking(chain ?? (await emptyChain()), options);
  open.push(made);
  return made;
}

before(async () => {
  full = await node();
  await loadBlocks(full.chain.parts, recordedChain().slice(0, 224));
});

after(async () => {
  for (const each of open) await stopNode(each);
});

test("an empty node fetches a whole chain from a peer", async () => {
  const empty = await node();
  const { close } = connect(empty, full);
  await until(empty, () => heightOf(empty) === heightOf(full) && empty.protocol.sync.isSynchronized);
  assert.equal(topOf(empty), topOf(full));
  assert.equal(empty.protocol.sync.queue.spans.length, 0);
  close();
});

test("a chain comes from several peers at once, whoever of them leaves", async () => {
  const empty = await node(undefined, { blocksPerRequest: 10 });
  const second = await node();
  connect(second, full);
  await until(second, () => heightOf(second) === heightOf(full));
  const asked = new Set<End>();
  const ends = [connect(empty, full, "10.0.0.1"), connect(empty, second, "10.0.0.2")];
  for (const { atB } of ends) {
    atB.tamper = (id, bytes) => {
      if (id === messages.requestBlocks.id) asked.add(atB);
      return bytes;
    };
  }
  await until(empty, () => heightOf(empty) > 100);
  ends[0]!.close();
  await until(empty, () => heightOf(empty) === heightOf(full));
  assert.equal(asked.size, 2);
  assert.equal(topOf(empty), topOf(full));
});

test("a peer that does not answer is passed by, and dropped if it goes on so", async () => {
  const clock = stillClock(now());
  const empty = await node(await emptyChain(), { clock });
  const silent = meetStranger(empty, { ...full.protocol.syncData(), currentHeight: 5000 });
  clock.pass(0.1);
  assert.ok(silent.heard.length > 0);
  connect(empty, full, "10.0.0.2");
  clock.pass(0.1);
  await until(empty, () => heightOf(empty) === heightOf(full));
  for (let second = 0; second < 120; second++) clock.pass(1);
  assert.deepEqual(silent.dropped?.blame, { score: 5 });
});

test("blocks that one peer never sends are asked of another that was there from the beginning", async () => {
  const clock = stillClock(now());
  const empty = await node(await emptyChain(), { clock });
  const silent = connect(empty, full, "10.0.0.1");
  let lost = 0;
  silent.atB.tamper = (id, bytes) => {
    if (id !== messages.requestBlocks.id) return bytes;
    lost++;
    return "lost";
  };
  const honest = connect(empty, full, "10.0.0.2");
  const questions = countQuestions(honest.atB);
  clock.pass(0.1);
  while (lost === 0 || questions() === 0) await turns(1);
  let seconds = 0;
  while (heightOf(empty) < heightOf(full)) {
    clock.pass(1);
    await turns(200);
    // Before the one that stalls is given up.
    assert.ok(++seconds < 20, `${heightOf(empty)} blocks after ${seconds} seconds`);
  }
});

/** The chain, on which writing goes wrong as long as `fault` gives something to throw. */
function failing(chain: OpenChain, fault: () => Error | undefined): OpenChain {
  const { store } = chain.parts;
  const check = () => {
    const error = fault();
    if (error !== undefined) throw error;
  };
  const write: typeof store.write = (change) => {
    check();
    return store.write(change);
  };
  const writeInTurns: typeof store.writeInTurns = async (change, onWritten) => {
    check();
    return store.writeInTurns(change, onWritten);
  };
  return { ...chain, parts: { ...chain.parts, store: { ...store, write, writeInTurns } } };
}

/** Counts the questions for blocks that arrive at this end. */
function countQuestions(end: End): () => number {
  let questions = 0;
  end.tamper = (id, bytes) => {
    if (id === messages.requestBlocks.id) questions++;
    return bytes;
  };
  return () => questions;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}

/** Lets a second pass every so often until this node has the chain of `full`. */
async function untilSame(node: TestNode, clock: StillClock): Promise<void> {
  const passing = setInterval(() => clock.pass(1), 50);
  await until(node, () => heightOf(node) === heightOf(full)).finally(() => clearInterval(passing));
}

test("after a bug of our own blocks are asked for again later, and more and more seldom", async () => {
  const clock = stillClock(now());
  let isBroken = true;
  const chain = failing(await emptyChain(), () => (isBroken ? new Error("our bug") : undefined));
  const empty = await node(chain, { clock });
  const ends = connect(empty, full);
  const questions = countQuestions(ends.atB);
  clock.pass(0.1);
  while (empty.faults.length === 0) await setImmediate();
  await turns(300);
  const before = questions();
  await turns(300);
  assert.equal(questions(), before);
  const asked: number[] = [];
  for (let second = 0; second < 12; second++) {
    clock.pass(1);
    await turns(100);
    asked.push(questions());
  }
  assert.ok(new Set(asked).size <= 5, `asked ${asked}`);
  assert.equal(ends.atA.dropped, undefined);
  isBroken = false;
  empty.faults.length = 0;
  await untilSame(empty, clock);
  ends.close();
});

test("a peer is not blamed for blocks whose parent has left meanwhile", async () => {
  const clock = stillClock(now());
  let left = 2;
  const gone = () => (left-- > 0 ? new RuleViolation({ code: "UNKNOWN_PARENT" }) : undefined);
  const empty = await node(failing(await emptyChain(), gone), { clock });
  const ends = connect(empty, full);
  clock.pass(0.1);
  await untilSame(empty, clock);
  assert.ok(left <= 0);
  assert.equal(ends.atA.dropped, undefined);
  ends.close();
});

test("a node that stops while it fetches leaves a chain that goes on later", async () => {
  const chain = await emptyChain();
  const empty = await node(chain, { blocksPerRequest: 10 });
  const { close } = connect(empty, full);
  await until(empty, () => heightOf(empty) > 20);
  close();
  await empty.protocol.stop();
  const height = heightOf(empty);
  assert.ok(height < heightOf(full));
  const again = await node(chain);
  connect(again, full);
  await until(again, () => heightOf(again) === heightOf(full));
  open.splice(open.indexOf(again), 1);
});

// Closes: a peer that has us ask for many blocks at once by announcing them as small, to have us hold or prove them.
test("a peer whose blocks are much larger than it announced is dropped", async () => {
  const empty = await node();
  const { atA } = connect(empty, full);
  atA.tamper = (id, bytes) => {
    if (id !== messages.chain.id) return bytes;
    const answer = readRecord(messages.chain.payload, bytes);
    return writeRecord(messages.chain.payload, {
      ...answer,
      m_block_weights: answer.m_block_weights.map(() => 1),
    });
  };
  await until(empty, () => atA.dropped !== undefined);
  assert.equal(atA.dropped?.reason, "a block larger than it was announced");
});

// Closes: fetched blocks that are kept as what was read of them, at many times the bytes a budget counts.
test("fetched blocks wait as bytes, and count for more than their bytes", async () => {
  const empty = await node(undefined, { blocksPerRequest: 10, maxQueueBytes: 1 });
  const { atA, atB } = connect(empty, full);
  let most = 0;
  atA.tamper = (id, bytes) => {
    const { spans, bytes: held } = empty.protocol.sync.queue;
    if (id === messages.blocks.id) most = Math.max(most, spans.length);
    for (const { fetched = [] } of spans)
      for (const block of fetched) assert.ok(block.blob instanceof Uint8Array && !("block" in block));
    assert.ok(held >= 4096 * spans.reduce((sum, { blocks }) => sum + blocks.length, 0));
    return bytes;
  };
  await until(empty, () => heightOf(empty) === heightOf(full));
  assert.equal(most, 1, "a full queue takes no second run");
  assert.equal(atB.dropped, undefined);
});
