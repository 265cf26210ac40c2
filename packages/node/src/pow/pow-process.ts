/** The hashing process: receives questions from the node, lets threads answer them, and ends when the node does. */
import { createDatasetFactory } from "./dataset-makers.ts";
import { startHashWorker } from "./hash-worker.ts";
import type { PowQuestion } from "./messages.ts";
import { readSettings } from "./process-settings.ts";
import { createScheduler } from "./scheduler.ts";

const settings = readSettings(process.argv[2]);

const scheduler = createScheduler({
  threads: settings.threads,
  engine: settings.engine,
  datasets: createDatasetFactory(settings),
  createThread: (owner) => startHashWorker({ settings, isProcessForHashing: true }, owner),
  answer: (answer) => void process.send?.(answer),
  now: () => performance.now(),
});

process.on("message", (question: PowQuestion) => scheduler.ask(question));
process.on("disconnect", () => process.exit(0));
// A signal to the whole process group (Ctrl-C) is handled by the node, which may still need hashes while it stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
