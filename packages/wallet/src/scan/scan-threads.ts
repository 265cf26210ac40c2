/** The threads that scan. */
import { Worker } from "node:worker_threads";

/** One thread for one open wallet; that of a closed one is kept for the next: starting one takes a tenth of a second. */
export class ScanThreads {
  #spare: Worker | undefined;
  #isClosed = false;

  acquire(): Worker {
    const worker = this.#spare ?? new Worker(new URL("./scan-worker.js", import.meta.url));
    this.#spare = undefined;
    worker.removeAllListeners();
    worker.ref();
    return worker;
  }

  /** Takes back a thread that has forgotten its wallet and has nothing to do. */
  async release(worker: Worker): Promise<void> {
    worker.removeAllListeners();
    if (this.#isClosed || this.#spare !== undefined) {
      await worker.terminate();
      return;
    }
    const lose = () => {
      if (this.#spare === worker) this.#spare = undefined;
    };
    worker.on("error", lose);
    worker.on("exit", lose);
    worker.unref();
    this.#spare = worker;
  }

  /** Ends the spare thread; those of open wallets end with these. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#spare?.terminate();
  }
}
