/** How the nonces of a search are shared among threads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSearchRun, type NonceRun } from "../src/pow/search-run.ts";
import { type FoundNonce, NONCES, type PowSearch } from "../src/pow/work.ts";

const search = (firstNonce: number, restMs?: number) => ({ firstNonce, restMs }) as unknown as PowSearch;
const found = (nonce: number) => ({ nonce }) as FoundNonce;

test("the first run is one nonce, the next as many as take a tenth of a second, 4096 at most", () => {
  const run = createSearchRun(search(0), { threads: 1, now: () => 0 });
  const lengths: number[] = [];
  let offset = 0;
  for (const msPerHash of [20, 20, 8, 300, 0.01, 0, 25]) {
    const next = run.take()!;
    assert.equal(next.offset, offset, "none is left out, none tried twice");
    offset += next.count;
    lengths.push(next.count);
    assert.equal(
      run.finish(next, { hashes: next.count, nonce: undefined, ms: next.count * msPerHash }),
      false,
    );
  }
  assert.deepEqual(lengths, [1, 5, 5, 13, 1, 4096, 4096]);
  assert.equal(run.take()!.count, 4);
  assert.equal(run.take(), undefined, "its one thread is at work");
});

test("a search ends with the first nonce in its order that will do, once none before it is open", () => {
  // It goes on at nought after the last nonce.
  const run = createSearchRun(search(NONCES - 1), { threads: 3, now: () => 0 });
  const [first, second, third] = [run.take()!, run.take()!, run.take()!];
  assert.deepEqual(
    [first, second, third],
    [0, 1, 2].map((offset): NonceRun => ({ offset, count: 1 })),
  );
  const result = (nonce?: FoundNonce) => ({ hashes: 1, nonce, ms: 1 });
  assert.equal(run.finish(third, result(found(1))), false);
  assert.deepEqual(run.bestNonce(), found(1));
  assert.equal(run.take(), undefined, "what comes after a nonce that will do is not tried");
  assert.equal(run.finish(first, result(found(NONCES - 1))), true);
  assert.deepEqual(run.bestNonce(), found(NONCES - 1));
  assert.equal(run.finish(second, result(found(0))), true);
  assert.deepEqual(run.bestNonce(), found(NONCES - 1));
});

test("a thread that rests after each run leaves its place empty so long, and runs stay short", () => {
  let nowMs = 0;
  const run = createSearchRun(search(0, 50), { threads: 2, now: () => nowMs });
  assert.equal(run.restLeft(), undefined);
  const [first, second] = [run.take()!, run.take()!];
  const result = { hashes: 1, nonce: undefined, ms: 0.01 };
  run.finish(first, result);
  nowMs = 20;
  run.finish(second, result);
  assert.equal(run.restLeft(), 30);
  assert.equal(run.take(), undefined);
  nowMs = 49;
  assert.equal(run.take(), undefined);
  nowMs = 50;
  assert.deepEqual(run.take(), { offset: 2, count: 1 });
  assert.equal(run.take(), undefined, "the other still rests");
  assert.equal(run.restLeft(), 20);
  nowMs = 90;
  assert.equal(run.restLeft(), 0);
  assert.deepEqual(run.take(), { offset: 3, count: 1 });
});
