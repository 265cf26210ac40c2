import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const threads = ["scan/scan-worker.js", "threads/work-worker.js"];

/** Starts a thread with its modules in a process of its own, and prints the native modules that the process has loaded. */
const program = `
  import { Worker } from "node:worker_threads";
  const thread = new Worker(process.argv[1], { eval: true });
  thread.once("message", () => {
    console.log(JSON.stringify(process.report.getReport().sharedObjects));
    process.exit();
  });
`;

async function modulesOf(file: string): Promise<string[]> {
  const load = `
    import { parentPort } from "node:worker_threads";
    await import(${JSON.stringify(file)});
    parentPort.postMessage("loaded");
    // Native modules are unloaded with the thread.
    setInterval(() => {}, 60_000);
  `;
  const args = ["--input-type=module", "--eval", program, load];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

test("no thread of a wallet loads a database", async () => {
  // Closes: a process that dies of its database's library when a thread that is still loading it is ended.
  const database = await modulesOf(import.meta.resolve("@anulo/store"));
  assert.ok(database.some((file) => file.includes("lmdb")));
  for (const thread of threads) {
    const modules = await modulesOf(new URL(`../src/${thread}`, import.meta.url).href);
    assert.deepEqual(
      modules.filter((file) => file.includes("lmdb")),
      [],
      thread,
    );
  }
});
