/** What wallets are told to pay, from a made-up chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { baseReward, dynamicBaseFee, dynamicFees2021 } from "@anulo/protocol";
import type { NodeContext } from "../src/rpc/context.ts";
import { feeEstimate } from "../src/rpc/fee-estimate.ts";

const ZONE = 300_000;
const WINDOW = 100;
const version = 16;
const alreadyGenerated = 10n ** 18n;

interface Weights {
  /** Weights in bytes of the newest blocks, newest last. */
  readonly recent: readonly number[];
  /** Median of the long-term weights after so many empty blocks. */
  readonly longTerm: (grace: number) => number;
  /** Hard fork of the next block. */
  readonly fork?: number;
}

function estimate({ recent, longTerm, fork = version }: Weights, grace: number) {
  const view = {
    hardForkVersion: fork,
    alreadyGenerated,
    longTermWeightMedian: longTerm(0),
    recentWeights: (count: number) => {
      assert.ok(count >= 0);
      return count === 0 ? [] : recent.slice(-count);
    },
  };
  const context = {
    parts: { state: { view: () => view, longTermWeightMedianAfterEmpty: longTerm }, now: () => 0 },
    dialect: "contract",
    memory: { feeEstimate: (_: unknown, make: () => unknown) => make() },
  } as unknown as NodeContext;
  const answer = feeEstimate({ grace_blocks: grace }, context) as unknown as { facts?: object };
  return (answer.facts ?? answer) as { fee: bigint; fees: bigint[]; quantization_mask: number };
}

const feesOf = (shortTermMedian: number, longTermMedian: number) =>
  dynamicFees2021({ reward: baseReward({ alreadyGenerated, version }), shortTermMedian, longTermMedian });

const blocks = (count: number, weight: number) => Array.from({ length: count }, () => weight);

test("fees follow the medians, of which neither is below the zone without penalty", () => {
  const small = estimate({ recent: blocks(WINDOW, 1000), longTerm: () => 1000 }, 0);
  assert.deepEqual(small.fees, feesOf(ZONE, ZONE));
  assert.equal(small.fee, small.fees[0]);
  assert.equal(small.quantization_mask, 10_000);
  const grown = estimate({ recent: blocks(WINDOW, 1000), longTerm: () => 2 * ZONE }, 0);
  assert.deepEqual(grown.fees, feesOf(2 * ZONE, 2 * ZONE));
  assert.notDeepEqual(grown.fees, small.fees);
});

test("the short-term median may be 50 times the long-term one, and the newest hundred blocks count", () => {
  const surge = (weight: number) =>
    estimate({ recent: [...blocks(400, 1), ...blocks(WINDOW, weight)], longTerm: () => ZONE }, 0).fees;
  assert.deepEqual(surge(3 * ZONE), feesOf(3 * ZONE, ZONE));
  assert.deepEqual(surge(50 * ZONE), feesOf(50 * ZONE, ZONE));
  assert.deepEqual(surge(60 * ZONE), feesOf(50 * ZONE, ZONE));
  assert.notDeepEqual(surge(2 * ZONE), surge(3 * ZONE));
});

test("empty blocks to come lower the median once they are half", () => {
  const recent = [...blocks(400, 9 * ZONE), ...blocks(WINDOW, 4 * ZONE)];
  const after = (grace: number) => estimate({ recent, longTerm: (empty) => ZONE + empty }, grace).fees;
  assert.deepEqual(after(0), feesOf(4 * ZONE, ZONE));
  assert.deepEqual(after(49), feesOf(4 * ZONE, ZONE + 49));
  assert.deepEqual(after(50), feesOf(2 * ZONE, ZONE + 50));
  assert.deepEqual(after(51), feesOf(ZONE + 51, ZONE + 51));
  assert.deepEqual(after(WINDOW), feesOf(ZONE + WINDOW, ZONE + WINDOW));
  assert.throws(() => after(WINDOW + 1), /grace_blocks/);
});

test("before hard fork 15 there is one fee, which the long-term median bounds from hard fork 10 on", () => {
  const recent = [...blocks(400, 1), ...blocks(WINDOW, 3 * ZONE)];
  const single = (fork: number, grace = 0) => estimate({ recent, longTerm: () => 2 * ZONE, fork }, grace);
  const feeOf = (fork: number, medianWeight: number) => {
    const reward = baseReward({ alreadyGenerated, version: fork });
    return dynamicBaseFee({ reward, medianWeight, version: fork });
  };
  for (const fork of [5, 8, 9])
    assert.deepEqual(single(fork).fee, feeOf(fork, 3 * ZONE), `hard fork ${fork}`);
  for (const fork of [10, 14]) assert.deepEqual(single(fork).fee, feeOf(fork, 2 * ZONE), `hard fork ${fork}`);
  assert.notEqual(feeOf(9, 2 * ZONE), feeOf(9, 3 * ZONE));
  assert.deepEqual(single(9).fees, []);
  assert.equal(single(9, 49).fee, feeOf(9, 3 * ZONE));
  assert.equal(single(9, 51).fee, feeOf(9, ZONE), "empty blocks count as the weight without penalty");
  assert.equal(single(9, 5000).fee, feeOf(9, ZONE), "of more than the window, all but one block are empty");
});
