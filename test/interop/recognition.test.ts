import assert from "node:assert/strict";
import { test } from "node:test";
import { needsRealPrograms, onStage } from "../actors.ts";
import { compareSides } from "../recognition/compare.ts";
import { playPayments } from "../recognition/play.ts";
import { kolmogorovSmirnovP, permutationP } from "../recognition/two-samples.ts";

/** Many more by hand: test/recognition/main.ts. */
const COUNTS = { count: 24, unsent: 80 };

test("our transactions are not told from those of today's wallet", needsRealPrograms, async (t) => {
  const { ours, real } = await onStage((stage) => playPayments(stage, COUNTS));
  const { differing, p } = compareSides(ours, real);
  t.diagnostic(JSON.stringify(p));
  assert.deepEqual(differing, []);
  for (const { changePlaces } of [ours, real])
    assert.ok(changePlaces.every((place) => place === 0 || place === 1));
  for (const [name, value] of Object.entries(p)) assert.ok(value > 1e-4, `${name}: p = ${value}`);
});

test("the tests of two samples know chance from difference", () => {
  const sample = (size: number, bound: number) =>
    Array.from({ length: size }, () => Math.floor(Math.random() * bound));
  const same = Array.from({ length: 200 }, () => kolmogorovSmirnovP(sample(300, 1e6), sample(400, 1e6)));
  const rare = same.filter((p) => p < 0.05).length;
  assert.ok(rare < 35, `${rare} of 200`);
  assert.ok(kolmogorovSmirnovP(sample(2000, 100), sample(2000, 75)) < 1e-4);
  const words = (size: number, bound: number) => sample(size, bound).map(String);
  assert.ok(permutationP(words(200, 4), words(200, 4)) > 1e-4);
  assert.ok(permutationP(words(200, 4), words(200, 6)) < 1e-3);
});
