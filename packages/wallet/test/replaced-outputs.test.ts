/** Outputs with the same one-time key, of which only the largest counts, when blocks are undone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { applyChange } from "../src/ledger/apply-change.ts";
import { balance, bytes, mine, newLedger, output, payment, transaction } from "./ledger-items.ts";

/** A smaller output in block 5, a larger one with its key in block 6. */
function replaced({ withKeyImages = true } = {}) {
  const ledger = newLedger();
  for (const [height, amount] of [
    [5, 100n],
    [6, 900n],
  ] as const) {
    const found = output({ key: 1, amount });
    const received = [withKeyImages ? found : { ...found, keyImage: undefined }];
    mine(ledger, height, transaction(height, height, { received }));
  }
  assert.equal(ledger.state.outputs.count, 1);
  assert.equal(balance(ledger, 60).unlocked, 900n);
  return ledger;
}

test("what the larger output was reserved for when its block is undone goes on to spend the smaller one", () => {
  const ledger = replaced();
  applyChange(ledger, { kind: "outgoing", payment: payment(200), txKeys: [] });
  mine(ledger, 6);
  const { outputs } = ledger.state;
  assert.deepEqual([outputs.at(0)!.amount, outputs.at(0)!.pendingSpend], [100n, toHex(bytes(200))]);
  assert.equal(balance(ledger, 60).unlocked, 0n);
  applyChange(ledger, { kind: "outgoingState", txHash: toHex(bytes(200)), state: "failed" });
  assert.equal(balance(ledger, 60).unlocked, 100n);
});

test("a smaller output is not reserved for a payment that has failed since the larger one replaced it", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(5, 5, { received: [output({ key: 1, amount: 100n })] }));
  applyChange(ledger, { kind: "outgoing", payment: payment(200), txKeys: [] });
  mine(ledger, 6, transaction(6, 6, { received: [output({ key: 1, amount: 900n })] }));
  applyChange(ledger, { kind: "outgoingState", txHash: toHex(bytes(200)), state: "failed" });
  mine(ledger, 6);
  assert.equal(ledger.state.outputs.at(0)!.pendingSpend, undefined);
  assert.equal(balance(ledger, 60).unlocked, 100n);
});

test("a key image that was learnt of the larger output finds spends of the smaller one", () => {
  const ledger = replaced({ withKeyImages: false });
  applyChange(ledger, {
    kind: "keyImages",
    offset: 0,
    keyImages: [bytes(101)],
    spent: [],
    transactions: [],
  });
  mine(ledger, 6);
  const { outputs } = ledger.state;
  assert.equal(outputs.placeOfImage(bytes(101)), 0);
  assert.equal(outputs.withKeyImage, 1);
  mine(ledger, 7, transaction(7, 7, { spends: [1] }));
  assert.deepEqual([outputs.at(0)!.amount, outputs.at(0)!.spentHeight], [100n, 7]);
});

test("what the owner has frozen, or not any more, stays so when the larger output is undone", () => {
  for (const isFrozen of [true, false]) {
    const ledger = replaced();
    applyChange(ledger, { kind: "frozen", keyImage: toHex(bytes(101)), frozen: isFrozen });
    mine(ledger, 6);
    assert.equal(ledger.state.outputs.at(0)!.frozen, isFrozen);
    assert.equal(balance(ledger, 60).unlocked, isFrozen ? 0n : 100n);
  }
});
