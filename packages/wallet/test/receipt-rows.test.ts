/** Rows of receipts, which are read back and go on growing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { Payments } from "../src/packed/payments.ts";
import { PAGE_RECEIPTS } from "../src/packed/receipt-pages.ts";
import { Receipts } from "../src/packed/receipts.ts";
import { writeRecordRow } from "../src/packed/record-row.ts";
import type { IncomingPayment } from "../src/state.ts";
import { ended } from "./ended.ts";
import { idOf, paymentOf } from "./large-history.ts";

const receiptOf = (i: number): IncomingPayment => ({
  ...{ txHash: idOf(`in ${i}`), paymentId: new Uint8Array(32), amount: BigInt(i), amounts: [BigInt(i)] },
  ...{ fee: 1n, height: 3 + i, timestamp: 4, unlockTime: 0n, coinbase: false },
  subaddress: { major: 0, minor: i % 5 },
});

const listOf = (count: number) => Array.from({ length: count }, (_, i) => receiptOf(i));

test("receipts that are read from rows are added to, however full the last row is", () => {
  for (const count of [1, PAGE_RECEIPTS - 1, PAGE_RECEIPTS, PAGE_RECEIPTS + 1]) {
    const written = Receipts.of(listOf(count));
    const receipts = new Receipts();
    for (let row = 0; row * PAGE_RECEIPTS < count; row++) receipts.addRow(written.rowBytes(row)!);
    ended(receipts.index());
    assert.equal(receipts.length, count);
    for (let i = count; i < count + 3; i++) assert.equal(receipts.push(receiptOf(i)), i);
    assert.deepEqual([...receipts], listOf(count + 3));
    assert.deepEqual(receipts.placesOf(idOf(`in ${count - 1}`)), [count - 1]);
    const rows = [0, 1, 2].map((row) => receipts.rowBytes(row));
    const same = Receipts.of(listOf(count + 3));
    assert.deepEqual(
      rows,
      [0, 1, 2].map((row) => same.rowBytes(row)),
    );
  }
});

test("what was selected stays as it was while the last page is cut off and written anew", () => {
  const count = PAGE_RECEIPTS + 10;
  const receipts = Receipts.of(listOf(count));
  const places = [0, PAGE_RECEIPTS - 1, PAGE_RECEIPTS, count - 1];
  const selected = receipts.selected(places);
  receipts.removeAt([PAGE_RECEIPTS + 5]);
  receipts.removeAt([PAGE_RECEIPTS - 1]);
  for (let i = 0; i < 20; i++) receipts.push(receiptOf(1000 + i));
  assert.deepEqual(
    Array.from(selected, ({ amount }) => Number(amount)),
    places,
  );
});

test("a row is refused behind one that is not full, with too many receipts, or with bytes it does not need", () => {
  const full = Receipts.of(listOf(PAGE_RECEIPTS)).rowBytes(0)!;
  const receipts = Receipts.of(listOf(1));
  assert.throws(() => receipts.addRow(full), /behind one that is not full/);
  assert.deepEqual([...receipts], listOf(1));
  const zone = { lowest: 0, highest: 0, latestUnlock: 0 };
  const rowOf = (count: number) =>
    writeRecordRow(
      Array.from({ length: count }, () => Uint8Array.of(1)),
      zone,
    );
  assert.throws(() => new Receipts().addRow(rowOf(PAGE_RECEIPTS + 1)), /too many receipts/);
  new Receipts().addRow(rowOf(PAGE_RECEIPTS));
  assert.throws(() => new Receipts().addRow(rowOf(0)), /a row of 0 records/);
  assert.throws(() => new Receipts().addRow(full.subarray(0, 27)), /cut off/);
  assert.throws(() => new Receipts().addRow(full.subarray(0, 28)), /a row of 256 records/);
  assert.throws(() => new Receipts().addRow(full.subarray(0, full.length - 1)), /another length/);
  assert.throws(() => new Receipts().addRow(Buffer.concat([full, Uint8Array.of(0)])), /another length/);
});

test("payments are read once each where an account is searched for, and not at all where all match", () => {
  const payments = new Payments();
  for (let i = 0; i < 9; i++) {
    const payment = paymentOf(i, { height: 1 + i, account: i % 3 });
    payments.set(toHex(payment.txHash), payment);
  }
  const search = (account: number | undefined) => {
    const before = payments.reads;
    const filter = { account, minors: new Set<number>(), minHeight: 1, maxHeight: 8 };
    const selected = ended(payments.matching(filter));
    return [selected.length, payments.reads - before];
  };
  assert.deepEqual(search(undefined), [7, 0]);
  assert.deepEqual(search(1), [3, 7]);
});
