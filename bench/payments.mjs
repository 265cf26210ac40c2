// Payments a second that a node takes in from callers on 4 connections, on one processor and on two, once warm.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, loadGoldenState, startDaemon, startWallet } from "@anulo/testkit";
import { jsonRequest, openConnection } from "./load.mjs";
import { cpuSeconds } from "./process.mjs";
import { restore } from "./wallets.mjs";

const { a: alice, b: bob } = loadGoldenState().wallets;
const PAYMENTS = 600;
/** Payments taken in before those that count: V8 compiles and threads start meanwhile. */
const WARM_UP = 200;
const CONNECTIONS = 4;
/** Outputs that are spent, and those that cannot be spent yet. */
const BLOCKS = 2 * PAYMENTS + 100;
/** More than an output holds, so that two are spent. */
const AMOUNT = 40n * coin;

/** A folder with a chain, and payments of two inputs and two outputs that its pool takes, in hexadecimal. */
async function preparePayments() {
  const folder = mkdtempSync(join(tmpdir(), "anulo-"));
  const [chain, dataDir] = ["chain", "used"].map((name) => join(folder, name));
  const first = await startDaemon({ kind: "ours" }, { dataDir: chain });
  await call(first.url, "generateblocks", { amount_of_blocks: BLOCKS, wallet_address: alice.address });
  await first.stop();
  cpSync(chain, dataDir, { recursive: true });
  const node = await startDaemon({ kind: "ours" }, { dataDir });
  const wallet = await startWallet({ kind: "ours" }, { daemonPort: node.port });
  try {
    await restore(wallet.url, alice);
    const order = { destinations: [{ address: bob.address, amount: AMOUNT }], get_tx_hex: true };
    const payments = [];
    for (let i = 0; i < PAYMENTS; i++) payments.push((await call(wallet.url, "transfer", order)).tx_blob);
    return { chain, payments, remove: () => rmSync(folder, { recursive: true, force: true }) };
  } finally {
    await wallet.stop();
    await node.stop();
  }
}

/** Sends each of these once, on so many connections, each response awaited before the next request: seconds. */
async function sendAll(port, requests, connections = CONNECTIONS) {
  let next = 0;
  let left = requests.length;
  let allDone = () => {};
  const done = new Promise((resolve) => {
    allDone = resolve;
  });
  const all = Array.from({ length: connections }, () => {
    const connection = openConnection(port, () => {
      if (next < requests.length) connection.send(requests[next++]);
      if (--left === 0) allDone();
    });
    return connection;
  });
  await Promise.all(all.map(({ opened }) => opened));
  const start = performance.now();
  for (const connection of all) connection.send(requests[next++]);
  await done;
  const seconds = (performance.now() - start) / 1000;
  for (const connection of all) connection.close();
  return seconds;
}

/** Payments a second, and milliseconds of processor time each, of a node on these processors (`0`, `0,1`). */
async function paymentRate({ chain, payments }, processors) {
  const dataDir = mkdtempSync(join(tmpdir(), "anulo-"));
  cpSync(chain, dataDir, { recursive: true });
  const shellLimit = `taskset -pc ${processors} $$ >/dev/null`;
  const node = await startDaemon({ kind: "ours" }, { dataDir, shellLimit });
  try {
    const requests = payments.map((tx_as_hex) => jsonRequest("/sendrawtransaction", { tx_as_hex }));
    await sendAll(node.port, requests.slice(0, WARM_UP));
    const counted = requests.slice(WARM_UP);
    const before = cpuSeconds(node.pid);
    const seconds = await sendAll(node.port, counted);
    const cpu = (1000 * (cpuSeconds(node.pid) - before)) / counted.length;
    const { tx_pool_size } = await call(node.url, "get_info");
    if (tx_pool_size !== payments.length) throw new Error(`only ${tx_pool_size} payments were taken in`);
    return { rate: counted.length / seconds, cpu };
  } finally {
    await node.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Turns of each, of which the best counts: the sender needs the same processors, and so does whatever else runs. */
const ROUNDS = 3;

/** The rows of the table. */
export async function measure() {
  const prepared = await preparePayments();
  const best = { 0: { rate: 0, cpu: 0 }, "0,1": { rate: 0, cpu: 0 } };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const processors of Object.keys(best)) {
        const measured = await paymentRate(prepared, processors);
        if (measured.rate > best[processors].rate) best[processors] = measured;
      }
    }
  } finally {
    prepared.remove();
  }
  const [one, two] = [best[0], best["0,1"]];
  const native = Number.NaN;
  return [
    { name: "payments from 4 callers, one processor", unit: "payments/s", ours: one.rate, native },
    { name: "  processor time", unit: "ms/payment", ours: one.cpu, native },
    { name: "payments from 4 callers, two processors", unit: "payments/s", ours: two.rate, native },
    { name: "  processor time", unit: "ms/payment", ours: two.cpu, native },
    { name: "  as many times as on one", unit: "", ours: two.rate / one.rate, native, least: 1.6 },
  ];
}
