import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ByteBudget } from "@anulo/limits";
import { pruningSeed } from "@anulo/protocol";
import { chainAnswer } from "../src/peers/chain-history.ts";
import { messages, type PayloadOf } from "../src/peers/messages.ts";
import { emptyChain, loadBlocks, now } from "./chain-fixture.ts";
import {
  connect,
  heightOf,
  meetStranger,
  type StillClock,
  type Stranger,
  speaking,
  stillClock,
  stopNode,
  type TestNode,
  topOf,
  until,
} from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

let full: TestNode;
/** Length of the chain that is invented. */
const BLOCKS = 400;
const open: TestNode[] = [];

async function node(clock?: StillClock): Promise<TestNode> {
  const made = speaking(await emptyChain(), clock && { clock });
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

function asksOf({ heard }: Stranger, name: keyof typeof messages): number {
  return heard.filter(({ id }) => id === messages[name].id).length;
}

function wholeChain(): PayloadOf<"chain"> {
  const { read } = full.chain.parts.store;
  const steps = chainAnswer(read, { block_ids: [read.blockInfo(0)!.hash], prune: false }, 0);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value!;
}

interface Lie {
  /** Of each block, in bytes. */
  readonly weight?: number;
  readonly height?: number;
  readonly pruningSeed?: number;
  readonly reserve?: Stranger["peer"]["reserve"];
}

/** A stranger that tells of blocks it invented. */
async function meetLiar(node: TestNode, options: Lie, clock?: StillClock): Promise<Stranger> {
  const { weight = 80, height = BLOCKS, pruningSeed = 0, ...met } = options;
  const { topVersion } = full.protocol.syncData();
  const claim = { topVersion, currentHeight: height, topId: unknownId(height - 1), pruningSeed };
  const liar = meetStranger(node, claim, met);
  clock?.pass(0.01);
  await until(node, () => asksOf(liar, "requestChain") > 0);
  const genesis = node.protocol.syncData().topId;
  const ids = [genesis, ...Array.from({ length: BLOCKS - 1 }, (_, i) => unknownId(i + 1))];
  await liar.say(messages.chain, {
    start_height: 0,
    total_height: height,
    cumulative_difficulty: 1n << 60n,
    cumulative_difficulty_top64: 0n,
    m_block_ids: ids,
    m_block_weights: ids.map(() => weight),
    first_block: new Uint8Array(),
  });
  return liar;
}

// Closes: a peer that tells of blocks it invented, for which the blocks of all other peers then waited.
for (const weight of [80, 2 ** 40]) {
  test(`invented blocks of ${weight} bytes that never arrive hold up nobody else's`, async () => {
    const empty = await node();
    const liar = await meetLiar(empty, { weight });
    assert.equal(asksOf(liar, "requestBlocks"), 1);
    const { close } = connect(empty, full);
    await until(empty, () => heightOf(empty) === heightOf(full));
    assert.equal(topOf(empty), topOf(full));
    assert.equal(liar.dropped, undefined, "nobody had to give it up");
    close();
  });
}

// Closes: the blocks that one honest peer never sent, asked of no other as those a liar invented came before them.
test("blocks that a peer does not send are asked of another, whatever else nobody sends", async () => {
  const clock = stillClock(now());
  const empty = await node(clock);
  const liar = await meetLiar(empty, {}, clock);
  const silent = meetStranger(empty, full.protocol.syncData(), { host: "10.0.0.67" });
  clock.pass(0.01);
  await silent.say(messages.chain, wholeChain());
  assert.equal(asksOf(silent, "requestBlocks"), 1);
  clock.pass(10);
  const { close } = connect(empty, full);
  const passing = setInterval(() => clock.pass(0.01), 20);
  await until(empty, () => heightOf(empty) === heightOf(full)).finally(() => clearInterval(passing));
  assert.deepEqual([liar.dropped, silent.dropped], [undefined, undefined]);
  close();
});

// Closes: long lists of blocks that a peer says it does not keep, looked through anew in each of its turns.
test("blocks that a peer does not keep are not kept in mind either", async () => {
  const empty = await node();
  const pruned = await meetLiar(empty, { height: 450_000, pruningSeed: pruningSeed(8) });
  const [link] = empty.protocol.links;
  assert.equal(link?.needed.length, 0);
  assert.deepEqual([asksOf(pruned, "requestBlocks"), asksOf(pruned, "requestChain")], [0, 2]);
});

/** The id of a block that nobody has. */
function unknownId(height: number): Uint8Array {
  const id = new Uint8Array(32).fill(0xee);
  new DataView(id.buffer).setUint32(0, height);
  return id;
}

test("a peer that tells of more blocks than there is memory for is dropped, one with just enough is not", async () => {
  const empty = await node();
  await meetLiar(empty, {});
  const { bytes } = empty.protocol.links[0]!.neededMemory;
  /** Room for what a peer tells of, which is reserved first, beside room for its messages. */
  const roomFor = (told: number) => {
    const budgets = [new ByteBudget(told)];
    return (size: number) => (budgets.shift() ?? new ByteBudget(2 ** 30)).reserve(size);
  };
  const fits = await meetLiar(await node(), { reserve: roomFor(bytes) });
  assert.equal(fits.dropped, undefined);
  const tooMuch = await meetLiar(await node(), { reserve: roomFor(bytes - 1) });
  assert.match(tooMuch.dropped!.reason, /more blocks than there is memory for/);
});

test("nothing that a peer told of takes memory once it has left", async () => {
  const budget = new ByteBudget(2 ** 30);
  const liar = await meetLiar(await node(), { reserve: (size) => budget.reserve(size) });
  assert.ok(budget.used > 0);
  liar.leave();
  assert.equal(budget.used, 0);
});

test("blocks that a peer was asked for are asked of another as soon as it leaves", async () => {
  const clock = stillClock(now());
  const empty = await node(clock);
  const strangers: Stranger[] = [];
  const count = (name: keyof typeof messages) => strangers.map((stranger) => asksOf(stranger, name));
  for (let host = 67; host < 71; host++) {
    const stranger = meetStranger(empty, full.protocol.syncData(), { host: `10.0.0.${host}` });
    strangers.push(stranger);
    clock.pass(0.01);
    if (asksOf(stranger, "requestChain") > 0) await stranger.say(messages.chain, wholeChain());
  }
  assert.deepEqual(count("requestChain"), [1, 1, 1, 0]);
  assert.deepEqual(count("requestBlocks"), [1, 1, 1, 0]);
  const [first, , , last] = strangers;
  first!.leave();
  assert.deepEqual(count("requestChain"), [1, 1, 1, 1]);
  await last!.say(messages.chain, wholeChain());
  assert.deepEqual(count("requestBlocks"), [1, 1, 1, 1]);
});
