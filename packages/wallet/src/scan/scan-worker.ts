/** Entry of the scan worker: everything slow about scanning happens in this thread. */

import { isDeepStrictEqual } from "node:util";
import { parentPort } from "node:worker_threads";
import { subaddressSpendPublicKeys } from "@anulo/crypto";
import { BadBytes, BadHex, isMinerTransaction, toHex } from "@anulo/protocol";
import { connectDaemon, type Daemon, type DaemonAddress } from "../daemon.ts";
import { encodeChange } from "../encode-change.ts";
import { WalletRefusal } from "../refusal.ts";
import type { SubaddressIndex } from "../state.ts";
import { scanBlocks } from "./block-scan.ts";
import { type ScanContext, scanTransactions } from "./candidates.ts";
import type { FromWorker, PoolFind, ScanTask, SingleTransaction, ToWorker } from "./messages.ts";
import { PoolScan } from "./pool-scan.ts";
import { type PackedTransactions, type RawTransaction, transactionOf } from "./raw-transaction.ts";
import type { Sifted } from "./sift.ts";
import { SubaddressTable } from "./subaddress-table.ts";

/** Batches on their way to the wallet's thread before the worker waits: bounds memory on a fast node. */
const BATCHES_AHEAD = 2;
/** Keys made between two looks at the mail. */
const KEYS_PER_RANGE = 1000;

const port = parentPort;
if (port === null) throw new Error("the scan worker runs in a worker thread");

let context: ScanContext | undefined;
let pool: PoolScan | undefined;
let daemon: Daemon | undefined;
let cancelled = false;
let unkept = 0;
let wake: (() => void) | undefined;
let lastSiftId = 0;
/** Who waits for what other threads sift. */
const sifting = new Map<number, (sifted: Sifted | undefined) => void>();

/** The connections stay open from one scan to the next. */
function daemonAt(address: DaemonAddress): Daemon {
  if (isDeepStrictEqual(daemon?.address, address)) return daemon!;
  daemon?.close();
  daemon = connectDaemon(address);
  return daemon;
}

function send(message: FromWorker): void {
  port?.postMessage(message);
}

function cover({ keys, table }: Pick<ScanContext, "keys" | "table">, index: SubaddressIndex): void {
  for (const { major, fromMinor, toMinor } of table.missingFor(index)) {
    for (let minor = fromMinor; minor < toMinor; minor += KEYS_PER_RANGE) {
      const count = Math.min(KEYS_PER_RANGE, toMinor - minor);
      const made = subaddressSpendPublicKeys({ keys, major, fromMinor: minor, count });
      const range = { major, fromMinor: minor, keys: made };
      table.add(range);
      send({ kind: "range", range });
    }
  }
}

/** Hands transactions to the wallet's thread, which has others to sift them. */
function siftElsewhere(transactions: PackedTransactions): Promise<Sifted | undefined> {
  const id = ++lastSiftId;
  const message: FromWorker = { kind: "sift", id, transactions };
  port?.postMessage(message, [transactions.bytes.buffer]);
  return new Promise((resolve) => sifting.set(id, resolve));
}

function receiveSifted({ id, sifted }: Extract<ToWorker, { kind: "sifted" }>): void {
  sifting.get(id)?.(sifted);
  sifting.delete(id);
}

async function scan(task: ScanTask, count: number) {
  if (context === undefined || pool === undefined) throw new Error("scan before open");
  cancelled = false;
  const node = daemonAt(task.daemon);
  const threads = count > 1 ? { count, sift: siftElsewhere } : undefined;
  // The pool comes first, so that a transaction mined in between is missed in neither.
  const picture = context.watched === undefined ? await pool.look(node, task.own) : undefined;
  for await (const { change, targetHeight } of scanBlocks({ context, task, daemon: node, threads })) {
    const bytes = encodeChange(change);
    const message: FromWorker = { kind: "blocks", change: bytes, targetHeight };
    port?.postMessage(message, [bytes.buffer as ArrayBuffer]);
    unkept += 1;
    while (unkept >= BATCHES_AHEAD) await new Promise<void>((resolve) => (wake = resolve));
    if (cancelled) return undefined;
  }
  while (unkept > 0) await new Promise<void>((resolve) => (wake = resolve));
  return picture && pool.heedFound(picture);
}

async function look({ daemon: address, own }: Extract<ToWorker, { kind: "pool" }>) {
  if (pool === undefined) throw new Error("pool before open");
  return await pool.look(daemonAt(address), own);
}

function lookAt(entries: readonly SingleTransaction[]): PoolFind[] {
  if (context === undefined) throw new Error("single before open");
  const raw = entries.map((entry): RawTransaction => {
    const read = transactionOf(entry);
    return { ...entry, read, coinbase: isMinerTransaction(read) };
  });
  const found = scanTransactions(context, raw);
  return found.map((transaction) => ({ transaction, doubleSpendSeen: false }));
}

async function answer(id: number, task: () => Promise<FromWorker & { kind: "done" }>): Promise<void> {
  try {
    send(await task());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof WalletRefusal) send({ kind: "failed", id, refusal: error.kind, message });
    else if (error instanceof BadBytes || error instanceof BadHex) {
      const told = `the node answered with bytes that can't be read: ${message}`;
      send({ kind: "failed", id, refusal: "UNKNOWN_ERROR", message: told });
    } else send({ kind: "failed", id, refusal: undefined, message });
  }
}

function open(message: Extract<ToWorker, { kind: "open" }>): void {
  const { keys, skipsCoinbase, watched } = message;
  const knownImages = new Set(message.keyImages.map(toHex));
  const table = new SubaddressTable(message.lookahead);
  const parts = { keys, table, skipsCoinbase, watched };
  context = { ...parts, knownImages, cover: (index) => cover(parts, index), keyImages: new Map() };
  pool = new PoolScan(context);
  for (const index of message.used) cover(parts, index);
}

function close(): void {
  context?.keys.viewSecret.fill(0);
  context?.keys.spendSecret?.fill(0);
  context = undefined;
  pool = undefined;
  daemon?.close();
  daemon = undefined;
  sifting.clear();
}

port.on("message", (message: ToWorker) => {
  if (message.kind === "open") {
    void answer(0, async () => {
      open(message);
      return { kind: "done", id: 0, pool: undefined };
    });
  } else if (message.kind === "learn") {
    for (const keyImage of message.keyImages) context?.knownImages.add(toHex(keyImage));
    pool?.forgetStrangers();
  } else if (message.kind === "cover") {
    void answer(message.id, async () => {
      if (context !== undefined && message.lookahead !== undefined)
        context.table.lookahead = message.lookahead;
      context?.cover(message.index);
      return { kind: "done", id: message.id, pool: undefined };
    });
  } else if (message.kind === "scan") {
    const { id, task, threads } = message;
    void answer(id, async () => ({ kind: "done", id, pool: await scan(task, threads) }));
  } else if (message.kind === "single") {
    const { id, entries } = message;
    void answer(id, async () => ({ kind: "done", id, pool: { ids: [], found: lookAt(entries) } }));
  } else if (message.kind === "pool") {
    void answer(message.id, async () => ({ kind: "done", id: message.id, pool: await look(message) }));
  } else if (message.kind === "close") {
    close();
  } else if (message.kind === "sifted") {
    receiveSifted(message);
  } else if (message.kind === "kept") {
    unkept -= 1;
    wake?.();
  } else {
    cancelled = true;
    wake?.();
  }
});
