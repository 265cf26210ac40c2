/** Transactions that were scanned alone, ahead of the blocks, and are in another block once the scan gets there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalletChange } from "../src/changes.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import type { ScannedTransaction } from "../src/state.ts";
import { blocks, output, transaction, tx } from "./events-fixture.ts";

/** A transaction with two outputs to two addresses of the wallet, by the height of its block. */
function paid(height: number): ScannedTransaction {
  const received = [output(1, 30n, { minor: 1 }), { ...output(2, 12n, { minor: 2 }), outputIndex: 1 }];
  return transaction(7, height, {
    received: received.map((each) => ({ ...each, globalIndex: each.globalIndex + 100n * BigInt(height) })),
  });
}
const spending = (height: number) =>
  transaction(8, height, { received: [output(3, 20n, { minor: 0 })], spends: [1] });
const alone = (...transactions: ScannedTransaction[]): WalletChange => ({
  kind: "transactions",
  transactions,
});

async function wallet() {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const deriver = await EventDeriver.of(ledger);
  const tell = (change: WalletChange) => deriver.observe(change, () => applyChange(ledger, change));
  const seen = () => ({
    outputs: Array.from(ledger.state.outputs, ({ height, timestamp, globalIndex, spentHeight, frozen }) => [
      ...[height, timestamp, Number(globalIndex), spentHeight, frozen],
    ]),
    receipts: Array.from(ledger.state.incoming, (it) => [it.height, it.subaddress.minor, Number(it.amount)]),
    payments: Array.from(ledger.state.outgoing.values(), ({ height }) => height),
    sum: ledger.state.outputs.sumsOf(0).get(2)?.free,
  });
  return { ledger, tell, seen };
}

test("it moves to the block that the scan finds it in, lower or higher, with what spends it", async () => {
  for (const height of [1990, 2010]) {
    const { ledger, tell, seen } = await wallet();
    tell(blocks(1, 10));
    tell(alone(paid(2000), spending(2001)));
    applyChange(ledger, { kind: "frozen", keyImage: "66".repeat(32), frozen: true });
    tell(blocks(11, 1900));
    const events = tell(blocks(1911, 200, paid(height), spending(height + 1)));
    const { outputs, receipts, payments, sum } = seen();
    const time = 1_000_000;
    assert.deepEqual(outputs, [
      [height, time + height, 100 * height + 1, height + 1, false],
      [height, time + height, 100 * height + 2, undefined, true],
      [height + 1, time + height + 1, 3, undefined, false],
    ]);
    assert.deepEqual(receipts, [
      [height, 2, 12],
      [height, 1, 30],
    ]);
    assert.deepEqual(payments, [height + 1]);
    assert.equal(sum, 0n, "what is frozen stays frozen");
    const ofPayment = events.filter(({ tx_hash }) => tx_hash === tx(7));
    assert.deepEqual(
      ofPayment.slice(0, 3).map((event) => [event.type, event["height"]]),
      [
        ["payment_undone", 2000],
        ["payment_undone", 2000],
        ["payment_in_block", height],
      ],
    );
    assert.deepEqual(tell(blocks(2111, 1)), [], "nothing is due at the former height");
  }
});

test("in the block that it was found in it stays as it is, and nothing is told again", async () => {
  const { tell, seen } = await wallet();
  tell(blocks(1, 10));
  tell(alone(paid(2000)));
  const before = seen();
  const told = tell(blocks(11, 1995, paid(2000)));
  assert.deepEqual(
    told.filter(({ type }) => type !== "payment_confirmed" && type !== "payment_unlocked"),
    [],
  );
  assert.deepEqual(seen(), before);
});

test("a smaller output with the same key is not taken for one that has moved", async () => {
  const { tell, seen } = await wallet();
  const small = transaction(9, 1500, { received: [output(1, 5n)] });
  tell(blocks(1, 10));
  tell(alone(paid(2000)));
  tell(blocks(11, 2100, small, paid(2010)));
  assert.deepEqual(
    seen().outputs.map(([height]) => height),
    [2010, 2010],
  );
});
