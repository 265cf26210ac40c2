/** Once a reorganisation has given places to other outputs, a payment that was being planned takes none of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutputBook } from "../src/outputs/output-book.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { type OutputPool, poolOfParts, poolOfPlaces, whileUnchanged } from "../src/transfer/output-pool.ts";
import { preferableIn } from "../src/transfer/preferable.ts";
import { ledgerOf } from "./many-outputs.ts";

const COUNT = 6;
const question = { height: 5000, seconds: 0, needsKeyImage: false, isUnlocked: () => true };
const filter = { kind: "hidden", question, leastAmount: 0n, greatestAmount: 2n ** 63n } as const;

/** A book of outputs at two addresses, in turn, worth 1, 2, 3 .. */
const newBook = (): OutputBook =>
  ledgerOf({ count: COUNT, amount: (i) => BigInt(i + 1), addresses: 2 }).state.outputs;

/** Each question answers before the last output goes, and refuses after it. */
function checkRefusal(book: OutputBook, questions: Readonly<Record<string, () => unknown>>): void {
  for (const ask of Object.values(questions)) ask();
  book.truncate(COUNT - 1);
  for (const [name, ask] of Object.entries(questions))
    assert.throws(
      ask,
      (error: Error) => {
        assert.ok(error instanceof WalletRefusal);
        assert.match(error.message, /outputs have changed: try again/);
        return true;
      },
      name,
    );
}

const questionsOf = (pool: OutputPool, book: OutputBook) => {
  const output = book.at(0)!;
  return {
    at: () => pool.at(0),
    txHashAt: () => pool.txHashAt(0),
    heightAt: () => pool.heightAt(0),
    amountAt: () => pool.amountAt(0),
    amountNumberAt: () => pool.amountNumberAt(0),
    isHiddenAt: () => pool.isHiddenAt(0),
    indexOf: () => pool.indexOf(output),
  };
};

test("a pool of some places answers for its outputs, and for none once they have moved", () => {
  const book = newBook();
  const pool = poolOfPlaces(book, Uint32Array.of(4, 1, 2));
  const [four, one, two] = [4, 1, 2].map((place) => book.at(place)!);
  assert.deepEqual([pool.size, pool.at(0), pool.at(2)], [3, four, two]);
  assert.deepEqual([pool.amountAt(1), pool.amountNumberAt(1), pool.heightAt(1)], [2n, 2, one!.height]);
  assert.deepEqual([pool.txHashAt(1), pool.isHiddenAt(1)], [one!.txHash, true]);
  assert.deepEqual([pool.indexOf(one!), pool.indexOf(book.at(0)!)], [1, -1]);
  assert.equal(pool.indexOf({ ...one!, oneTimeKey: new Uint8Array(32) }), -1);
  const run = { from: 0, least: 0, greatest: Number.POSITIVE_INFINITY, mayHaveHidden: true };
  assert.deepEqual(pool.runs(), [{ ...run, to: 3 }]);
  pool.removeAt(0);
  assert.deepEqual([pool.size, pool.at(0), pool.indexOf(two!), pool.indexOf(four!)], [2, two, 0, -1]);
  pool.removeAt(1);
  assert.deepEqual([pool.size, pool.indexOf(one!)], [1, -1]);
  checkRefusal(book, questionsOf(pool, book));
  pool.removeAt(0);
  assert.deepEqual(pool.runs(), []);
});

test("a pool of an address answers for none of its outputs once they have moved", () => {
  const book = newBook();
  const pool = poolOfParts(book, book.freeOfAddress({ major: 0, minor: 0 }, filter));
  assert.deepEqual([pool.size, pool.amountAt(2)], [3, 5n]);
  checkRefusal(book, { ...questionsOf(pool, book), runs: () => pool.runs() });
});

test("outputs that may pay alone or in pairs are asked for no more once they have moved", () => {
  const book = newBook();
  const { source } = preferableIn(book, { account: 0, minors: [] }, filter);
  assert.deepEqual([source.mostOf(0), source.mostOf(1), source.mostOf(2)], [3, 3, 0]);
  checkRefusal(book, {
    parts: () => source.parts(),
    partsOfAddress: () => source.parts(1),
    at: () => source.at(0),
    heightAt: () => source.heightAt(0),
    minorAt: () => source.minorAt(0),
    amountAt: () => source.amountAt(0),
    amountNumberAt: () => source.amountNumberAt(0),
  });
});

test("only the addresses that are named are looked at", () => {
  const book = newBook();
  const keysOf = (minors: readonly number[], minor?: number) => [
    ...preferableIn(book, { account: 0, minors }, filter).keys({ minor, least: { amount: 2n, near: 2 } }),
  ];
  assert.deepEqual(keysOf([]), [1, 2, 3, 4, 5]);
  assert.deepEqual(keysOf([1]), [1, 3, 5]);
  assert.deepEqual(keysOf([0, 0]), [2, 4]);
  assert.deepEqual(keysOf([0, 1, 1]), [1, 2, 3, 4, 5]);
  assert.deepEqual(keysOf([7]), []);
  assert.deepEqual(keysOf([], 0), [2, 4]);
  const both = preferableIn(book, { account: 0, minors: [1, 1, 0] }, filter);
  assert.deepEqual(both.source.minors, [1, 0]);
  assert.equal(both.first({ amount: 4n, near: 4 }), 3);
  assert.equal(both.first({ amount: 5n, near: 5 }), 4);
  assert.equal(both.first({ amount: 7n, near: 7 }), undefined);
  assert.deepEqual([both.greatest(), both.greatest(0), both.greatest(9)], [6n, 5n, -1n]);
  const known = book.freeOfAccount(0, filter);
  assert.equal(
    preferableIn(book, { account: 0, minors: [], ofAccount: known }, filter).source.parts(),
    known,
  );
});

test("steps go on while outputs stay in their places, and end with what they return", () => {
  const book = newBook();
  function* steps(): Generator<void, string> {
    yield;
    yield;
    return "done";
  }
  const still = whileUnchanged(book, steps());
  assert.deepEqual([still.next().done, still.next().done], [false, false]);
  assert.deepEqual(still.next(), { done: true, value: "done" });
  const moved = whileUnchanged(book, steps());
  moved.next();
  book.truncate(COUNT - 1);
  assert.throws(() => moved.next(), WalletRefusal);
});
