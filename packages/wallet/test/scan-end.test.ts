/** What comes after a scan finds all the blocks that the scan has brought, or none of them follows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { blocks } from "./events-fixture.ts";
import { createScans, newLedger } from "./scans-fixture.ts";

/** Scans whose changes take some turns to be written. */
function createSlow({ refuses = () => false }: { refuses?: (change: WalletChange) => boolean } = {}) {
  const ledger = newLedger();
  const commit = async (change: WalletChange) => {
    if (refuses(change)) throw new Error("the disk is full");
    applyChange(ledger, change);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  };
  return { ledger, commit, ...createScans(ledger, commit) };
}

const failed = { kind: "failed", id: 1, refusal: "UNKNOWN_ERROR", message: "the node is gone" } as const;

test("a scan that fails has its blocks stored before anything else is done", async () => {
  const { ledger, scans, sendBlocks, receive, commit, whenScanning } = createSlow();
  const scan = assert.rejects(
    scans.inTurn(() => scans.refresh(0)),
    /the node is gone/,
  );
  const heights: number[] = [];
  const reset = scans.inTurn(() => {
    heights.push(ledger.state.height);
    return commit({ kind: "reset", hard: false });
  });
  await whenScanning();
  for (let part = 0; part < 5; part++) sendBlocks(blocks(1 + 10 * part, 10));
  receive(failed);
  await scan;
  await reset;
  assert.deepEqual(heights, [51]);
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  assert.equal(ledger.state.height, 1, "nothing of the scan comes after the reset");
});

test("the next scan begins where one has ended whose thread died", async () => {
  const { ledger, scans, sendBlocks, endThread, whenScanning } = createSlow();
  const scan = assert.rejects(
    scans.inTurn(() => scans.refresh(0)),
    /the scan thread ended/,
  );
  const heights: number[] = [];
  const next = scans.inTurn(async () => void heights.push(ledger.state.height));
  await whenScanning();
  for (let part = 0; part < 3; part++) sendBlocks(blocks(1 + 10 * part, 10));
  await setImmediate();
  endThread();
  await Promise.all([scan, next]);
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  assert.deepEqual(heights, [ledger.state.height], "nothing of the scan came later");
});

test("blocks behind one that can't be stored are not, and the scan fails with that", async () => {
  const refuses = (change: WalletChange) => change.kind === "blocks" && change.fromHeight === 21;
  const { ledger, scans, sent, receive, sendBlocks, whenScanning } = createSlow({ refuses });
  const scan = assert.rejects(
    scans.inTurn(() => scans.refresh(0)),
    /the disk is full/,
  );
  await whenScanning();
  for (let part = 0; part < 5; part++) sendBlocks(blocks(1 + 10 * part, 10));
  while (!sent.some(({ kind }) => kind === "cancel")) await setImmediate();
  receive({ kind: "done", id: 1, pool: undefined });
  await scan;
  assert.equal(ledger.state.height, 21);
  const again = scans.inTurn(() => scans.refresh(0));
  await whenScanning();
  sendBlocks(blocks(21, 0));
  receive({ kind: "done", id: 1, pool: undefined });
  await again;
  assert.equal(ledger.state.height, 21);
});
