/**
 * Measures one large wallet in an LMDB store, opened in a process that did nothing else: `node --expose-gc
 * packages/wallet/dist/test/measure-wallet.js [OUTPUTS] [PAYMENTS]`, by default a million, each with its receipt, and
 * 100,000 with their transaction keys. Times are processor time of the process; a turn is the longest hold of the event
 * loop.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runSliced } from "@anulo/limits";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { RowLog } from "../src/file/row-log.ts";
import { listIncoming, listOutgoing } from "../src/history/transfers.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { idOf } from "./large-history.ts";
import { COIN, measure, network, openLarge, reportMemory, settings, writeLarge } from "./large-wallet.ts";
import { bytes, ledgerOf, payingTransaction } from "./many-outputs.ts";
import { balanceOf, measureTransfers } from "./measure-transfers.ts";

const [outputs = 1_000_000, payments = 100_000] = process.argv.slice(2, 4).map(Number);
const writtenTo = process.argv[4];

/** A block that pays the wallet, and what stores it. */
function blockOf({ state }: Ledger, receipts: number) {
  const { height, lastBlockReward } = state;
  const transactions = Array.from({ length: receipts }, () => payingTransaction(height, COIN));
  const kind = "blocks" as const;
  return { kind, fromHeight: height, count: 1, ids: [bytes(32)], lastBlockReward, transactions };
}

async function measureChanges(ledger: Ledger, log: RowLog): Promise<void> {
  const block = blockOf(ledger, 1000);
  await measure("a block with 1,000 receipts is applied and stored", async () => {
    applyChange(ledger, block);
    await log.append();
  });
  for (let i = 0; i < 100; i++) applyChange(ledger, blockOf(ledger, 20));
  await log.append();
  await measure("100 blocks with 20 receipts each are undone and stored", async () => {
    const { height, lastBlockReward } = ledger.state;
    const undone = { kind: "blocks", count: 0, ids: [], lastBlockReward, transactions: [] } as const;
    applyChange(ledger, { ...undone, fromHeight: height - 100 });
    balanceOf(ledger);
    await log.append();
  });
}

async function measureReset(ledger: Ledger, log: RowLog): Promise<void> {
  await measure("all blocks are undone, to be scanned again", async () => {
    applyChange(ledger, { kind: "reset", hard: false });
  });
  await measure("  and stored", () => log.append());
}

async function measureHistory({ state }: Ledger): Promise<void> {
  const all = { account: undefined, minors: new Set<number>(), minHeight: 0, maxHeight: 1e9 };
  const page = { ...all, minHeight: 5000, maxHeight: 5010 };
  const ask = async (filter: typeof all) => {
    await runSliced(listIncoming(state, filter));
    await runSliced(listOutgoing(state, filter));
  };
  await measure("a page of history, ten blocks", () => ask(page));
  await measure("the whole history is selected", () => ask(all));
  await measure("a transaction is looked for", () => void state.incoming.placesOf(idOf("none")));
}

async function read(folder: string): Promise<void> {
  reportMemory("before");
  const store = await openLarge(folder);
  const loaded = await measure("opened", () => LedgerRows.load(store, { network, settings }));
  const { ledger, rows } = loaded!;
  await measure("first balance", () => balanceOf(ledger));
  await measure("hashes of key images for a scan", async () => {
    let count = 0;
    for (const hashes of ledger.state.outputs.images.all()) {
      count += hashes.length / 2;
      await nextTurn();
    }
    if (count !== outputs) throw new Error(`${count} key images`);
  });
  reportMemory("with the wallet");
  const log = new RowLog(store, rows);
  const amount = (i: number): bigint => COIN / 100n + BigInt(i);
  const few = ledgerOf({ count: 100, amount, addresses: 1 });
  await measureTransfers(
    [
      ["100 outputs", few],
      [`${outputs} outputs`, ledger],
    ],
    [COIN / 200n, COIN / 60n, COIN / 2n],
  );
  await measureHistory(ledger);
  await measureChanges(ledger, log);
  await measureReset(ledger, log);
  reportMemory("at the end");
  await log.close();
}

const folder = writtenTo ?? (await mkdtemp(join(tmpdir(), "anulo-large-")));
if (writtenTo !== undefined) await writeLarge(folder, { outputs, payments });
else
  try {
    const arguments_ = [process.argv[1]!, String(outputs), String(payments), folder];
    execFileSync(process.execPath, ["--max-old-space-size=4096", ...arguments_], { stdio: "inherit" });
    const files = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    console.log(`files: ${(files.reduce((sum, size) => sum + size, 0) / 2 ** 20).toFixed(0)} MiB`);
    await read(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
