import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { baseReward, blockReward, dynamicFees2021 } from "@anulo/protocol";
import {
  type BlockFacts,
  createChainWindow,
  generatedAfter,
  longTermWeight,
  penaltyMedian,
  weightLimits,
} from "../src/index.ts";
import { fakeView } from "./fake-view.ts";

interface Recording {
  source: string;
  columns: string[];
  blocks: [
    weight: number,
    longTermWeight: number,
    claimed: number,
    blockLimit: number,
    effectiveMedian: number,
    feePerByte: number,
    fees: number,
  ][];
}

function readRecording(): Recording {
  const file = new URL("../../test/fixtures/scaling.json.gz", import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Recording;
}

/** Reward of block 0, whose facts the recording leaves out. */
const GENESIS = { timestamp: 0, cumulativeDifficulty: 1n, weight: 80, longTermWeight: 80 };
const GENESIS_REWARD = 17_592_186_044_415n;

test("weights, limits, medians, rewards and fees follow the real program through 230 heavy blocks", () => {
  const window = createChainWindow<BlockFacts>(
    0,
    () => [],
    () => [],
  );
  window.append(GENESIS);
  let alreadyGenerated = GENESIS_REWARD;
  const viewNow = () =>
    fakeView({
      height: window.height,
      alreadyGenerated,
      longTermWeightMedian: window.longTermWeightMedian,
      recentWeights: window.recentWeights,
    });
  const { blocks } = readRecording();
  assert.ok(blocks.some(([weight]) => weight > 700_000) && blocks.length > 300);
  for (const [weight, expectedLongTerm, claimed, blockLimit, effectiveMedian, feePerByte, fees] of blocks) {
    const at = `block ${window.height}`;
    const view = viewNow();
    const medianWeight = penaltyMedian(view, weightLimits(view));
    const reward = blockReward({ medianWeight, weight, alreadyGenerated, version: 16 })!;
    assert.equal(reward + BigInt(fees), BigInt(claimed), at);
    assert.equal(longTermWeight(weight, view), expectedLongTerm, at);
    alreadyGenerated = generatedAfter(alreadyGenerated, reward);
    window.append({ timestamp: 0, cumulativeDifficulty: 0n, weight, longTermWeight: expectedLongTerm });
    const after = weightLimits(viewNow());
    assert.deepEqual([after.blockLimit, after.effectiveMedian], [blockLimit, effectiveMedian], at);
    const next = baseReward({ alreadyGenerated, version: 16 });
    const { effectiveMedian: shortTermMedian, longTermEffectiveMedian: longTermMedian } = after;
    const [slow] = dynamicFees2021({ reward: next, shortTermMedian, longTermMedian });
    assert.equal(slow, BigInt(feePerByte), at);
  }
});
