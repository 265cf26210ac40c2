/** Threads that all services of a test file use: to start one takes longer than what most tests ask of it. */
import { after } from "node:test";
import { createRuntime, type Runtime } from "../src/runtime.ts";

const { threads, scanThreads } = createRuntime();
after(() => Promise.all([threads.close(), scanThreads.close()]));

/** What a service has of its own, but for its threads. */
export function withSharedThreads(): Runtime {
  return { ...createRuntime(), threads, scanThreads };
}
