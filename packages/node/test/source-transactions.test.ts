/** What is taken of a source whose transactions were pruned, and which weights they get. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readIdentifiedTransaction } from "@anulo/protocol";
import { BadSource, type SourceBlock, type SourceTransaction } from "@anulo/storage";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { fetchedTransactions } from "../src/exchange/source-transactions.ts";
import { recordedChain, recordedHeaders } from "./recorded-chains.ts";

const chain = recordedChain();
const index = chain.findIndex(({ transactions }) => transactions.length >= 3);
const { blob, hash, transactions } = chain[index]!;
const header = recordedHeaders().find((each) => each.hash === hash)!;
const incoming = readIncomingBlock(blob);

const prunableHash = new Uint8Array(32).fill(7);
const whole: readonly SourceTransaction[] = transactions.map((each) => ({ blob: each }));
const pruned: readonly SourceTransaction[] = transactions.map((each) => ({
  pruned: each.subarray(0, 100),
  prunableHash,
}));
const weights = transactions.map((each) => readIdentifiedTransaction(each).weight);
const total = weights.reduce((sum, weight) => sum + weight, 0);

/** What is taken of the recorded block with these transactions; unless told otherwise into a pruned database. */
function taken(
  given: readonly SourceTransaction[],
  { weight, ...more }: { weight?: number | undefined; isKnown?: boolean; pruningSeed?: number } = {
    weight: header.block_weight,
  },
) {
  const block: SourceBlock = {
    height: header.height,
    blob,
    transactions: given,
    weight,
    done: 1,
    place: "byte 9",
  };
  return fetchedTransactions("some.raw", block, { incoming, isKnown: true, pruningSeed: 1, ...more });
}

const refusal = (message: RegExp) => (error: unknown) =>
  error instanceof BadSource && message.test(error.message);

test("whole transactions are taken as they are, of any block and into any database", () => {
  assert.deepEqual(taken(whole, { isKnown: false, pruningSeed: 0 }), transactions);
});

test("what the whole transactions leave of a block's weight is that of its first pruned one", () => {
  const weightsOf = (given: readonly SourceTransaction[]) =>
    taken(given).map((each) => (each instanceof Uint8Array ? "whole" : each.weight));
  const none = transactions.slice(2).map(() => 0);
  assert.deepEqual(weightsOf(pruned), [total, 0, ...none]);
  assert.deepEqual(weightsOf([whole[0]!, ...pruned.slice(1)]), ["whole", total - weights[0]!, ...none]);
  const [first, ...others] = taken([pruned[0]!, ...whole.slice(1)]);
  assert.deepEqual(first, { ...pruned[0], weight: weights[0] });
  assert.deepEqual(others, transactions.slice(1));
});

test("pruned transactions may weigh nothing, but not less, and the weight of their block must be told", () => {
  const weight = header.block_weight - total;
  assert.deepEqual(
    taken(pruned, { weight }),
    pruned.map((each) => ({ ...each, weight: 0 })),
  );
  assert.throws(() => taken(pruned, { weight: weight - 1 }), refusal(/^some\.raw: .*heavier than it is/));
  assert.throws(() => taken(pruned, { weight: undefined }), refusal(/its weight is missing/));
});

test("one pruned transaction is refused with a block that is not known, and for a database that is not pruned", () => {
  const mixed = [...whole.slice(1), pruned[0]!];
  assert.throws(() => taken(mixed, { isKnown: false }), refusal(/cannot be verified/));
  assert.throws(() => taken(mixed, { pruningSeed: 0 }), refusal(/our database is not/));
});
