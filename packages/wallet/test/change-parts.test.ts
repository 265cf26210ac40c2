import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { undoneFrom, undonePart } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { inParts, partsOfBlock, type UndoStep, undoneInParts } from "../src/scan/change-parts.ts";
import { trimKnown } from "../src/scan/history.ts";
import type { BlocksChange } from "../src/scan/messages.ts";
import { checkBook } from "./check-book.ts";
import { bytes, payingTransaction } from "./many-outputs.ts";

const newLedger = () => createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 });

/** Blocks from a height on with so many receipts each. */
function blocks(fromHeight: number, receipts: readonly number[]): BlocksChange {
  return {
    kind: "blocks",
    fromHeight,
    count: receipts.length,
    ids: receipts.map(() => bytes(32)),
    lastBlockReward: 5n,
    transactions: receipts.flatMap((count, i) =>
      Array.from({ length: count }, () => payingTransaction(fromHeight + i, 10n)),
    ),
  };
}

const pictureOf = ({ state }: Ledger) => ({
  height: state.height,
  outputs: [...state.outputs],
  incoming: [...state.incoming],
  recent: [state.recent.offset, state.recent.slice()],
  lastBlockReward: state.lastBlockReward,
  rescanTo: state.rescanTo,
});

test("blocks that bring much are applied in parts, and come to the same", () => {
  const receipts = [0, 300, 0, 40, 1700, 1, 250, 0, 0, 30, 0];
  for (const keepsLastId of [false, true]) {
    const change = blocks(100, receipts);
    const parts = [...inParts(change, keepsLastId)];
    assert.ok(parts.length >= 6, `${parts.length} parts`);
    const [whole, divided] = [newLedger(), newLedger()];
    applyChange(whole, keepsLastId ? { ...change, ids: change.ids.slice(-1) } : change);
    for (const [i, part] of parts.entries()) {
      assert.equal(part.fromHeight, i === 0 ? 100 : parts[i - 1]!.fromHeight + parts[i - 1]!.count);
      assert.ok(part.transactions.length <= 251);
      assert.deepEqual(part.restOfId, parts[i - 1]?.partId);
      applyChange(divided, part);
      // Whatever happens now, the next scan goes on after this block.
      const { height, recent } = divided.state;
      assert.equal(height, part.fromHeight + part.count);
      assert.equal(recent.end, height);
      assert.ok(recent.has(height - 1, change.ids[height - 1 - 100]!));
    }
    assert.deepEqual(
      { ...pictureOf(divided), recent: undefined },
      { ...pictureOf(whole), recent: undefined },
    );
    if (!keepsLastId) assert.deepEqual(pictureOf(divided).recent, pictureOf(whole).recent);
  }
});

test("the rest of a block follows its beginning, or the beginning is undone", () => {
  const ledger = newLedger();
  applyChange(ledger, blocks(100, [1, 2]));
  const before = pictureOf(ledger);
  const [first, second] = [...inParts(blocks(102, [1200]), false)];
  const other = blocks(102, [2]);
  applyChange(ledger, first!);
  assert.equal(ledger.state.outputs.count, 3 + first!.transactions.length);
  assert.deepEqual(ledger.state.partId, second!.restOfId);
  applyChange(ledger, other);
  assert.equal(ledger.state.partId.length, 0);
  assert.deepEqual([...ledger.state.outputs].slice(0, 3), before.outputs);
  assert.deepEqual([...ledger.state.incoming].slice(0, 3), before.incoming);
  assert.deepEqual([ledger.state.outputs.count, ledger.state.incoming.length], [5, 5]);
  assert.deepEqual([ledger.state.height, ledger.state.rescanTo], [103, 0]);
});

test("known blocks are left out of parts, the first transactions of one among them", () => {
  const change = blocks(100, [1, 1200]);
  const parts = [...inParts(change, false)];
  const ledger = newLedger();
  for (const part of parts) applyChange(ledger, part);
  for (const part of parts) {
    const { count, transactions, partId, restOfId } = trimKnown(ledger.state.recent, part);
    assert.deepEqual([count, transactions, partId, restOfId], [0, [], undefined, undefined]);
  }
  applyChange(ledger, undoneFrom(101, ledger.state));
  for (const [i, part] of parts.entries()) {
    const rest = trimKnown(ledger.state.recent, part);
    assert.deepEqual([rest.fromHeight, rest.partId], [101, part.partId]);
    assert.equal(rest.transactions.length, part.transactions.length - (i === 0 ? 1 : 0));
    applyChange(ledger, rest);
  }
  assert.deepEqual([ledger.state.height, ledger.state.outputs.count], [102, 1201]);
});

test("blocks that bring little are one change", () => {
  const change = blocks(7, [1, 0, 3]);
  assert.deepEqual([...inParts(change, false)], [change]);
  const nothing = blocks(7, [0, 0]);
  assert.deepEqual([...inParts(nothing, false)], [nothing]);
  assert.deepEqual([...inParts(nothing, true)], [{ ...nothing, ids: nothing.ids.slice(-1) }]);
});

/** Undoes in steps; returns how many outputs each change has removed. */
function undoSteps(ledger: Ledger, steps: readonly UndoStep[]): number[] {
  const { state } = ledger;
  const sizes: number[] = [];
  const apply = (change: BlocksChange) => {
    const before = state.outputs.count;
    applyChange(ledger, change);
    sizes.push(before - state.outputs.count);
    checkBook(state.outputs);
    assert.deepEqual(
      [...state.outputs].map(({ txHash }) => toHex(txHash)).sort(),
      [...state.incoming].map(({ txHash }) => toHex(txHash)).sort(),
    );
  };
  for (const { height, isDivided } of steps)
    if (!isDivided) apply(undoneFrom(height, state));
    else for (const ids of partsOfBlock(state.outputs, height)) apply(undonePart(height, ids, state));
  return sizes;
}

test("blocks that brought much are undone in parts, and come to the same", () => {
  const change = blocks(100, [300, 300, 5, 600, 0, 900, 20, 300]);
  const [whole, divided] = [newLedger(), newLedger()];
  for (const ledger of [whole, divided]) applyChange(ledger, change);
  const next = blocks(102, [1, 0, 0, 2, 0, 0, 0, 0]);
  const steps = undoneInParts(divided.state.outputs, { fromHeight: 102, toHeight: 108 });
  assert.deepEqual(steps, [
    { height: 106, isDivided: false },
    { height: 105, isDivided: true },
    { height: 105, isDivided: false },
    { height: 103, isDivided: true },
    { height: 103, isDivided: false },
  ]);
  const sizes = undoSteps(divided, steps);
  assert.ok(Math.max(...sizes) <= 500 && sizes.length === 5, `${sizes} outputs`);
  assert.deepEqual([divided.state.height, divided.state.outputs.count], [103, 605]);
  for (const ledger of [whole, divided]) applyChange(ledger, next);
  assert.deepEqual(pictureOf(divided), pictureOf(whole));
  const range = { fromHeight: 102, toHeight: 110 };
  assert.deepEqual(undoneInParts(divided.state.outputs, range), [], "little is left to undo");
});

test("what a wallet has above its height takes it no further when blocks are undone", () => {
  const ledger = newLedger();
  applyChange(ledger, blocks(100, [300, 300]));
  for (const height of [500, 600, 700]) {
    const transactions = Array.from({ length: 400 }, () => payingTransaction(height, 1n));
    applyChange(ledger, { kind: "transactions", transactions });
  }
  const steps = undoneInParts(ledger.state.outputs, { fromHeight: 99, toHeight: 102 });
  assert.deepEqual(steps.at(-1), { height: 101, isDivided: false });
  undoSteps(ledger, steps);
  assert.deepEqual([ledger.state.height, ledger.state.outputs.count], [101, 300]);
});

test("spends count as what blocks bring, when they are undone", () => {
  const ledger = newLedger();
  applyChange(ledger, blocks(100, [2600]));
  const images = [...ledger.state.outputs].map(({ keyImage }) => ({ keyImage: keyImage!, amount: 0n }));
  const spending = Array.from({ length: 20 }, (_, i) => {
    const inputs = images.slice(130 * i, 130 * (i + 1));
    return { ...payingTransaction(101 + i, 5n), received: [], inputs };
  });
  const change = { ...blocks(101, Array(20).fill(0)), transactions: spending };
  const parts = [...inParts(change, false)];
  assert.ok(parts.length > 1, "they count when they are found");
  for (const part of parts) applyChange(ledger, part);
  const steps = undoneInParts(ledger.state.outputs, { fromHeight: 101, toHeight: 121 });
  assert.deepEqual(
    steps.map(({ height }) => height),
    [117, 113, 109, 105],
  );
});

test("a reorganisation of one output leaves those in their places that it does not touch", () => {
  const ledger = newLedger();
  applyChange(ledger, blocks(100, [1000]));
  const { state } = ledger;
  const [first] = state.outputs;
  const larger = payingTransaction(101, 20n);
  const [output] = larger.received;
  // One key has one key image.
  output!.oneTimeKey.set(first!.oneTimeKey);
  output!.keyImage!.set(first!.keyImage!);
  applyChange(ledger, { ...blocks(101, [2]), transactions: [larger, payingTransaction(101, 1n)] });
  assert.equal(state.outputs.at(0)!.amount, 20n);
  state.outputs.takeChangedRows();
  applyChange(ledger, undoneFrom(101, state));
  assert.deepEqual([state.outputs.count, state.outputs.at(0)], [1000, first]);
  assert.ok(state.outputs.takeChangedRows().size <= 2);
});
