/** Entry point of a scan thread. */
import { parentPort } from "node:worker_threads";
import { serveScans } from "./serve-scans.ts";

if (parentPort === null) throw new Error("the scan worker runs in a worker thread");
serveScans(parentPort);
