type Waiting<Request, Result> = {
  readonly request: Request;
  resolve(result: Result): void;
  reject(error: unknown): void;
};

/**
 * Joins requests into batches: one batch is under way at a time, and the next one is of those who ask meanwhile, so that
 * they share its round trips.
 */
export class Batches<Request, Result> {
  readonly #most: number;
  readonly #run: (requests: readonly Request[]) => Promise<readonly Result[]>;
  #queue: Waiting<Request, Result>[] = [];
  #running: Promise<void> | undefined;

  /** `run` handles up to `most` requests, and returns their results in the same order. */
  constructor(most: number, run: (requests: readonly Request[]) => Promise<readonly Result[]>) {
    this.#most = most;
    this.#run = run;
  }

  /** Throws what `run` throws for the batch of this request. */
  submit(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      this.#running ??= this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    // Requests of the same turn are included.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, this.#most);
      try {
        const results = await this.#run(batch.map(({ request }) => request));
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = undefined;
  }
}
