// Feeds every decoder and every call with inputs made to break it: `npm run fuzz`.
// --seconds N each (60), --seed N, --jobs N (2), names or parts of names; --input N runs that one input alone.
// A failing input is printed as hex, with the arguments that make it again.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { targetNames } from "./targets.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
    jobs: { type: "string", default: "2" },
    input: { type: "string" },
  },
});
const seed = values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed) >>> 0;
const milliseconds = 1000 * Number(values.seconds);
const only = values.input === undefined ? undefined : Number(values.input);
const SHARED_BYTES = 256 * 1024;
/** Milliseconds without an end of one input before the thread counts as hanging; a busy machine is slow, but goes on. */
const HANGS_AFTER = 120_000;
/** Memory of a thread's objects; what needs more fails. */
const MAX_HEAP_MB = 512;

function runTarget(name) {
  const shared = new SharedArrayBuffer(SHARED_BYTES);
  const counter = new Int32Array(shared, 0, 2);
  const from = Date.now();
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), {
      workerData: { name, seed, milliseconds, shared, only },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    let inputs = 0;
    const problems = [];
    const currentHex = () => Buffer.from(new Uint8Array(shared, 8, counter[1])).toString("hex");
    let seen = -1;
    let seenAt = Date.now();
    const watch = setInterval(() => {
      if (counter[0] !== seen) {
        seen = counter[0];
        seenAt = Date.now();
      } else if (Date.now() - seenAt > HANGS_AFTER && seen > 0) {
        problems.push({ problem: "does not end", hex: currentHex(), detail: "" });
        worker.terminate();
      }
    }, 500);
    worker.on("message", (message) => {
      if (message.type === "failed") problems.push(message);
      else {
        inputs = message.inputs;
        worker.terminate();
      }
    });
    worker.on("error", (error) => {
      problems.push({ problem: "ended the thread", hex: currentHex(), detail: error.stack ?? String(error) });
    });
    worker.on("exit", () => {
      clearInterval(watch);
      resolve({ name, inputs, problems, seconds: (Date.now() - from) / 1000 });
    });
  });
}

function report({ name, inputs, problems, seconds }) {
  const verdict = problems.length === 0 ? "ok    " : "FAILED";
  console.log(`${verdict} ${name.padEnd(28)} ${String(inputs).padStart(9)} inputs  ${seconds.toFixed(1)} s`);
  for (const { problem, index, hex, detail } of problems) {
    const again = index === undefined ? "" : ` (--seed ${seed} --input ${index} ${name})`;
    console.log(`  ${problem}${again}\n  input ${hex}\n${detail.replace(/^/gm, "    ")}`);
  }
}

const wanted = targetNames.filter((name) => {
  return positionals.length === 0 || positionals.some((part) => name.includes(part));
});
if (wanted.length === 0) {
  console.error(`fuzz: no target is named like ${positionals.join(", ")}: ${targetNames.join(", ")}`);
  process.exit(1);
}
console.log(`fuzz: ${wanted.length} targets, ${values.seconds} s each, seed ${seed}`);
const queue = [...wanted];
let failed = 0;
await Promise.all(
  Array.from({ length: Number(values.jobs) }, async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const result = await runTarget(name);
      report(result);
      if (result.problems.length > 0) failed++;
    }
  }),
);
console.log(failed === 0 ? "fuzz: no fault found" : `fuzz: ${failed} targets failed`);
process.exit(failed === 0 ? 0 : 1);
