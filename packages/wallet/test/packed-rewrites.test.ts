/** Packed records that are written again and again: what they replace takes no memory for long. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { Payments } from "../src/packed/payments.ts";
import { Receipts } from "../src/packed/receipts.ts";
import { TxKeys } from "../src/packed/tx-keys.ts";
import type { OutgoingPayment } from "../src/state.ts";
import { idOf, paymentOf } from "./large-history.ts";

const entryOf = (payment: OutgoingPayment): [string, OutgoingPayment] => [toHex(payment.txHash), payment];
const live = paymentOf(9, { state: "pending", blob: new Uint8Array(9), height: 0 });

test("payments written over and over stay what they were written last, in the room of few", () => {
  const payments = new Payments();
  const last = new Map<string, OutgoingPayment>([entryOf(live)]);
  payments.set(...entryOf(live));
  let most = 0;
  for (let i = 0; i < 6000; i++) {
    const entry = entryOf(paymentOf(i % 5, { height: 1 + i, ...(i % 3 === 0 && { isUndone: true }) }));
    last.set(...entry);
    payments.set(...entry);
    most = Math.max(most, payments.bytes);
  }
  assert.deepEqual([...payments], [...last]);
  assert.equal(payments.unconfirmed().length, 1);
  assert.deepEqual(
    payments.confirmedFrom(5999).map(({ height }) => height),
    [5999, 6000],
  );
  // Some hundred bytes each, of the thousand and some that are tolerated.
  assert.ok(most < 600_000, `${most} bytes`);
});

test("payments added and deleted one after the other leave no places behind", () => {
  const payments = new Payments();
  payments.set(...entryOf(live));
  for (let i = 100; i < 5000; i++) {
    const [id, payment] = entryOf(paymentOf(i, { height: i }));
    payments.set(id, payment);
    if (i % 100 !== 0) payments.delete(id);
  }
  const remaining = Array.from({ length: 49 }, (_, i) => paymentOf(100 * (i + 1), { height: 100 * (i + 1) }));
  assert.deepEqual([...payments], [live, ...remaining].map(entryOf));
  assert.deepEqual(payments.spenderOf(live.keyImages[0]!), toHex(live.txHash));
  assert.ok(payments.bytes < 600_000, `${payments.bytes} bytes`);
});

test("payments and receipts whose ids are none are refused, and change nothing", () => {
  const payments = Payments.of([entryOf(paymentOf(0))]);
  const [short, images] = [new Uint8Array(31), [new Uint8Array(32), new Uint8Array(33)]];
  for (const values of [{ paymentId: short }, { keyImages: images }])
    assert.throws(() => payments.set(...entryOf(paymentOf(1, values))), RangeError);
  assert.deepEqual([...payments], [entryOf(paymentOf(0))]);
  const receipt = {
    ...{ txHash: idOf("in"), paymentId: new Uint8Array(32), amount: 5n, amounts: [5n], fee: 1n, height: 3 },
    ...{ timestamp: 4, unlockTime: 0n, coinbase: false, subaddress: { major: 0, minor: 1 } },
  };
  const receipts = Receipts.of([receipt]);
  for (const values of [{ paymentId: short }, { txHash: short }])
    assert.throws(() => receipts.push({ ...receipt, ...values }), RangeError);
  assert.deepEqual([...receipts], [receipt]);
});

test("keys of a transaction that are recorded again replace those before", () => {
  const [a, b] = [toHex(idOf("a")), toHex(idOf("b"))];
  const key = (name: string) => idOf(`key ${name}`);
  const keys = TxKeys.of([
    [a, [key("1")]],
    [b, [key("2"), key("3")]],
  ]);
  keys.set(a, [key("4"), key("5")]);
  assert.deepEqual([...keys.keys()], [a, b]);
  assert.deepEqual(
    [...keys],
    [
      [a, [key("4"), key("5")]],
      [b, [key("2"), key("3")]],
    ],
  );
  const first = keys.rowBytes(0)!;
  assert.equal(Buffer.from(first).includes(Buffer.from(key("1"))), false);
  assert.throws(() => keys.set("00", [key("1")]), RangeError);
  assert.throws(() => keys.set(a, [key("1"), new Uint8Array(31)]), RangeError);
  const read = new TxKeys();
  read.addRow(first);
  assert.deepEqual([...read], [...keys]);
  assert.throws(() => read.addRow(first), /behind one that is not full/);
});
