/** What fees are believed, to the last unit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dynamicFees2021, estimateTransactionWeight, networks } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { absurdFee, chainOfSigner, FEE_TOLERANCE, feeLimits } from "../src/transfer/fee-limits.ts";
import type { ConstructionData } from "../src/transfer/metadata.ts";
import { feeRateOf } from "../src/transfer/node.ts";

/** Ten times what a node with blocks of the smallest median demands. */
const limitsOf = (reward: bigint) =>
  dynamicFees2021({ reward, shortTermMedian: 300_000, longTermMedian: 300_000 }).map((fee) => 10n * fee);

const FIRST = 2n ** 45n - 1n;
const LEAST = 600_000_000_000n;

test("the limits are those of the last reward, as far as a block of that height may have it", () => {
  assert.equal(FEE_TOLERANCE, 10n);
  const limits = (lastBlockReward: bigint, height = 0) => feeLimits({ lastBlockReward, height });
  assert.deepEqual(limits(5n * 10n ** 12n), limitsOf(5n * 10n ** 12n));
  assert.deepEqual(limits(0n), limitsOf(FIRST), "that of the first blocks, where none is known");
  assert.deepEqual(limits(2n * FIRST), limitsOf(FIRST));
  const later = BigInt(Math.floor(Number(FIRST) / Math.E));
  assert.deepEqual(limits(0n, 2 ** 20), limitsOf(later));
  assert.deepEqual(limits(2n * later, 2 ** 20), limitsOf(later));
  assert.deepEqual(limits(later / 2n, 2 ** 20), limitsOf(later / 2n));
  assert.deepEqual(limits(1n), limitsOf(LEAST), "never less than what is paid for ever");
  assert.deepEqual(limits(LEAST + 10n ** 11n), limitsOf(LEAST + 10n ** 11n));
  assert.deepEqual(limits(0n, 2 ** 25), limitsOf(LEAST));
});

test("who has scanned nothing takes the chain to be as high as its last hard fork", () => {
  const last = networks.mainnet.hardForks.at(-1)!.height;
  const chainAt = (height: number, hasScanned: boolean) =>
    chainOfSigner({ state: { lastBlockReward: 7n, height }, network: "mainnet", hasScanned }).height;
  assert.deepEqual([chainAt(1, true), chainAt(1, false)], [1, last]);
  assert.deepEqual([chainAt(last + 1, true), chainAt(last + 1, false)], [last + 1, last + 1]);
});

test("what a node asks for is believed up to the limit of its priority, and in steps of one unit at least", async () => {
  const chain = { lastBlockReward: LEAST, height: 3_000_000 };
  const limits = feeLimits(chain);
  const asked = (fees: readonly bigint[], mask: number, priority: number) => {
    const getFeeEstimate = async () => ({ status: "OK", fees, quantization_mask: mask });
    return feeRateOf({ client: { getFeeEstimate } } as unknown as Daemon, priority, chain);
  };
  for (const [level, limit] of limits.entries()) {
    const fees = limits.map((_, i) => (i === level ? limit : 0n));
    assert.equal((await asked(fees, 10_000, level + 1)).feePerByte, limit);
    const above = fees.with(level, limit + 1n);
    await assert.rejects(asked(above, 10_000, level + 1), /absurd fees/);
    await assert.rejects(asked(fees, 10_000, ((level + 1) % 4) + 1), /did not tell its fees/);
  }
  for (const [priority, level] of [
    [0, 0],
    [5, 3],
    [2 ** 31, 3],
  ] as const)
    assert.equal((await asked(limits, 10_000, priority)).feePerByte, limits[level]);
  const maskOf = async (mask: number) => (await asked([1n], mask, 1)).quantizationMask;
  assert.deepEqual(
    [await maskOf(0), await maskOf(1), await maskOf(2), await maskOf(100_000)],
    [1n, 1n, 2n, 100_000n],
  );
  await assert.rejects(maskOf(100_001), /absurd fees/);
});

/** A transaction that pays a fee, of so many inputs and destinations. */
function dataOf(fee: bigint, counts: { inputs?: number; destinations?: number; extra?: number } = {}) {
  const { inputs = 1, destinations = 1, extra = 0 } = counts;
  return {
    sources: Array.from({ length: inputs }, (_, i) => ({ amount: i === 0 ? fee + 100n : 5n })),
    splitDestinations: Array.from({ length: destinations }, (_, i) => ({
      amount: i === 0 ? 100n + 5n * BigInt(inputs - 1) : 0n,
    })),
    extra: new Uint8Array(extra),
  } as unknown as ConstructionData;
}

test("a fee is absurd from one unit above the limit of its transaction's weight on", () => {
  const chain = { lastBlockReward: 6n * 10n ** 11n, height: 3_000_000 };
  const perByte = limitsOf(LEAST).at(-1)!;
  const limitOf = (inputs: number, outputs: number, extra: number) =>
    perByte * BigInt(estimateTransactionWeight({ inputs, outputs, ringSize: 16, extraSize: extra + 44 }));
  for (const [counts, limit] of [
    [{}, limitOf(1, 2, 0)],
    [{ destinations: 2 }, limitOf(1, 2, 0)],
    [{ destinations: 3, inputs: 4 }, limitOf(4, 3, 0)],
    [{ extra: 1060 }, limitOf(1, 2, 1060)],
    [{ extra: 1061 }, limitOf(1, 2, 1060)],
    [{ extra: 1059 }, limitOf(1, 2, 1059)],
  ] as const) {
    assert.equal(absurdFee(dataOf(limit, counts), chain), undefined);
    assert.equal(
      absurdFee(dataOf(limit + 1n, counts), chain),
      `its fee is absurd: ${limit + 1n} atomic units, more than ${limit}`,
    );
  }
});
