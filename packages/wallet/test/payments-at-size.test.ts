import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { mayWaitForTime } from "../src/changes.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import { accountBalance } from "../src/history/balance.ts";
import { listIncoming, listOutgoing, transfersOf } from "../src/history/transfers.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { incomingFromPool, outgoingFromPool, ownInPool, withoutMined } from "../src/ledger/apply-pool.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { ended } from "./ended.ts";
import { blocksWith, idOf, largeLedger, paymentOf, paysWallet } from "./large-history.ts";

const size = { receipts: 30_000, payments: 3000 };
/** Far fewer than there are payments; a few zones of receipts are read where heights are compared. */
const FEW = 600;

const now = ({ state }: Ledger) => ({
  network: "regtest" as const,
  height: state.height,
  seconds: 1_800_000_000,
});

/** Number of packed payments that a task reads. */
function readsOf({ state: { incoming, outgoing } }: Ledger, task: () => void): number {
  const before = incoming.reads + outgoing.reads;
  task();
  return incoming.reads + outgoing.reads - before;
}

/** Runs a step on a large ledger, and checks that it does not read them all. */
function staysSmall(name: string, step: (ledger: Ledger) => void): void {
  test(`${name} does not walk all payments`, () => {
    const ledger = largeLedger(size);
    for (const [i, state] of (["signed", "pending", "failed"] as const).entries()) {
      const payment = paymentOf(size.payments + i, { state, blob: new Uint8Array(9), height: 0 });
      applyChange(ledger, { kind: "outgoing", payment, txKeys: [] });
    }
    const reads = readsOf(ledger, () => step(ledger));
    assert.ok(reads <= FEW, `${reads} were read`);
  });
}

staysSmall("a block with receipts", (ledger) => {
  const { height } = ledger.state;
  const found = Array.from({ length: 100 }, (_, i) => paysWallet(`new ${i}`, height));
  applyChange(ledger, blocksWith(height, 1, ...found));
  assert.equal(ledger.state.incoming.length, size.receipts + 100);
});

staysSmall("a block in which a payment becomes final", (ledger) => {
  const { height, outgoing } = ledger.state;
  const payment = { ...paymentOf(size.payments), blob: new Uint8Array(9), height };
  const id = toHex(payment.txHash);
  outgoing.set(id, payment);
  applyChange(ledger, blocksWith(height, 99));
  assert.ok(outgoing.get(id)?.blob !== undefined);
  applyChange(ledger, blocksWith(height + 99, 1));
  assert.equal(outgoing.get(id)?.blob, undefined);
});

staysSmall("a reorganisation of ten blocks", (ledger) => {
  const { height, incoming } = ledger.state;
  applyChange(ledger, blocksWith(height - 10, 11));
  assert.equal(incoming.length, size.receipts - 100);
});

staysSmall("a look at the pool", (ledger) => {
  const finds = [{ transaction: paysWallet("waiting", 0), doubleSpendSeen: false }];
  const picture = { ids: idOf("waiting"), finds };
  const payments = incomingFromPool(ledger, picture, 1);
  assert.equal(payments.length, 1);
  applyChange(ledger, { kind: "pool", payments });
  for (const change of outgoingFromPool(ledger, picture, 2_000_000_000)) applyChange(ledger, change);
  assert.equal(ownInPool(ledger.state).length, 3);
  assert.deepEqual(withoutMined(ledger.state), []);
});

staysSmall("a balance", (ledger) => {
  const indexOf = () => undefined;
  const at = { account: 1, strict: false, now: now(ledger), indexOf };
  assert.equal(accountBalance(ledger.state, at).balance, 999_969_340_000n);
});

staysSmall("a page of history by height, or by transaction", (ledger) => {
  const { state } = ledger;
  const page = { account: undefined, minors: new Set<number>(), minHeight: 1500, maxHeight: 1510 };
  assert.equal(ended(listIncoming(state, page)).length, 100);
  assert.equal(ended(listOutgoing(state, page)).length, 10);
  const context = { state, now: now(ledger) };
  assert.equal(transfersOf(context, toHex(idOf("in 17")), 2)[0]?.kind, "in");
  assert.equal(transfersOf(context, toHex(idOf("out 17")), 2)[0]?.kind, "out");
  assert.deepEqual(transfersOf(context, toHex(idOf("another")), 2), []);
});

staysSmall("a search by payment id, or by address", (ledger) => {
  const { incoming } = ledger.state;
  const paymentId = new Uint8Array(32);
  paymentId.set(idOf("id 8").subarray(0, 8));
  assert.equal(incoming.placesWithId(paymentId).length, size.receipts / 500);
  const filter = { account: 2, minors: new Set([17]), minHeight: 0, maxHeight: 1e9 };
  assert.equal(ended(listIncoming(ledger.state, filter)).length, size.receipts / 1000);
});

staysSmall("opening a wallet", (ledger) => assert.equal(mayWaitForTime(ledger.state), false));

test("events begin, and follow a block, without a walk over all payments", async () => {
  const ledger = largeLedger(size);
  const { height, incoming, outgoing } = ledger.state;
  const before = incoming.reads + outgoing.reads;
  const deriver = await EventDeriver.of(ledger);
  // Those of the last hundred blocks, twice each, and the rest of their zones.
  const begun = incoming.reads + outgoing.reads - before;
  assert.ok(begun <= 2 * 1000 + FEW, `${begun} were read`);
  const change = blocksWith(height, 1, paysWallet("new", height));
  const followed = readsOf(ledger, () => deriver.observe(change, () => applyChange(ledger, change)));
  assert.ok(followed <= FEW, `${followed} were read`);
});
