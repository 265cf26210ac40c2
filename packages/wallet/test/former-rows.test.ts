/** What is told, and dropped, while rows of an earlier version are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { Table, WalletStore } from "@anulo/store";
import { type NamesRead, writeCbor } from "../src/cbor.ts";
import type { Cells } from "../src/file/cells.ts";
import { loadFormer } from "../src/file/former-rows.ts";
import { formerTables, rowKey } from "../src/file/ledger-tables.ts";
import { createLedger } from "../src/ledger/ledger.ts";

const idOf = (row: number) => {
  const id = new Uint8Array(32).fill(1);
  new DataView(id.buffer).setUint32(0, row);
  return id;
};

for (const count of [0, 4095, 4096, 8193])
  test(`of ${count} rows of an earlier version some thousand are told of at once, and each is deleted`, async () => {
    const { state } = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
    const store = {
      async *range({ number }: Table) {
        if (number === formerTables.txKeys.number && count > 0) yield { key: rowKey([count - 1]) };
      },
    } as unknown as WalletStore;
    const deleted: (readonly number[])[] = [];
    const cells = {
      async *read(_: WalletStore, { number }: Table) {
        if (number !== formerTables.txKeys.number) return;
        for (let row = 0; row < count; row++)
          yield { places: [row], value: writeCbor([toHex(idOf(row)), [idOf(row)]]) };
      },
      delete: ({ number }: Table, places: readonly number[]) => {
        assert.equal(number, formerTables.txKeys.number);
        deleted.push(places);
      },
    } as unknown as Cells;
    const told: (readonly number[])[] = [];
    const names: NamesRead = new Map();
    await loadFormer(store, { state, cells, names, onProgress: (...progress) => told.push(progress) });
    const expected = [0, 4096, 8192].filter((rows) => rows <= count);
    assert.deepEqual(
      told,
      expected.map((rows) => [rows, count]),
    );
    assert.deepEqual(
      deleted,
      Array.from({ length: count }, (_, row) => [row]),
    );
    assert.equal(state.txKeys.size, count);
  });
