import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Obligation, RuleViolation } from "@anulo/consensus";
import {
  type Block,
  networks,
  readIdentifiedTransaction,
  readTransaction,
  toHex,
  writeBlock,
  writeTransaction,
} from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import {
  type IncomingBlock,
  readBlockWithTransactions,
  readIncomingBlock,
} from "../src/chain/incoming-block.ts";
import { openChain } from "../src/chain/open-chain.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { FailedProof } from "../src/chain/proofs.ts";
import { reorganise } from "../src/chain/reorganise.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import { admit } from "../src/pool/admit.ts";
import { dropFromPool } from "../src/pool/maintain.ts";
import { chainIn, emptyChain, loadBlocks, mine, minerKeys, now } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

/** Everything of a chain that a failed reorganisation must leave as it was. */
function picture({ store, pool }: ChainParts) {
  const { read } = store;
  return {
    blocks: read.blockInfos(0, read.height()),
    outputs: [...read.outputCounts()],
    alternatives: read.alternativeBlocks().map(({ hash }) => toHex(hash)),
    pool: pool.entries().map(({ key, row }) => ({ key, row })),
    rows: read.poolTransactions().length,
  };
}

function build(parts: ChainParts, previousId: Uint8Array): Block {
  return createTemplate(parts, { keys: minerKeys, extraNonce: new Uint8Array(1), previousId }).block;
}

test("a branch with more work becomes the main chain, the old one stays beside it", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { read } = parts.store;
  const main = await mine(parts, 5);
  const fork = main[1]!;
  const side = await mine(parts, 3, fork);
  assert.deepEqual(read.blockInfo(5)?.hash, main[4]);
  assert.equal(read.alternativeBlocks().length, 3);
  const [top] = await mine(parts, 1, side.at(-1));
  assert.equal(read.height(), 7);
  assert.deepEqual(
    [3, 4, 5, 6].map((height) => toHex(read.blockInfo(height)!.hash)),
    [...side, top!].map(toHex),
  );
  const beside = read.alternativeBlocks().map(({ hash }) => toHex(hash));
  assert.deepEqual(beside.sort(), main.slice(2).map(toHex).sort());
  assert.equal(read.blockInfo(6)?.cumulativeDifficulty, 7n);
  await chain.close();
});

test("a long reorganisation lets others go first, who see the old chain until it is done", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  await mine(parts, 400);
  const fork = parts.store.read.blockInfo(100)!.hash;
  const [first] = await mine(parts, 1, fork);
  const side = [first!];
  while (side.length < 299) side.push(...(await mine(parts, 1, side.at(-1))));
  const view = () => [parts.state.view().height, toHex(parts.state.view().topId)];
  const [height, topId] = view();
  const tops = await mine(parts, 1, side.at(-1)).then(() => view());
  assert.deepEqual(tops, [height, topId], "as heavy as the main chain, it stays beside");
  const child = readIncomingBlock(
    writeBlock(build(parts, parts.store.read.alternativeBlocks().find(({ height: at }) => at === 400)!.hash)),
  );
  let bystander: Promise<unknown> | undefined;
  let turns = 0;
  let isOver = false;
  const look = () => {
    if (isOver) return;
    turns++;
    bystander ??= parts.store.whenWritable(() => view());
    assert.deepEqual(view(), [height, topId]);
    assert.equal(parts.store.read.height(), height);
    setImmediate(look);
  };
  const ends = chain.events.listen(({ type }) => {
    if (type === "reorganised") isOver = true;
  });
  setImmediate(look);
  const added = acceptBlock(parts, child);
  assert.equal(await added, "reorganised");
  assert.ok(turns >= 3, `${turns} turns`);
  assert.deepEqual(await bystander, [402, child.key]);
  ends();
  await chain.close();
});

test("switching back and forth returns to the same chain", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 4);
  const before = parts.store.read.blockInfos(0, 5);
  const side = await mine(parts, 2, main[2]);
  assert.deepEqual(parts.state.view().topId, side[1]);
  await mine(parts, 2, main[3]);
  assert.deepEqual(parts.store.read.blockInfos(0, 5), before);
  assert.equal(parts.store.read.height(), 7);
  await chain.close();
});

test("transactions of the old chain return to the pool and are mined on the new one", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks } = goldenState();
  const first = blocks.findIndex(({ transactions }) => transactions.length > 0);
  const upTo = blocks.slice(0, first + 1);
  await loadBlocks(parts, upTo);
  const payments = upTo.at(-1)!.transactions.length;
  const fork = parts.store.read.blockInfo(first)!.hash;
  const [side] = await mine(parts, 1, fork);
  assert.equal(parts.pool.size, 0);
  await mine(parts, 1, side);
  assert.equal(parts.store.read.height(), first + 3);
  assert.equal(parts.pool.size, payments);
  await mine(parts, 1);
  assert.equal(parts.pool.size, 0);
  assert.equal(parts.store.read.blockInfo(first + 3)?.transactionCount, 1 + payments);
  await chain.close();
});

test("a branch that has lost a transaction is forgotten, and wins once it comes again with it", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { read } = parts.store;
  const { blocks } = goldenState();
  const first = blocks.findIndex(({ transactions }) => transactions.length > 0);
  await loadBlocks(parts, blocks.slice(0, first));
  const fork = read.blockInfo(first)!.hash;
  const [top] = await mine(parts, 1);
  const send = async () => {
    for (const blob of blocks[first]!.transactions) await admit(parts, { blob, doNotRelay: false });
  };
  await send();
  const [side] = await mine(parts, 1, fork);
  const sideBlob = read.alternativeBlock(side!)!.blob;
  const child = readIncomingBlock(writeBlock(build(parts, side!)));
  await dropFromPool(
    parts,
    parts.pool.entries().map(({ key }) => key),
  );
  const isLoose = (error: unknown) =>
    error instanceof RuleViolation && error.violation.code === "UNKNOWN_PARENT";
  await assert.rejects(acceptBlock(parts, child), isLoose);
  assert.deepEqual(parts.state.view().topId, top);
  assert.deepEqual(read.alternativeBlocks(), []);
  const again = await readBlockWithTransactions(sideBlob, blocks[first]!.transactions);
  const added: string[] = [];
  const end = chain.events.listen((event) => {
    if (event.type === "transactionAdded") added.push(toHex(event.id));
  });
  assert.equal(await acceptBlock(parts, again), "alternative");
  end();
  // They wait in the pool now, as transactions that were sent alone.
  assert.deepEqual(added.sort(), [...again.transactions!.keys()].sort());
  assert.equal(await acceptBlock(parts, child), "reorganised");
  assert.equal(read.height(), first + 3);
  assert.deepEqual(read.blockInfo(first + 1)?.hash, side);
  await chain.close();
});

/** A chain whose pool has the first recorded payment; `fork`: the id of its top, at height `first`. */
async function chainWithPayment() {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks } = goldenState();
  const first = blocks.findIndex(({ transactions }) => transactions.length > 0);
  await loadBlocks(parts, blocks.slice(0, first));
  const fork = parts.state.view().topId;
  const payment = blocks[first]!.transactions[0]!;
  await admit(parts, { blob: payment, doNotRelay: false });
  return { chain, parts, first, fork, payment };
}

test("a side block may name a transaction that the main chain's hard fork has set aside", async () => {
  const { chain, parts, first, fork, payment } = await chainWithPayment();
  const { read } = parts.store;
  const side = readIncomingBlock(writeBlock(build(parts, fork)));
  assert.equal(side.block.transactionHashes.length, 1);
  await dropFromPool(parts, [toHex(side.block.transactionHashes[0]!)]);
  await mine(parts, 1);
  const isMissing = (error: unknown) =>
    error instanceof RuleViolation && error.violation.code === "TRANSACTION_MISSING";
  await assert.rejects(acceptBlock(parts, side), isMissing);
  parts.setAside.add(readIdentifiedTransaction(payment));
  assert.equal(await acceptBlock(parts, side), "alternative");
  const [top] = await mine(parts, 1, side.id);
  assert.deepEqual([read.blockInfo(first + 2)?.hash, read.blockInfo(first + 1)?.transactionCount], [top, 2]);
  await chain.close();
});

/** A block whose miner takes too much. */
function greedyBlock(parts: ChainParts, previousId: Uint8Array, nonce = 0) {
  const made = build(parts, previousId);
  const [reward, ...rest] = made.minerTransaction.prefix.outputs;
  const outputs = [{ ...reward!, amount: reward!.amount + 1n }, ...rest];
  const prefix = { ...made.minerTransaction.prefix, outputs };
  const minerTransaction = { ...made.minerTransaction, prefix };
  return readIncomingBlock(writeBlock({ ...made, header: { ...made.header, nonce }, minerTransaction }));
}

test("a branch that breaks a rule changes nothing and is remembered as invalid", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks } = goldenState();
  await loadBlocks(parts, blocks);
  const fork = parts.store.read.blockInfo(blocks.length - 1)!.hash;
  const greedy = greedyBlock(parts, fork);
  const before = picture(parts);
  assert.equal(await acceptBlock(parts, greedy), "alternative");
  const child = readIncomingBlock(writeBlock(build(parts, greedy.id)));
  const isGreed = (error: unknown) =>
    error instanceof RuleViolation && error.violation.code === "MINER_REWARD_TOO_HIGH";
  await assert.rejects(acceptBlock(parts, child), isGreed);
  assert.deepEqual(picture(parts), before);
  await assert.rejects(acceptBlock(parts, greedy), isGreed);
  await assert.rejects(acceptBlock(parts, child), isGreed);
  await mine(parts, 1);
  assert.equal(parts.store.read.height(), blocks.length + 2);
  await chain.close();
});

/** The same payment with another extra, for which its signatures do not hold. */
function withWrongSignatures(blob: Uint8Array): Uint8Array {
  const transaction = readTransaction(blob);
  const extra = Uint8Array.from([...transaction.prefix.extra, 0]);
  return writeTransaction({ ...transaction, prefix: { ...transaction.prefix, extra } } as typeof transaction);
}

// The signatures are checked when the branch takes over: where its blocks wait, nobody asks for them.
test("a branch with a payment whose signature does not hold changes nothing, and is invalid", async () => {
  const { chain, parts, fork, payment } = await chainWithPayment();
  const made = build(parts, fork);
  await dropFromPool(parts, made.transactionHashes.map(toHex));
  await mine(parts, 1);
  const forged = withWrongSignatures(payment);
  const transactionHashes = [readIdentifiedTransaction(forged).id];
  const side = await readBlockWithTransactions(writeBlock({ ...made, transactionHashes }), [forged]);
  const before = picture(parts);
  assert.equal(await acceptBlock(parts, side), "alternative");
  const child = readIncomingBlock(writeBlock(build(parts, side.id)));
  await assert.rejects(
    acceptBlock(parts, child),
    (error) =>
      error instanceof FailedProof && Buffer.compare(error.transactionId!, transactionHashes[0]!) === 0,
  );
  assert.deepEqual({ ...picture(parts), pool: [], rows: 0 }, before);
  assert.deepEqual(
    [side, child].map(({ key }) => parts.invalidBlocks.has(key)),
    [true, true],
  );
  await chain.close();
});

test("all proofs of a branch are checked at once, which threads can share", async () => {
  const { blocks } = goldenState();
  const first = blocks.findIndex(({ transactions }) => transactions.length > 1);
  const maker = await emptyChain();
  await loadBlocks(maker.parts, blocks.slice(0, first));
  const branch: IncomingBlock[] = [];
  for (const payment of blocks[first]!.transactions.slice(0, 2)) {
    await admit(maker.parts, { blob: payment, doNotRelay: false });
    const blob = writeBlock(build(maker.parts, maker.parts.state.view().topId));
    branch.push(await readBlockWithTransactions(blob, [payment]));
    assert.equal(await acceptBlock(maker.parts, branch.at(-1)!), "added");
  }
  await maker.close();
  const asked: number[] = [];
  const discharge = async (open: readonly Obligation[]) => {
    const payments = open.flatMap((each) => (each.kind === "powHash" ? [] : [toHex(each.transactionId)]));
    if (payments.length > 0) asked.push(new Set(payments).size);
  };
  const chain = await chainIn(undefined, { discharge });
  await loadBlocks(chain.parts, blocks.slice(0, first));
  await mine(chain.parts, 1);
  assert.equal(await acceptBlock(chain.parts, branch[0]!), "alternative");
  asked.length = 0;
  assert.equal(await acceptBlock(chain.parts, branch[1]!), "reorganised");
  assert.equal(asked.at(-1), 2);
  await chain.close();
});

/** A block with this timestamp on any other. */
function blockAt(parts: ChainParts, timestamp: number, previousId: Uint8Array) {
  const made = build(parts, previousId);
  return readIncomingBlock(writeBlock({ ...made, header: { ...made.header, timestamp } }));
}

// A slow clock: what it says of the future must not condemn a block for ever.
test("a block from beyond two hours is refused beside the chain until the clock has come near", async () => {
  const chain = await emptyChain();
  let time = now();
  const parts = { ...chain.parts, now: () => time };
  const [fork] = await mine(parts, 2);
  const timestamp = time + 7201;
  const first = blockAt(parts, timestamp, fork!);
  const accept = (block: IncomingBlock) => acceptBlock(parts, block).catch((error) => error.violation.code);
  assert.equal(await accept(first), "TIMESTAMP_TOO_LATE");
  assert.deepEqual([parts.invalidBlocks.size, parts.sideBlocks.count], [0, 0]);
  time++;
  assert.equal(await accept(first), "alternative");
  assert.equal(await accept(blockAt(parts, timestamp, first.id)), "reorganised");
  assert.deepEqual(parts.store.read.blockInfo(2)?.hash, first.id);
  await chain.close();
});

test("a branch waits beside the chain where the clock was set back, until it has come near again", async () => {
  const chain = await emptyChain();
  let time = now();
  const parts = { ...chain.parts, now: () => time };
  const [fork] = await mine(parts, 2);
  const first = blockAt(parts, time + 7200, fork!);
  assert.equal(await acceptBlock(parts, first), "alternative");
  time--;
  const second = blockAt(parts, time, first.id);
  const found = await acceptBlock(parts, second).catch((error) => error.violation.code);
  assert.equal(found, "TIMESTAMP_TOO_LATE");
  assert.deepEqual([parts.invalidBlocks.size, parts.sideBlocks.count], [0, 2]);
  time++;
  assert.equal(await acceptBlock(parts, blockAt(parts, time, second.id)), "reorganised");
  assert.deepEqual(parts.store.read.blockInfo(2)?.hash, first.id);
  await chain.close();
});

test("blocks that stand on an invalid one are invalid with it, also those on no heavier branch", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 2);
  const greedy = greedyBlock(parts, main[0]!);
  assert.equal(await acceptBlock(parts, greedy), "alternative");
  await mine(parts, 1);
  const nephew = readIncomingBlock(writeBlock({ ...build(parts, greedy.id), transactionHashes: [] }));
  assert.equal(await acceptBlock(parts, nephew), "alternative");
  const child = build(parts, greedy.id);
  const other = readIncomingBlock(writeBlock({ ...child, header: { ...child.header, nonce: 5 } }));
  assert.equal(await acceptBlock(parts, other), "alternative");
  const top = readIncomingBlock(writeBlock(build(parts, other.id)));
  await assert.rejects(acceptBlock(parts, top), RuleViolation);
  for (const { key } of [greedy, nephew, other, top]) assert.ok(parts.invalidBlocks.has(key));
  assert.equal(parts.sideBlocks.count, 0);
  await chain.close();
});

test("of a branch with an invalid block those below it stay as good as they were", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 2);
  const good = readIncomingBlock(writeBlock(build(parts, main[0]!)));
  assert.equal(await acceptBlock(parts, good), "alternative");
  const greedy = greedyBlock(parts, good.id);
  await assert.rejects(acceptBlock(parts, greedy), RuleViolation);
  assert.deepEqual(
    [good, greedy].map(({ key }) => parts.invalidBlocks.has(key)),
    [false, true],
  );
  assert.equal(parts.sideBlocks.count, 1);
  const other = readIncomingBlock(writeBlock(build(parts, good.id)));
  assert.equal(await acceptBlock(parts, other), "reorganised");
  await chain.close();
});

test("ten thousand invalid blocks are remembered, and of more the last", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { invalidBlocks } = parts;
  const [fork] = await mine(parts, 2);
  const condemn = async (nonce: number) => {
    const greedy = greedyBlock(parts, fork!, nonce);
    assert.equal(await acceptBlock(parts, greedy), "alternative");
    const child = readIncomingBlock(writeBlock(build(parts, greedy.id)));
    await assert.rejects(acceptBlock(parts, child), RuleViolation);
    return [greedy.key, child.key];
  };
  const first = await condemn(1);
  assert.deepEqual([...invalidBlocks.keys()], first);
  const others = Array.from({ length: 9_998 }, (_, i) => `block ${i}`);
  for (const key of others) invalidBlocks.set(key, invalidBlocks.get(first[0]!)!);
  const last = await condemn(2);
  assert.deepEqual([...invalidBlocks.keys()], [...others, ...last]);
  await chain.close();
});

// The first chain seen wins: a branch that has caught up while it was judged takes over from nobody.
test("a branch with as much work as the main chain stays beside it, whenever that comes to be so", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 3);
  const side = await mine(parts, 2, main[0]);
  const keys = side.map((id) => toHex(id));
  const branch = () => ({
    isCheckpoint: false,
    blocks: parts.sideBlocks.branchTo(keys.at(-1)!),
    transactions: undefined,
  });
  await reorganise(parts, branch());
  assert.deepEqual(parts.state.view().topId, main[2]);
  assert.equal(parts.sideBlocks.count, 2);
  // With a checkpoint it would not matter.
  await reorganise(parts, { ...branch(), isCheckpoint: true });
  assert.deepEqual(parts.state.view().topId, side[1]);
  await chain.close();
});

test("a block beside the chain is judged by its header and its work before its transactions are looked for", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 2);
  const block = { ...build(parts, main[0]!), transactionHashes: [new Uint8Array(32).fill(1)] };
  const refusalOf = (value: Block) =>
    acceptBlock(parts, readIncomingBlock(writeBlock(value))).then(
      () => undefined,
      (error) => (error instanceof RuleViolation ? error.violation.code : error),
    );
  assert.equal(await refusalOf(block), "TRANSACTION_MISSING");
  const old = { ...block, header: { ...block.header, majorVersion: 1 } };
  assert.equal(await refusalOf(old), "BLOCK_VERSION");
  await chain.close();
});

test("a block on top is judged by its header and its work before its transactions are looked for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-work-"));
  const path = join(folder, "chain.mdb");
  const { blocks } = goldenState();
  const last = blocks.findLastIndex(({ transactions }) => transactions.length > 0);
  const easy = await emptyChain(path);
  await loadBlocks(easy.parts, blocks.slice(0, last));
  await easy.close();
  const discharged: string[] = [];
  const discharge = async (open: readonly Obligation[]) => {
    discharged.push(...open.map(({ kind }) => kind));
    throw new FailedProof({ code: "PROOF_OF_WORK", difficulty: 2n }, undefined);
  };
  const chain = await openChain({ network: networks.regtest, path, fixedDifficulty: 2n, discharge, now });
  const { read } = chain.parts.store;
  let lookups = 0;
  const { output } = read;
  const counted = (...place: Parameters<typeof output>) => {
    lookups++;
    return output(...place);
  };
  Object.assign(read, { output: counted });
  const { blob, transactions } = blocks[last]!;
  const incoming = await readBlockWithTransactions(blob, transactions);
  const isLazy = (error: unknown) =>
    error instanceof RuleViolation && error.violation.code === "PROOF_OF_WORK";
  await assert.rejects(acceptBlock(chain.parts, incoming), isLazy);
  assert.deepEqual(discharged, ["powHash"]);
  assert.equal(lookups, 0);
  await chain.close();
  rmSync(folder, { recursive: true });
});

test("a branch's last block is applied with the transactions that came with it, wherever they are by then", async () => {
  const { chain, parts, first, fork, payment } = await chainWithPayment();
  const side = await readBlockWithTransactions(writeBlock(build(parts, fork)), [payment]);
  const keys = side.block.transactionHashes.map(toHex);
  await dropFromPool(parts, keys);
  await mine(parts, 1);
  assert.equal(await acceptBlock(parts, side), "alternative");
  await dropFromPool(parts, keys);
  const { transactions } = side;
  await reorganise(parts, { isCheckpoint: true, blocks: parts.sideBlocks.branchTo(side.key), transactions });
  assert.deepEqual(parts.state.view().topId, side.id);
  assert.equal(parts.store.read.blockInfo(first + 1)?.transactionCount, 2);
  await chain.close();
});
