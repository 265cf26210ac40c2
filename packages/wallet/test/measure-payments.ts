/**
 * Prints what the payments of a large wallet cost: `node --expose-gc packages/wallet/dist/test/measure-payments.js
 * [receipts] [payments]`, by default a million and 100,000. Times are processor time of the process unless they say
 * turn: the longest hold of the event loop.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { toHex } from "@anulo/protocol";
import { CachedFacts } from "../src/cached-facts.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import { accountBalance } from "../src/history/balance.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { incomingFromPool, outgoingFromPool } from "../src/ledger/apply-pool.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { historyHandlers } from "../src/rpc/history.ts";
import { blocksWith, idOf, largeLedger, paysWallet } from "./large-history.ts";

const [receipts = 1_000_000, payments = 100_000] = process.argv.slice(2).map(Number);
const print = (what: string, figure: string) => console.log(`${what.padEnd(58)} ${figure}`);

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Processor time and the longest turn of the event loop, the best of some runs. */
async function measure(what: string, task: () => unknown, runs = 5): Promise<void> {
  const results: { cpu: number; turn: number }[] = [];
  for (let run = 0; run < runs; run++) {
    const turns = monitorEventLoopDelay({ resolution: 1 });
    turns.enable();
    await new Promise((done) => setTimeout(done, 5));
    turns.reset();
    const before = process.cpuUsage();
    await task();
    const { user, system } = process.cpuUsage(before);
    await new Promise((done) => setTimeout(done, 5));
    turns.disable();
    results.push({ cpu: (user + system) / 1000, turn: turns.max / 1e6 });
  }
  results.sort((a, b) => a.cpu - b.cpu);
  const { cpu } = results[0]!;
  const turn = Math.min(...results.map((each) => each.turn));
  print(what, `${cpu.toFixed(1)} ms, turn ${turn.toFixed(1)} ms`);
}

/** What the handlers of history use of a wallet. */
function walletOf(ledger: Ledger) {
  const now = () => ({ network: "regtest", height: ledger.state.height, seconds: 1_800_000_000 });
  return {
    state: ledger.state,
    facts: new CachedFacts(() => ({})),
    now,
    addressOf: () => "8".padEnd(95, "B"),
    prepareAddresses: async () => undefined,
    refreshPool: async () => undefined,
  };
}

async function measureHistory(ledger: Ledger): Promise<void> {
  const context = { opened: { wallet: walletOf(ledger) } };
  const call = async (name: string, params: object) =>
    await historyHandlers.find(({ call: { name: each } }) => each === name)!.handler!(
      params as never,
      context as never,
    );
  const all = { in: true, out: true, pending: true, failed: true, pool: true, account_index: 0 };
  const ask = async (more: object) => {
    const params = { ...all, subaddr_indices: [], all_accounts: true, filter_by_height: false, ...more };
    const answer = (await call("get_transfers", params)) as {
      facts: Record<string, { length: number; at: (place: number) => object }>;
    };
    let [entries, shown] = [0, 0];
    for (const list of Object.values(answer.facts)) {
      entries += list.length;
      for (let i = 0; i < Math.min(list.length, 200); i++)
        shown += JSON.stringify(list.at(i), amountText).length;
    }
    return { entries, shown };
  };
  const page = { filter_by_height: true, min_height: 5000, max_height: 5010 };
  print("entries of a page by height", `${(await ask(page)).entries}`);
  await measure("get_transfers, a page of ten blocks", () => ask(page));
  await measure("get_transfers, one address", () => ask({ all_accounts: false, subaddr_indices: [5] }));
  await measure("get_transfers, one account of five", () => ask({ all_accounts: false }));
  await measure("get_transfers, everything, 200 of each list formatted", () => ask({}));
  const byId = (txid: string, account_index: number) => call("get_transfer_by_txid", { txid, account_index });
  await measure("get_transfer_by_txid", () => byId(toHex(idOf("in 17")), 2));
  const payment_id = toHex(idOf("id 8").subarray(0, 8));
  await measure("get_payments, one id", () => call("get_payments", { payment_id }));
  const bulk = { payment_ids: [], min_block_height: ledger.state.height - 10 };
  await measure("get_bulk_payments, ten blocks", () => call("get_bulk_payments", bulk));
}

const amountText = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);

async function measureChanges(ledger: Ledger): Promise<void> {
  const picture = {
    ids: idOf("waiting"),
    finds: [{ transaction: paysWallet("waiting", 0), doubleSpendSeen: false }],
  };
  await measure("a look at the pool", () => {
    incomingFromPool(ledger, picture, 1);
    outgoingFromPool(ledger, picture, 1);
  });
  const now = { network: "regtest" as const, height: ledger.state.height, seconds: 1_800_000_000 };
  await measure("the payments' part of a balance", () =>
    accountBalance(
      { ...ledger.state, outputs: ledger.state.outputs },
      { account: 0, strict: false, now, indexOf: () => undefined },
    ),
  );
  let block = 0;
  const from = ledger.state.height;
  const next = () => {
    block += 1;
    const { height } = ledger.state;
    const found = Array.from({ length: 1000 }, (_, i) => paysWallet(`${block} ${i}`, height));
    return blocksWith(height, 1, ...found);
  };
  const changes = Array.from({ length: 5 }, () => next());
  await measure("a block with 1,000 receipts", () => {
    const change = changes.pop() as ReturnType<typeof blocksWith>;
    applyChange(ledger, { ...change, fromHeight: ledger.state.height } as typeof change);
  });
  await measure("a block without payments", () => applyChange(ledger, blocksWith(ledger.state.height, 1)));
  await measure("events begin", () => EventDeriver.of(ledger), 1);
  const undone = from - 95;
  await measure(
    "a reorganisation of 100 blocks, 1,000 receipts and payments",
    () => applyChange(ledger, blocksWith(undone, 101)),
    1,
  );
}

const empty = memory();
const onlyPayments = largeLedger({ receipts: 0, payments });
const withPayments = memory();
print("a payment made, bytes of memory", ((withPayments - empty) / payments).toFixed(0));
onlyPayments.state.outgoing.size.toFixed();
const onlyReceipts = largeLedger({ receipts, payments: 0 });
print("a receipt, bytes of memory", ((memory() - withPayments) / receipts).toFixed(0));
onlyReceipts.state.incoming.length.toFixed();
const ledger = largeLedger({ receipts, payments });
await measureHistory(ledger);
await measureChanges(ledger);
