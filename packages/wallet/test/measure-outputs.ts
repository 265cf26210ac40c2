/**
 * Measures a wallet of many outputs by hand: `node --expose-gc packages/wallet/dist/test/measure-outputs.js [COUNT]`.
 * Times are of this process's processor; the event loop waits as long for each of these steps.
 */
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLmdbEngine, openWalletStore, type WalletStore } from "@anulo/store";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { ledgerTables } from "../src/file/ledger-tables.ts";
import { writeRows } from "../src/file/row-log.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { COIN, measure, network, reportMemory, settings } from "./large-wallet.ts";
import { bytes, ledgerOf, payingTransaction } from "./many-outputs.ts";
import { balanceOf, measureTransfers } from "./measure-transfers.ts";

const COUNT = Number(process.argv[2] ?? 1_000_000);
const RECEIPTS = 1000;

const megabytes = (size: number) => (size / 2 ** 20).toFixed(0);

async function open(folder: string): Promise<WalletStore> {
  const engine = await openLmdbEngine(join(folder, "store"));
  const options = { engine, wallet: Buffer.alloc(16, 1), tables: ledgerTables, folder };
  const opened = await openWalletStore({ ...options, wrappingKey: Buffer.alloc(32, 1) });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((it) => it.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

async function measureStore(ledger: Ledger): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "anulo-many-"));
  try {
    const store = await open(folder);
    await measure(
      "written to LMDB",
      async () => await writeRows(store, await LedgerRows.of(ledger).takeAll()),
    );
    console.log(`file: ${megabytes(bytesBelow(folder))} MiB`);
    await measure("loaded from LMDB", () => LedgerRows.load(store, { network, settings }));
    await store.close();
  } finally {
    await rm(folder, { recursive: true });
  }
}

function receive(ledger: Ledger, count: number): void {
  const { height, lastBlockReward } = ledger.state;
  const transactions = Array.from({ length: count }, () => payingTransaction(height, COIN));
  const ids = [bytes(32)];
  applyChange(ledger, { kind: "blocks", fromHeight: height, count: 1, ids, lastBlockReward, transactions });
}

reportMemory("before");
const amount = (i: number): bigint => COIN / 100n + BigInt(i % 1000);
const ledger = await measure(`${COUNT} outputs are found`, () =>
  ledgerOf({ count: COUNT, amount, addresses: 1000 }),
);
reportMemory(`with ${COUNT} outputs`);
await measure("first balance", () => balanceOf(ledger));
await measure("second balance", () => balanceOf(ledger));
await measure(`a block with ${RECEIPTS} receipts`, () => receive(ledger, RECEIPTS));
await measure("100 blocks with a receipt each", () => {
  for (let i = 0; i < 100; i++) receive(ledger, 1);
});
await measure("those 100 blocks undone, and the balance", () => {
  const { height: end, lastBlockReward } = ledger.state;
  const undone = { kind: "blocks", count: 0, ids: [], lastBlockReward, transactions: [] } as const;
  applyChange(ledger, { ...undone, fromHeight: end - 100 });
  balanceOf(ledger);
});
const few = ledgerOf({ count: 100, amount, addresses: 1 });
const withDust = ledgerOf({
  count: 40_100,
  amount: (i) => (i < 40_000 ? 10n ** 7n : amount(i)),
  addresses: 1,
});
await measureTransfers(
  [
    ["100 outputs", few],
    [`${COUNT} outputs`, ledger],
    ["100 outputs beside 40,000 of dust", withDust],
  ],
  [COIN / 200n, COIN / 60n, COIN / 2n],
);
await measureStore(ledger);
reportMemory("at the end");
