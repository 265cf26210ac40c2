/** What a transaction spends of a wallet, and what one in the pool pays it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { spentBy } from "../src/ledger/apply-blocks.ts";
import { incomingFromPool } from "../src/ledger/apply-pool.ts";
import { largeLedger, paysWallet } from "./large-history.ts";
import { ledgerOf, payingTransaction } from "./many-outputs.ts";

test("what a transaction spends is told by its addresses in order, each once", () => {
  const ledger = ledgerOf({ count: 60, amount: (i) => BigInt(100 + i), addresses: 20 });
  const { outputs } = ledger.state;
  const places = [13, 2, 40, 33, 19];
  const inputs = places.map((place) => ({ keyImage: outputs.at(place)!.keyImage!, amount: 0n }));
  const transaction = payingTransaction(90, 1n);
  const spent = spentBy(ledger, { ...transaction, inputs: [...transaction.inputs, ...inputs] });
  assert.deepEqual(spent, {
    amount: places.reduce((sum, place) => sum + BigInt(100 + place), 0n),
    account: 0,
    minors: [0, 2, 13, 19],
    outputs: places.map((place) => outputs.hotAt(place)),
    places,
  });
  for (const visible of [1n, 7n]) {
    const shown = inputs.map((input) => ({ ...input, amount: visible }));
    assert.equal(spentBy(ledger, { ...transaction, inputs: shown }).amount, 5n * visible);
  }
  const { amount, account, minors } = spentBy(ledger, transaction);
  assert.deepEqual([amount, account, minors], [0n, undefined, []]);
});

test("a payment in the pool has the fee that its transaction tells, or none", () => {
  const ledger = largeLedger({ receipts: 10, payments: 1 });
  const waiting = paysWallet("waiting", 0);
  for (const fee of [9n, 0n, undefined]) {
    const finds = [{ transaction: { ...waiting, fee }, doubleSpendSeen: false }];
    const payments = incomingFromPool(ledger, { ids: waiting.txHash, finds } as never, 77);
    assert.deepEqual(
      payments.map((each) => [each.fee, each.amount, each.timestamp, each.doubleSpendSeen]),
      [[fee ?? 0n, 5n, 77, false]],
    );
  }
});
