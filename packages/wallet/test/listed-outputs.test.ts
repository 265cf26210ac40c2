/** Outputs that a caller lists are those of one moment, although they are read some at a time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { listOutputs, type OutputFilter } from "../src/outputs/listed-outputs.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import { OutputsMoved } from "../src/outputs/walk.ts";
import { isUnspent } from "../src/unlock.ts";
import { ended } from "./ended.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";

const all: OutputFilter = { account: 0, minors: new Set(), isSpent: undefined };

/** Outputs of two accounts: some spent, reserved, frozen, without key image, or with an unlock time. */
function mixedBook(count: number): OutputBook {
  const made = ledgerOf({ count, amount: (i) => 2n ** BigInt(i % 64), addresses: 7 }).state.outputs;
  return OutputBook.of(
    Array.from(made, (output, i) => ({
      ...output,
      subaddress: { major: i % 3 === 0 ? 1 : 0, minor: i % 7 },
      globalIndex: BigInt(i) * 2n ** 40n,
      keyImage: i % 5 === 0 ? undefined : output.keyImage,
      frozen: i % 11 === 0,
      spentHeight: i % 4 === 0 ? 100 + i : undefined,
      pendingSpend: i % 13 === 0 ? "pending" : undefined,
      unlockTime: i % 17 === 0 ? 2n ** 63n : BigInt(i % 3),
    })),
  );
}

const expected = (book: OutputBook, { account, minors, isSpent }: OutputFilter) =>
  Array.from(book)
    .map((output) => ({ ...output, isSpent: !isUnspent(output) }))
    .filter(
      ({ subaddress: { major, minor } }) => major === account && (minors.size === 0 || minors.has(minor)),
    )
    .filter((output) => isSpent === undefined || output.isSpent === isSpent)
    .map((output) => {
      const { amount, height, unlockTime, frozen, globalIndex, oneTimeKey } = output;
      const { keyImage, subaddress, txHash, txSize } = output;
      return {
        ...{
          amount,
          height,
          unlockTime,
          frozen,
          globalIndex,
          oneTimeKey,
          keyImage,
          subaddress,
          txHash,
          txSize,
        },
        isSpent: output.isSpent,
      };
    });

test("outputs are listed by account, addresses, and whether they are spent", () => {
  const book = mixedBook(3000);
  for (const account of [0, 1, 2])
    for (const minors of [[], [2], [0, 5]])
      for (const isSpent of [undefined, true, false]) {
        const filter = { account, minors: new Set(minors), isSpent };
        const listed = ended(listOutputs(book, filter));
        assert.deepEqual([...listed], expected(book, filter), JSON.stringify([account, minors, isSpent]));
        assert.equal(listed.length === 0, account === 2);
      }
});

test("what changes while outputs are listed, and afterwards, is not shown", () => {
  const book = mixedBook(500);
  const before = expected(book, all);
  const steps = listOutputs(book, all);
  steps.next();
  const [unspent, spent] = [1, 4];
  book.spend(unspent, 999);
  book.spend(spent, undefined);
  book.reserve(2, "another");
  book.freeze(7, true);
  book.learnKeyImage(5, bytes(32));
  book.push({ ...book.at(1)!, oneTimeKey: bytes(32), keyImage: bytes(32) });
  const listed = ended(steps);
  assert.deepEqual([...listed], before);
  assert.notDeepEqual(expected(book, all), before);
  book.truncate(10);
  assert.deepEqual([...listed], before);
});

test("a list of outputs that move meanwhile is not finished", () => {
  const book = mixedBook(500);
  const steps = listOutputs(book, all);
  for (let i = 0; i < 300; i++) steps.next();
  book.truncate(499);
  assert.throws(() => steps.next(), OutputsMoved);
});

test("listing pauses between outputs, and reads no others than are wanted", (t) => {
  const book = mixedBook(700);
  const at = t.mock.method(book, "at");
  let most = 0;
  const steps = listOutputs(book, all);
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    most = Math.max(most, at.mock.callCount());
    at.mock.resetCalls();
  }
  assert.equal(most, 1);
  ended(listOutputs(book, { account: 0, minors: new Set([3]), isSpent: false }));
  assert.equal(at.mock.callCount(), expected(book, { ...all, minors: new Set([3]), isSpent: false }).length);
});
