import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { toHex } from "@anulo/protocol";
import {
  createMemoryEngine,
  type Engine,
  openWalletStore,
  StoreUnavailable,
  type Table,
  type WalletRow,
  type WalletStore,
} from "@anulo/store";
import { type Plain, readCbor, writeCbor } from "../src/cbor.ts";
import type { RowChange } from "../src/file/cells.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import {
  coldOutputTable,
  formerTables,
  headTable,
  ledgerTables,
  livePaymentTable,
  outputTable,
  packedPaymentTable,
  receiptTable,
  rowKey,
  txKeyTable,
} from "../src/file/ledger-tables.ts";
import { recordOf } from "../src/file/output-record.ts";
import { finishRows, RowLog, writeRows } from "../src/file/row-log.ts";
import { createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { checkBook } from "./check-book.ts";
import { plainState } from "./plain-state.ts";
import { Dice, type Kind, nextChange, scanned } from "./random-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-rows-"));
after(() => rmSync(folder, { recursive: true }));
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const network = "regtest";
const wrappingKey = Buffer.alloc(32, 1);

let wallets = 0;
const nextId = () => Buffer.from((++wallets).toString(16).padStart(32, "0"), "hex");

async function open(engine: Engine, wallet: Uint8Array): Promise<WalletStore> {
  const opened = await openWalletStore({ engine, wallet, tables: ledgerTables, wrappingKey, folder });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

/** The ledger that the store of a wallet holds, opened anew. */
async function reload(engine: Engine, wallet: Uint8Array): Promise<{ ledger: Ledger; log: RowLog }> {
  const store = await open(engine, wallet);
  await finishRows(store);
  const { ledger, rows } = (await LedgerRows.load(store, { network, settings }))!;
  return { ledger, log: new RowLog(store, rows) };
}

for (const seed of ["a", "b", "c", "d"]) {
  test(`rows make the ledger they were written of, after any changes (${seed})`, async () => {
    const dice = new Dice(seed);
    const [engine, wallet] = [createMemoryEngine(), nextId()];
    const store = await open(engine, wallet);
    let ledger = createLedger(network, settings);
    const rows = LedgerRows.of(ledger);
    await writeRows(store, rows.take());
    let log = new RowLog(store, rows);
    const made = new Set<Kind>();
    for (let step = 0; step < 250; step++) {
      const change = nextChange(dice, ledger);
      made.add(change.kind);
      applyChange(ledger, change);
      const written = log.append();
      if (dice.below(3) > 0) continue;
      await written;
      const before = ledger;
      const plain = plainState(before.state);
      await log.close();
      ({ ledger, log } = await reload(engine, wallet));
      // Maps in the order they were made in, too.
      assert.deepEqual(orderOf(ledger), orderOf(before), `after ${change.kind}, step ${step}`);
      assert.deepEqual(plainState(ledger.state), plain, `after ${change.kind}, step ${step}`);
      checkBook(ledger.state.outputs);
    }
    await log.close();
    await engine.close();
    assert.ok(made.size > 25, `${made.size} kinds of changes`);
  });
}

/** The rows of version 1 of a ledger: outputs and receipts 16 a row, payments and transaction keys one a row. */
function formerRows({ state }: Ledger): RowChange {
  const puts: WalletRow[] = [];
  const put = (table: Table, row: number, value: unknown) =>
    puts.push({ table, key: rowKey([row]), value: writeCbor(value as Plain) });
  const lists = { outputs: [...state.outputs].map(recordOf), incoming: [...state.incoming] };
  for (const [name, items] of Object.entries(lists))
    for (let row = 0; row * 16 < items.length; row++)
      put(formerTables[name as "outputs" | "incoming"], row, items.slice(16 * row, 16 * (row + 1)));
  // Numbers of entries that were deleted stay unused.
  for (const name of ["outgoing", "txKeys"] as const)
    for (const [number, entry] of [...state[name]].entries()) put(formerTables[name], 3 * number, entry);
  return { puts, deletes: [] };
}

async function rowsOf(store: WalletStore, tables: readonly Table[]): Promise<number> {
  let count = 0;
  for (const table of tables) for await (const _ of store.range(table)) count += 1;
  return count;
}

for (const isCut of [false, true]) {
  test(`rows of version 1 are taken over once${isCut ? ", also after a write that was cut off" : ""}`, async () => {
    const dice = new Dice("former");
    const [engine, wallet] = [createMemoryEngine(), nextId()];
    const ledger = createLedger(network, settings);
    for (let step = 0; step < 400; step++) applyChange(ledger, nextChange(dice, ledger));
    const plain = plainState(ledger.state);
    const packed = [
      outputTable,
      coldOutputTable,
      receiptTable,
      packedPaymentTable,
      livePaymentTable,
      txKeyTable,
    ];
    const { puts, deletes } = LedgerRows.of(ledger).take();
    const others = puts.filter(({ table }) => !packed.includes(table) && table !== headTable);
    const head = readCbor(puts.find(({ table }) => table === headTable)!.value) as object;
    const store = await open(engine, wallet);
    const former = formerRows(ledger);
    const headRow = { table: headTable, key: rowKey([0]), value: writeCbor({ ...head, version: 1 }) };
    await writeRows(store, { puts: [...former.puts, ...others, headRow], deletes });
    const { ledger: found, rows, isFormer } = (await LedgerRows.load(store, { network, settings }))!;
    assert.equal(isFormer, true);
    assert.deepEqual(plainState(found.state), plain);
    const change = rows.take();
    if (isCut) {
      let left = 3;
      const failing: Engine = {
        ...engine,
        apply: async (id, each) => {
          if (left-- === 0) throw new StoreUnavailable("cut off");
          return await engine.apply(id, each);
        },
      };
      await store.close();
      const cut = await open(failing, wallet);
      left = 0;
      await assert.rejects(writeRows(cut, change), StoreUnavailable);
      await cut.close();
      const again = await open(engine, wallet);
      await finishRows(again);
      assert.equal(await rowsOf(again, packed), 0, "nothing was written in part");
      assert.equal((await LedgerRows.load(again, { network, settings }))!.isFormer, true);
      await again.close();
      return;
    }
    await writeRows(store, change);
    assert.equal(await rowsOf(store, Object.values(formerTables)), 0);
    await store.close();
    const { ledger: today, log } = await reload(engine, wallet);
    assert.deepEqual(plainState(today.state), plain);
    checkBook(today.state.outputs);
    await log.close();
  });
}

/** The rows of version 2 of a ledger's outputs: keys and key images were columns after the others of 25 bytes. */
function secondRows({ state: { outputs } }: Ledger): WalletRow[] {
  const rows: WalletRow[] = [];
  for (let row = 0; row * 256 < outputs.count; row++) {
    const items = outputs.slice(256 * row, 256 * (row + 1));
    const today = outputs.rowBytes(row)!;
    const keysAt = 3 + 25 * items.length;
    const keys = [
      ...items.map(({ oneTimeKey }) => oneTimeKey),
      ...items.map(({ keyImage = new Uint8Array(32) }) => keyImage),
    ];
    const value = Buffer.concat([today.subarray(0, keysAt), ...keys, today.subarray(keysAt)]);
    rows.push({ table: outputTable, key: rowKey([row]), value });
    const cold = items.map(({ txHash, mask, txPublicKey, timestamp, globalIndex, txSize, outputIndex }) => {
      const numbers = Buffer.alloc(24);
      numbers.writeDoubleBE(timestamp);
      numbers.writeBigUInt64BE(globalIndex, 8);
      numbers.writeUInt32BE(txSize, 16);
      numbers.writeUInt32BE(outputIndex, 20);
      return Buffer.concat([txHash, mask, txPublicKey, numbers]);
    });
    rows.push({ table: coldOutputTable, key: rowKey([row]), value: Buffer.concat(cold) });
  }
  return rows;
}

test("rows of version 2 are taken over once", async () => {
  const dice = new Dice("second");
  const [engine, wallet] = [createMemoryEngine(), nextId()];
  const ledger = createLedger(network, settings);
  for (let step = 0; step < 300; step++) applyChange(ledger, nextChange(dice, ledger));
  // Some rows more, one of them full.
  const model = { ...burntLedger(1).state.outputs.at(0)!, unlockTime: 500_000_007n };
  for (let i = 0; i < 600; i++)
    ledger.state.outputs.push({ ...model, oneTimeKey: dice.bytes(), keyImage: dice.bytes() });
  const plain = plainState(ledger.state);
  const { puts } = LedgerRows.of(ledger).take();
  const isOther = ({ table }: WalletRow) =>
    table !== outputTable && table !== coldOutputTable && table !== headTable;
  const { indices: _, ...head } = readCbor(puts.find(({ table }) => table === headTable)!.value) as {
    readonly indices: Plain;
  };
  const headRow = { table: headTable, key: rowKey([0]), value: writeCbor({ ...head, version: 2 }) };
  const store = await open(engine, wallet);
  await writeRows(store, { puts: [...puts.filter(isOther), ...secondRows(ledger), headRow], deletes: [] });
  const { ledger: found, rows, isFormer } = (await LedgerRows.load(store, { network, settings }))!;
  assert.equal(isFormer, true);
  assert.deepEqual(plainState(found.state), plain);
  checkBook(found.state.outputs);
  await writeRows(store, await rows.takeAll());
  await store.close();
  const again = await open(engine, wallet);
  const today = (await LedgerRows.load(again, { network, settings }))!;
  assert.equal(today.isFormer, false);
  assert.deepEqual(plainState(today.ledger.state), plain);
  checkBook(today.ledger.state.outputs);
  await again.close();
});

/** A ledger that was paid many times under one one-time key, each time more. */
function burntLedger(times: number): Ledger {
  const ledger = createLedger(network, settings);
  const dice = new Dice("burnt");
  const [oneTimeKey, keyImage] = [dice.bytes(), dice.bytes()];
  for (let i = 1; i <= times; i++) {
    const transaction = { ...scanned(dice, ledger, i), inputs: [] };
    const output = {
      ...{ outputIndex: 0, globalIndex: BigInt(i), amount: BigInt(i), mask: dice.bytes(), rct: true },
      ...{ oneTimeKey, txPublicKey: dice.bytes(), keyImage, subaddress: { major: 0, minor: 0 } },
    };
    applyChange(ledger, { kind: "transactions", transactions: [{ ...transaction, received: [output] }] });
  }
  return ledger;
}

test("any number of outputs with one key can be read back, from rows and from a journal", async () => {
  const ledger = burntLedger(5000);
  const [engine, wallet] = [createMemoryEngine(), nextId()];
  const store = await open(engine, wallet);
  await writeRows(store, LedgerRows.of(ledger).take());
  await store.close();
  const { ledger: again, log } = await reload(engine, wallet);
  const options = { path: join(folder, "burnt"), secret: new Uint8Array(32), network } as const;
  await (await createStore(options, ledger)).close();
  const journal = await openStore(options, settings);
  await journal.log.close();
  for (const read of [again, journal.ledger]) {
    let [count, output] = [0, read.state.outputs.at(0)];
    for (; output !== undefined; output = output.replaces)
      assert.equal(output.amount, BigInt(5000 - count++));
    assert.equal(count, 5000);
  }
  await log.close();
});

test("more secrets than one step of a store takes are written, and what is used is gone", async () => {
  const [engine, wallet] = [createMemoryEngine(), nextId()];
  const ledger = createLedger(network, settings);
  const dice = new Dice("secrets");
  const keys = Array.from({ length: 4001 }, () => toHex(dice.bytes()));
  const nonces = keys.map((key) => [key, [new Uint8Array(32).fill(1)]] as const);
  const rows = LedgerRows.of(ledger);
  const store = await open(engine, wallet);
  await writeRows(store, rows.take());
  const log = new RowLog(store, rows);
  applyChange(ledger, { kind: "multisigNonces", nonces });
  await log.append();
  await log.close();
  const again = await reload(engine, wallet);
  assert.deepEqual([...again.ledger.state.multisigNonces.keys()], keys);
  applyChange(again.ledger, { kind: "multisigNonces", nonces: [[keys[0]!, []]] });
  await again.log.append();
  await again.log.close();
  const left = await reload(engine, wallet);
  assert.deepEqual([...left.ledger.state.multisigNonces.keys()], keys.slice(1));
  await left.log.close();
});

test("a change waits for a store that is out of reach, and is written once", async () => {
  const [engine, wallet] = [createMemoryEngine(), nextId()];
  let [failures, tried] = [0, 0];
  const flaky: Engine = {
    ...engine,
    fence: (...args) => engine.fence(...args),
    apply: async (id, change) => {
      tried += 1;
      if (failures-- > 0) throw new StoreUnavailable("away", { mayPass: true });
      return await engine.apply(id, change);
    },
  };
  const ledger = createLedger(network, settings);
  const rows = LedgerRows.of(ledger);
  const store = await open(flaky, wallet);
  await writeRows(store, rows.take());
  const log = new RowLog(store, rows);
  const before = (await engine.markOf(wallet))!.sequence;
  [failures, tried] = [2, 0];
  applyChange(ledger, { kind: "attribute", key: "a", value: "1" });
  await log.append();
  assert.deepEqual([tried, (await engine.markOf(wallet))!.sequence], [3, before + 1]);
  await log.close();
  const again = await reload(engine, wallet);
  assert.equal(again.ledger.state.attributes.get("a"), "1");
  await again.log.close();
});

const orderOf = ({ state }: Ledger) =>
  Object.entries(state).map(([name, value]) => [name, value instanceof Map ? [...value.keys()] : ""]);
