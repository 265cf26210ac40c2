import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Engine, openLmdbEngine, openWalletStore, rangeOf, type Table } from "../src/index.ts";
import { bytes, temporaryFolder, text, walletId } from "./harness.ts";
import { storeOf } from "./wallet-suite.ts";

const notes: Table = { number: 1, orderedBytes: 4 };
const wallet = walletId(1);
const wrappingKey = randomBytes(32);
const RESTORATIONS = 100;
/** 100,000 by default; a million is for `node restored.test.js 1000000`. */
const RECORDS = Number(process.argv[2] ?? 100_000);
const EPOCH_BYTES = 6;

/** The salts of all values: what makes the key of each, with what is the same in every copy. */
async function* saltsOf(engine: Engine): AsyncGenerator<string, void> {
  for await (const { value } of rangeOf(engine, wallet, { table: 1 })) {
    yield Buffer.from(value.subarray(EPOCH_BYTES, EPOCH_BYTES + 32)).toString("latin1");
  }
}

test(`${RECORDS} records over ${RESTORATIONS} restored copies have as many keys`, async () => {
  const { folder, remove } = temporaryFolder();
  const [live, copy, beside] = ["live", "copy", "beside"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const seen = new Set<string>();
  const epochs = new Set<number>();
  const records = Math.ceil(RECORDS / RESTORATIONS);
  try {
    mkdirSync(live);
    for (let restoration = 0; restoration < RESTORATIONS; restoration++) {
      const engine = openLmdbEngine(join(live, "store.mdb"));
      const opened = await openWalletStore({ engine, wallet, tables: [notes], wrappingKey, folder: beside });
      // The first opening makes the copy that all others begin with.
      assert.equal(opened.kind, restoration === 0 ? "new" : restoration === 1 ? "continued" : "rolledBack");
      const store = opened.kind === "rolledBack" ? await opened.accept() : opened.store;
      epochs.add(store.mark.epoch);
      for (let first = 0; restoration > 0 && first < records; first += 1000) {
        const puts = Array.from({ length: Math.min(1000, records - first) }, (_, i) => {
          const key = Buffer.alloc(4);
          key.writeUInt32BE(first + i);
          return { table: notes, key, value: bytes("the same in every copy") };
        });
        await store.apply({ puts });
      }
      for await (const salt of saltsOf(engine)) {
        assert.equal(seen.has(salt), false);
        seen.add(salt);
      }
      await store.close();
      await engine.close();
      if (restoration === 0) cpSync(live, copy, { recursive: true });
      rmSync(live, { recursive: true });
      cpSync(copy, live, { recursive: true });
    }
    assert.equal(seen.size, records * (RESTORATIONS - 1));
    assert.equal(epochs.size, RESTORATIONS);
  } finally {
    remove();
  }
});

test("an older copy is noticed, of this opening as of earlier ones, and opened only by whoever accepts it", async () => {
  const { folder, remove } = temporaryFolder();
  const [live, copy, beside] = ["live", "copy", "beside"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const open = async () => {
    const engine = openLmdbEngine(join(live, "store.mdb"));
    return {
      engine,
      opened: await openWalletStore({ engine, wallet, tables: [notes], wrappingKey, folder: beside }),
    };
  };
  const put = (value: string) => ({ puts: [{ table: notes, key: bytes("k"), value: bytes(value) }] });
  try {
    const first = await open();
    await storeOf(first.opened).apply(put("1"));
    cpSync(live, copy, { recursive: true });
    await storeOf(first.opened).apply(put("2"));
    // Killed: nothing is closed in order but the engine's file.
    await first.engine.close();
    rmSync(live, { recursive: true });
    cpSync(copy, live, { recursive: true });
    const second = await open();
    assert.equal(second.opened.kind, "rolledBack");
    if (second.opened.kind !== "rolledBack") return;
    assert.deepEqual(second.opened.found, { epoch: 1, sequence: 2 });
    assert.deepEqual(second.opened.witnessed, { epoch: 1, sequence: 3 });
    await second.engine.close();
    const third = await open();
    assert.equal(third.opened.kind, "rolledBack");
    if (third.opened.kind !== "rolledBack") return;
    const store = await third.opened.accept();
    assert.equal(text(await store.read(notes, bytes("k"))), "1");
    assert.equal(store.mark.epoch, 2);
    await store.close();
    await third.engine.close();
    const fourth = await open();
    assert.equal(fourth.opened.kind, "continued");
    await storeOf(fourth.opened).close();
    await fourth.engine.close();
  } finally {
    remove();
  }
});
