import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Obligation } from "@anulo/consensus";
import { networks, readBlock, readTransaction, toHex, transactionHash, writeBlock } from "@anulo/protocol";
import {
  BadBlock,
  ChainChanged,
  createBlockImporter,
  type FetchedBlock,
} from "../src/chain/import-blocks.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { openChain } from "../src/chain/open-chain.ts";
import { FailedProof } from "../src/chain/proofs.ts";
import { admit } from "../src/pool/admit.ts";
import { chainIn, emptyChain, mine, now } from "./chain-fixture.ts";
import { type RecordedBlock, recordedChain, recordedHeaders } from "./recorded-chains.ts";

const chain = recordedChain();
/** The first block with payments is among them. */
const RUN = 1 + chain.findIndex(({ transactions }) => transactions.length > 0);

/** A block as a peer sends it, that counts how often somebody looks at its transactions. */
function watched({ blob, transactions }: RecordedBlock, looked: { times: number }): FetchedBlock {
  return {
    incoming: readIncomingBlock(blob),
    size: blob.length,
    get txs() {
      looked.times++;
      return transactions;
    },
  };
}

/** The same transaction with another last signature, and so another id. */
function forged(blob: Uint8Array): Uint8Array {
  const bytes = blob.slice();
  bytes[bytes.length - 1]! ^= 1;
  return bytes;
}

/** A chain that checks work with the given function, and accepts all other proofs. */
function chainWithWork(meetsDifficulty: (work: Obligation) => Promise<boolean>, fixedDifficulty = 2n) {
  const discharge = async (obligations: readonly Obligation[]) => {
    for (const obligation of obligations) {
      if (obligation.kind !== "powHash" || (await meetsDifficulty(obligation))) continue;
      throw new FailedProof({ code: "PROOF_OF_WORK", difficulty: fixedDifficulty }, undefined);
    }
  };
  return openChain({ network: networks.regtest, fixedDifficulty, discharge, now });
}

test("the work of each block is proven at its own height, in runs that follow others too", async () => {
  const heights: number[] = [];
  const { parts, close } = await chainWithWork(async (work) => {
    if (work.kind === "powHash") heights.push(work.height);
    return true;
  });
  const importer = createBlockImporter(parts);
  for (const [from, to] of [
    [0, 5],
    [5, 7],
    [7, 8],
  ]) {
    const run = chain.slice(from, to).map((block) => watched(block, { times: 0 }));
    const { completion } = await importer.stage(run);
    await completion;
  }
  assert.deepEqual(heights, [1, 2, 3, 4, 5, 6, 7, 8]);
  await close();
});

test("headers, transactions, blocks and their writing share the turns of the event loop", async (t) => {
  const { parts, close } = await emptyChain();
  // No time passes, so each of them takes one slice.
  t.mock.method(performance, "now", () => 5000);
  const counted = t.mock.method(parts.turns, "count");
  const waited = t.mock.method(parts.turns, "next");
  const run = chain.slice(0, RUN);
  const { completion } = await createBlockImporter(parts).stage(
    run.map((block) => watched(block, { times: 0 })),
  );
  await completion;
  const [ofHeaders, ofBlocks, ofWriting] = [1, 1, 1];
  const withPayments = run.filter(({ transactions }) => transactions.length > 0).length;
  assert.equal(counted.mock.callCount(), ofHeaders + withPayments + ofBlocks + ofWriting);
  // Before the commit.
  assert.equal(waited.mock.callCount(), 1);
  await close();
});

test("runs of which nobody knows whether they reached the disk are refused, and so is each that is written with them", async () => {
  const { parts, close } = await emptyChain();
  const settled = async () => {
    throw new Error("the disk is gone");
  };
  const importer = createBlockImporter({ ...parts, store: { ...parts.store, settled } });
  const run = (from: number, to: number) =>
    chain.slice(from, to).map((block) => watched(block, { times: 0 }));
  const staged = [await importer.stage(run(0, 2), { isMoreComing: true }), await importer.stage(run(2, 4))];
  for (const { completion } of staged) await assert.rejects(completion, /the disk is gone/);
  await close();
});

test("what follows a run that reached the disk, though nobody was told so, is added at once", async () => {
  const { parts, close } = await emptyChain();
  const outcomes = ["lost", "kept"];
  const settled = async () => {
    if (outcomes.shift() === "lost") throw new Error("the disk is gone");
  };
  const importer = createBlockImporter({ ...parts, store: { ...parts.store, settled } });
  const run = () => chain.slice(0, 4).map((block) => watched(block, { times: 0 }));
  await assert.rejects((await importer.stage(run().slice(0, 2))).completion, /the disk is gone/);
  await (await importer.stage(run())).completion;
  assert.equal(parts.store.read.height(), 5);
  await close();
});

test("nor is what was judged above them written", async () => {
  const { parts, close } = await emptyChain();
  let settle = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    settle = resolve;
  });
  let isFirst = true;
  const settled = async () => {
    if (!isFirst) return;
    isFirst = false;
    await waiting;
    throw new Error("the disk is gone");
  };
  const importer = createBlockImporter({ ...parts, store: { ...parts.store, settled } });
  const run = (from: number, to: number) =>
    chain.slice(from, to).map((block) => watched(block, { times: 0 }));
  const [first, second] = [await importer.stage(run(0, 2)), await importer.stage(run(2, 4))];
  settle();
  await assert.rejects(first.completion, /the disk is gone/);
  await assert.rejects(second.completion, ChainChanged);
  const again = await importer.stage(run(2, 4));
  await again.completion;
  assert.equal(parts.store.read.height(), 5);
  await close();
});

test("of a run without work nothing but headers is read, and the first of its blocks is blamed", async () => {
  const { parts, close } = await chainWithWork(async () => false);
  const looked = { times: 0 };
  const blocks = chain.slice(0, RUN).map((block) => watched(block, looked));
  const { completion } = await createBlockImporter(parts).stage(blocks);
  await assert.rejects(completion, (error: unknown) => {
    assert.ok(error instanceof BadBlock);
    assert.equal(error.key, blocks[0]!.incoming.key);
    assert.equal(error.violation.violation.code, "PROOF_OF_WORK");
    return true;
  });
  assert.deepEqual([looked.times, parts.store.read.height()], [0, 1]);
  await close();
});

test("of a run with a header that breaks a rule no transaction is read either", async () => {
  const { parts, close } = await chainWithWork(async () => true);
  const looked = { times: 0 };
  const recorded = readBlock(chain[RUN - 1]!.blob);
  const odd = writeBlock({ ...recorded, header: { ...recorded.header, majorVersion: 99 } });
  const run = [...chain.slice(0, RUN - 1), { ...chain[RUN - 1]!, blob: odd }];
  const { completion } = await createBlockImporter(parts).stage(run.map((block) => watched(block, looked)));
  await assert.rejects(completion, (error: unknown) => {
    assert.ok(error instanceof BadBlock);
    assert.equal(error.violation.violation.code, "BLOCK_VERSION");
    return true;
  });
  // One by one, those before it are added: they hold no payments.
  assert.equal(parts.store.read.height(), RUN);
  assert.equal(looked.times, RUN - 1);
  await close();
});

test("transactions are read once the work of their run is proven, and the headers of the next are judged meanwhile", async () => {
  let prove = (): void => {};
  const proven = new Promise<void>((resolve) => {
    prove = resolve;
  });
  const { parts, close } = await chainWithWork(() => proven.then(() => true));
  const looked = { times: 0 };
  const importer = createBlockImporter(parts);
  const half = Math.floor(RUN / 2);
  const [first, second] = [chain.slice(0, half), chain.slice(half, RUN)].map((run) =>
    run.map((block) => watched(block, looked)),
  );
  const staged = [await importer.stage(first!), await importer.stage(second!)];
  assert.equal(looked.times, 0);
  prove();
  for (const { completion } of staged) await completion;
  assert.ok(looked.times > 0);
  assert.equal(parts.store.read.height(), 1 + RUN);
  await close();
});

test("a run that is refused leaves those before it as good as they were", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const looked = { times: 0 };
  const good = chain.slice(0, 20).map((block) => watched(block, looked));
  const recorded = readBlock(chain[20]!.blob);
  const odd = writeBlock({ ...recorded, header: { ...recorded.header, majorVersion: 99 } });
  const staged = [
    await importer.stage(good),
    await importer.stage([watched({ ...chain[20]!, blob: odd }, looked)]),
  ];
  await staged[0]!.completion;
  await assert.rejects(staged[1]!.completion, BadBlock);
  assert.equal(parts.store.read.height(), 21);
  const { completion } = await importer.stage(chain.slice(20, 30).map((block) => watched(block, looked)));
  await completion;
  assert.equal(parts.store.read.height(), 31);
  await close();
});

test("runs that others follow are written with them, as one transaction", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const looked = { times: 0 };
  const runs = [0, 20, 40].map((from) => chain.slice(from, from + 20).map((block) => watched(block, looked)));
  const [first, second, third] = runs;
  const heights = new Set<number>();
  const { read } = parts.store;
  const staged = [await importer.stage(first!, { isMoreComing: true })];
  staged.push(await importer.stage(second!, { isMoreComing: true }));
  for (let turn = 0; turn < 50; turn++) {
    await setImmediate();
    heights.add(read.height());
  }
  staged.push(await importer.stage(third!));
  while (read.height() < 61) {
    await setImmediate();
    heights.add(read.height());
  }
  for (const { completion } of staged) await completion;
  assert.deepEqual([...heights], [1, 61]);
  await close();
});

test("each block of a run is written with what the original says of it", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const count = RUN + 10;
  for (const from of [0, RUN - 20]) {
    const end = from === 0 ? RUN - 20 : count;
    const { completion } = await importer.stage(
      chain.slice(from, end).map((block) => watched(block, { times: 0 })),
    );
    await completion;
  }
  const wanted = recordedHeaders().slice(1, count + 1);
  const found = parts.store.read.blockInfos(1, count + 1);
  assert.deepEqual(
    found.map(({ weight, longTermWeight, cumulativeDifficulty }) => [
      weight,
      longTermWeight,
      Number(cumulativeDifficulty),
    ]),
    wanted.map((header) => [header.block_weight, header.long_term_weight, header.cumulative_difficulty]),
  );
  await close();
});

test("what the pool has proven of fetched blocks is not proven again", async () => {
  const proven = new Set<string>();
  const discharge = async (obligations: readonly Obligation[]) => {
    for (const each of obligations) if ("transactionId" in each) proven.add(toHex(each.transactionId));
  };
  const { parts, close } = await chainIn(undefined, { fixedDifficulty: 2n, discharge });
  const importer = createBlockImporter(parts);
  const take = async (blocks: readonly RecordedBlock[]) =>
    await (await importer.stage(blocks.map((block) => watched(block, { times: 0 })))).completion;
  await take(chain.slice(0, RUN - 1));
  const inPool = chain[RUN - 1]!.transactions;
  for (const blob of inPool) await admit(parts, { blob, doNotRelay: false });
  assert.equal(proven.size, inPool.length);
  proven.clear();
  await take(chain.slice(RUN - 1, RUN + 40));
  const others = chain.slice(RUN, RUN + 40).flatMap(({ transactions }) => transactions);
  const hashOf = (blob: Uint8Array) => toHex(transactionHash(readTransaction(blob)));
  assert.deepEqual([...proven].sort(), others.map(hashOf).sort());
  assert.notEqual(others.length, 0);
  await close();
});

test("what waits for others is written when none come", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const looked = { times: 0 };
  const blocks = chain.slice(0, 20).map((block) => watched(block, looked));
  const { completion } = await importer.stage(blocks, { isMoreComing: true });
  importer.write();
  await completion;
  assert.equal(parts.store.read.height(), 21);
  await close();
});

test("of runs written together, those before the one that is refused are written, and those after it come again", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const looked = { times: 0 };
  const run = (from: number, to: number) => chain.slice(from, to).map((block) => watched(block, looked));
  // Its last payment has a proof that does not hold.
  const paid = chain[RUN - 1]!;
  const spoilt = { ...paid, transactions: paid.transactions.map((blob) => forged(blob)) };
  const staged = [
    await importer.stage(run(0, RUN - 1), { isMoreComing: true }),
    await importer.stage([watched(spoilt, looked)], { isMoreComing: true }),
  ];
  importer.write();
  await staged[0]!.completion;
  await assert.rejects(staged[1]!.completion);
  assert.equal(parts.store.read.height(), RUN);
  const { completion } = await importer.stage(run(RUN - 1, RUN + 10));
  await completion;
  assert.equal(parts.store.read.height(), RUN + 11);
  await close();
});

test("a run staged after one whose work could not be checked is not rejected with it", async () => {
  let checks = 0;
  const { parts, close } = await chainWithWork(async () => {
    if (checks++ === 0) throw new Error("a worker failed");
    return true;
  });
  const importer = createBlockImporter(parts);
  const run = () => chain.slice(0, 5).map((block) => watched(block, { times: 0 }));
  const failed = await importer.stage(run(), { isMoreComing: true });
  while (checks === 0) await setImmediate();
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  const next = await importer.stage(run(), { isMoreComing: true });
  importer.write();
  await assert.rejects(failed.completion, /a worker failed/);
  await next.completion;
  assert.equal(parts.store.read.height(), 6);
  await close();
});

test("a run is rejected where the chain has changed before it is written, and so is one that follows it", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const run = (from: number, to: number) =>
    chain.slice(from, to).map((block) => watched(block, { times: 0 }));
  const staged = [
    await importer.stage(run(0, 5), { isMoreComing: true }),
    await importer.stage(run(5, 10), { isMoreComing: true }),
  ];
  await mine(parts, 1);
  importer.write();
  for (const { completion } of staged) await assert.rejects(completion, ChainChanged);
  assert.equal(parts.store.read.height(), 2);
  await close();
});

/** The heights that others see while runs that others follow are staged, until the last of them is written by itself. */
async function heightsSeen(runs: readonly FetchedBlock[][]): Promise<number[]> {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const heights = new Set<number>();
  let isWritten = false;
  let last = Promise.resolve();
  const watching = (async () => {
    while (!isWritten) {
      heights.add(parts.store.read.height() - 1);
      await setImmediate();
    }
  })();
  for (const run of runs) last = (await importer.stage(run, { isMoreComing: true })).completion;
  await last;
  isWritten = true;
  await watching;
  heights.add(parts.store.read.height() - 1);
  await close();
  return [...heights];
}

test("runs that others follow are written once they have a mebibyte, or four hundred blocks", async () => {
  const run = (from: number, to: number, size: number) =>
    chain.slice(from, to).map(({ blob, transactions }) => ({
      incoming: readIncomingBlock(blob),
      txs: transactions,
      size,
    }));
  const HALF = 512 * 1024;
  assert.deepEqual(await heightsSeen([run(0, 1, HALF), run(1, 2, HALF - 1), run(2, 3, 1)]), [0, 3]);
  assert.deepEqual(await heightsSeen([run(0, 2, HALF), run(2, 3, HALF), run(3, 4, HALF)]), [0, 2, 4]);
  assert.deepEqual(await heightsSeen([run(0, 399, 1), run(399, 400, 1)]), [0, 400]);
});
