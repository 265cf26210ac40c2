/**
 * Measures one large wallet in an LMDB store, opened in a process that did nothing else: `node --expose-gc
 * packages/wallet/dist/test/measure-wallet.js [OUTPUTS] [PAYMENTS]`, by default a million, each with its receipt, and
 * 100,000 with their transaction keys. Times are processor time of the process; a turn is the longest hold of the event
 * loop.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runSliced } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import { openLmdbEngine, openWalletStore, type WalletStore } from "@anulo/store";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { ledgerTables } from "../src/file/ledger-tables.ts";
import { RowLog, writeRows } from "../src/file/row-log.ts";
import { accountBalance } from "../src/history/balance.ts";
import { listIncoming, listOutgoing } from "../src/history/transfers.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { poolsFor } from "../src/transfer/candidates.ts";
import { estimatedWeight, outputCount, type PlanContext } from "../src/transfer/plan.ts";
import { planPayment } from "../src/transfer/plan-payment.ts";
import { idOf, paymentOf } from "./large-history.ts";
import { bytes, ledgerOf, payingTransaction } from "./many-outputs.ts";
import { destinationOf } from "./transfer-fixture.ts";

const COIN = 10n ** 12n;
const ADDRESSES = 1000;
const network = "regtest";
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const [outputs = 1_000_000, payments = 100_000] = process.argv.slice(2, 4).map(Number);
const writtenTo = process.argv[4];

/** Prints the processor time of some work, and the longest that it has held the event loop. */
async function measure<T>(what: string, run: () => T | Promise<T>): Promise<T> {
  let [longest, last, isDone] = [0, performance.now(), false];
  const note = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const look = () => {
    note();
    if (!isDone) setImmediate(look);
  };
  const [from, startedAt] = [process.cpuUsage(), performance.now()];
  setImmediate(look);
  const result = await run();
  const { user, system } = process.cpuUsage(from);
  note();
  isDone = true;
  const figures = [(user + system) / 1000, performance.now() - startedAt, longest];
  const [cpu, wall, turn] = figures.map((ms) => ms.toFixed(1).padStart(8));
  console.log(`${what.padEnd(56)} ${cpu} ms of processor, ${wall} ms, longest turn ${turn} ms`);
  return result;
}

function reportMemory(when: string): void {
  globalThis.gc?.();
  const status = readFileSync("/proc/self/status", "utf8");
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const sizes = [kilobytes("VmRSS") * 1024, kilobytes("RssFile") * 1024, arrayBuffers, heapUsed];
  const [total, files, buffers, heap] = sizes.map((size) => (size / 2 ** 20).toFixed(0));
  console.log(
    `memory ${when}: ${total} MiB, of them ${files} of mapped files, ${buffers} in arrays, ${heap} on the heap`,
  );
}

async function open(folder: string): Promise<WalletStore> {
  const engine = await openLmdbEngine(join(folder, "store"));
  const options = { engine, wallet: Buffer.alloc(16, 1), tables: ledgerTables, folder };
  const opened = await openWalletStore({ ...options, wrappingKey: Buffer.alloc(32, 1) });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

/** Writes a wallet that has received all of its outputs, and made payments since. */
async function write(folder: string): Promise<void> {
  const amount = (i: number): bigint => COIN / 100n + BigInt(i % 1000);
  const ledger = ledgerOf({ count: outputs, amount, addresses: ADDRESSES });
  const { state } = ledger;
  for (let place = 0; place < outputs; place++) {
    const { txHash, height, timestamp, subaddress } = state.outputs.at(place)!;
    const value = amount(place);
    state.incoming.push({
      ...{ txHash, paymentId: new Uint8Array(32), amount: value, amounts: [value], fee: 30_660_000n },
      ...{ height, timestamp, unlockTime: 0n, coinbase: false, subaddress },
    });
  }
  for (let i = 0; i < payments; i++) {
    const payment = paymentOf(i, { height: 1 + Math.floor((i * state.height) / (payments + 1)) });
    state.outgoing.set(toHex(payment.txHash), payment);
    state.txKeys.set(toHex(payment.txHash), [bytes(32)]);
  }
  const store = await open(folder);
  await writeRows(store, await LedgerRows.of(ledger).takeAll());
  await store.close();
}

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
  const store = await open(folder);
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
if (writtenTo !== undefined) await write(folder);
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
