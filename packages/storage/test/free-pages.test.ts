import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openEnvironment } from "../src/environment.ts";
import { newestMeta, readMetaPages, readPageSize } from "../src/meta-pages.ts";
import { checkPages } from "../src/page-walk.ts";
import { bytesOf } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

const CHANGES = 20;
const ROWS = 700;

/** Changes of rows all over a table, which leave a list of many single free pages: two records of it, that are read whole. */
async function leaveFreePages(path: string): Promise<void> {
  const { root, tables } = openEnvironment(path);
  const row = waitingTransaction(500);
  for (let change = 0; change < CHANGES; change++) {
    root.transactionSync(() => {
      for (let i = 0; i < ROWS; i++) tables.poolTransactions.put(bytesOf(`${change} ${i}`), row);
    });
  }
  await root.close();
}

/** Whether every page that is reached is reached once, and not free. */
function checkFile(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const state = newestMeta(readMetaPages(file, readPageSize(file)));
    const steps = checkPages(file, state, { isDepthFirst: true });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value.isComplete;
  } finally {
    closeSync(file);
  }
}

test("rows are written while others read, whatever an earlier process left of free pages", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-free-pages-"));
  const path = join(folder, "chain.mdb");
  try {
    await leaveFreePages(path);
    const program = fileURLToPath(new URL("./write-beside-readers.js", import.meta.url));
    const { status, signal, stderr } = spawnSync(process.execPath, [program, path], { encoding: "utf8" });
    assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: "" });
    assert.equal(checkFile(path), true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
