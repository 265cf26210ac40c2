/** Access to the signing thread. */
import { Worker } from "node:worker_threads";
import type { SignAnswer, SignJob } from "./sign-worker.ts";
import type { SignedTransaction } from "./stages.ts";

type Waiting = { resolve: (signed: SignedTransaction) => void; reject: (error: Error) => void };

/** Starts its thread at the first job and keeps it until `stop`. */
export class SigningThread {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** Signs a copy of what it is given; rejects with what signing threw. */
  sign(job: Omit<SignJob, "id">): Promise<SignedTransaction> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const worker = this.#start();
      worker.ref();
      worker.postMessage({ id, ...job });
    });
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
    this.#failAll(new Error("signing was stopped"));
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL("./sign-worker.js", import.meta.url));
    worker.on("message", (answer: SignAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (this.#waiting.size === 0) worker.unref();
      if ("signed" in answer) waiting?.resolve(answer.signed);
      else waiting?.reject(answer.error);
    });
    worker.on("error", (error) => {
      this.#worker = undefined;
      this.#failAll(error);
    });
    this.#worker = worker;
    return worker;
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
