import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  BadKnownBlocks,
  type ChainView,
  chainContext,
  KNOWN_GROUP_BLOCKS,
  parseKnownBlocks,
  type RuleViolation,
  type TransactionCandidate,
  verifyBlock,
  writeKnownBlocks,
} from "@anulo/consensus";
import {
  blockId,
  networks,
  readBlock,
  readTransaction,
  toHex,
  transactionHash,
  writeBlock,
} from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { type Announcement, createConfirmedBlocks } from "../src/chain/confirmed-blocks.ts";
import { readBlockWithTransactions, readSuppliedTransaction } from "../src/chain/incoming-block.ts";
import { type OpenChain, type OpenChainOptions, openChain } from "../src/chain/open-chain.ts";
import { messages } from "../src/peers/messages.ts";
import { admit } from "../src/pool/admit.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import { mine, now, pow } from "./chain-fixture.ts";
import { connect, heightOf, speaking, stopNode, type TestNode, topOf, until } from "./peer-network.ts";
import { recordedChain, recordedPool } from "./recorded-chains.ts";

const open: TestNode[] = [];
const { discharge } = createVerifiers({ threads: 0, pow });

async function node(options: Partial<OpenChainOptions> = {}): Promise<TestNode> {
  const chain = await openChain({
    network: networks.regtest,
    fixedDifficulty: 1n,
    discharge,
    now,
    ...options,
  });
  const made = speaking(chain);
  open.push(made);
  return made;
}

/** The same payment with a last signature that does not hold: before the 32 bytes for each input it ends in c, D and scalars. */
function forged(blob: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(blob);
  const inputs = readTransaction(blob).prefix.inputs.length;
  bytes[bytes.length - 32 * inputs - 3 * 32]! ^= 1;
  return bytes;
}

/** The recorded chain with every signature forged, on a chain that believes all proofs. */
async function loadForged({ parts }: OpenChain): Promise<void> {
  for (const { blob, transactions } of recordedChain()) {
    const txs = transactions.map(forged);
    const recorded = readBlock(blob);
    const previousId = parts.state.view().topId;
    const transactionHashes = txs.map((tx) => transactionHash(readTransaction(tx)));
    const block = { ...recorded, header: { ...recorded.header, previousId }, transactionHashes };
    await acceptBlock(parts, await readBlockWithTransactions(writeBlock(block), txs));
  }
}

function blocksOf({ chain }: TestNode) {
  const { read } = chain.parts.store;
  const infos = read.blockInfos(0, read.height());
  return { ids: infos.map(({ hash }) => hash), weights: infos.map(({ weight }) => weight) };
}

/** Has a chain of 1,100 blocks, whose payments no node would believe: those of the first group, and one above it. */
let source: TestNode;
const FORGED_ABOVE = 520;

before(async () => {
  source = await node({ discharge: async () => {} });
  const { parts } = source.chain;
  await loadForged(source.chain);
  await mine(parts, FORGED_ABOVE - heightOf(source));
  await admit(parts, { blob: forged(recordedPool()[0]!), doNotRelay: false });
  await mine(parts, 1100 - FORGED_ABOVE);
});

after(async () => {
  for (const each of open) await stopNode(each);
});

function knownOf(ids: readonly Uint8Array[], weights: readonly number[]) {
  return parseKnownBlocks(writeKnownBlocks(ids, weights));
}

test("blocks of known groups need no proofs, and leave the same chain behind", async () => {
  const { ids, weights } = blocksOf(source);
  const fast = await node({ knownBlocks: knownOf(ids, weights) });
  connect(fast, source);
  await until(fast, () => heightOf(fast) === heightOf(source));
  assert.equal(topOf(fast), topOf(source));
  assert.deepEqual(blocksOf(fast), { ids, weights });
  const { read } = fast.chain.parts.store;
  const expected = source.chain.parts.store.read;
  assert.equal(read.outputCount(0n), expected.outputCount(0n));
  for (const { transactions } of recordedChain())
    for (const tx of transactions)
      for (const input of readTransaction(tx).prefix.inputs)
        if (input.type === "key") assert.ok(read.isKeyImageSpent(input.keyImage));
});

test("without known blocks the same chain is refused at its first payment", async () => {
  const full = await node();
  const { atA } = connect(full, source);
  await until(full, () => atA.dropped !== undefined);
  const firstPayment = 1 + recordedChain().findIndex(({ transactions }) => transactions.length > 0);
  assert.equal(heightOf(full), firstPayment);
});

test("above the known groups every block is verified in full", async () => {
  const { ids, weights } = blocksOf(source);
  const knownBlocks = knownOf(ids.slice(0, KNOWN_GROUP_BLOCKS), weights.slice(0, KNOWN_GROUP_BLOCKS));
  const fast = await node({ knownBlocks });
  const { atA } = connect(fast, source);
  await until(fast, () => atA.dropped !== undefined);
  assert.equal(heightOf(fast), FORGED_ABOVE);
});

test("a peer with another chain than the known one is dropped before it is asked for a block", async () => {
  const { ids, weights } = blocksOf(source);
  const other = await node();
  await mine(other.chain.parts, 1100);
  const fast = await node({ knownBlocks: knownOf(ids, weights) });
  const { atA, atB } = connect(fast, other);
  let requests = 0;
  atB.tamper = (id, bytes) => {
    if (id === messages.requestBlocks.id) requests++;
    return bytes;
  };
  await until(fast, () => atA.dropped !== undefined);
  assert.deepEqual([heightOf(fast), requests], [1, 0]);
});

test("a block at a known height that is not the known one is refused, wherever it comes from", async () => {
  const { ids, weights } = blocksOf(source);
  const fast = await node({ knownBlocks: knownOf(ids, weights) });
  const { parts } = fast.chain;
  parts.confirmedBlocks.confirm({ start: 0, ids, weights, isToTop: true });
  const recorded = readBlock(recordedChain()[0]!.blob);
  const other = { ...recorded, header: { ...recorded.header, nonce: recorded.header.nonce ^ 1 } };
  await assert.rejects(
    readBlockWithTransactions(writeBlock(other), []).then((b) => acceptBlock(parts, b)),
    {
      violation: { code: "CHECKPOINT", height: 1, id: toHex(blockId(other)) },
    },
  );
  await acceptBlock(parts, await readBlockWithTransactions(recordedChain()[0]!.blob, []));
  assert.equal(heightOf(fast), 2);
});

test("what spends a key image twice is refused among known blocks, too", async () => {
  const { chain } = await node();
  const recorded = recordedChain();
  const blob = recorded.find(({ transactions }) => transactions.length > 0)!.transactions[0]!;
  const supplied = readSuppliedTransaction(blob);
  const block = { ...readBlock(recorded[0]!.blob), transactionHashes: [supplied.id] };
  const known = { ...chain.parts.state.view(), knownBlockId: () => blockId(block) };
  const judge = (view: ChainView, transactions: TransactionCandidate[]) =>
    verifyBlock({ block, transactions }, chainContext(view, now()));
  assert.throws(() => judge({ ...known, isKeyImageSpent: () => true }, [supplied]), {
    violation: { code: "KEY_IMAGE_SPENT", input: 0 },
  });
  assert.throws(() => judge({ ...known, hasTransaction: () => true }, [supplied]), {
    violation: { code: "TRANSACTION_IN_CHAIN", index: 0 },
  });
  // What the miner claims is checked as ever: here it leaves out the fee.
  assert.throws(
    () => judge(known, [supplied]),
    (error: RuleViolation) => error.violation.code === "MINER_REWARD_NOT_EXACT",
  );
});

/** Confirms against three groups of blocks of which the chain has so many. */
function confirming(height: number) {
  const id = (i: number) => Buffer.alloc(32, `block ${i}`);
  const ids = Array.from({ length: 3 * KNOWN_GROUP_BLOCKS }, (_, i) => id(i));
  const weights = ids.map((_, i) => 100 + i);
  const read = {
    height: () => height,
    blockInfos: (from: number, to: number) =>
      ids.slice(from, to).map((hash, i) => ({ hash, weight: weights[from + i]! })) as never,
  };
  const confirmed = createConfirmedBlocks(knownOf(ids, weights), read);
  const announce = (start: number, end: number, more: Partial<Announcement> = {}) =>
    confirmed.confirm({
      start,
      ids: Array.from({ length: end - start }, (_, i) => id(start + i)),
      weights: undefined,
      isToTop: false,
      ...more,
    });
  return { announce, idAt: confirmed.idAt, id, weights };
}

test("announced blocks are cut where a group that goes on is incomplete", () => {
  const { announce, idAt, id } = confirming(1);
  assert.equal(announce(0, 1200), 1024);
  assert.deepEqual(idAt(1023), id(1023));
  assert.equal(idAt(1024), undefined);
  // It begins above our chain, with the last block that was fetched before.
  assert.equal(announce(1023, 1600), 577);
  assert.deepEqual(idAt(1535), id(1535));
  assert.equal(idAt(1536), undefined);
});

test("announced blocks are completed by those of our own chain", () => {
  const { announce, idAt, id } = confirming(700);
  assert.equal(announce(699, 1100), 325);
  assert.deepEqual(idAt(512), id(512));
});

test("the last blocks of a peer's chain need not be a whole group, and are not taken as known", () => {
  const { announce, idAt } = confirming(1);
  assert.equal(announce(0, 600, { isToTop: true }), 600);
  assert.notEqual(idAt(511), undefined);
  assert.equal(idAt(512), undefined);
});

test("a group counts for nothing when one id or one weight in it is another", () => {
  for (const at of [0, 511]) {
    const { announce, idAt, id } = confirming(1);
    const ids = Array.from({ length: 1024 }, (_, i) => (i === at ? id(-1) : id(i)));
    assert.equal(announce(0, 1024, { ids }), 0);
    assert.equal(idAt(0), undefined);
  }
  const onOurs = confirming(700);
  const others = Array.from({ length: 401 }, (_, i) => onOurs.id(i === 0 ? 699 : -1));
  assert.equal(onOurs.announce(699, 1100, { ids: others }), 0, "also one that our own chain begins");
  const { announce, weights } = confirming(1);
  assert.equal(announce(0, 1024, { weights: weights.slice(0, 1024) }), 1024);
  assert.equal(
    announce(0, 1024, { weights: weights.map((w, i) => (i === 600 ? w + 1 : w)).slice(0, 1024) }),
    512,
  );
});

test("groups far below the top are forgotten", () => {
  let height = 1;
  const id = (i: number) => Buffer.alloc(32, `block ${i}`);
  const known = { height: 100 * KNOWN_GROUP_BLOCKS, isGroup: () => true };
  const read = { height: () => height, blockInfos: () => [] };
  const { confirm, idAt } = createConfirmedBlocks(known, read);
  const group = (index: number) => ({
    start: index * KNOWN_GROUP_BLOCKS,
    ids: Array.from({ length: KNOWN_GROUP_BLOCKS }, (_, i) => id(i)),
    weights: undefined,
    isToTop: false,
  });
  confirm(group(0));
  height = 20 * KNOWN_GROUP_BLOCKS;
  confirm(group(20));
  assert.equal(idAt(0), undefined);
  assert.notEqual(idAt(height), undefined);
});

test("no more than 256 groups are kept at once", () => {
  const known = { height: 300 * KNOWN_GROUP_BLOCKS, isGroup: () => true };
  const { confirm, idAt } = createConfirmedBlocks(known, { height: () => 1, blockInfos: () => [] });
  const ids = Array.from({ length: 260 * KNOWN_GROUP_BLOCKS }, () => new Uint8Array(32));
  assert.equal(confirm({ start: 0, ids, weights: undefined, isToTop: false }), ids.length);
  assert.notEqual(idAt(256 * KNOWN_GROUP_BLOCKS - 1), undefined);
  assert.equal(idAt(256 * KNOWN_GROUP_BLOCKS), undefined);
});

test("bytes of another length are no known blocks", () => {
  const bytes = writeKnownBlocks(
    Array.from({ length: 1100 }, () => new Uint8Array(32)),
    Array.from({ length: 1100 }, () => 1),
  );
  assert.equal(parseKnownBlocks(bytes).height, 1024);
  for (const length of [0, 3, bytes.length - 1])
    assert.throws(() => parseKnownBlocks(bytes.subarray(0, length)), BadKnownBlocks);
});
