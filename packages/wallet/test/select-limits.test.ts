/** How many outputs are compared at most before a payment takes some. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runSliced } from "@anulo/limits";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { Preferable } from "../src/transfer/preferable.ts";
import { pickRandomInput, preferredInputs, smallestInput } from "../src/transfer/select.ts";
import { ledgerOf } from "./many-outputs.ts";

const owned = (count: number, addresses = 1): OwnedOutput[] => [
  ...ledgerOf({ count, amount: () => 500n, addresses }).state.outputs,
];

test("of more than 2^20 pairs the first so many are compared", async () => {
  const limit = 2 ** 20;
  const all = owned(2000).map((output) => ({ ...output, height: 100 }));
  // Any two are enough, but of the same block; one pair alone is not, and it is found as number `number` of all.
  const pairAt = async (number: number) => {
    const count = 1461;
    let [first, passed] = [0, 0];
    for (; passed + count - 1 - first < number; first++) passed += count - 1 - first;
    const second = first + number - passed;
    const outputs = all.slice(0, count);
    outputs[first] = { ...outputs[first]!, amount: 600n };
    outputs[second] = { ...outputs[second]!, amount: 400n, height: 5 };
    const pair = await runSliced(preferredInputs(Preferable.of(outputs), 1000n));
    assert.equal(pair.length, 2);
    return pair[0] === outputs[first] && pair[1] === outputs[second];
  };
  assert.ok(await pairAt(1000));
  assert.ok(await pairAt(limit));
  assert.ok(!(await pairAt(limit + 1)));
});

test("one output that is enough is taken alone, and half of what is needed is rounded up", async () => {
  const [a, b, c] = owned(3) as [OwnedOutput, OwnedOutput, OwnedOutput];
  const taken = async (amounts: readonly bigint[], needed: bigint) => {
    const outputs = [a, b, c]
      .slice(0, amounts.length)
      .map((output, i) => ({ ...output, amount: amounts[i]! }));
    const inputs = await runSliced(preferredInputs(Preferable.of(outputs), needed));
    return inputs.map(({ oneTimeKey }) => outputs.findIndex((output) => output.oneTimeKey === oneTimeKey));
  };
  assert.deepEqual(await taken([5n, 9n, 10n], 10n), [2]);
  assert.deepEqual(await taken([5n, 9n, 11n], 10n), [2]);
  assert.deepEqual(await taken([5n, 5n], 10n), [0, 1]);
  assert.deepEqual(await taken([5n, 5n], 11n), []);
  assert.deepEqual(await taken([5n, 6n], 11n), [0, 1]);
  assert.deepEqual(await taken([1n, 9n], 10n), [0, 1]);
  assert.deepEqual(await taken([9n, 1n], 10n), [0, 1]);
  assert.deepEqual(await taken([4n, 4n, 1n], 10n), []);
});

test("addresses with large outputs are told while it takes 4,096 looks at most", () => {
  const outputs = owned(4097, 3);
  const least = { amount: 500n, near: 500 };
  const minorsIn = (count: number, most: number) =>
    Preferable.of(outputs.slice(0, count)).minorsWith(least, most);
  assert.deepEqual(minorsIn(4096, 3), [0, 1, 2]);
  assert.equal(minorsIn(4097, 3), undefined);
  assert.equal(minorsIn(4096, 2), undefined);
  assert.deepEqual(minorsIn(2, 2), [0, 1]);
  assert.deepEqual(Preferable.of(outputs).minorsWith({ amount: 501n, near: 501 }, 0), []);
});

/** How many random numbers it takes to pick one of so many outputs, all or none of which are related to another. */
function drawsFor(pool: readonly OwnedOutput[], selection: readonly OwnedOutput[]): number {
  let draws = 0;
  pickRandomInput(poolOf(pool), selection, (size) => {
    draws++;
    return new Uint8Array(size);
  });
  return draws;
}

test("of more than 64 outputs as many are tried, then all are compared, or 4,096 of more", () => {
  const related = owned(4097).map((output) => ({ ...output, height: 100 }));
  const selection = [{ ...related[0]!, txHash: new Uint8Array(32) }];
  const draws = (count: number, chosen: readonly OwnedOutput[] = selection) =>
    drawsFor(related.slice(0, count), chosen);
  assert.deepEqual(
    [1, 64, 65, 4096, 4097].map((count) => draws(count)),
    [1, 1, 65, 65, 64 + 4096 + 1],
  );
  const far = [{ ...selection[0]!, height: 5 }];
  assert.deepEqual(
    [1, 64, 65, 4097].map((count) => draws(count, far)),
    [1, 1, 1, 1],
  );
  assert.deepEqual(
    [64, 65].map((count) => draws(count, [])),
    [1, 1],
  );
});

test("the smallest of those least related is taken, and of equal ones the first", async () => {
  const at = (height: number, amount: bigint, rct = true) => ({ ...owned(1)[0]!, height, amount, rct });
  const chosen = [at(100, 1n)];
  const smallest = (outputs: readonly OwnedOutput[], selection: readonly OwnedOutput[] = chosen) =>
    runSliced(smallestInput(poolOf(outputs), selection));
  assert.equal(await smallest([]), undefined);
  assert.equal(await smallest([at(50, 1n, false)]), undefined);
  assert.equal(await smallest([at(50, 1n, false), at(100, 9n)]), 1);
  assert.equal(await smallest([at(50, 3n), at(50, 2n), at(50, 2n)]), 1);
  // One block, two to nine, ten or more apart.
  assert.equal(await smallest([at(101, 1n), at(109, 2n), at(110, 9n)]), 2);
  assert.equal(await smallest([at(101, 1n), at(109, 9n), at(102, 8n)]), 2);
  assert.equal(await smallest([at(100, 1n), at(99, 9n)]), 1);
  assert.equal(await smallest([{ ...at(100, 1n), txHash: chosen[0]!.txHash }, at(100, 9n)]), 1);
  assert.equal(await smallest([at(100, 7n), at(101, 6n)], []), 1);
});
