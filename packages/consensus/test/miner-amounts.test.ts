import assert from "node:assert/strict";
import { test } from "node:test";
import { minerOutputAmounts } from "../src/index.ts";

const claim = 17_592_186_044_415n;

test("hard fork 1 pays a miner in digits, what is at most 2·10^9 together", () => {
  const amounts = minerOutputAmounts(claim, 1);
  assert.deepEqual(amounts, [
    186_044_415n,
    ...[2_000_000_000n, 90_000_000_000n, 500_000_000_000n, 7_000_000_000_000n, 10_000_000_000_000n],
  ]);
  assert.deepEqual(minerOutputAmounts(5n, 1), [5n]);
  assert.deepEqual(minerOutputAmounts(1_999_999_999n, 1), [1_999_999_999n]);
  assert.deepEqual(minerOutputAmounts(2_000_000_001n, 1), [1n, 2_000_000_000n]);
  assert.deepEqual(minerOutputAmounts(3_000_000_000n, 1), [3_000_000_000n]);
});

test("hard forks 2 and 3 pay digits alone and leave the last eight", () => {
  for (const version of [2, 3]) {
    const amounts = minerOutputAmounts(claim, version);
    assert.equal(amounts[0], 100_000_000n);
    assert.equal(
      amounts.reduce((sum, amount) => sum + amount),
      17_592_100_000_000n,
    );
  }
});

test("from hard fork 4 there is one output", () => {
  assert.deepEqual(minerOutputAmounts(claim, 4), [claim]);
  assert.deepEqual(minerOutputAmounts(claim, 16), [claim]);
});
