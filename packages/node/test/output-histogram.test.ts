import assert from "node:assert/strict";
import { test } from "node:test";
import { RowMeter } from "@anulo/rpc";
import { outputHistogram } from "../src/rpc/output-histogram.ts";

/** More than one turn of the event loop may take. */
function fillTurn(): void {
  const start = performance.now();
  while (performance.now() - start < 20);
}

/** A chain of which block n has one output of each amount from 1 to `amounts`; to look one up takes a whole turn. */
function createNode(amounts: number, height: number) {
  const now = { height, open: 0, turns: 0 };
  const readerOf = (chainHeight: () => number) => ({
    height: chainHeight,
    *outputCounts() {
      for (let amount = 1; amount <= amounts; amount++)
        yield { amount: BigInt(amount), count: chainHeight() };
    },
    outputCount(amount: bigint) {
      fillTurn();
      return amount > 0n && amount <= amounts ? chainHeight() : 0;
    },
    output: (_: bigint, index: number) => ({ height: index }),
    blockInfo: (at: number) => ({ timestamp: 1000 + at }),
  });
  const snapshot = () => {
    const then = now.height;
    now.open++;
    return { ...readerOf(() => then), close: () => now.open-- };
  };
  const parts = { store: { read: readerOf(() => now.height), snapshot }, now: () => 1_000_000 };
  return {
    now,
    context: {
      parts,
      restricted: false,
      signal: new AbortController().signal,
      rows: new RowMeter(() => 0),
    } as never,
  };
}

const anything = { amounts: [], min_count: 0, max_count: 0, unlocked: true, recent_cutoff: 0 };

// Closes the class of answers about all amounts that keep everybody else waiting.
test("a histogram of all amounts lets others go first, and is of one moment", async () => {
  const { now, context } = createNode(5, 100);
  const answered = outputHistogram(anything, context);
  const grow = () => {
    now.height++;
    now.turns++;
    if (now.turns < 4) setImmediate(grow);
  };
  setImmediate(grow);
  const { histogram } = await answered;
  assert.equal(now.turns, 4);
  assert.equal(now.open, 0);
  assert.deepEqual(
    histogram,
    [1n, 2n, 3n, 4n, 5n].map((amount) => ({
      amount,
      total_instances: 100,
      unlocked_instances: 91,
      recent_instances: 0,
    })),
  );
});

test("amounts are told once, ascending, where their number of outputs is wanted", async () => {
  const { context } = createNode(300, 50);
  const ask = async (more: object) => (await outputHistogram({ ...anything, ...more }, context)).histogram;
  const amounts = [256n, 2n, 400n, 2n, 10n];
  assert.deepEqual(
    (await ask({ amounts })).map(({ amount }) => amount),
    [2n, 10n, 256n, 400n],
  );
  assert.deepEqual(
    (await ask({ amounts, min_count: 50, max_count: 50 })).map(({ amount }) => amount),
    [2n, 10n, 256n],
  );
  assert.deepEqual(await ask({ amounts: [2n], min_count: 51 }), []);
  assert.deepEqual(await ask({ amounts: [2n], max_count: 49 }), []);
  const [recent] = await ask({ amounts: [2n], unlocked: false, recent_cutoff: 1030 });
  assert.deepEqual(
    [recent?.total_instances, recent?.unlocked_instances, recent?.recent_instances],
    [50, 41, 11],
  );
});
