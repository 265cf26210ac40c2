/** One hashing thread: does one task at a time. */
import { parentPort } from "node:worker_threads";
import { createHasher } from "./hasher.ts";
import type { ThreadResult, ThreadTask } from "./messages.ts";

const hasher = createHasher();

function perform(task: ThreadTask): ThreadResult {
  switch (task.type) {
    case "hash":
      return { type: "hashed", hash: hasher.hash(task.work) };
    case "try":
      return { type: "tried", ...hasher.tryNonces(task.search, task.nonce, task.count) };
    case "prepare":
      hasher.prepare(task.seedId);
      return { type: "prepared" };
  }
}

parentPort?.on("message", (task: ThreadTask) => {
  let result: ThreadResult;
  try {
    result = perform(task);
  } catch (error) {
    result = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(result);
});
