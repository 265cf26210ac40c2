/** Rows that follow from others, where the store does not answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DamagedStore, StoreUnavailable, type WalletStore } from "@anulo/store";
import { Cells } from "../src/file/cells.ts";
import { type IndexHead, IndexRows } from "../src/file/index-rows.ts";
import { createLedger } from "../src/ledger/ledger.ts";

const rowId = new Uint8Array(8).fill(1);

/** Loads the indices of a ledger whose outputs and receipts have a segment each, from a store that fails so. */
function loadsOf(error: Error) {
  const { state } = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const { factors } = state.outputs.indices[0]!;
  const head: IndexHead = {
    outputs: [{ factors, segments: [[0, rowId]] }],
    receipts: { seed: new Uint8Array(32), rowIds: [rowId] },
  };
  const store = { readsNow: false, read: () => Promise.reject(error) } as unknown as WalletStore;
  const rows = new IndexRows(state, new Cells());
  return { rows, loads: [() => rows.loadOutputs(store, head), () => rows.loadReceipts(store, head)] };
}

test("a damaged row is made anew from those it follows from", async () => {
  const { rows, loads } = loadsOf(new DamagedStore("a row is not as it was written"));
  for (const load of loads) await load();
  const { outputs, receipts } = rows.head;
  assert.deepEqual([outputs.flatMap(({ segments }) => segments), receipts.rowIds], [[], []]);
});

test("a store that is out of reach keeps a wallet from opening without its indices", async () => {
  const { loads } = loadsOf(new StoreUnavailable("away"));
  for (const load of loads) await assert.rejects(load(), StoreUnavailable);
});
