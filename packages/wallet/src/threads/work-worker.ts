/** Entry point of a thread that runs jobs. */
import { parentPort } from "node:worker_threads";
import { serveJobs } from "./serve-jobs.ts";

if (parentPort !== null) serveJobs(parentPort);
