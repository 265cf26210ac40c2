import { parentPort, workerData } from "node:worker_threads";
import { openReader } from "../src/chain-store.ts";

const reader = openReader(workerData as string);
parentPort?.postMessage(reader.height());
reader.close();
