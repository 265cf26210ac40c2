/** One hashing thread: does one task at a time. */
import { parentPort } from "node:worker_threads";
import { useSplitTiering } from "@anulo/crypto";
import { createHasher, type Hasher } from "./hasher.ts";
import type { ThreadMessage, ThreadResult } from "./messages.ts";

useSplitTiering();
const hasher = createHasher();

function resultOf({ obey }: Hasher, message: ThreadMessage): ThreadResult | undefined {
  try {
    return obey(message);
  } catch (error) {
    return { type: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on("message", (message: ThreadMessage) => {
  const result = resultOf(hasher, message);
  if (result !== undefined) parentPort?.postMessage(result);
});
