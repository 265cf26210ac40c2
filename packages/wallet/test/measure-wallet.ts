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
import { accountBalance } from "../src/history/balance.ts";
import { listIncoming, listOutgoing } from "../src/history/transfers.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { poolsFor } from "../src/transfer/candidates.ts";
import { estimatedWeight, outputCount, type PlanContext } from "../src/transfer/plan.ts";
import { planPayment } from "../src/transfer/plan-payment.ts";
import { idOf } from "./large-history.ts";
import { COIN, measure, network, openLarge, reportMemory, settings, writeLarge } from "./large-wallet.ts";
import { bytes, payingTransaction } from "./many-outputs.ts";
import { destinationOf } from "./transfer-fixture.ts";

const [outputs = 1_000_000, payments = 100_000] = process.argv.slice(2, 4).map(Number);
const writtenTo = process.argv[4];

const balanceOf = ({ state }: Ledger) =>
  accountBalance(state, {
    account: 0,
    strict: false,
    now: { network, height: state.height, seconds: 1_800_000_000 },
    indexOf: () => undefined,
  });

const context: PlanContext = {
  fee: { feePerByte: 20_000n, quantizationMask: 10_000n },
  extraSize: 44,
  weigh: async ({ inputs, destinations }) =>
    estimatedWeight(inputs.length, outputCount(destinations, inputs), 44),
};

/** Plans one payment from everything that can be spent. */
async function plan(ledger: Ledger, amount: bigint): Promise<void> {
  const { state } = ledger;
  const { outputs: book, height } = state;
  const spendablePlaces = (account: number) =>
    book.spendable(account, { height, needsKeyImage: true, isUnlocked: () => false });
  const wallet = { preferences: DEFAULT_PREFERENCES, state, spendablePlaces };
  const parts = { wallet, feeRate: context.fee };
  const pools = await runSliced(poolsFor(parts, { account: 0, minors: [] }, balanceOf(ledger)));
  const destinations = [destinationOf(createKeys(bytes), amount)];
  await planPayment({ destinations, ...pools!, random: bytes, preferences: DEFAULT_PREFERENCES }, context);
}

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

async function measureHistory({ state }: Ledger): Promise<void> {
  const all = { account: undefined, minors: [], minHeight: 0, maxHeight: 1e9 };
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
    for (const hashes of ledger.state.outputs.imageHashes()) {
      count += hashes.length / 2;
      await nextTurn();
    }
    if (count !== outputs) throw new Error(`${count} key images`);
  });
  reportMemory("with the wallet");
  const log = new RowLog(store, rows);
  for (const [what, amount] of [
    ["one input", COIN / 200n],
    ["two inputs", COIN / 60n],
    ["fifty inputs", COIN / 2n],
  ] as const)
    for (const when of ["first", "again"])
      await measure(`a payment is planned: ${what}, ${when}`, () => plan(ledger, amount));
  await measureHistory(ledger);
  await measureChanges(ledger, log);
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
