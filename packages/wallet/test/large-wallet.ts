/** A wallet of very many outputs and payments in an LMDB store, and what measures work on it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "@anulo/protocol";
import { openLmdbEngine, openWalletStore, type WalletStore } from "@anulo/store";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { ledgerTables } from "../src/file/ledger-tables.ts";
import { writeRows } from "../src/file/row-log.ts";
import { paymentOf } from "./large-history.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";

export const COIN: bigint = 10n ** 12n;
export const network = "regtest";
export const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const ADDRESSES = 1000;

/** Prints the processor time of some work, and the longest that it has held the event loop. */
export async function measure<T>(what: string, run: () => T | Promise<T>): Promise<T> {
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

/** Prints what the process has in memory. */
export function reportMemory(when: string): void {
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

/** Opens the store of a large wallet. */
export async function openLarge(folder: string): Promise<WalletStore> {
  const engine = await openLmdbEngine(join(folder, "store"));
  const options = { engine, wallet: Buffer.alloc(16, 1), tables: ledgerTables, folder };
  const opened = await openWalletStore({ ...options, wrappingKey: Buffer.alloc(32, 1) });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

/** Writes a wallet that has received all of its outputs, and made payments since. */
export async function writeLarge(
  folder: string,
  { outputs, payments, key }: { outputs: number; payments: number; key?: () => Uint8Array },
): Promise<void> {
  const amount = (i: number): bigint => COIN / 100n + BigInt(i % 1000);
  const ledger = ledgerOf({ count: outputs, amount, addresses: ADDRESSES, ...(key && { key }) });
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
  const store = await openLarge(folder);
  await writeRows(store, await LedgerRows.of(ledger).takeAll());
  await store.close();
}
