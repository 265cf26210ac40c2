import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { DatabaseInUse } from "../src/damage.ts";
import { openStore } from "../src/open-store.ts";
import { lockForProcess } from "../src/process-lock.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-lock-"));
  path = join(folder, "chain.mdb");
});
afterEach(() => rmSync(folder, { recursive: true }));

const lockPath = () => `${path}.pid`;
const write = (text: string) => writeFileSync(lockPath(), text);

/** Field 22 of a process's `stat`; processes of tests have no spaces in their names. */
const startOf = (processId: number) => readFileSync(`/proc/${processId}/stat`, "utf8").split(" ")[21]!;

const refusedFor = (processId: number) => (error: unknown) =>
  error instanceof DatabaseInUse && error.message.includes(`process ${processId}`);

async function sleeper(): Promise<ChildProcess & { pid: number }> {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  await once(child, "spawn");
  return child as ChildProcess & { pid: number };
}

/** The number of a process that has ended. */
async function goneProcess(): Promise<number> {
  const child = await sleeper();
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  return child.pid;
}

test("a lock names its process and that one's beginning, and is gone once released", async () => {
  const lock = await lockForProcess(path);
  const text = readFileSync(lockPath(), "utf8");
  if (process.platform === "linux") assert.equal(text, `${process.pid} ${startOf(process.pid)}\n`);
  await assert.rejects(lockForProcess(path), refusedFor(process.pid));
  assert.equal(readFileSync(lockPath(), "utf8"), text);
  lock.release();
  assert.equal(existsSync(lockPath()), false);
  (await lockForProcess(path)).release();
});

test("a lock of nobody is taken over: of no number, of a process that is gone, of one that began at another time", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /proc");
  const gone = await goneProcess();
  for (const text of ["", "nobody\n", "12x 5\n", `${gone}\n`, `${process.ppid} 1\n`, `${process.pid} 1\n`]) {
    write(text);
    (await lockForProcess(path)).release();
    assert.equal(existsSync(lockPath()), false, text);
  }
});

test("a process that lives keeps its lock, whether or not its beginning is known", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /proc");
  const child = await sleeper();
  try {
    for (const text of [`${child.pid}\n`, `${child.pid} ${startOf(child.pid)}\n`]) {
      write(text);
      await assert.rejects(lockForProcess(path), refusedFor(child.pid));
      assert.equal(readFileSync(lockPath(), "utf8"), text);
    }
    write(`${process.pid}\n`);
    await assert.rejects(lockForProcess(path), refusedFor(process.pid));
  } finally {
    child.kill("SIGKILL");
  }
});

test("a process of another user keeps its lock, also where the system hides when it has begun", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /proc");
  const gone = await goneProcess();
  t.mock.method(process, "kill", () => {
    throw Object.assign(new Error("not permitted"), { code: "EPERM" });
  });
  write(`${gone} 5\n`);
  await assert.rejects(lockForProcess(path), refusedFor(gone));
  write(`${process.ppid} 5\n`);
  (await lockForProcess(path)).release();
});

// Closes: two nodes that were started together, where a third had been killed, could both have the database.
test("who opens a database makes sure in the end that its lock was not taken over meanwhile", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /proc");
  const child = await sleeper();
  try {
    for (const [text, refusal] of [
      [`${child.pid} ${startOf(child.pid)}\n`, refusedFor(child.pid)],
      ["", /is in use by another process$/],
    ] as const) {
      const opening = openStore({ path, network: "regtest" });
      const refused = assert.rejects(opening, refusal);
      assert.equal(existsSync(lockPath()), true);
      write(text);
      await refused;
      assert.equal(readFileSync(lockPath(), "utf8"), text, "it is the other's to remove");
      rmSync(lockPath());
    }
    await (await openStore({ path, network: "regtest" })).close();
    assert.equal(existsSync(lockPath()), false);
  } finally {
    child.kill("SIGKILL");
  }
});

test("a process that has ended has lost its lock, though its parent has not heard of it", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /proc");
  const child = await sleeper();
  const start = startOf(child.pid);
  const stateOf = () => readFileSync(`/proc/${child.pid}/stat`, "utf8").split(" ")[2];
  child.kill("SIGKILL");
  // No turn of the event loop in which we would hear of it.
  while (stateOf() !== "Z");
  write(`${child.pid} ${start}\n`);
  const lock = lockForProcess(path);
  assert.ok(readFileSync(lockPath(), "utf8").startsWith(`${process.pid} `));
  (await lock).release();
});

test("who opens a database waits a moment for a process that is just ending", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /proc");
  const child = await sleeper();
  write(`${child.pid} ${startOf(child.pid)}\n`);
  const locking = lockForProcess(path);
  child.kill("SIGKILL");
  (await locking).release();
});

test("a lock that cannot be read or written is an error of the system", async () => {
  path = join(folder, "none", "chain.mdb");
  await assert.rejects(lockForProcess(path), { code: "ENOENT" });
});
