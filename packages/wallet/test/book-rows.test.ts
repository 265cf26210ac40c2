/** Outputs that a book reads from rows count there as they did where they were added one by one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SPENDABLE_AGE } from "../src/outputs/locked-places.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import { ROW_OUTPUTS } from "../src/outputs/output-row.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { checkBook } from "./check-book.ts";
import { Dice } from "./random-changes.ts";

const dice = new Dice("book rows");
const HEIGHT = 1000;

function outputWith(part: Partial<OwnedOutput>): OwnedOutput {
  return {
    txHash: dice.bytes(),
    outputIndex: 0,
    globalIndex: 1n,
    amount: BigInt(1 + dice.below(1000)),
    mask: dice.bytes(),
    rct: true,
    oneTimeKey: dice.bytes(),
    txPublicKey: dice.bytes(),
    keyImage: dice.bytes(),
    subaddress: { major: 0, minor: 0 },
    height: 5,
    timestamp: 0,
    unlockTime: 0n,
    coinbase: false,
    txSize: 1,
    frozen: false,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces: undefined,
    ...part,
  };
}

function readAgain(book: OutputBook): OutputBook {
  const again = new OutputBook();
  again.pass(HEIGHT);
  for (let row = 0; ; row++) {
    const bytes = book.rowBytes(row);
    if (bytes === undefined) break;
    again.addRow(bytes);
  }
  return again;
}

function bookOf(outputs: readonly OwnedOutput[]): OutputBook {
  const book = new OutputBook();
  book.pass(HEIGHT);
  for (const output of outputs) book.push(output);
  return book;
}

/** What counts outputs differently. */
const kinds: Readonly<Record<string, Partial<OwnedOutput>>> = {
  free: {},
  spent: { spentHeight: 7 },
  "spent in the first block": { spentHeight: 0 },
  reserved: { pendingSpend: "aa" },
  "reserved and spent": { pendingSpend: "aa", spentHeight: 7 },
  frozen: { frozen: true },
  "frozen and reserved": { frozen: true, pendingSpend: "aa" },
  visible: { rct: false },
  "without a key image": { keyImage: undefined },
  "of another address": { subaddress: { major: 2, minor: 3 } },
  "just spendable": { height: HEIGHT - SPENDABLE_AGE },
  "not yet spendable": { height: HEIGHT - SPENDABLE_AGE + 1 },
  "locked by height": { unlockTime: BigInt(HEIGHT + 5) },
  "locked by time": { unlockTime: 1_700_000_000n },
};

for (const [name, part] of Object.entries(kinds))
  test(`an output that is ${name} counts the same after it was read from a row`, () => {
    const outputs = [outputWith(part), outputWith({}), outputWith(part)];
    const book = bookOf(outputs);
    checkBook(book);
    const again = readAgain(book);
    const counts = (each: OutputBook) => [
      [...each.accounts].map((account) => [account, ...each.sumsOf(account)]),
      [each.count, each.timed, each.withKeyImage, each.version],
    ];
    assert.deepEqual(counts(again), counts(book));
    for (const height of [HEIGHT + 1, HEIGHT + SPENDABLE_AGE]) {
      const locked = [book, again].map((each) => {
        each.pass(height);
        return [0, 2].flatMap((account) => [...each.lockedOf(account, height)]);
      });
      assert.deepEqual(locked[1], locked[0], `at ${height}`);
    }
  });

test("rows are full but for the last, and one behind another that is not full is refused", () => {
  const book = bookOf(Array.from({ length: ROW_OUTPUTS + 1 }, () => outputWith({})));
  assert.equal(book.rowBytes(2), undefined);
  assert.equal(readAgain(book).count, ROW_OUTPUTS + 1);
  const [full, one] = [book.rowBytes(0)!, book.rowBytes(1)!];
  const again = new OutputBook();
  assert.deepEqual([again.addRow(full), again.addRow(one)], [ROW_OUTPUTS, 1]);
  assert.throws(() => again.addRow(one), RangeError);
  assert.throws(() => new OutputBook().addRow(one.subarray(0, -1)), RangeError);
  assert.throws(() => new OutputBook().addRow(Uint8Array.of(0, 0, 0)), RangeError);
});
