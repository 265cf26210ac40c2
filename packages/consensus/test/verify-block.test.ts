import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Block, blockId, fromHex, readBlock, transactionWeight } from "@anulo/protocol";
import {
  type ChainContext,
  type ChainView,
  chainContext,
  type TransactionCandidate,
  verifyAlternativeBlock,
  verifyBlock,
} from "../src/index.ts";
import { tagged } from "./forge.ts";
import { createMemoryChain } from "./memory-chain.ts";
import { readRecordedLaboratory } from "./recorded-laboratory.ts";
import { assertRefused } from "./refusals.ts";
import { candidateOf } from "./regtest-chain.ts";

const recorded = readRecordedLaboratory();
const caseNamed = (name: string) => fromHex(recorded.transactions.find((found) => found.name === name)!.blob);
const now = 1_700_000_000;
let view: ChainView;
let next: Block;
let one: TransactionCandidate;
let two: TransactionCandidate;

before(() => {
  const chain = createMemoryChain({ fixedDifficulty: 1n });
  for (const hex of [recorded.genesis, ...recorded.blocks.map(({ block }) => block)]) {
    const block = readBlock(fromHex(hex));
    const blobs = recorded.blocks.find((found) => found.block === hex)?.transactions ?? [];
    const transactions = blobs.map((blob) => candidateOf(fromHex(blob)));
    chain.append(block, transactions, verifyBlock({ block, transactions }, chainContext(chain.view(), now)));
  }
  view = chain.view();
  next = readBlock(fromHex(recorded.blockCases.find(({ name }) => name === "a good block")!.blob));
  one = candidateOf(caseNamed("a good transaction"));
  two = candidateOf(caseNamed("two inputs"));
});

const context = (overrides: Partial<ChainView> = {}): ChainContext =>
  chainContext({ ...view, ...overrides }, now);

/** The next block with these transactions, the miner claiming their fees and `more`. */
function blockOf(transactions: readonly TransactionCandidate[], more = 0n): Block {
  const { prefix } = next.minerTransaction;
  const fees = transactions.reduce(
    (sum, { transaction }) => sum + (transaction.ringct as { fee: bigint }).fee,
    0n,
  );
  const key = new Uint8Array(32).fill(1);
  const outputs = [tagged(key, prefix.outputs[0]!.amount + fees + more)];
  const minerTransaction = { ...next.minerTransaction, prefix: { ...prefix, outputs } };
  return { ...next, minerTransaction, transactionHashes: transactions.map(({ id }) => id) };
}

const verify = (transactions: TransactionCandidate[], block = blockOf(transactions), chain = context()) =>
  verifyBlock({ block, transactions }, chain);

describe("a block", () => {
  test("earns its transactions' fees beside the reward", () => {
    const { fees, weight, transactions, reward } = verify([one, two]);
    assert.equal(fees, 10_000_000_000n);
    assert.equal(reward, next.minerTransaction.prefix.outputs[0]!.amount);
    assert.equal(weight, one.weight + two.weight + verify([]).weight);
    assert.deepEqual(
      transactions.map(({ obligations }) => obligations.length),
      [5, 6],
    );
  });

  test("knows each transaction it names, once, and for the first time", () => {
    const block = blockOf([one, two]);
    assertRefused(() => verifyBlock({ block, transactions: [one] }, context()), "TRANSACTION_MISSING");
    assertRefused(
      () => verifyBlock({ block, transactions: [one, undefined] }, context()),
      "TRANSACTION_MISSING",
    );
    assertRefused(() => verifyBlock({ block, transactions: [two, one] }, context()), "TRANSACTION_MISSING");
    assertRefused(() => verify([one, one]), "TRANSACTION_REPEATED");
    assertRefused(
      () => verify([one], undefined, context({ hasTransaction: () => true })),
      "TRANSACTION_IN_CHAIN",
    );
  });

  test("spends no key image twice", () => {
    const again = { ...one, id: new Uint8Array(32).fill(5) };
    assertRefused(() => verify([one, again]), "KEY_IMAGE_REPEATED_IN_BLOCK");
  });

  test("may hold transactions that pay no fee", () => {
    const free = candidateOf(caseNamed("fee of zero"));
    assert.equal(verify([free]).fees, 0n);
  });

  test("is at most twice as heavy as the median, and earns less on the way there", () => {
    const names = ["a good transaction", "two inputs", "sixteen outputs", "no extra"];
    const light = names.map((name) => candidateOf(caseNamed(name)));
    const filler = candidateOf(caseNamed("extra of 5,000 bytes"));
    const check = (weight: number, more = 0n) => {
      const transactions = [...light.map((candidate) => ({ ...candidate, weight: 149_000 })), filler];
      const block = blockOf(transactions, more);
      filler.weight = weight - 4 * 149_000 - transactionWeight(block.minerTransaction);
      return verifyBlock({ block, transactions }, context());
    };
    const violation = assertRefused(() => check(600_001), "BLOCK_WEIGHT");
    assert.deepEqual(violation, { code: "BLOCK_WEIGHT", weight: 600_001, limit: 600_000 });
    assertRefused(() => check(600_000), "MINER_REWARD_TOO_HIGH");
    const claimed = next.minerTransaction.prefix.outputs[0]!.amount;
    assert.equal(check(600_000, -claimed).reward, 0n);
  });

  test("follows the chain it says it follows", () => {
    const topId = new Uint8Array(32).fill(9);
    assertRefused(() => verify([], next, context({ topId })), "UNKNOWN_PARENT");
  });

  test("must show work where the difficulty asks for it", () => {
    const [pow, ...rest] = verify([one], undefined, context({ fixedDifficulty: 7n })).obligations;
    assert.equal(pow?.kind, "powHash");
    assert.equal(pow?.kind === "powHash" && pow.difficulty, 7n);
    assert.equal(rest.length, 5);
    assert.equal(verify([], undefined, context({ fixedDifficulty: 2n })).obligations.length, 1);
    assert.equal(verify([], undefined, context({ fixedDifficulty: 1n })).obligations.length, 0);
  });

  test("that is known needs no work and no proofs, but spends nothing twice", () => {
    const block = blockOf([one, two]);
    const known = (overrides: Partial<ChainView> = {}) =>
      context({ knownBlockId: () => blockId(block), fixedDifficulty: 7n, ...overrides });
    const { obligations, transactions } = verifyBlock({ block, transactions: [one, two] }, known());
    assert.deepEqual(obligations, []);
    const nothing = { obligations: [], newestRingEnd: 0, newestRingMember: 0 };
    assert.deepEqual(transactions, [nothing, nothing]);
    const spent = known({ isKeyImageSpent: () => true });
    assertRefused(() => verifyBlock({ block, transactions: [one, two] }, spent), "KEY_IMAGE_SPENT");
    assertRefused(() => verifyBlock({ block: next, transactions: [] }, known()), "CHECKPOINT");
    const asked: number[] = [];
    const above = known({ knownBlockId: (height) => void asked.push(height) });
    assert.equal(verifyBlock({ block, transactions: [one, two] }, above).obligations.length, 12);
    assert.deepEqual(asked, [91]);
  });

  test("adds its coins, which stop counting at 2^64 - 1", () => {
    assert.equal(verify([one]).alreadyGenerated, view.alreadyGenerated + verify([one]).reward);
    const tail = context({ alreadyGenerated: 2n ** 64n - 1n });
    const claimed = next.minerTransaction.prefix.outputs[0]!.amount;
    assert.equal(verify([], blockOf([], 600_000_000_000n - claimed), tail).alreadyGenerated, 2n ** 64n - 1n);
  });
});

describe("a block on a branch", () => {
  const judge = (block: Block, overrides: Partial<ChainView> = {}, length = 1, now = next.header.timestamp) =>
    verifyAlternativeBlock(block, { view: { ...view, ...overrides }, length, now });

  test("is judged by header, work and miner transaction alone", () => {
    const { height, cumulativeDifficulty, alreadyGenerated, obligations } = judge(blockOf([one, two]));
    assert.equal(height, 91);
    assert.equal(cumulativeDifficulty, view.cumulativeDifficulty + 1n);
    assert.equal(
      alreadyGenerated,
      view.alreadyGenerated + blockOf([one, two]).minerTransaction.prefix.outputs[0]!.amount,
    );
    assert.deepEqual(obligations, []);
    judge(blockOf([], 1n));
    assertRefused(() => judge(next, { height: 92 }), "MINER_HEIGHT");
    assertRefused(() => judge(next, { hardForkVersion: 15 }), "BLOCK_VERSION");
    assert.equal(judge(next, { fixedDifficulty: 5n }).obligations[0]?.kind, "powHash");
  });

  test("is not older than the median of 60 blocks, or of its branch if that is longer", () => {
    const asked: number[] = [];
    const recentTimestamps = (count: number) => {
      asked.push(count);
      return [next.header.timestamp];
    };
    judge(next, { recentTimestamps });
    judge(next, { recentTimestamps }, 61);
    assert.deepEqual(asked, [60, 61]);
    for (const height of [61, 60, 2]) {
      const { minerTransaction } = next;
      const prefix = {
        ...minerTransaction.prefix,
        inputs: [{ type: "generation" as const, height }],
        unlockTime: BigInt(height + 60),
      };
      judge({ ...next, minerTransaction: { ...minerTransaction, prefix } }, { height, recentTimestamps });
    }
    assert.deepEqual(asked.slice(2), [60], "less than 60 blocks have no median to keep");
    const short = { ...view, height: 91, recentTimestamps: () => [next.header.timestamp + 1] };
    assertRefused(() => judge(next, short), "TIMESTAMP_TOO_EARLY");
  });

  // Closes: branches whose times run ahead, so that their difficulty falls and blocks cost nothing.
  test("is at most two hours ahead of the clock, as on the main chain", () => {
    const { timestamp } = next.header;
    judge(next, {}, 1, timestamp - 7200);
    assertRefused(() => judge(next, {}, 1, timestamp - 7201), "TIMESTAMP_TOO_LATE");
  });
});
