/** The threads that scan, each for many wallets. */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { Turns } from "../turns.ts";

/** Told once, when a thread ends that a port leads to. */
type OnEnd = (error: Error) => void;

type Thread = {
  readonly worker: Worker;
  /** Of the wallets it scans for. */
  readonly ports: Map<MessagePort, OnEnd>;
};

/**
 * Wallets of a thread before another is started. Those of one thread share what they ask the node and make of blocks;
 * but each costs its thread some 300 ms when it is opened, which more threads do at once.
 */
const WALLETS_PER_THREAD = 8;

/** Threads start when they are first needed: a new one takes a tenth of a second and some 15 MiB. */
export class ScanThreads {
  readonly #most: number;
  readonly #threads = new Set<Thread>();
  /** In which wallets hear of their threads: a block reaches all wallets at once. */
  readonly turns = new Turns();

  /** At most so many threads, however many wallets there are. */
  constructor(most: number = availableParallelism()) {
    this.#most = most;
  }

  /** How many threads there are. */
  get count(): number {
    return this.#threads.size;
  }

  /** A port to the thread that scans for the fewest, until it is given back. */
  open(onEnd: OnEnd): MessagePort {
    const thread = this.#choose();
    const { port1: own, port2: other } = new MessageChannel();
    thread.ports.set(own, onEnd);
    thread.worker.postMessage(other, [other]);
    return own;
  }

  #choose(): Thread {
    const [least] = [...this.#threads].sort((a, b) => a.ports.size - b.ports.size);
    const isFull = this.#threads.size >= this.#most;
    return least !== undefined && (isFull || least.ports.size < WALLETS_PER_THREAD) ? least : this.#start();
  }

  #start(): Thread {
    const worker = new Worker(new URL("./scan-worker.js", import.meta.url));
    const thread: Thread = { worker, ports: new Map() };
    let failure = new Error("the scan thread ended");
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => {
      this.#threads.delete(thread);
      for (const onEnd of thread.ports.values()) onEnd(failure);
      thread.ports.clear();
    });
    // The ports of open wallets keep the process going.
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  /** Takes back a port that the thread has closed. One thread without wallets is kept for the next. */
  release(port: MessagePort): void {
    for (const { ports } of this.#threads) ports.delete(port);
    const idle = [...this.#threads].filter(({ ports }) => ports.size === 0);
    for (const thread of idle.slice(1)) {
      this.#threads.delete(thread);
      void thread.worker.terminate();
    }
  }

  /** Ends them. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }
}
