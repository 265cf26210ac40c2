/** The threads that scan, each for many wallets. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { equalBytes } from "@anulo/protocol";
import { decodeChange } from "../encode-change.ts";
import { startHere, type Thread } from "../threads/start-thread.ts";
import { Turns } from "../turns.ts";
import { GroupedMessages, type MessageGroup } from "./message-groups.ts";
import type { BlocksChange, FromWorker, ScanTask, ToWorker } from "./messages.ts";

type BlocksMessage = Extract<FromWorker, { kind: "blocks" }>;
type ScanMessage = Extract<ToWorker, { kind: "scan" }>;

/** What a wallet does with what its thread sends. */
export type ScanClient = {
  readonly receive: (message: FromWorker) => void;
  /** Called once, when the thread ends before the wallet has been released. */
  readonly onEnd: (error: Error) => void;
};

/** A wallet's connection to its thread. */
export type ScanLine = {
  /** One object that is sent for many wallets one after the other is copied once. */
  readonly send: (message: ToWorker, transfer?: readonly ArrayBuffer[]) => void;
  /** Forgets the wallet, once its thread has. */
  readonly release: () => void;
};

type ScanThread = {
  readonly worker: Thread;
  readonly messages: GroupedMessages<ToWorker>;
  /** The wallets it scans for, by number. */
  readonly clients: Map<number, ScanClient>;
};

/**
 * Number of wallets per thread before another one is started. Wallets of one thread share requests to the node, the
 * parsing of blocks and each key's multiples; a long scan gets help from the threads that work. Measured with 100
 * wallets that follow blocks: 17 MiB and an eighth of the processor time less than with two threads.
 */
const WALLETS_PER_THREAD = 128;

/**
 * Memory for young objects: with the 48 MiB that V8 gives a thread otherwise, each holds some 20 MiB more at rest, and
 * scans no faster.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/**
 * The pool of scan threads. Threads start when they are first needed: starting one takes a tenth of a second and some
 * 15 MiB.
 */
export class ScanThreads {
  readonly #most: number;
  readonly #threads = new Set<ScanThread>();
  #lastWallet = 0;
  /** In these turns wallets process messages of their threads, since a block reaches all wallets at once. */
  readonly turns = new Turns();

  readonly #changes = new WeakMap<BlocksMessage, BlocksChange>();
  #lastScan: ScanMessage | undefined;

  /** `most`: maximum number of threads, however many wallets there are; with 0 the caller's thread scans. */
  constructor(most: number = availableParallelism()) {
    this.#most = most;
  }

  /** Number of threads. */
  get count(): number {
    return this.#threads.size;
  }

  /** Connects a wallet to the thread with the fewest wallets, until `release`. */
  open(client: ScanClient): ScanLine {
    const thread = this.#choose();
    const wallet = ++this.#lastWallet;
    thread.clients.set(wallet, client);
    // Only open wallets keep the process running.
    if (thread.clients.size === 1) thread.worker.ref();
    return {
      send: (message, transfer) => thread.messages.send(wallet, message, transfer),
      release: () => this.#release(thread, wallet),
    };
  }

  /** The change in a message, decoded once for all wallets that receive it. */
  changeOf(message: BlocksMessage): BlocksChange {
    const cached = this.#changes.get(message);
    if (cached !== undefined) return cached;
    const change = decodeChange(message.change) as BlocksChange;
    this.#changes.set(message, change);
    return change;
  }

  /** The message that begins a scan: the same object as for the last wallet if both scan the same. */
  scanMessage(scan: Omit<ScanMessage, "kind">): ScanMessage {
    const last = this.#lastScan;
    if (last !== undefined && isSameScan(last, scan)) return last;
    this.#lastScan = { kind: "scan", ...scan };
    return this.#lastScan;
  }

  #choose(): ScanThread {
    const [least] = [...this.#threads].sort((a, b) => a.clients.size - b.clients.size);
    const isFull = this.#threads.size >= Math.max(1, this.#most);
    return least !== undefined && (isFull || least.clients.size < WALLETS_PER_THREAD) ? least : this.#start();
  }

  #start(): ScanThread {
    const worker =
      this.#most === 0
        ? startHere(async () => (await import("./serve-scans.ts")).serveScans)
        : new Worker(new URL("./scan-worker.js", import.meta.url), { resourceLimits });
    const messages = new GroupedMessages<ToWorker>((groups, transfer) =>
      worker.postMessage(groups, transfer),
    );
    const thread: ScanThread = { worker, messages, clients: new Map() };
    let failure = new Error("the scan thread ended");
    worker.on("message", (groups: readonly MessageGroup<FromWorker>[]) => {
      for (const { wallets, message } of groups)
        for (const wallet of wallets) thread.clients.get(wallet)?.receive(message);
    });
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => {
      this.#threads.delete(thread);
      for (const { onEnd } of thread.clients.values()) onEnd(failure);
      thread.clients.clear();
    });
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  /** One thread without wallets is kept for the next wallet. */
  #release(thread: ScanThread, wallet: number): void {
    thread.clients.delete(wallet);
    if (thread.clients.size === 0) thread.worker.unref();
    const idle = [...this.#threads].filter(({ clients }) => clients.size === 0);
    for (const surplus of idle.slice(1)) {
      this.#threads.delete(surplus);
      void surplus.worker.terminate();
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }
}

/** Whether two wallets scan the same; a transaction of their own makes wallets different. */
function isSameScan(a: Omit<ScanMessage, "kind">, b: Omit<ScanMessage, "kind">): boolean {
  const [first, second] = [a.task, b.task];
  const same: readonly (keyof ScanTask)[] = ["daemon", "network", "height", "startHeight", "fromHeight"];
  if (a.id !== b.id || a.threads !== b.threads || same.some((name) => first[name] !== second[name]))
    return false;
  if (first.own.length + second.own.length > 0) return false;
  if (first.history === second.history) return true;
  if (first.history.length !== second.history.length) return false;
  const isSameId = (id: Uint8Array, other: Uint8Array) => id === other || equalBytes(id, other);
  return first.history.every((id, i) => isSameId(id, second.history[i]!));
}
