import assert from "node:assert/strict";
import { test } from "node:test";
import {
  baseReward,
  blockReward,
  dynamicBaseFee,
  MAX_AMOUNT,
  minimumFullRewardWeight,
} from "@anulo/protocol";
import fc from "fast-check";
import {
  generatedAfter,
  longTermWeight,
  meetsDifficulty,
  nextDifficulty,
  weightLimits,
} from "../src/index.ts";
import { fakeView } from "./fake-view.ts";

/** Formulas over the fractions themselves, rounded once where the rules round step by step. */
const floorDiv = (numerator: bigint, denominator: bigint) => numerator / denominator;
const ceilDiv = (numerator: bigint, denominator: bigint) => (numerator + denominator - 1n) / denominator;
const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
const uint64 = fc.bigInt({ min: 0n, max: MAX_AMOUNT });
const versions = fc.integer({ min: 1, max: 16 });

test("the difficulty is work times target by the time between the outermost of those kept", () => {
  const steps = fc.tuple(fc.nat(20_000), fc.bigInt({ min: 1n, max: 2n ** 100n }));
  const blocks = fc.array(steps, { minLength: 2, maxLength: 735, size: "max" });
  fc.assert(
    fc.property(blocks, fc.constantFrom(60, 120), (all, target) => {
      const timestamps = all.map(([time], i) => 1_400_000_000 + 60 * i + time);
      let sum = 2n ** 64n;
      const cumulativeDifficulties = all.map(([, difficulty]) => {
        sum += difficulty;
        return sum;
      });
      const counted = Math.min(720, all.length);
      const dropped = Math.max(0, counted - 600);
      const [first, last] = [Math.ceil(dropped / 2), counted - 1 - Math.floor(dropped / 2)];
      const times = timestamps.slice(0, counted).map(BigInt).sort(ascending);
      const work = cumulativeDifficulties[last]! - cumulativeDifficulties[first]!;
      const seconds = times[last]! - times[first]! || 1n;
      const expected = ceilDiv(work * BigInt(target), seconds);
      assert.equal(nextDifficulty({ timestamps, cumulativeDifficulties }, target), expected);
    }),
    { numRuns: 60 },
  );
});

test("a hash meets every difficulty up to 2^256 divided by it, rounded up, less one", () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(hash, fc.nat(31), (bytes, zeros) => {
      bytes.fill(0, 32 - zeros);
      const value = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
      fc.pre(value > 0n);
      const hardest = ceilDiv(2n ** 256n, value) - 1n;
      assert.ok(meetsDifficulty(bytes, hardest));
      assert.ok(!meetsDifficulty(bytes, hardest + 1n));
    }),
  );
});

test("the penalty is the base reward times the square of the excess", () => {
  const weights = fc.tuple(fc.nat(10_000_000), fc.nat(20_000_000));
  fc.assert(
    fc.property(uint64, versions, weights, (alreadyGenerated, version, [medianWeight, weight]) => {
      const base = baseReward({ alreadyGenerated, version });
      const m = BigInt(Math.max(medianWeight, minimumFullRewardWeight(version)));
      const excess = BigInt(weight) - m;
      const reward = blockReward({ alreadyGenerated, version, medianWeight, weight });
      if (excess > m) assert.equal(reward, undefined);
      else if (excess <= 0n) assert.equal(reward, base);
      else assert.equal(reward, floorDiv(base * (m * m - excess * excess), m * m));
    }),
  );
});

test("coins come by the curve until the tail, and never count above 64 bits", () => {
  for (const version of [1, 2]) {
    const minutes = BigInt(version);
    const tail = 300_000_000_000n * minutes;
    const speed = 2n ** (21n - minutes);
    const lastOfCurve = MAX_AMOUNT - tail * speed;
    assert.equal(baseReward({ alreadyGenerated: lastOfCurve - speed, version }), tail + 1n);
    assert.equal(baseReward({ alreadyGenerated: lastOfCurve, version }), tail);
    assert.equal(baseReward({ alreadyGenerated: lastOfCurve + 1n, version }), tail);
  }
  fc.assert(
    fc.property(uint64, uint64, (before, coins) => {
      const [counted] = [before + coins, MAX_AMOUNT].sort(ascending);
      assert.equal(generatedAfter(before, coins), counted);
    }),
  );
});

test("fees follow reward and median as one fraction", () => {
  const medians = fc.integer({ min: 1, max: 50_000_000 });
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 45n }),
      medians,
      fc.integer({ min: 4, max: 16 }),
      (...drawn) => {
        const [reward, medianWeight, version] = drawn;
        const zone = BigInt(minimumFullRewardWeight(version));
        const m = BigInt(Math.max(medianWeight, Number(zone)));
        const fee = dynamicBaseFee({ reward, medianWeight, version });
        if (version >= 15) {
          const full = floorDiv(reward * 3000n, m * m);
          assert.equal(fee, full === 0n ? 1n : full - floorDiv(full, 20n));
        } else if (version >= 8) assert.equal(fee, floorDiv(reward * 3000n, m * zone * 5n));
        else {
          const base = version >= 5 ? 400_000_000n : 2_000_000_000n;
          const perKb = floorDiv(floorDiv(base * zone, m) * reward, 10n ** 13n);
          assert.equal(fee, ceilDiv(perKb, 10_000n) * 10_000n);
        }
      },
    ),
  );
});

test("limits and long-term weights stay between their fractions of the medians", () => {
  const weights = fc.tuple(fc.nat(40_000_000), fc.nat(2_000_000), fc.nat(40_000_000));
  fc.assert(
    fc.property(versions, weights, (hardForkVersion, [shortTerm, longTerm, weight]) => {
      const recentWeights = (count: number) => Array.from({ length: count }, () => shortTerm);
      const view = fakeView({ hardForkVersion, longTermWeightMedian: longTerm, recentWeights });
      const centre = Math.max(300_000, longTerm);
      const floor = hardForkVersion < 10 ? 0 : hardForkVersion < 15 ? 300_000 : centre;
      const ceiling = hardForkVersion < 10 ? Number.POSITIVE_INFINITY : 50 * centre;
      const expected = Math.max(
        minimumFullRewardWeight(hardForkVersion),
        Math.min(ceiling, Math.max(floor, shortTerm)),
      );
      assert.equal(weightLimits(view).blockLimit, 2 * expected);
      const c = BigInt(centre);
      const [low, high] =
        hardForkVersion < 10
          ? [0n, 2n ** 64n]
          : hardForkVersion < 15
            ? [0n, floorDiv(7n * c, 5n)]
            : [floorDiv(10n * c, 17n), floorDiv(17n * c, 10n)];
      const w = BigInt(weight);
      assert.equal(BigInt(longTermWeight(weight, view)), w < low ? low : w > high ? high : w);
    }),
  );
});
