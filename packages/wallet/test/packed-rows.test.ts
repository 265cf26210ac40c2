/** The rows of payments: which has one of its own, before and after a wallet is opened anew. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "@anulo/store";
import { Cells } from "../src/file/cells.ts";
import { livePaymentTable, packedPaymentTable, rowKey } from "../src/file/ledger-tables.ts";
import { PackedRows } from "../src/file/packed-rows.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import type { OutgoingPayment } from "../src/state.ts";
import { bytes, signed } from "./events-fixture.ts";
import { MemoryStore, nameOf } from "./memory-rows.ts";

const settings = { seedLanguage: "", refreshFromHeight: 0 };

/** A state and its rows, empty or as a store has them, and what writes them into it. */
async function open(memory: MemoryStore) {
  const { state } = createLedger("regtest", settings);
  const cells = new Cells();
  const rows = new PackedRows(state, cells);
  await rows.load(memory.store, { names: new Map(), isFormer: false });
  for (const _ of state.outgoing.index());
  const set = (payment: OutgoingPayment) => state.outgoing.set(toHex(payment.txHash), payment);
  /** Names of the rows of payments that this put and deleted. */
  const write = async () => {
    for (const _ of rows.put());
    const change = cells.take();
    await memory.apply(change as unknown as WalletChange);
    return { puts: change.puts.map(nameOf), deletes: change.deletes.map(nameOf) };
  };
  return { state, set, write };
}

const liveRow = (place: number) => nameOf({ table: livePaymentTable, key: rowKey([place]) });
const packedRow = nameOf({ table: packedPaymentTable, key: rowKey([0]) });
const settled = (id: number): OutgoingPayment => ({
  ...signed(id, id),
  state: "confirmed",
  height: 7,
  blob: undefined,
});

for (const isReopened of [false, true]) {
  const when = isReopened ? "after the wallet was opened anew" : "at once";
  test(`a payment that settles gives up its row, ${when}`, async () => {
    const memory = new MemoryStore();
    let opened = await open(memory);
    for (const id of [1, 2, 3]) opened.set(signed(id, id));
    const first = await opened.write();
    assert.deepEqual(first, { puts: [0, 1, 2].map(liveRow), deletes: [packedRow] });
    if (isReopened) opened = await open(memory);
    assert.deepEqual(
      [...opened.state.outgoing.keys()],
      [1, 2, 3].map((id) => toHex(bytes(id))),
    );
    opened.set(settled(2));
    assert.deepEqual(await opened.write(), { puts: [packedRow], deletes: [liveRow(1)] });
    assert.deepEqual([...memory.rows.keys()].sort(), [liveRow(0), liveRow(2), packedRow].sort());
    if (isReopened) opened = await open(memory);
    // It has none to give up any more.
    opened.set({ ...settled(2), height: 8 });
    assert.deepEqual(await opened.write(), { puts: [packedRow], deletes: [] });
    const { state } = await open(memory);
    assert.deepEqual(
      [...state.outgoing.values()].map(({ state: stage, height }) => [stage, height]),
      [
        ["signed", 0],
        ["confirmed", 8],
        ["signed", 0],
      ],
    );
  });
}
