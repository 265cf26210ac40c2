/** A thread that computes chunks of a dataset until none is left. */
import { parentPort, workerData } from "node:worker_threads";
import { itemFunctions } from "./cache.ts";
import type { DatasetWork } from "./dataset.ts";
import { BLOCK_ITEMS } from "./dataset-module.ts";
import { createMachine } from "./fixed.ts";
import { DATA, DATASET_ITEMS, SCRATCHPAD_BYTES } from "./memory.ts";

/** Items are computed in the cache's memory, in a scratchpad, and copied from there. */
const CHUNK_ITEMS = SCRATCHPAD_BYTES / 64;

const { cache, memory, claimed } = workerData as DatasetWork;
const machine = createMachine(cache);
const { scratchpad } = machine.slot;
const { block } = itemFunctions(cache);
const target = new Uint8Array(memory.buffer);

for (;;) {
  const first = Atomics.add(claimed, 0, 1) * CHUNK_ITEMS;
  if (first >= DATASET_ITEMS) break;
  const items = Math.min(CHUNK_ITEMS, DATASET_ITEMS - first);
  for (let i = 0; i < items; i += BLOCK_ITEMS) block(scratchpad + 64 * i, BigInt(first + i));
  target.set(machine.bytes.subarray(scratchpad, scratchpad + 64 * items), DATA + 64 * first);
  parentPort?.postMessage(items);
}
machine.release();
