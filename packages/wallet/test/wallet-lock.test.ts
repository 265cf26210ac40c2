import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Heartbeats } from "../src/file/heartbeat.ts";
import { takeLocksFor } from "../src/file/take-locks.ts";
import type { UnlockedKeys } from "../src/file/unlock-keys.ts";
import type { WalletPaths } from "../src/file/wallet-files.ts";
import { FileLocks, takeLock } from "../src/file/wallet-lock.ts";

const WATCH_MS = 400;
const inUse = { message: /another service has it open/ };

function lockPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-lock-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "w.anulo.lock");
}

/** What a holder writes, with some of it changed. */
async function lockOf(lock: string, change: { pid?: number; start?: string; scope?: string }): Promise<void> {
  const release = await takeLock(lock);
  const [pid, start, scope] = readFileSync(lock, "utf8").split(" ");
  await release();
  writeFileSync(lock, `${change.pid ?? pid} ${change.start ?? start} ${change.scope ?? scope}`);
}

test("a lock is taken once, and again when it was given back", async (t) => {
  const lock = lockPath(t);
  const release = await takeLock(lock, { watchMs: WATCH_MS });
  await assert.rejects(takeLock(lock, { watchMs: WATCH_MS }), inUse);
  await release();
  assert.equal(existsSync(lock), false);
  await (await takeLock(lock, { watchMs: WATCH_MS }))();
});

test("a lock file is closed once it is written, and once its heartbeat could not be made", async (t) => {
  if (process.platform !== "linux") return;
  const lock = lockPath(t);
  const isOpen = () => readdirSync("/proc/self/fd").some((name) => linkOf(name).startsWith(lock));
  for (const options of [{}, { heartbeats: new Heartbeats() }]) {
    const release = await takeLock(lock, options);
    assert.equal(isOpen(), false);
    await release();
  }
  const heartbeats = new Heartbeats();
  t.mock.method(heartbeats, "join", () => Promise.reject(new Error("the disk is full")));
  await assert.rejects(takeLock(lock, { heartbeats }), /the disk is full/);
  assert.deepEqual([isOpen(), existsSync(lock)], [false, false]);
});

test("a process that is seen to have ended holds nothing; one that lives does, touched or not", async (t) => {
  const lock = lockPath(t);
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  await lockOf(lock, { pid: dead });
  await (await takeLock(lock, { watchMs: 60_000 }))();
  // Our parent lives, but began at another time: its number has been given away since.
  await lockOf(lock, { pid: process.ppid, start: "1" });
  await (await takeLock(lock, { watchMs: 60_000 }))();
  await lockOf(lock, { pid: process.ppid, start: "" });
  await assert.rejects(takeLock(lock, { watchMs: WATCH_MS }), inUse);
});

test("a process of another user holds its lock, also where the system hides when it has started", async (t) => {
  const lock = lockPath(t);
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  await lockOf(lock, { pid: dead });
  t.mock.method(process, "kill", () => {
    throw Object.assign(new Error("not permitted"), { code: "EPERM" });
  });
  await assert.rejects(takeLock(lock, { watchMs: WATCH_MS }), inUse);
  rmSync(lock);
  await lockOf(lock, { pid: process.ppid, start: "1" });
  await (await takeLock(lock, { watchMs: WATCH_MS }))();
});

test("a lock that can't be read, or whose heartbeat can't be looked at, is not abandoned", async (t) => {
  const notRead = { message: /^Failed to open wallet : its lock can't be read: E[A-Z]+$/ };
  const folder = lockPath(t);
  mkdirSync(folder);
  await assert.rejects(takeLock(folder, { watchMs: WATCH_MS }), notRead);
  const lock = lockPath(t);
  await lockOf(lock, { pid: 1, scope: "elsewhere/pid:[1]" });
  const name = `.anulo-${"0".repeat(16)}`;
  const heartbeat = join(dirname(lock), name);
  symlinkSync(heartbeat, heartbeat);
  writeFileSync(lock, `${readFileSync(lock, "utf8")} ${"0".repeat(64)} ${name}`);
  await assert.rejects(takeLock(lock, { watchMs: WATCH_MS }), notRead);
  assert.ok(existsSync(lock));
  rmSync(heartbeat);
  await (await takeLock(lock, { watchMs: WATCH_MS }))();
});

test("a holder that cannot be seen, in another container, holds the lock as long as it touches it", async (t) => {
  const lock = lockPath(t);
  await lockOf(lock, { pid: 1, scope: "elsewhere/pid:[1]" });
  let touches = 0;
  const timer = setInterval(() => utimesSync(lock, 1000, 1000 + ++touches), WATCH_MS / 4);
  await assert.rejects(takeLock(lock, { watchMs: WATCH_MS }), inUse);
  clearInterval(timer);
  await (await takeLock(lock, { watchMs: WATCH_MS }))();
});

test("a lock whose writing a crash cut off, or a release wrote that named no scope, ends", async (t) => {
  const lock = lockPath(t);
  for (const text of ["", "1 23"]) {
    writeFileSync(lock, text);
    await (await takeLock(lock, { watchMs: WATCH_MS }))();
  }
});

test("a holder touches its lock", async (t) => {
  const lock = lockPath(t);
  const release = await takeLock(lock, { watchMs: WATCH_MS });
  utimesSync(lock, 1000, 1000);
  const looked = Date.now();
  while (readTime(lock) === 1000 && Date.now() - looked < 30_000)
    await new Promise((done) => setTimeout(done, 50));
  assert.notEqual(readTime(lock), 1000);
  await release();
});

test("locks of a folder have one heartbeat, which ends with the last of them", async (t) => {
  const [first, second] = [lockPath(t), lockPath(t)];
  const beside = join(dirname(first), "v.anulo.lock");
  const heartbeats = new Heartbeats();
  const releases = await Promise.all([first, beside, second].map((lock) => takeLock(lock, { heartbeats })));
  const nameIn = (lock: string) => readFileSync(lock, "utf8").split(" ").at(-1)!;
  assert.equal(nameIn(first), nameIn(beside));
  assert.notEqual(nameIn(first), nameIn(second));
  const heartbeat = join(dirname(first), nameIn(first));
  const modes = () =>
    readdirSync(dirname(first)).map((name) => statSync(join(dirname(first), name)).mode & 0o777);
  assert.deepEqual(modes(), [0o600, 0o600, 0o600]);
  rmSync(heartbeat);
  while (!existsSync(heartbeat)) await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual(modes(), [0o600, 0o600, 0o600]);
  utimesSync(heartbeat, 1000, 1000);
  while (readTime(heartbeat) === 1000) await new Promise((done) => setTimeout(done, 50));
  await releases[0]!();
  assert.ok(existsSync(heartbeat));
  await releases[1]!();
  assert.deepEqual(readdirSync(dirname(first)), []);
  await releases[2]!();
});

test("a holder that cannot be seen holds all its locks as long as it touches its heartbeat", async (t) => {
  const lock = lockPath(t);
  const heartbeats = new Heartbeats();
  const release = await takeLock(lock, { heartbeats });
  const elsewhere = readFileSync(lock, "utf8").split(" ").with(2, "elsewhere/pid:[1]").with(3, "other");
  writeFileSync(lock, elsewhere.join(" "));
  utimesSync(lock, 1000, 1000);
  await assert.rejects(takeLock(lock, { watchMs: 30_000 }), inUse);
  await release();
  writeFileSync(lock, elsewhere.join(" "));
  await (await takeLock(lock, { watchMs: WATCH_MS }))();
  // A name that leads out of the folder is none: the lock itself is watched.
  writeFileSync(lock, elsewhere.with(4, "../../../proc/uptime").join(" "));
  await (await takeLock(lock, { watchMs: WATCH_MS }))();
});

test("a heartbeat of a process that ended is removed with its lock", async (t) => {
  const lock = lockPath(t);
  const release = await takeLock(lock, { heartbeats: new Heartbeats() });
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  const fields = readFileSync(lock, "utf8").split(" ").with(0, `${dead}`).with(3, "other");
  await release();
  writeFileSync(join(dirname(lock), fields[4]!), "");
  writeFileSync(lock, fields.join(" "));
  await (await takeLock(lock))();
  assert.deepEqual(readdirSync(dirname(lock)), []);
});

test("a background wallet whose files another has locked is not opened, and its wallet's lock is given back", async (t) => {
  const lock = lockPath(t);
  const paths = (name: string) => ({ lock: join(dirname(lock), `${name}.lock`) }) as unknown as WalletPaths;
  const [main, beside] = [paths("w"), paths("w.background")];
  const keys = { paths: beside, file: { isBackground: true } } as unknown as UnlockedKeys;
  const release = await takeLock(beside.lock);
  await assert.rejects(takeLocksFor(keys, new FileLocks(), { main }), inUse);
  assert.deepEqual(readdirSync(dirname(lock)), ["w.background.lock"]);
  await release();
  const locks = await takeLocksFor(keys, new FileLocks(), { main });
  assert.deepEqual(readdirSync(dirname(lock)).sort(), ["w.background.lock", "w.lock"]);
  await locks.release();
  // Opened by itself it has one lock: its own.
  await (await takeLocksFor(keys, new FileLocks(), {})).release();
  assert.deepEqual(readdirSync(dirname(lock)), []);
});

/** The path of an open file; empty where the file is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}

function readTime(lock: string): number {
  return statSync(lock).mtimeMs / 1000;
}
