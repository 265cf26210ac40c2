import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScanTask } from "../src/scan/messages.ts";
import { ScanThreads } from "../src/scan/scan-threads.ts";
import { bytes } from "./ledger-items.ts";

test("wallets that scan the same are sent one message, others one each", () => {
  const threads = new ScanThreads(0);
  const task: ScanTask = {
    daemon: { url: "http://127.0.0.1:1" },
    network: "regtest",
    history: [bytes(2), bytes(1)],
    height: 3,
    startHeight: 0,
    fromHeight: 0,
    own: [],
  };
  const own = [{ id: "09", blob: bytes(9) }];
  const isShared = (other: Partial<ScanTask>, before: Partial<ScanTask> = {}, more: object = {}) => {
    const first = threads.scanMessage({ id: 1, threads: 1, task: { ...task, ...before } });
    return threads.scanMessage({ id: 1, threads: 1, task: { ...task, ...other }, ...more }) === first;
  };
  assert.equal(isShared({}), true);
  assert.equal(isShared({ history: [bytes(2), bytes(1)] }), true);
  const others: Partial<ScanTask>[] = [
    { history: [bytes(2)] },
    { history: [bytes(2), bytes(1), bytes(0)] },
    { history: [bytes(3), bytes(1)] },
    { history: [bytes(2), bytes(4)] },
    { daemon: { ...task.daemon } },
    { network: "stagenet" },
    { height: 4 },
    { startHeight: 1 },
    { fromHeight: 1 },
    { own },
  ];
  for (const other of others) {
    assert.equal(isShared(other), false);
    assert.equal(isShared({}, other), false);
  }
  assert.equal(isShared({ own }, { own }), false, "each has transactions of its own");
  assert.equal(isShared({}, {}, { id: 2 }), false);
  assert.equal(isShared({}, {}, { threads: 2 }), false);
});
