import assert from "node:assert/strict";
import { test } from "node:test";
import { createDecoyPicker, pickCandidates, pickVisibleCandidates } from "../src/transfer/decoys.ts";
import { inBulk, randomIndex } from "../src/transfer/random.ts";
import { chiSquareP, gammaCdf } from "./statistics.ts";
import { seededRandom } from "./transfer-fixture.ts";

const PICKS = 100_000;
const GOOD = 0.01;

/** More than a year of blocks: use grows, goes up and down with the day, and some blocks bring nothing. */
function realisticChain(blocks: number): { counts: number[]; cumulative: number[] } {
  const random = seededRandom("chain");
  let total = 0;
  const counts = Array.from({ length: blocks }, (_, height) => {
    if (randomIndex(random, 12) === 0) return 0;
    const usual = 20 + (60 * height) / blocks + 15 * Math.sin((2 * Math.PI * height) / 720);
    return 1 + randomIndex(random, Math.ceil(2 * usual));
  });
  const cumulative = counts.map((count) => {
    total += count;
    return total;
  });
  return { counts, cumulative };
}

const { counts, cumulative } = realisticChain(300_000);

/** Parameters as the original has them. Source: wallet2.cpp `gamma_picker`. */
const original = { shape: 19.28, scale: 1 / 1.61, lockSeconds: 1200, windowSeconds: 1800 };

/** Probability that a draw means an output that became spendable at most so many seconds ago. */
function ageCdf(seconds: number, { shape, scale, lockSeconds, windowSeconds } = original): number {
  if (seconds <= 0) return 0;
  const tooYoung = gammaCdf(shape, Math.log(lockSeconds) / scale);
  const older = gammaCdf(shape, Math.log(seconds + lockSeconds) / scale) - tooYoung;
  // Whole seconds.
  return older + tooYoung * Math.min(1, Math.ceil(seconds) / windowSeconds);
}

/** Probability of each block that is old enough, of those draws that are not thrown away. */
function blockProbabilities(parameters = original): number[] {
  const usable = cumulative.length - 9;
  const outputs = cumulative[usable - 1]!;
  const blocksInAYear = 262_800;
  const outputsOfTheYear = cumulative.at(-1)! - cumulative[cumulative.length - blocksInAYear - 1]!;
  const secondsPerOutput = (120 * blocksInAYear) / outputsOfTheYear;
  // The place an age points at belongs to the first block up to which there are at least as many outputs.
  const upTo = cumulative
    .slice(0, usable)
    .map((count) => ageCdf((outputs - 1 - count) * secondsPerOutput, parameters));
  const all = ageCdf(outputs * secondsPerOutput, parameters);
  const raw = upTo.map((p, height) => (counts[height] === 0 ? 0 : (upTo[height - 1] ?? all) - p));
  const total = raw.reduce((sum, p) => sum + p, 0);
  return raw.map((p) => p / total);
}

function blockOf(globalIndex: number): number {
  let [low, high] = [0, cumulative.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cumulative[middle]! <= globalIndex) low = middle + 1;
    else high = middle;
  }
  return low;
}

function drawn(seed: string): number[] {
  const pick = createDecoyPicker(cumulative, seededRandom(seed));
  const picks: number[] = [];
  while (picks.length < PICKS) {
    const index = pick();
    if (index !== undefined) picks.push(index);
  }
  return picks;
}

/** Joins blocks to bins that are about equally likely, and compares. */
function agreement(blocks: readonly number[], probabilities: readonly number[]): number {
  const bins = 200;
  const binOf: number[] = [];
  const expected: number[] = [0];
  for (const p of probabilities) {
    if (expected.at(-1)! >= blocks.length / bins) expected.push(0);
    binOf.push(expected.length - 1);
    expected[expected.length - 1]! += p * blocks.length;
  }
  const observed = expected.map(() => 0);
  for (const block of blocks) observed[binOf[block]!]! += 1;
  return chiSquareP(observed, expected);
}

test("decoys are as old as the original's", (t) => {
  const blocks = drawn("decoys").map(blockOf);
  const p = agreement(blocks, blockProbabilities());
  t.diagnostic(`p = ${p.toFixed(4)} for ${PICKS} picks`);
  assert.ok(p > GOOD, `p = ${p}`);
  const others = [
    { ...original, shape: 19 },
    { ...original, scale: 1 / 1.64 },
    { ...original, lockSeconds: 300 },
    { ...original, windowSeconds: 600 },
  ];
  const wrong = others.map((other) => agreement(blocks, blockProbabilities(other)));
  assert.ok(Math.max(...wrong) < 1e-6, `other parameters: ${wrong}`);
});

test("all outputs of a block are equally likely decoys", () => {
  const places = Array.from({ length: 10 }, () => 0);
  for (const index of drawn("places")) {
    const block = blockOf(index);
    const count = counts[block]!;
    if (count % 10 === 0) places[Math.floor(((index - (cumulative[block]! - count)) * 10) / count)]! += 1;
  }
  const total = places.reduce((sum, count) => sum + count, 0);
  const p = chiSquareP(
    places,
    places.map(() => total / 10),
  );
  assert.ok(total > PICKS / 20 && p > GOOD, `p = ${p}`);
});

test("a ring's candidates are distinct, old enough, and hold the real output and the earlier ring", () => {
  const random = seededRandom("candidates");
  const available = cumulative[cumulative.length - 10]!;
  const real = available - 5;
  const earlierRing = [7, 12_345, real, available, available + 3];
  const indices = pickCandidates({ cumulative, real, earlierRing, count: 75 }, random);
  assert.equal(new Set(indices).size, 75);
  assert.ok([7, 12_345, real].every((index) => indices.includes(index)));
  assert.ok(indices.every((index) => index < available));
  // The real one and its earlier ring come first, then the picks: not sorted.
  assert.deepEqual(indices.slice(0, 3), [7, 12_345, real]);
  const picks = indices.slice(3);
  assert.notDeepEqual(
    picks,
    picks.toSorted((a, b) => a - b),
  );
});

test("outputs of the youngest block that can be spent are picked", () => {
  // The last but nine of these blocks has half of all outputs.
  const few = [...Array.from({ length: 40 }, (_, i) => 10 * (i + 1)), 800];
  const chain = [...few, ...Array.from({ length: 9 }, (_, i) => 801 + i)];
  const pick = createDecoyPicker(chain, seededRandom("youngest"));
  const picks = Array.from({ length: 2000 }, pick).filter((index) => index !== undefined);
  assert.ok(picks.filter((index) => index >= 400).length > 100);
  assert.ok(picks.every((index) => index < 800));
});

test("on a short chain every output is a candidate", () => {
  const short = Array.from({ length: 40 }, (_, i) => i + 1);
  const request = { cumulative: short, real: 3, earlierRing: [], count: 75 };
  const all = Array.from({ length: 31 }, (_, i) => i);
  assert.deepEqual(pickCandidates(request, seededRandom("short")), all);
  const shownBefore = pickCandidates({ ...request, earlierRing: [9, 4, 1_000_000] }, seededRandom("short"));
  assert.deepEqual(shownBefore.slice(0, 2), [9, 4], "the ring it was shown in comes first here, too");
  assert.deepEqual(
    [...shownBefore].sort((a, b) => a - b),
    all,
  );
});

test("half of the decoys of a visible amount are young, newer ones likelier", () => {
  const random = seededRandom("visible");
  const [unlocked, recent] = [1_000_000, 20_000];
  const request = { available: { unlocked, recent }, real: 17, earlierRing: [], count: 25 };
  const decoys = Array.from({ length: 800 }, () => pickVisibleCandidates(request, random))
    .flat()
    .filter((index) => index !== 17);
  assert.equal(decoys.length, 800 * 24);
  const expected = (upTo: number) => {
    const young = Math.max(0, upTo - (unlocked - recent)) / recent;
    return (young ** 2 + (upTo / unlocked) ** 2) / 2;
  };
  const edges = Array.from({ length: 21 }, (_, i) =>
    i <= 10 ? (i * (unlocked - recent)) / 10 : unlocked - recent + ((i - 10) * recent) / 10,
  );
  const bins = edges.slice(1).map((edge, i) => ({ from: edges[i]!, to: edge }));
  const p = chiSquareP(
    bins.map(({ from, to }) => decoys.filter((index) => index >= from && index < to).length),
    bins.map(({ from, to }) => (expected(to) - expected(from)) * decoys.length),
  );
  assert.ok(p > GOOD, `p = ${p}`);
  const youngReal = { ...request, real: unlocked - 1 };
  const young = pickVisibleCandidates(youngReal, random).filter((index) => index >= unlocked - recent);
  assert.ok(young.length >= 12, "the real one is one of the young ones");
});

test("where few outputs have a visible amount, all are candidates", () => {
  const available = { unlocked: 20, recent: 4 };
  const request = { available, real: 3, earlierRing: [], count: 25 };
  const all = Array.from({ length: 20 }, (_, i) => i);
  assert.deepEqual(pickVisibleCandidates(request, seededRandom("few")), all);
});

test("the distributions the tests stand on have their known values", () => {
  assert.ok(Math.abs(gammaCdf(1, 2) - (1 - Math.exp(-2))) < 1e-9);
  assert.ok(Math.abs(chiSquareP([55, 45], [50, 50]) - 0.3173) < 1e-3);
});

test("a source asked in bulk gives each of its bytes at most once, and as many as wanted", () => {
  let next = 0;
  const counting = (size: number) => Uint8Array.from({ length: size }, () => next++ & 0xff);
  let asked = 0;
  const random = inBulk((size) => {
    asked++;
    next = 0;
    return counting(size);
  });
  const first = Array.from({ length: 32 }, () => [...random(8)]).flat();
  assert.deepEqual(
    first,
    Array.from({ length: 256 }, (_, i) => i),
  );
  assert.equal(asked, 1);
  assert.equal(random(10_000).length, 10_000);
  assert.equal(asked, 2);
  assert.deepEqual([...random(4)], [0, 1, 2, 3]);
});
