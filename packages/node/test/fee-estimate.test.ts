/** What wallets are told to pay, from a made-up chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { baseReward, dynamicFees2021 } from "@anulo/protocol";
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
}

function estimate({ recent, longTerm }: Weights, grace: number) {
  const view = {
    hardForkVersion: version,
    alreadyGenerated,
    recentWeights: (count: number) => (count === 0 ? [] : recent.slice(-count)),
  };
  const context = {
    parts: { state: { view: () => view, longTermWeightMedianAfterEmpty: longTerm } },
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
