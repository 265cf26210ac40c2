import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Block, readRecord, writeBlock, writeRecord } from "@anulo/protocol";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import { chainAnswer } from "../src/peers/chain-history.ts";
import { messages, type PayloadOf } from "../src/peers/messages.ts";
import { chainIn, emptyChain, loadBlocks, minerKeys, pow } from "./chain-fixture.ts";
import {
  connect,
  meetStranger,
  type Stranger,
  speaking,
  stopNode,
  type TestNode,
  until,
} from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

const HEIGHT = 80;
/** A chain that the lies are cut from. */
let model: TestNode;
/** A chain that is lied to. */
let node: TestNode;

before(async () => {
  model = speaking(await emptyChain());
  node = speaking(await emptyChain());
  await loadBlocks(model.chain.parts, recordedChain().slice(0, HEIGHT - 1));
});

after(async () => {
  for (const { protocol, chain, faults } of [model, node]) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
  await pow.stop();
});

const unknownTop = () => ({ ...model.protocol.syncData() });
const lastAsk = <N extends keyof typeof messages>({ heard }: Stranger, name: N) => {
  const last = heard.findLast(({ id }) => id === messages[name].id);
  return last && (readRecord(messages[name].payload as never, last.bytes) as PayloadOf<N>);
};

/** A stranger that claims the model's chain and was asked for it. */
async function asked(): Promise<Stranger> {
  const stranger = meetStranger(node, unknownTop());
  await until(node, () => lastAsk(stranger, "requestChain") !== undefined);
  return stranger;
}

function chainOfModel(ask: PayloadOf<"requestChain">): PayloadOf<"chain"> {
  const steps = chainAnswer(model.chain.parts.store.read, ask, 0);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value!;
}

function honestChain(stranger: Stranger): PayloadOf<"chain"> {
  return chainOfModel(lastAsk(stranger, "requestChain")!);
}

/** The same, and it was then asked for blocks. */
async function askedForBlocks(): Promise<{ stranger: Stranger; keys: readonly Uint8Array[] }> {
  const stranger = await asked();
  await stranger.say(messages.chain, honestChain(stranger));
  return { stranger, keys: lastAsk(stranger, "requestBlocks")!.blocks };
}

function entryAt(height: number): PayloadOf<"blocks">["blocks"][number] {
  const { blob, transactions } = recordedChain()[height - 1]!;
  const txs = transactions.map((tx) => ({ blob: tx, prunableHash: new Uint8Array(32) }));
  return { pruned: false, block: blob, weight: 0, txs };
}

const answer = (blocks: PayloadOf<"blocks">["blocks"]) => ({
  blocks,
  missed_ids: [],
  current_blockchain_height: HEIGHT,
});
const someTransaction = {
  blob: recordedChain().find(({ transactions }) => transactions.length > 0)!.transactions[0]!,
  prunableHash: new Uint8Array(32),
};
const honestEntries = () => Array.from({ length: HEIGHT - 1 }, (_, i) => entryAt(i + 1));

const lies: [string, (honest: PayloadOf<"chain">) => Partial<PayloadOf<"chain">>, number][] = [
  ["no blocks", () => ({ m_block_ids: [], m_block_weights: [] }), 1],
  ["more blocks than its height", () => ({ total_height: 5 }), 1],
  ["a start far above", () => ({ start_height: 40, total_height: 400 }), 1],
  ["too few weights", () => ({ m_block_weights: [1] }), 1],
  [
    "an unknown first block",
    (honest) => ({ m_block_ids: honest.m_block_ids.slice(1), m_block_weights: [] }),
    5,
  ],
  [
    "a block twice",
    ({ m_block_ids: ids }) => ({ m_block_ids: [...ids.slice(0, 9), ids[8]!], m_block_weights: [] }),
    5,
  ],
  [
    "too many blocks",
    ({ m_block_ids: ids }) => ({
      m_block_ids: [ids[0]!, ...Array.from({ length: 25_001 }, (_, i) => new Uint8Array(32).fill(i & 255))],
      m_block_weights: [],
      total_height: 30_000,
    }),
    1,
  ],
];

for (const [name, lie, score] of lies) {
  test(`a chain with ${name} drops the peer`, async () => {
    const stranger = await asked();
    const honest = honestChain(stranger);
    await stranger.say(messages.chain, { ...honest, ...lie(honest) });
    assert.equal(stranger.dropped?.blame?.score ?? 0, score, stranger.dropped?.reason);
  });
}

test("of a known chain a peer may announce a part of a group only where its own chain ends", async () => {
  const isGroup = (_: number, { ids }: { readonly ids: readonly Uint8Array[] }) => ids.length === 512;
  const knownBlocks = { height: 1024, isGroup };
  for (const [more, isAccepted] of [
    [0, true],
    [1, false],
  ] as const) {
    const fresh = speaking(await chainIn(undefined, { knownBlocks }));
    const stranger = meetStranger(fresh, unknownTop());
    await until(fresh, () => lastAsk(stranger, "requestChain") !== undefined);
    const honest = honestChain(stranger);
    await stranger.say(messages.chain, { ...honest, total_height: honest.total_height + more });
    assert.equal(lastAsk(stranger, "requestBlocks") !== undefined, isAccepted);
    assert.equal(stranger.dropped?.reason, isAccepted ? undefined : "a chain that is not the known one");
    await stopNode(fresh);
  }
});

test("what nobody asked for drops the peer", async () => {
  const stranger = meetStranger(node);
  await stranger.say(messages.blocks, answer(honestEntries()));
  assert.deepEqual(stranger.dropped?.blame, { score: 1 });
  const other = meetStranger(node);
  const known = node.protocol.syncData().topId;
  await other.say(messages.chain, chainOfModel({ block_ids: [known], prune: false }));
  assert.deepEqual(other.dropped?.blame, { score: 1 });
});

const wrongBlocks: [string, () => PayloadOf<"blocks">["blocks"]][] = [
  ["other blocks", () => [...honestEntries().slice(1), entryAt(HEIGHT + 20)]],
  ["a block missing", () => honestEntries().slice(1)],
  ["no blocks", () => []],
  ["a block twice", () => [...honestEntries(), entryAt(3)]],
  ["a transaction too many", () => [{ ...entryAt(1), txs: [someTransaction] }, ...honestEntries().slice(1)]],
  ["pruned data", () => [{ ...entryAt(1), weight: 80 }, ...honestEntries().slice(1)]],
  [
    "bytes that are no block",
    () => [{ ...entryAt(1), block: new Uint8Array(40) }, ...honestEntries().slice(1)],
  ],
];

for (const [name, blocks] of wrongBlocks) {
  test(`an answer with ${name} drops the peer`, async () => {
    const { stranger } = await askedForBlocks();
    await stranger.say(messages.blocks, answer(blocks()));
    assert.notEqual(stranger.dropped, undefined);
    assert.equal(node.protocol.sync.queue.spans.length, 0);
  });
}

/** The first block of a chain of its own, with something changed. */
function forged(change: (block: Block) => Block): PayloadOf<"newFluffyBlock"> {
  const { block } = createTemplate(node.chain.parts, { keys: minerKeys, extraNonce: new Uint8Array(1) });
  const b = { pruned: false, block: writeBlock(change(block)), weight: 0, txs: [] };
  return { b, current_blockchain_height: 2 };
}

test("an invalid block drops the peer and costs it a point; one of an unknown parent makes us ask", async () => {
  const liar = meetStranger(node);
  await until(node, () => node.protocol.sync.isSynchronized);
  await liar.say(
    messages.newFluffyBlock,
    forged((block) => ({ ...block, header: { ...block.header, timestamp: 2_000_000_000 } })),
  );
  assert.deepEqual(liar.dropped?.blame, { score: 1 });
  const stranger = meetStranger(node);
  await stranger.say(
    messages.newFluffyBlock,
    forged((block) => ({ ...block, header: { ...block.header, previousId: new Uint8Array(32).fill(7) } })),
  );
  assert.notEqual(lastAsk(stranger, "requestChain"), undefined);
  stranger.leave();
});

test("too many, repeated or unknown wishes drop the peer", async () => {
  const { topId } = node.protocol.syncData();
  const greedy = meetStranger(node);
  await greedy.say(messages.requestBlocks, {
    blocks: Array.from({ length: 101 }, () => topId),
    prune: false,
  });
  assert.match(greedy.dropped!.reason, /too many/);
  const repeating = meetStranger(model);
  const block_hash = recordedBlockId(HEIGHT - 1);
  const ask = { block_hash, current_blockchain_height: 1 };
  await repeating.say(messages.requestMissing, { ...ask, missing_tx_indices: [0, 0] });
  assert.deepEqual(repeating.dropped?.blame, { score: 1 });
  const beyond = meetStranger(model);
  await beyond.say(messages.requestMissing, { ...ask, missing_tx_indices: [999] });
  assert.notEqual(beyond.dropped, undefined);
  const strange = meetStranger(model);
  await strange.say(messages.requestMissing, {
    ...ask,
    block_hash: new Uint8Array(32),
    missing_tx_indices: [],
  });
  assert.notEqual(strange.dropped, undefined);
});

function recordedBlockId(height: number): Uint8Array {
  return readIncomingBlock(recordedChain()[height - 1]!.blob).id;
}

test("a chain of another fork or pruned in another way is refused at the handshake", () => {
  assert.match(meetStranger(node, { currentHeight: 100, topVersion: 14 }).dropped!.reason, /version/);
  assert.match(meetStranger(node, { pruningSeed: 1 }).dropped!.reason, /pruning/);
});

test("a peer whose chain shrinks again and again is dropped", () => {
  const stranger = meetStranger(model, { currentHeight: 500 });
  for (let i = 0; i < 3; i++) stranger.claim({ currentHeight: 400 - i });
  assert.deepEqual(stranger.dropped?.blame, { score: 5 });
});

test("a block without the work it needs is worth a ban", async () => {
  const hard = speaking(await emptyChain(undefined, 2n ** 40n));
  const helper = speaking(await emptyChain(undefined, 2n ** 40n));
  connect(hard, helper);
  await until(hard, () => hard.protocol.sync.isSynchronized);
  const { block } = createTemplate(hard.chain.parts, { keys: minerKeys, extraNonce: new Uint8Array(1) });
  const stranger = meetStranger(hard);
  const b = { pruned: false, block: writeBlock(block), weight: 0, txs: [] };
  await stranger.say(messages.newFluffyBlock, { b, current_blockchain_height: 2 });
  assert.deepEqual(stranger.dropped?.blame, { score: 10 });
  for (const { protocol, chain, faults } of [hard, helper]) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
});

/** Numbers that follow from a seed, so that a failure can be repeated. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 8;
  }
}

test("damaged messages never shake a node: it goes on and learns the chain from an honest peer", async () => {
  const next = numbers(42);
  const draw = (end: number) => next.next().value % end;
  const { stranger: model0 } = await askedForBlocks();
  const whole: [number, Uint8Array][] = [
    [messages.chain.id, writeRecord(messages.chain.payload, honestChain(model0))],
    [messages.blocks.id, writeRecord(messages.blocks.payload, answer(honestEntries()))],
    [
      messages.newFluffyBlock.id,
      writeRecord(
        messages.newFluffyBlock.payload,
        forged((block) => block),
      ),
    ],
    [
      messages.newBlock.id,
      writeRecord(
        messages.newBlock.payload,
        forged((block) => block),
      ),
    ],
    ...model0.heard.map(({ id, bytes }): [number, Uint8Array] => [id, bytes]),
    [
      messages.newTransactions.id,
      writeRecord(messages.newTransactions.payload, {
        txs: [someTransaction.blob],
        _: new Uint8Array(),
        dandelionpp_fluff: true,
      }),
    ],
    [
      messages.poolComplement.id,
      writeRecord(messages.poolComplement.payload, { hashes: new Uint8Array(32) }),
    ],
  ];
  model0.leave();
  for (let round = 0; round < 200; round++) {
    const [id, bytes] = whole[round % whole.length]!;
    const damaged = Uint8Array.from(bytes.subarray(0, round % 3 === 0 ? draw(bytes.length) : bytes.length));
    for (let i = 0; i <= draw(8) && damaged.length > 0; i++) damaged[draw(damaged.length)] = draw(256);
    const stranger = id === messages.blocks.id ? (await askedForBlocks()).stranger : await asked();
    await stranger.sayBytes(id, damaged);
    stranger.leave();
  }
  assert.deepEqual(node.faults, []);
  connect(node, model, "10.0.0.2");
  await until(node, () => node.chain.parts.store.read.height() === HEIGHT);
});
