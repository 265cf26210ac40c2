/** A block that brought much is undone in several changes, after each of which the wallet may end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { type BlocksChange, isRestOfBlock, undonePart, type WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { lastTransactions } from "../src/outputs/block-outputs.ts";
import { inParts } from "../src/scan/change-parts.ts";
import type { ScannedTransaction } from "../src/state.ts";
import { checkBook } from "./check-book.ts";
import { blocks, output, signed, transaction, tx } from "./events-fixture.ts";
import { bytes, payingTransaction } from "./many-outputs.ts";
import { createScans, newLedger } from "./scans-fixture.ts";

const RECEIPTS = 1300;
const FORK = 3;
const OTHERS = 20;

function chainOf(lengths: readonly number[], fromHeight: number): BlocksChange {
  const transactions = lengths.flatMap((count, i) =>
    Array.from({ length: count }, () => payingTransaction(fromHeight + i, 10n)),
  );
  const ids = lengths.map(() => bytes(32));
  return { kind: "blocks", fromHeight, count: ids.length, ids, lastBlockReward: 5n, transactions };
}

const picture = ({ state }: Ledger) => ({
  height: state.height,
  partId: state.partId,
  rescanTo: state.rescanTo,
  outputs: [...state.outputs],
  incoming: [...state.incoming],
  outgoing: [...state.outgoing.values()],
  last: state.recent.last,
});

/** The output that spends of the block at the fork are tried with, and transactions there that spend it. */
const first = payingTransaction(1, 100n);
const spend = (): ScannedTransaction => ({
  ...payingTransaction(FORK, 60n),
  inputs: [{ keyImage: first.received[0]!.keyImage!, amount: 0n }],
});

for (const isComplete of [true, false])
  test(`a large ${isComplete ? "block" : "beginning of a block"} is reorganised in changes, whichever is the last before a crash`, async () => {
    const shared = { ...chainOf([1, 0], 1), transactions: [first] };
    const paying = chainOf([RECEIPTS, 7], FORK);
    const large = {
      ...paying,
      transactions: [...paying.transactions.slice(0, 600), spend(), ...paying.transactions.slice(600)],
    };
    const other = chainOf([OTHERS, 1, 1], FORK);
    const whole = newLedger();
    for (const change of [shared, other]) applyChange(whole, change);
    const parts = [...inParts(large, false)];
    const begun = isComplete ? parts : parts.slice(0, -1);
    let most = 0;
    for (let left = 0; ; left++) {
      const ledger = newLedger();
      for (const change of [shared, ...begun]) applyChange(ledger, change);
      let isKilled = false;
      const begin = (changes: number) => {
        let count = changes;
        return createScans(ledger, async (change: WalletChange) => {
          if (count-- === 0) throw new Error("killed");
          const before = ledger.state.outputs.count;
          applyChange(ledger, change);
          most = Math.max(most, Math.abs(before - ledger.state.outputs.count));
          checkBook(ledger.state.outputs);
          const unpaid = [...ledger.state.outputs].filter(({ txHash }) => !ledger.state.incoming.has(txHash));
          const isSpent = ledger.state.outputs.withImage(first.received[0]!.keyImage!)!.spentHeight;
          // What is left of the block is true by itself: change is there as long as the spend that it is left of.
          assert.equal(unpaid.length, isSpent === undefined ? 0 : 1);
          assert.equal(ledger.state.outgoing.size, unpaid.length);
        });
      };
      for (const changes of [left, Number.POSITIVE_INFINITY]) {
        const thread = begin(changes);
        const end = thread.scans.inTurn(() => thread.scans.refresh(0));
        await thread.whenScanning();
        thread.sendBlocks(other);
        thread.receive({ kind: "done", id: 1, pool: undefined });
        await end.catch((error: Error) => {
          assert.match(error.message, /killed/);
          isKilled = true;
        });
      }
      assert.deepEqual(picture(ledger), picture(whole), `after ${left} changes`);
      if (!isKilled) {
        assert.ok(left >= 3, `${left} changes`);
        break;
      }
    }
    assert.ok(most <= 510, `${most} outputs in one change`);
  });

test("what remains of a block is completed by nothing", () => {
  const ledger = newLedger();
  const [part, rest] = [...inParts(chainOf([RECEIPTS], 1), false)];
  applyChange(ledger, part!);
  assert.ok(isRestOfBlock(rest!, ledger.state));
  const ids = lastTransactions(ledger.state.outputs, 1, 100);
  applyChange(ledger, undonePart(1, ids, ledger.state));
  assert.ok(!isRestOfBlock(rest!, ledger.state));
  assert.equal(ledger.state.incoming.length, part!.transactions.length - ids.length);
});

test("transactions of a block whose outputs replace one another stay until all are undone", () => {
  const ledger = newLedger();
  const paying = (id: number, key: number, amount: bigint) =>
    transaction(id, 5, { received: [output(key, amount), output(key + 50, 1n)] });
  applyChange(ledger, blocks(1, 5, paying(1, 1, 5n), paying(2, 2, 5n), paying(3, 1, 9n), paying(4, 4, 5n)));
  const { state } = ledger;
  assert.deepEqual(lastTransactions(state.outputs, 5, 1).map(toHex), [tx(4)]);
  assert.deepEqual(lastTransactions(state.outputs, 5, 3).map(toHex), [tx(4), tx(2)]);
  applyChange(ledger, undonePart(5, lastTransactions(state.outputs, 5, 3), state));
  assert.deepEqual(lastTransactions(state.outputs, 5, 1), []);
  checkBook(state.outputs);
  const sum = (amounts: readonly { readonly amount: bigint }[]) =>
    amounts.reduce((all, it) => all + it.amount, 0n);
  assert.equal(sum([...state.incoming]), sum([...state.outputs]));
});

test("a payment of which its change is undone waits again, and reserves what it spends", () => {
  const ledger = newLedger();
  applyChange(ledger, { kind: "outgoing", payment: signed(9, 1), txKeys: [bytes(32)] });
  const change = transaction(9, 5, { received: [output(40, 60n, { minor: 0 })], spends: [1] });
  const paying = transaction(8, 5, { received: [output(8, 5n)] });
  applyChange(ledger, blocks(1, 5, transaction(1, 1, { received: [output(1, 100n)] }), paying, change));
  const { state } = ledger;
  assert.equal(state.outgoing.get(tx(9))!.state, "confirmed");
  state.outputs.freeze(state.outputs.count - 1, true);
  applyChange(ledger, undonePart(5, lastTransactions(state.outputs, 5, 1), state));
  assert.equal(state.outgoing.get(tx(9))!.state, "pending");
  const [spent] = state.outputs;
  assert.deepEqual([spent!.spentHeight, spent!.pendingSpend], [undefined, tx(9)]);
  assert.deepEqual([state.outputs.count, state.incoming.length], [2, 2]);
  // Its change is frozen again once it is found again.
  assert.equal(state.frozenBefore.length, 1);
});
