/** The threads that scan, each for many wallets. */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { Turns } from "../turns.ts";

/** Called once, when the thread behind a port ends. */
type OnEnd = (error: Error) => void;

type Thread = {
  readonly worker: Worker;
  /** The ports of the wallets it scans for. */
  readonly ports: Map<MessagePort, OnEnd>;
};

/**
 * Number of wallets per thread before another one is started. Wallets of one thread share requests to the node and the
 * parsing of blocks; but opening one takes some 300 ms of its thread, which several threads do in parallel.
 */
const WALLETS_PER_THREAD = 8;

/**
 * The pool of scan threads. Threads start when they are first needed: starting one takes a tenth of a second and some
 * 15 MiB.
 */
export class ScanThreads {
  readonly #most: number;
  readonly #threads = new Set<Thread>();
  /** In these turns wallets process messages of their threads, since a block reaches all wallets at once. */
  readonly turns = new Turns();

  /** `most`: maximum number of threads, however many wallets there are. */
  constructor(most: number = availableParallelism()) {
    this.#most = most;
  }

  /** Number of threads. */
  get count(): number {
    return this.#threads.size;
  }

  /** Returns a port to the thread with the fewest wallets, until `release`. */
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
    // Only the ports of open wallets keep the process running.
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  /** Releases a port that the thread has closed. One thread without wallets is kept for the next wallet. */
  release(port: MessagePort): void {
    for (const { ports } of this.#threads) ports.delete(port);
    const idle = [...this.#threads].filter(({ ports }) => ports.size === 0);
    for (const thread of idle.slice(1)) {
      this.#threads.delete(thread);
      void thread.worker.terminate();
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }
}
