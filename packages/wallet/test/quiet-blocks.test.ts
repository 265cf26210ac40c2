import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { QuietBlocks } from "../src/ledger/quiet-blocks.ts";
import { plainState } from "./plain-state.ts";

const settings = { refreshFromHeight: 0 } as Parameters<typeof createLedger>[1];
const note: WalletChange = { kind: "note", txHash: "aa", note: "n" };

function blocks(fromHeight: number, count = 1): WalletChange {
  const ids = Array.from({ length: count }, (_, i) => new Uint8Array(32).fill(fromHeight + i));
  return { kind: "blocks", fromHeight, count, ids, lastBlockReward: 0n, transactions: [] };
}

/** A wallet, and what of its changes is on disk: all that a kill leaves. */
function start() {
  const ledger = createLedger("regtest", settings);
  const written: WalletChange[] = [];
  const disk = {
    append: async (change: WalletChange) => void written.push(change),
    refuse: () => undefined,
    close: async () => undefined,
  };
  const log = new QuietBlocks(disk, ledger);
  const commit = async (change: WalletChange) => {
    applyChange(ledger, change);
    await log.append(change);
  };
  const afterKill = () => {
    const other = createLedger("regtest", settings);
    for (const change of written) applyChange(other, change);
    return other.state;
  };
  return { state: ledger.state, log, commit, written, afterKill };
}

test("a kill takes back nothing but the height of blocks that brought nothing", async () => {
  const { state, commit, afterKill } = start();
  for (let height = 1; height <= 50; height++) await commit(blocks(height));
  assert.equal(afterKill().height, 1);
  await commit(note);
  assert.deepEqual(plainState(afterKill()), plainState(state));
  await commit(blocks(51)); // after another change the first is written, whatever that was
  assert.deepEqual(plainState(afterKill()), plainState(state));
  await commit(blocks(52));
  const { height, notes } = afterKill();
  assert.deepEqual([height, notes.get("aa"), state.height], [52, "n", 53]);
  for (let next = 53; next <= 53 + 400; next++) await commit(blocks(next));
  assert.ok(state.height - afterKill().height < 250);
});

test("a reorganisation is written at once, with what it undoes before it", async () => {
  const { state, commit, afterKill, written } = start();
  for (let height = 1; height <= 5; height++) await commit(blocks(height));
  await commit(blocks(4, 3));
  assert.equal(written.length, 6);
  assert.deepEqual(plainState(afterKill()), plainState(state));
});

test("closing writes all; where it can't, the wallet closes all the same", async () => {
  const { state, commit, log, afterKill } = start();
  await commit(blocks(1));
  await log.close();
  assert.deepEqual(plainState(afterKill()), plainState(state));
  let isClosed = false;
  const full = {
    append: async () => Promise.reject(new Error("full")),
    refuse: () => undefined,
    close: async () => {
      isClosed = true;
    },
  };
  const other = new QuietBlocks(full, createLedger("regtest", settings));
  await other.append(blocks(1));
  await other.close();
  assert.ok(isClosed);
});

test("nothing waits where an event log counts changes", async () => {
  const { state, commit, afterKill } = start();
  await commit(blocks(1));
  await commit({ kind: "eventSource", source: new Uint8Array(16) });
  for (let height = 2; height < 6; height++) {
    await commit(blocks(height));
    assert.deepEqual(plainState(afterKill()), plainState(state));
  }
});
