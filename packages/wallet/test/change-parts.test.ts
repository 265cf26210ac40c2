import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { inParts, undoneInParts } from "../src/scan/change-parts.ts";
import type { BlocksChange } from "../src/scan/messages.ts";
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
  const receipts = [0, 300, 0, 40, 700, 1, 250, 0, 0, 30, 0];
  for (const keepsLastId of [false, true]) {
    const change = blocks(100, receipts);
    const parts = [...inParts(change, keepsLastId)];
    assert.ok(parts.length >= 3 && parts.length < receipts.length, `${parts.length} parts`);
    for (const [i, { fromHeight, count, transactions }] of parts.entries()) {
      assert.equal(fromHeight, i === 0 ? 100 : parts[i - 1]!.fromHeight + parts[i - 1]!.count);
      const items = new Set(transactions.map(({ height }) => height));
      for (const height of items) assert.ok(height >= fromHeight && height < fromHeight + count);
      assert.ok(transactions.length <= 251 || items.size <= 2, "as few as blocks allow");
    }
    const [whole, divided] = [newLedger(), newLedger()];
    applyChange(whole, keepsLastId ? { ...change, ids: change.ids.slice(-1) } : change);
    for (const part of parts) {
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

test("blocks that bring little are one change", () => {
  const change = blocks(7, [1, 0, 3]);
  assert.deepEqual([...inParts(change, false)], [change]);
  const nothing = blocks(7, [0, 0]);
  assert.deepEqual([...inParts(nothing, false)], [nothing]);
  assert.deepEqual([...inParts(nothing, true)], [{ ...nothing, ids: nothing.ids.slice(-1) }]);
});

test("blocks that brought much are undone in parts, and come to the same", () => {
  const change = blocks(100, [300, 300, 5, 600, 0, 900, 20, 300]);
  const [whole, divided] = [newLedger(), newLedger()];
  for (const ledger of [whole, divided]) applyChange(ledger, change);
  const next = blocks(102, [1, 0, 0, 2, 0, 0, 0, 0]);
  const heights = undoneInParts(divided.state.outputs, next.fromHeight);
  assert.deepEqual(heights, [105], "a block is undone whole");
  const undone = { kind: "blocks", count: 0, ids: [], lastBlockReward: 5n, transactions: [] } as const;
  for (const fromHeight of heights) applyChange(divided, { ...undone, fromHeight });
  assert.equal(divided.state.height, 105);
  for (const ledger of [whole, divided]) applyChange(ledger, next);
  assert.deepEqual(pictureOf(divided), pictureOf(whole));
  assert.deepEqual(undoneInParts(divided.state.outputs, 102), [], "little is left to undo");
});
