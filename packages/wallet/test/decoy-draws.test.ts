/** Decoys drawn with numbers that are known: which output each draw comes to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createDecoyPicker,
  pickCandidates,
  pickVisibleCandidates,
  RECENT_OUTPUT_SECONDS,
  spendableOutputCount,
} from "../src/transfer/decoys.ts";
import { bytesOf, ofReal, sourceOf } from "./known-random.ts";

/** The numbers of a draw with a normal value that these two make, and the age of the output in seconds. */
function drawOf(u: number, v: number): { numbers: bigint[]; age: number } {
  const s = u * u + v * v;
  const x = u * Math.sqrt((-2 * Math.log(s)) / s);
  const d = 19.28 - 1 / 3;
  const exponent = (d * (1 + x / Math.sqrt(9 * d)) ** 3) / 1.61;
  return { numbers: [(u + 1) / 2, (v + 1) / 2, 0.5].map(ofReal), age: Math.exp(exponent) };
}

const old = drawOf(0.5, 0.25);
const young = drawOf(-0.25, 0);
const UNLOCK = 1200;

/** Numbers of outputs up to each of so many blocks, with so many in each. */
function chainOf(blocks: number, outputs: (block: number) => number): number[] {
  let total = 0;
  return Array.from({ length: blocks }, (_, block) => {
    total += outputs(block);
    return total;
  });
}

/** The first output, and their number, of the first block that has as many outputs up to it as the index says. */
function blockWith(cumulative: readonly number[], index: number): [first: number, count: number] {
  const block = cumulative.findIndex((total) => total >= index);
  const first = cumulative[block - 1] ?? 0;
  return [first, cumulative[block]! - first];
}

test("an output may be spent after ten blocks", () => {
  const counts = (blocks: number) => spendableOutputCount(chainOf(blocks, () => 2));
  assert.deepEqual([0, 1, 9, 10, 11].map(counts), [0, 0, 0, 2, 4]);
  assert.throws(
    () =>
      createDecoyPicker(
        chainOf(9, () => 2),
        sourceOf(),
      ),
    RangeError,
  );
});

test("a draw comes to an output of the block that its age says, all of which are equally likely", () => {
  assert.ok(old.age > 80 * 86_400 && old.age < 100 * 86_400);
  for (const more of [0, 1, 2]) {
    // Three outputs a block of 120 seconds, and some more in the first.
    const cumulative = chainOf(100_000, (block) => (block === 0 ? 3 + more : 3));
    const secondsPerOutput = (120 * 100_000) / (300_000 + more);
    const fromNewest = Math.floor((old.age - UNLOCK) / secondsPerOutput);
    const [first, count] = blockWith(cumulative, cumulative.at(-10)! - 1 - fromNewest);
    assert.equal(count, 3);
    for (const [number, place] of [
      [0n, 0],
      [2n, 2],
      [4n, 1],
    ] as const) {
      const source = sourceOf(...old.numbers, number);
      assert.equal(createDecoyPicker(cumulative, source)(), first + place);
      assert.equal(source.left(), 0);
    }
  }
});

test("how many outputs there are a second is what the blocks of the last year say", () => {
  const year = 262_800;
  for (const [blocks, before] of [
    [year, 0],
    [year + 5, 5],
    [year + 90_000, 90_000],
  ] as const) {
    const cumulative = chainOf(blocks, (block) => (block < before ? 50 : 3));
    const fromNewest = Math.floor((old.age - UNLOCK) / 40);
    const [first] = blockWith(cumulative, cumulative.at(-10)! - 1 - fromNewest);
    assert.equal(createDecoyPicker(cumulative, sourceOf(...old.numbers, 0n))(), first);
  }
});

test("the year begins at a block that still counts", () => {
  const year = 262_800;
  // One of the first blocks of the year has as many outputs as all others have.
  for (const large of [5, 6, 5 + 720]) {
    const cumulative = chainOf(year + 5, (block) => (block === large ? 1_000_000 : 3));
    const secondsPerOutput = (120 * year) / (1_000_000 + 3 * (year - 1));
    const fromNewest = Math.floor((old.age - UNLOCK) / secondsPerOutput);
    const [first] = blockWith(cumulative, cumulative.at(-10)! - 1 - fromNewest);
    assert.equal(createDecoyPicker(cumulative, sourceOf(...old.numbers, 0n))(), first);
  }
});

test("an age at which nothing can be spent is replaced by one of the first half hour", () => {
  assert.ok(young.age < UNLOCK);
  const cumulative = chainOf(1000, () => 3);
  for (const [number, seconds] of [
    [0n, 0],
    [39n, 39],
    [40n, 40],
    [1799n, 1799],
    [1800n, 0],
    [3599n, 1799],
  ] as const) {
    const [first] = blockWith(cumulative, cumulative.at(-10)! - 1 - Math.floor(seconds / 40));
    const source = sourceOf(...young.numbers, number, 0n);
    assert.equal(createDecoyPicker(cumulative, source)(), first);
    assert.equal(source.left(), 0);
  }
});

test("a draw before the first output, or of a block without any, comes to nothing", () => {
  const fromNewest = Math.floor((old.age - UNLOCK) / 120);
  const pick = (cumulative: readonly number[], ...rest: bigint[]) =>
    createDecoyPicker(cumulative, sourceOf(...old.numbers, ...rest))();
  assert.equal(pick(chainOf(fromNewest + 9, () => 1)), undefined);
  const just = chainOf(fromNewest + 10, () => 1);
  assert.equal(pick(just, 0n), 0);
  // As many in the same time, of which the first block has none.
  const empty = chainOf(fromNewest + 10, (block) => [0, 2][block] ?? 1);
  assert.deepEqual(empty.slice(1), just.slice(1));
  assert.equal(pick(empty), undefined);
});

/** A source of draws of one number each, asked in bulk: `numberOf` says the last number of each draw. */
function drawsOf(numberOf: (draw: number) => bigint) {
  const sizes = new Set<number>();
  let draw = 0;
  const random = (size: number) => {
    sizes.add(size);
    return bytesOf(...Array.from({ length: size / 32 }, () => [...old.numbers, numberOf(draw++)]).flat());
  };
  return { random, sizes };
}

test("candidates are drawn at most 50,000 times, with numbers that are asked for in bulk", () => {
  const cumulative = chainOf(100_000, () => 3);
  const request = { cumulative, real: 7, earlierRing: [9], count: 20 };
  for (const [last, found] of [
    [49_999, 4],
    [50_000, 3],
  ] as const) {
    const { random, sizes } = drawsOf((draw) => (draw === last ? 1n : 0n));
    const picked = pickCandidates(request, random);
    assert.equal(picked.length, found);
    assert.deepEqual(picked.slice(0, 2), [9, 7]);
    assert.deepEqual([...sizes], [4096]);
  }
  let draws = 0;
  const { random } = drawsOf((draw) => {
    draws = draw;
    return 0n;
  });
  assert.equal(pickCandidates({ ...request, count: 3 }, random).length, 3);
  assert.ok(draws < 128, "no more are asked for once there are enough");
});

test("on a chain with no more outputs than are wanted all of them are candidates, those of the earlier ring first", () => {
  // Of these, the newest nine blocks' are too young.
  const cumulative = chainOf(14, () => 1);
  const request = { cumulative, real: 2, earlierRing: [4, 5, 1], count: 5 };
  assert.deepEqual(pickCandidates(request, sourceOf()), [4, 1, 0, 2, 3]);
  assert.deepEqual(pickCandidates({ ...request, count: 6 }, sourceOf()), [4, 1, 0, 2, 3]);
  assert.deepEqual(pickCandidates({ ...request, real: 8 }, sourceOf()), [4, 1, 0, 2, 3, 8]);
  const { random } = drawsOf(() => 0n);
  const few = pickCandidates({ ...request, count: 4 }, random);
  assert.deepEqual(few, [4, 1, 2], "with fewer wanted, they are drawn, and no age here is that great");
});

test("half of a visible amount's decoys are recent, one less if the real output is", () => {
  const draws = (count: number) => Array<bigint>(count).fill(ofReal(0));
  const picked = (available: { unlocked: number; recent: number }, real: number, ...numbers: bigint[]) => {
    const source = sourceOf(...numbers);
    const indices = pickVisibleCandidates({ available, real, earlierRing: [], count: 4 }, source);
    assert.equal(source.left(), 0);
    return indices;
  };
  const available = { unlocked: 100, recent: 16 };
  // The square root of the number decides: newer ones are likelier.
  const quarter = ofReal(0.25);
  const least = ofReal(1 / 16);
  assert.deepEqual(picked(available, 5, quarter, least, quarter), [5, 92, 88, 50]);
  assert.deepEqual(picked(available, 84, quarter, quarter, least), [84, 92, 50, 25]);
  assert.deepEqual(picked(available, 83, quarter, least, quarter), [83, 92, 88, 50]);
  assert.deepEqual(picked(available, 99, quarter, quarter, least), [99, 92, 50, 25]);
  assert.deepEqual(picked({ unlocked: 100, recent: 0 }, 5, quarter, least, draws(1)[0]!), [5, 50, 25, 0]);
  assert.deepEqual(picked({ unlocked: 100, recent: 1 }, 5, quarter, quarter, least), [5, 99, 50, 25]);
  assert.deepEqual(picked({ unlocked: 100, recent: 1 }, 99, quarter, least, ...draws(1)), [99, 50, 25, 0]);
  const two = { available, real: 90, earlierRing: [], count: 2 };
  assert.deepEqual(pickVisibleCandidates(two, sourceOf(quarter)), [90, 50], "it is the recent one of two");
  assert.deepEqual(pickVisibleCandidates({ ...two, real: 3 }, sourceOf(quarter)), [3, 92]);
  assert.equal(RECENT_OUTPUT_SECONDS, 155_520);
  const few = { available: { unlocked: 4, recent: 1 }, real: 2, earlierRing: [3, 4], count: 4 };
  assert.deepEqual(pickVisibleCandidates(few, sourceOf()), [3, 0, 1, 2]);
  const more = { available: { unlocked: 5, recent: 5 }, real: 2, earlierRing: [3, 5, 4], count: 4 };
  assert.deepEqual(pickVisibleCandidates(more, sourceOf(...draws(1))), [3, 4, 2, 0]);
});
