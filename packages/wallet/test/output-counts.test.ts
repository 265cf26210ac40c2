/** What a node's numbers of outputs may be at most, and from where on they are asked for again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WalletRefusal } from "../src/refusal.ts";
import { agreesWith, type CountsAnswer, KeptOutputCounts } from "../src/transfer/output-counts.ts";

const answer = (startHeight: number, base: number, counts: readonly number[]): CountsAnswer => ({
  ...{ startHeight, base, counts },
});

/** What one answer comes to. */
const first = (told: CountsAnswer, walletHeight = 0) =>
  new KeptOutputCounts().update(async () => told, walletHeight);

async function isRefused(told: CountsAnswer, why: RegExp, walletHeight = 0): Promise<void> {
  await assert.rejects(first(told, walletHeight), (error: Error) => {
    assert.ok(error instanceof WalletRefusal);
    assert.match(error.message, why);
    return true;
  });
}

test("as many blocks and outputs as there can be are believed, and not one more", async () => {
  const blocks = 2 ** 25;
  const most = await first(answer(blocks - 2, 7, [1, 2]));
  assert.deepEqual(most, { startHeight: blocks - 2, cumulative: [8, 10] });
  await isRefused(answer(blocks - 1, 7, [1, 2]), /more blocks than there can be/);
  const outputs = 2 ** 20;
  assert.deepEqual((await first(answer(3, 3 * outputs, [outputs]))).cumulative, [4 * outputs]);
  await isRefused(answer(3, 3 * outputs + 1, [0]), /more outputs than blocks hold/);
  await isRefused(answer(3, 0, [0, outputs + 1, 0]), /more outputs than blocks hold/);
  await isRefused(answer(-1, 0, [0]), /not asked for/);
});

test("a node may be a hundred blocks behind what was scanned, and not one more", async () => {
  const counts = Array<number>(50).fill(1);
  assert.equal((await first(answer(0, 0, counts), 150)).cumulative.length, 50);
  await isRefused(answer(0, 0, counts), /fewer blocks than were scanned/, 151);
  assert.equal((await first(answer(10, 0, counts), 160)).cumulative.length, 50);
  await isRefused(answer(10, 0, counts), /fewer blocks than were scanned/, 161);
});

/** Asks a node of so many blocks with two outputs each, from `startHeight` on. */
function askingOf(startHeight: number, end: () => number) {
  const asked: number[] = [];
  const ask = async (from: number) => {
    asked.push(from);
    const begin = Math.max(from, startHeight);
    return answer(begin, 2 * (begin - startHeight), Array<number>(end() - begin).fill(2));
  };
  return { asked, ask };
}

test("the newest hundred blocks are asked for again, once there are more", async () => {
  let end = 105;
  const { asked, ask } = askingOf(5, () => end);
  const kept = new KeptOutputCounts();
  for (const length of [100, 101, 102, 103]) {
    end = 5 + length;
    const { startHeight, cumulative } = await kept.update(ask, end);
    assert.deepEqual([startHeight, cumulative.length, cumulative.at(-1)], [5, length, 2 * length]);
  }
  assert.deepEqual(asked, [0, 0, 6, 7]);
});

test("what does not continue the kept numbers makes all of them be asked for", async () => {
  const good = askingOf(0, () => 300);
  const lies: readonly ((told: CountsAnswer) => CountsAnswer | Error)[] = [
    (told) => ({ ...told, base: told.base + 1 }),
    (told) => ({ ...told, startHeight: told.startHeight + 1 }),
    () => new WalletRefusal("NO_DAEMON_CONNECTION", "it is away"),
  ];
  for (const lie of lies) {
    const kept = new KeptOutputCounts();
    const before = await kept.update(good.ask, 300);
    const asked: number[] = [];
    const ask = async (from: number) => {
      asked.push(from);
      const told = await good.ask(from);
      const changed = from === 0 ? told : lie(told);
      if (changed instanceof Error) throw changed;
      return changed;
    };
    assert.deepEqual(await kept.update(ask, 300), before);
    assert.deepEqual(asked, [200, 0]);
  }
  const kept = new KeptOutputCounts();
  await kept.update(good.ask, 300);
  const asked: number[] = [];
  const broken = async (from: number) => {
    asked.push(from);
    throw new TypeError("a fault of the program");
  };
  await assert.rejects(kept.update(broken, 300), TypeError);
  assert.deepEqual(asked, [200], "a fault is no answer");
  const short = async (from: number) => answer(from, 2 * from, [2]);
  await assert.rejects(kept.update(short, 302), /fewer blocks than were scanned/);
  assert.equal((await kept.update(good.ask, 300)).cumulative.length, 300, "what was refused is not kept");
});

test("an output is in the block whose numbers its index lies between", () => {
  const counts = { startHeight: 10, cumulative: [3, 5, 5, 9] };
  const heightsOf = (globalIndex: bigint) =>
    [8, 9, 10, 11, 12, 13, 14].filter((height) => agreesWith(counts, { height, globalIndex }));
  const expected = [[10], [10], [10], [11], [11], [13], [13], [13], [13], []];
  assert.deepEqual(
    expected.map((_, index) => heightsOf(BigInt(index))),
    expected,
  );
});
