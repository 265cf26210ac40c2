/** One hashing thread: does one task at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { useSplitTiering } from "@anulo/crypto";
import { createHasher } from "./hasher.ts";
import type { ThreadMessage, ThreadResult } from "./messages.ts";
import type { ProcessSettings } from "./process-settings.ts";

useSplitTiering();
const hasher = createHasher(workerData as ProcessSettings);
let turn: Promise<void> = Promise.resolve();

async function answer(message: ThreadMessage): Promise<void> {
  let result: ThreadResult | undefined;
  try {
    result = await hasher.obey(message);
  } catch (error) {
    result = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
  if (result !== undefined) parentPort?.postMessage(result);
}

parentPort?.on("message", (message: ThreadMessage) => {
  turn = turn.then(() => answer(message));
});
