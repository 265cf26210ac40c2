/** What full mode reads instead of computing it: all dataset items of a key. Source: RandomX specification, chapter 7. */

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { WasmMemory } from "../wasm-values.ts";
import type { RandomXCache } from "./cache.ts";
import { createMachine, placeConstants, type SharedParts } from "./fixed.ts";
import { createSharedMemory, DATASET_BYTES, DATASET_ITEMS } from "./memory.ts";

/** All items of a key, about 2.1 GiB. Plain data, shared as a `RandomXCache` is. */
export type RandomXDataset = SharedParts & { readonly key: Uint8Array };

export type RandomXDatasetOptions = {
  /** Number of threads that compute it; by default one per processor. */
  readonly threads?: number;
  /** Called now and then with the number of items that are there, of 34,078,719. */
  readonly onProgress?: (items: number, all: number) => void;
  /** Gives up: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The memory of a dataset that no thread uses any more, to be overwritten. */
  readonly memory?: WasmMemory;
};

/** What a worker gets: chunks are claimed by counting in `claimed`. It posts the items of each chunk done. */
export type DatasetWork = {
  readonly cache: RandomXCache;
  readonly memory: WasmMemory;
  readonly claimed: Int32Array;
};

/** The memory of a dataset without its items. */
export function createDataset({ key, fixedPart }: RandomXCache, sharedMemory?: WasmMemory): RandomXDataset {
  const memory = sharedMemory ?? createSharedMemory(DATASET_BYTES);
  const machine = createMachine({ memory, fixedPart });
  placeConstants(machine);
  machine.release();
  return { key, memory, fixedPart };
}

function startWorker(
  work: DatasetWork,
  onItems: (items: number) => void,
): { worker: Worker; done: Promise<void> } {
  const worker = new Worker(new URL("./dataset-worker.js", import.meta.url), { workerData: work });
  worker.on("message", onItems);
  const done = new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", (code) => (code === 0 ? resolve() : reject(new Error("a dataset thread was ended"))));
  });
  return { worker, done };
}

type FillOptions = Pick<RandomXDatasetOptions, "threads" | "onProgress" | "signal">;

/** Computes the items from chunk `first` on, of 32,768 items each, into the memory of a dataset. */
export async function fillDataset(
  work: Omit<DatasetWork, "claimed">,
  { threads = availableParallelism(), onProgress, signal }: FillOptions,
  first = 0,
): Promise<void> {
  const claimed = new Int32Array(new SharedArrayBuffer(4)).fill(first);
  let items = 0;
  const onItems = (more: number): void => {
    items += more;
    onProgress?.(items, DATASET_ITEMS);
  };
  const started = Array.from({ length: threads }, () => startWorker({ ...work, claimed }, onItems));
  const end = (): void => {
    for (const { worker } of started) void worker.terminate();
  };
  signal?.addEventListener("abort", end, { once: true });
  try {
    await Promise.all(started.map(({ done }) => done));
  } catch (error) {
    end();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", end);
  }
}

/**
 * Computes the dataset of a cache in threads of its own: about 45 seconds of CPU time and 2.1 GiB. The cache is not
 * needed afterwards. Rejects with `RangeError` when the system refuses the memory.
 */
export async function createRandomXDataset(
  cache: RandomXCache,
  options: RandomXDatasetOptions = {},
): Promise<RandomXDataset> {
  options.signal?.throwIfAborted();
  const dataset = createDataset(cache, options.memory);
  await fillDataset({ cache, memory: dataset.memory }, options);
  return dataset;
}
