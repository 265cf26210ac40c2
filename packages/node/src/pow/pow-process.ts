/** The process that hashes: takes questions from the node, has threads answer them, and ends when the node does. */
import { Worker } from "node:worker_threads";
import { createDatasetMakers } from "./dataset-makers.ts";
import type { PowQuestion, ThreadResult } from "./messages.ts";
import { readSettings } from "./process-settings.ts";
import { createScheduler, type HashThread, type ThreadOwner } from "./scheduler.ts";

const settings = readSettings(process.argv[2]);

function hire(owner: ThreadOwner): HashThread {
  const worker = new Worker(new URL("./pow-thread.js", import.meta.url), { workerData: settings });
  let isLost = false;
  const lose = (reason: string) => {
    if (!isLost) owner.onLost(reason);
    isLost = true;
  };
  worker.on("message", (result: ThreadResult) => owner.onResult(result));
  worker.on("error", (error) => lose(String(error)));
  worker.on("exit", () => lose("a hashing thread ended"));
  return { tell: (message) => worker.postMessage(message) };
}

const scheduler = createScheduler({
  threads: settings.threads,
  engine: settings.engine,
  datasets: createDatasetMakers(settings),
  hire,
  answer: (answer) => void process.send?.(answer),
  now: () => performance.now(),
});

process.on("message", (question: PowQuestion) => scheduler.ask(question));
process.on("disconnect", () => process.exit(0));
// A signal to the whole group (Ctrl-C) is the node's to obey: it may still need hashes while it stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
