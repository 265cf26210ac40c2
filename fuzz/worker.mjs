// Runs one target in a thread of its own, so that the main thread notices when it hangs.
import { parentPort, workerData } from "node:worker_threads";
import { createNumbers, mutate, seedOf } from "./mutate.mjs";
import { findTarget } from "./targets.mjs";

const { name, seed, milliseconds, shared, only } = workerData;
const SLOW_MS = 1000;
/** Bytes the process may grow by while it runs, beyond what the seeds take. */
const MAX_GROWTH = 400 * 1024 * 1024;
const CHECK_EVERY = 256;
/** How often a slow input is tried again. */
const TRIES = 4;

const counter = new Int32Array(shared, 0, 2);
const current = new Uint8Array(shared, 8);
const random = createNumbers(seedOf(seed, name));

function show(input) {
  current.set(input.subarray(0, current.length));
  Atomics.store(counter, 1, Math.min(input.length, current.length));
  Atomics.add(counter, 0, 1);
}

function fail(problem, input, error) {
  const detail = error instanceof Error ? error.stack : error === undefined ? "" : String(error);
  parentPort.postMessage({ type: "failed", problem, index: inputs, hex: input.toString("hex"), detail });
}

let inputs = 0;

/** False where the input showed a fault. */
async function tryInput(target, input) {
  show(input);
  const from = performance.now();
  try {
    const running = target.run(input);
    if (running instanceof Promise) await running;
  } catch (error) {
    if (!target.refusals.some((refusal) => error instanceof refusal)) {
      fail("threw what is no refusal", input, error);
      return false;
    }
  }
  const took = performance.now() - from;
  if (took <= SLOW_MS) return true;
  // On a busy machine the clock goes on while nothing runs: only what is slow each time is slow.
  for (let i = 0; i < TRIES; i++) if ((await tryAgain(target, input)) <= SLOW_MS) return true;
  fail(`took ${took.toFixed(0)} ms`, input);
  return false;
}

async function tryAgain(target, input) {
  const from = performance.now();
  await Promise.resolve()
    .then(() => target.run(input))
    .catch(() => {});
  return performance.now() - from;
}

const target = await findTarget(name);
const seeds = (await target.seeds()).map((bytes) => Buffer.from(bytes));
await target.start?.();
let isFine = true;
if (only === undefined) for (const input of seeds) isFine &&= await tryInput(target, input);
globalThis.gc?.();
const baseline = process.memoryUsage().rss;
const end = Date.now() + milliseconds;
while (isFine && (only === undefined ? Date.now() < end : inputs <= only)) {
  const input = target.make === undefined ? mutate(seeds, random) : target.make(random);
  if (only === undefined || only === inputs) isFine = await tryInput(target, input);
  inputs++;
  if (inputs % CHECK_EVERY === 0 && process.memoryUsage().rss - baseline > MAX_GROWTH) {
    fail(`took ${((process.memoryUsage().rss - baseline) / 2 ** 20).toFixed(0)} MiB of memory`, input);
    isFine = false;
  }
}
await target.stop?.();
parentPort.postMessage({ type: "done", inputs });
