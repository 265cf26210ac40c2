import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Obligation } from "@anulo/consensus";
import { NULL_HASH, networks, readRecord, toHex, writeBlock } from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { readBlockWithTransactions, readIncomingBlock } from "../src/chain/incoming-block.ts";
import { openChain } from "../src/chain/open-chain.ts";
import { FailedProof } from "../src/chain/proofs.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import { messages } from "../src/peers/messages.ts";
import { admit } from "../src/pool/admit.ts";
import { dropFromPool } from "../src/pool/maintain.ts";
import { emptyChain, loadBlocks, mine, minerKeys, now } from "./chain-fixture.ts";
import { connect, heightOf, meetStranger, speaking, type TestNode, topOf, until } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

const open: TestNode[] = [];

async function node(blocks = 0): Promise<TestNode> {
  const made = speaking(await emptyChain());
  open.push(made);
  await loadBlocks(made.chain.parts, recordedChain().slice(0, blocks));
  return made;
}

const isReady = ({ protocol }: TestNode) =>
  protocol.sync.isSynchronized && protocol.links.every(({ state }) => state === "normal");

/** Two nodes on the same chain that know of each other. */
async function pair(blocks = 0) {
  const [a, b] = [await node(blocks), await node(blocks)];
  const ends = connect(a, b);
  await until(a, () => isReady(a));
  await until(b, () => isReady(b));
  return { a, b, ...ends };
}

/** Index of the first recorded block with transactions. */
const firstBusy = recordedChain().findIndex(({ transactions }) => transactions.length > 1);

afterEach(async () => {
  for (const { protocol, chain, faults } of open.splice(0)) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
});

test("a mined block is told to peers, who tell others", async () => {
  const { a, b } = await pair();
  const c = await node();
  connect(b, c);
  await until(c, () => isReady(c));
  await mine(a.chain.parts, 3);
  await until(c, () => heightOf(c) === 4);
  assert.equal(topOf(c), topOf(a));
});

test("transactions of a block that a peer lacks are asked for, and those alone", async () => {
  const { a, b, atA } = await pair(firstBusy);
  const { blob, transactions } = recordedChain()[firstBusy]!;
  await admit(b.chain.parts, { blob: transactions[0]!, doNotRelay: false, phase: "fluff" });
  const asked: number[] = [];
  atA.tamper = (id, bytes) => {
    if (id === messages.requestMissing.id) asked.push(bytes.length);
    return bytes;
  };
  await acceptBlock(a.chain.parts, await readBlockWithTransactions(blob, transactions));
  await until(b, () => topOf(b) === topOf(a));
  assert.equal(asked.length, 1);
  assert.equal(b.chain.parts.pool.size, 0);
});

test("a block of an unknown parent makes a node fetch what is between", async () => {
  const { a, b, close } = await pair();
  close();
  await mine(a.chain.parts, 30);
  connect(b, a);
  await until(b, () => heightOf(b) === heightOf(a));
  assert.equal(topOf(b), topOf(a));
});

test("a branch with transactions that nobody else has takes over on both sides", async () => {
  const blocks = firstBusy;
  const { a, b, close } = await pair(blocks);
  close();
  await mine(a.chain.parts, 3);
  const branch = recordedChain().slice(blocks, blocks + 10);
  await loadBlocks(b.chain.parts, branch);
  const before = topOf(a);
  connect(a, b);
  await until(a, () => topOf(a) === topOf(b));
  assert.equal(heightOf(a), blocks + 11);
  assert.notEqual(topOf(a), before);
  const beside = a.chain.parts.store.read.alternativeBlocks().map(({ hash }) => toHex(hash));
  assert.ok(beside.includes(before));
  assert.equal(a.chain.parts.pool.size, 0);
});

test("a shorter branch is kept beside with its transactions waiting", async () => {
  const { a, b, close } = await pair(firstBusy);
  close();
  await mine(a.chain.parts, 5);
  const { blob, transactions } = recordedChain()[firstBusy]!;
  await acceptBlock(b.chain.parts, await readBlockWithTransactions(blob, transactions));
  connect(a, b);
  await until(a, () => a.chain.parts.store.read.alternativeBlocks().length === 1);
  assert.equal(a.chain.parts.pool.size, transactions.length);
  assert.ok(a.chain.parts.pool.entries().every(({ row }) => row.keptByBlock));
  await until(b, () => topOf(b) === topOf(a));
});

test("a block that breaks a rule drops the peer who sent it, and nobody else", async () => {
  const { a, b, atB } = await pair();
  const template = createTemplate(a.chain.parts, { keys: minerKeys, extraNonce: new Uint8Array(1) });
  const { header } = template.block;
  const bad = { ...template.block, header: { ...header, timestamp: header.timestamp + 10_000 } };
  const block = readIncomingBlock(writeBlock(bad));
  const b2 = { pruned: false, block: block.blob, weight: 0, txs: [] };
  a.protocol.links[0]!.peer.notify(messages.newFluffyBlock, { b: b2, current_blockchain_height: 2 });
  await until(b, () => atB.dropped !== undefined);
  assert.match(atB.dropped!.reason, /TIMESTAMP_TOO_LATE/);
  assert.equal(heightOf(b), 1);
});

test("transactions reach everybody, whether they come by stem or not", async () => {
  const { a, b } = await pair(firstBusy);
  const c = await node(firstBusy);
  connect(b, c);
  await until(c, () => isReady(c));
  const { transactions } = recordedChain()[firstBusy]!;
  for (const blob of transactions) await admit(a.chain.parts, { blob, doNotRelay: false });
  await until(c, () => c.chain.parts.pool.size === transactions.length);
  assert.equal(b.chain.parts.pool.size, transactions.length);
});

test("a peer that sends a whole block does not suffer for one that sends it without its transactions", async () => {
  const { b } = await pair(firstBusy);
  const { blob: block, transactions } = recordedChain()[firstBusy]!;
  const [liar, other] = [
    meetStranger(b, {}, { host: "10.0.0.7" }),
    meetStranger(b, {}, { host: "10.0.0.8" }),
  ];
  await until(b, () => isReady(b));
  const tell = (txs: readonly Uint8Array[]) => ({
    b: { pruned: false, block, weight: 0, txs: txs.map((blob) => ({ blob, prunableHash: NULL_HASH })) },
    current_blockchain_height: firstBusy + 2,
  });
  await Promise.all([
    liar.say(messages.newBlock, tell([])),
    other.say(messages.newBlock, tell(transactions)),
  ]);
  assert.match(liar.dropped!.reason, /TRANSACTION_MISSING/);
  assert.equal(other.dropped, undefined);
  assert.equal(heightOf(b), firstBusy + 2);
});

test("the same transaction over and over keeps nobody waiting", async () => {
  const { b } = await pair(firstBusy);
  const stranger = meetStranger(b);
  await until(b, () => isReady(b));
  const { transactions } = recordedChain()[firstBusy]!;
  const txs = Array.from({ length: 2000 }, () => transactions[0]!);
  let turns = 0;
  let isSaid = false;
  const look = () => {
    turns++;
    if (!isSaid) setImmediate(look);
  };
  setImmediate(look);
  await stranger.say(messages.newTransactions, { txs, _: new Uint8Array(), dandelionpp_fluff: true });
  isSaid = true;
  assert.ok(turns > 8, `${turns} turns`);
  assert.equal(b.chain.parts.pool.size, 1);
});

/** A block with transactions, as a peer announces it. */
const entry = (block: Uint8Array, txs: readonly Uint8Array[]) => ({
  b: { pruned: false, block, weight: 0, txs: txs.map((blob) => ({ blob, prunableHash: NULL_HASH })) },
  current_blockchain_height: firstBusy + 2,
});
/** What is no transaction: whoever reads it says so. */
const garbage = Array.from({ length: 3 }, (_, i) => new Uint8Array(1000).fill(i + 1));

/** A node whose blocks need work, none of which is ever there, and what was to be proven. */
async function nodeWithoutLuck() {
  const proven: string[] = [];
  const discharge = async (obligations: readonly Obligation[]) => {
    for (const { kind } of obligations) proven.push(kind);
    throw new FailedProof({ code: "PROOF_OF_WORK", difficulty: 5n }, undefined);
  };
  const chain = await openChain({ network: networks.regtest, fixedDifficulty: 5n, discharge, now });
  const made = speaking(chain);
  open.push(made);
  const other = await node();
  connect(made, other);
  await until(made, () => isReady(made));
  return { made, proven };
}

function blockOn(previousId: Uint8Array): Uint8Array {
  const { header, ...rest } = readIncomingBlock(recordedChain()[0]!.blob).block;
  const transactionHashes = garbage.map((_, i) => new Uint8Array(32).fill(i + 1));
  return writeBlock({ ...rest, header: { ...header, previousId }, transactionHashes });
}

// Memory before work: what comes with a block costs its sender the work of the block before it is read.
for (const name of ["newBlock", "newFluffyBlock"] as const) {
  test(`of a ${name} without work no transaction is read, and its sender is banned`, async () => {
    const { made, proven } = await nodeWithoutLuck();
    const stranger = meetStranger(made);
    await until(made, () => isReady(made));
    await stranger.say(messages[name], entry(blockOn(made.chain.parts.state.view().topId), garbage));
    assert.match(stranger.dropped!.reason, /PROOF_OF_WORK/);
    assert.deepEqual(stranger.dropped!.blame, { score: 10 });
    assert.deepEqual(proven, ["powHash"]);
  });

  test(`of a ${name} on an unknown parent nothing is read or kept, and its sender is asked for its chain`, async () => {
    const { made, proven } = await nodeWithoutLuck();
    const stranger = meetStranger(made);
    await until(made, () => isReady(made));
    await stranger.say(messages[name], entry(blockOn(new Uint8Array(32).fill(9)), garbage));
    assert.equal(stranger.dropped, undefined);
    assert.deepEqual(proven, []);
    assert.equal(stranger.heard.at(-1)!.id, messages.requestChain.id);
    assert.ok(made.protocol.links.every(({ missing }) => missing === undefined));
  });
}

// Memory without bound: nothing that strangers sent waits for what they have not sent.
test("a block that came with some of its transactions is asked for with all of them", async () => {
  const { b } = await pair(firstBusy);
  const { blob, transactions } = recordedChain()[firstBusy]!;
  const stranger = meetStranger(b);
  await until(b, () => isReady(b));
  await stranger.say(messages.newFluffyBlock, entry(blob, transactions.slice(1)));
  const ask = stranger.heard.at(-1)!;
  assert.equal(ask.id, messages.requestMissing.id);
  const { missing_tx_indices } = readRecord(messages.requestMissing.payload, ask.bytes);
  assert.deepEqual(
    [...missing_tx_indices],
    transactions.map((_, i) => i),
  );
  const link = b.protocol.links.find(({ peer }) => peer === stranger.peer)!;
  const indices = transactions.map((_, i) => i);
  assert.deepEqual(link.missing, { key: readIncomingBlock(blob).key, indices }, "nothing of it is kept");
  await stranger.say(messages.newFluffyBlock, entry(blob, transactions));
  assert.equal(heightOf(b), firstBusy + 2);
  assert.equal(stranger.dropped, undefined);
});

test("a block comes with no transaction but its own, and not with too few twice", async () => {
  const { b } = await pair(firstBusy);
  const { blob, transactions } = recordedChain()[firstBusy]!;
  const foreign = recordedChain().find(({ transactions: txs }, i) => i > firstBusy && txs.length > 0)!;
  const stowaway = meetStranger(b, {}, { host: "10.0.0.7" });
  const forgetful = meetStranger(b, {}, { host: "10.0.0.8" });
  await until(b, () => isReady(b));
  await stowaway.say(messages.newFluffyBlock, entry(blob, [foreign.transactions[0]!]));
  assert.match(stowaway.dropped!.reason, /does not hold/);
  await forgetful.say(messages.newFluffyBlock, entry(blob, []));
  assert.equal(forgetful.dropped, undefined);
  await forgetful.say(messages.newFluffyBlock, entry(blob, transactions.slice(1)));
  assert.match(forgetful.dropped!.reason, /asked for/);
});

/** Indices that a stranger was asked for last. */
function lastRequested({ heard }: ReturnType<typeof meetStranger>): number[] {
  const { id, bytes } = heard.at(-1)!;
  assert.equal(id, messages.requestMissing.id);
  return [...readRecord(messages.requestMissing.payload, bytes).missing_tx_indices];
}

/** Index of the first recorded block with several payments. */
const withSeveral = recordedChain().findIndex(({ transactions }) => transactions.length > 2);

// Punished for what our pool did: its transactions expire, or are replaced, while a block is on its way.
test("a peer is not blamed for a transaction that leaves the pool before its response", async () => {
  const { b } = await pair(withSeveral);
  const { blob, transactions } = recordedChain()[withSeveral]!;
  const [ours, ...others] = transactions;
  await admit(b.chain.parts, { blob: ours!, doNotRelay: false, phase: "fluff" });
  const stranger = meetStranger(b);
  await until(b, () => isReady(b));
  await stranger.say(messages.newFluffyBlock, entry(blob, []));
  const requested = others.map((_, i) => i + 1);
  assert.deepEqual(lastRequested(stranger), requested);
  await dropFromPool(
    b.chain.parts,
    b.chain.parts.pool.entries().map(({ key }) => key),
  );
  await stranger.say(messages.newFluffyBlock, entry(blob, others));
  assert.equal(stranger.dropped, undefined);
  assert.deepEqual(lastRequested(stranger), [0, ...requested]);
  const { length } = stranger.heard;
  await stranger.say(messages.newFluffyBlock, entry(blob, transactions));
  assert.equal(stranger.dropped, undefined);
  assert.equal(heightOf(b), withSeveral + 2);
  assert.equal(stranger.heard.length, length, "of an added block nothing more is requested");
});

test("a peer is not blamed for a transaction that leaves the pool while its block waits", async (t) => {
  const { b } = await pair(withSeveral);
  const { blob, transactions } = recordedChain()[withSeveral]!;
  const [ours, ...others] = transactions;
  const { pool } = b.chain.parts;
  await admit(b.chain.parts, { blob: ours!, doNotRelay: false, phase: "fluff" });
  const oursKey = pool.entries()[0]!.key;
  const stranger = meetStranger(b);
  await until(b, () => isReady(b));
  const { get } = pool;
  let looks = 0;
  t.mock.method(pool, "get", (key: string) => (key === oursKey && looks++ > 0 ? undefined : get(key)));
  await stranger.say(messages.newFluffyBlock, entry(blob, others));
  t.mock.restoreAll();
  assert.ok(looks > 1, "the block was judged");
  assert.equal(stranger.dropped, undefined);
  assert.ok(lastRequested(stranger).includes(0));
  await stranger.say(messages.newFluffyBlock, entry(blob, transactions));
  assert.equal(heightOf(b), withSeveral + 2);
});

// Turns without a pause: blocks that cost nothing to wait for are dealt with one turn after another.
test("blocks beside the chain, one after another, keep nobody waiting", async () => {
  const { b } = await pair();
  const main = await mine(b.chain.parts, 20);
  const stranger = meetStranger(b);
  await until(b, () => isReady(b));
  const blocks = Array.from({ length: 60 }, (_, i) => {
    const order = { keys: minerKeys, extraNonce: Uint8Array.of(i), previousId: main[i % 10]! };
    return writeBlock(createTemplate(b.chain.parts, order).block);
  });
  let turns = 0;
  let isSaid = false;
  const look = () => {
    turns++;
    if (!isSaid) setImmediate(look);
  };
  setImmediate(look);
  for (const block of blocks) await stranger.say(messages.newFluffyBlock, entry(block, []));
  isSaid = true;
  assert.ok(turns >= blocks.length, `${turns} turns`);
  assert.equal(b.chain.parts.sideBlocks.count, blocks.length);
});
