/** One hashing thread: does one task at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { useSplitTiering } from "@anulo/crypto";
import type { ThreadData } from "./hash-worker.ts";
import { createHasher } from "./hasher.ts";
import type { ThreadMessage, ThreadResult } from "./messages.ts";

const { settings, isProcessForHashing } = workerData as ThreadData;
if (isProcessForHashing) useSplitTiering();
const hasher = createHasher(settings);
let turn: Promise<void> = Promise.resolve();

async function answer(message: ThreadMessage): Promise<void> {
  let result: ThreadResult | undefined;
  try {
    result = await hasher.execute(message);
  } catch (error) {
    result = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
  if (result !== undefined) parentPort?.postMessage(result);
}

function close(): void {
  hasher.close();
  parentPort?.close();
}

parentPort?.on("message", (message: ThreadMessage | { readonly type: "leave" }) => {
  turn = turn.then(() => (message.type === "leave" ? close() : answer(message)));
});
