import { parentPort, workerData } from "node:worker_threads";
import { openReader } from "../src/thread-reader.ts";

const reader = openReader(workerData as string);
parentPort?.postMessage(reader.read.height());
await reader.close();
