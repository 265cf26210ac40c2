/** What tokens have spent, counted by the hour and the day. */
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SpendingBook } from "../src/access/spending-book.ts";
import { LineFile } from "../src/file/line-file.ts";

const HOUR = 3600;
const tokenOf = (capHour?: bigint, capDay?: bigint, id = "t") => ({ id, capHour, capDay });
const overCap = { code: -403, message: /^Forbidden: this token may not/ };

async function start(t: TestContext, path?: string) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-spent-"));
  const at = path ?? join(folder, "spent");
  const clock = { now: 1_700_000_000 };
  const open = async () => {
    const file = await LineFile.open(at);
    t.after(() => file.close());
    return new SpendingBook(file, () => clock.now);
  };
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { path: at, clock, open, book: await open() };
}

let keys = 0;
const spend = (amount: bigint, key = `a/${++keys}`) => ({ key, amount });

test("a cap an hour and a cap a day are met exactly, and roll on with the clock", async (t) => {
  const { book, clock } = await start(t);
  const token = tokenOf(100n, 150n);
  await (await book.reserve(token, spend(60n))).settle(["x"]);
  await (await book.reserve(token, spend(40n))).settle(["y"]);
  await assert.rejects(book.reserve(token, spend(1n)), overCap);
  clock.now += HOUR - 1;
  await assert.rejects(book.reserve(token, spend(1n)), { message: /an hour$/ });
  clock.now += 1;
  await assert.rejects(book.reserve(token, spend(51n)), { message: /a day$/ });
  await book.reserve(token, spend(50n));
  assert.deepEqual(book.spentBy("t"), { hour: 50n, day: 150n });
  clock.now += 24 * HOUR;
  assert.deepEqual(book.spentBy("t"), { hour: 0n, day: 0n });
  await book.reserve(token, spend(100n));
  await book.reserve(tokenOf(10n, undefined, "other"), spend(10n));
});

test("of payments that begin at once no more are let through than the cap allows", async (t) => {
  const { book } = await start(t);
  const token = tokenOf(undefined, 100n);
  const tries = await Promise.allSettled(Array.from({ length: 50 }, () => book.reserve(token, spend(30n))));
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 3);
  assert.equal(book.spentBy("t").day, 90n);
});

test("what fails is counted no more, and what has left stays counted whatever comes after", async (t) => {
  const { book } = await start(t);
  const token = tokenOf(100n);
  await (await book.reserve(token, spend(100n))).release();
  const sent = await book.reserve(token, spend(100n));
  await sent.settle(["x"]);
  await sent.release();
  assert.equal(book.spentBy("t").hour, 100n);
  await assert.rejects(book.reserve(token, spend(1n)), overCap);
});

test("a payment that a crash cut short is counted, and once when it is repeated with its key", async (t) => {
  const { book, open } = await start(t);
  const token = tokenOf(100n);
  await book.reserve(token, spend(70n, "a/key"));
  const after = await open();
  assert.equal(after.spentBy("t").hour, 70n, "nobody knows whether it was sent");
  await assert.rejects(after.reserve(token, spend(70n, "a/another")), overCap);
  await assert.rejects(after.reserve(token, spend(70n, "b/key")), overCap, "the same key of another wallet");
  await (await after.reserve(token, spend(80n, "a/key"))).settle(["x"]);
  assert.equal(after.spentBy("t").hour, 80n);
  // It has left: the key stands for nothing that could be replaced.
  await assert.rejects(after.reserve(token, spend(80n, "a/key")), overCap);
  const again = await open();
  assert.equal(again.spentBy("t").hour, 80n);
  assert.ok(again.hasCounted("t", ["x"]));
  assert.ok(!again.hasCounted("t", ["x", "y"]));
  assert.ok(!again.hasCounted("other", ["x"]), "what another token was counted for");
});

test("a clock that is set back makes nothing free", async (t) => {
  const { book, clock } = await start(t);
  await book.reserve(tokenOf(100n), spend(100n));
  clock.now -= 48 * HOUR;
  await assert.rejects(book.reserve(tokenOf(100n), spend(1n)), overCap);
});

test("a last line that was cut short is dropped, and a changed one ends the start", async (t) => {
  const { path, open, book } = await start(t);
  await book.reserve(tokenOf(100n), spend(10n));
  await book.reserve(tokenOf(100n), spend(20n));
  const whole = readFileSync(path, "utf8");
  appendFileSync(path, `${whole.slice(0, 30)}`);
  assert.equal((await open()).spentBy("t").hour, 30n);
  assert.equal(readFileSync(path, "utf8"), whole);
  writeFileSync(path, whole.replace('"20"', '"02"'));
  await assert.rejects(open(), /line 2 is damaged/);
});

test("after a write that failed nothing more is spent", async (t) => {
  const { open } = await start(t);
  const broken = { lines: [], append: () => Promise.reject(new Error("no space")) } as unknown as LineFile;
  const failing = new SpendingBook(broken, () => 0);
  await assert.rejects(failing.reserve(tokenOf(100n), spend(1n)), /can't be counted: no space/);
  await assert.rejects(failing.reserve(tokenOf(100n), spend(1n)), /until the service is restarted/);
  assert.equal((await open()).spentBy("t").day, 0n);
});

test("the file stays in proportion to what it says, and says the same after it was written anew", async (t) => {
  const { book, open, path } = await start(t);
  const token = tokenOf(undefined, 100_000n);
  for (let i = 0; i < 20; i++) await (await book.reserve(token, spend(1n))).settle([`tx${i}`]);
  const open1 = await book.reserve(token, spend(7n, "a/open"));
  for (let i = 0; i < 600; i++) await (await book.reserve(token, spend(1n))).release();
  assert.ok(readFileSync(path, "utf8").split("\n").length < 1100);
  const again = await open();
  assert.deepEqual(again.spentBy("t"), { hour: 27n, day: 27n });
  assert.ok(again.hasCounted("t", ["tx0", "tx19"]));
  await open1.release();
  assert.equal((await open()).spentBy("t").day, 20n);
});

/** A book whose file is in memory. */
function inMemory(written: readonly string[] = []) {
  const lines = [...written];
  const clock = { now: 1_700_000_000 };
  const file = {
    lines: written,
    append: async (line: string) => void lines.push(line),
    replace: async (next: string[]) => void lines.splice(0, lines.length, ...next),
  };
  return { lines, clock, book: new SpendingBook(file as unknown as LineFile, () => clock.now) };
}

test("the file is written anew once it has a thousand lines more than twice those it needs", async () => {
  for (const hasOpen of [false, true]) {
    const { book, lines } = inMemory();
    const token = tokenOf(undefined, 100_000n);
    for (let i = 0; i < 20; i++) await (await book.reserve(token, spend(1n))).settle([`tx${i}`]);
    if (hasOpen) await book.reserve(token, spend(1n));
    const needed = lines.length;
    // With 20 payments 1080 lines may stay, with 21 four more.
    const most = hasOpen ? 1083 : 1080;
    for (let i = needed; i < most; i += 2) await (await book.reserve(token, spend(1n))).release();
    assert.equal(lines.length, most);
    await (await book.reserve(token, spend(1n))).release();
    assert.equal(lines.length, needed);
    await (await book.reserve(token, spend(1n))).release();
    assert.equal(lines.length, needed + 2, "it is not written anew each time");
  }
});

test("lines that a file had when it was opened count towards those with which it is written anew", async () => {
  const { book, lines } = inMemory();
  const token = tokenOf(undefined, 100_000n);
  await (await book.reserve(token, spend(1n))).settle(["tx"]);
  for (let i = 0; i < 500; i++) await (await book.reserve(token, spend(1n))).release();
  const before = lines.length;
  const few = inMemory(lines.slice(0, 8));
  await few.book.reserve(token, spend(1n));
  assert.equal(few.lines.length, 9);
  const next = inMemory(lines);
  for (let i = 0; next.lines.length >= before && i < 40; i++)
    await (await next.book.reserve(token, spend(1n))).release();
  assert.ok(next.lines.length < 10, `${next.lines.length} lines`);
});

test("what is a day old is left out when the file is written anew", async () => {
  const { book, lines, clock } = inMemory();
  const token = tokenOf(undefined, 100_000n);
  await (await book.reserve(token, spend(1n))).settle(["old"]);
  clock.now += 1;
  await (await book.reserve(token, spend(1n))).settle(["young"]);
  clock.now += 24 * HOUR - 1;
  const other = tokenOf(undefined, 100_000n, "other");
  for (let i = 0; i < 510; i++) await (await book.reserve(other, spend(1n))).release();
  const settled = lines.filter((line) => line.includes("settle"));
  assert.ok(lines.length < 50, `${lines.length} lines`);
  assert.deepEqual([settled.some((line) => line.includes("old")), settled.length], [false, 2]);
});

test("a token makes 10,000 payments a day, and the next one once the first is a day old", async () => {
  const { book, clock } = inMemory();
  const token = tokenOf(undefined, 100_000n);
  await (await book.reserve(token, spend(1n))).settle(["first"]);
  clock.now += 1;
  for (let i = 1; i < 10_000; i++) await (await book.reserve(token, spend(1n))).settle([]);
  await assert.rejects(book.reserve(token, spend(1n)), { message: /pay more than 10000 times a day$/ });
  await book.reserve(tokenOf(undefined, 1n, "other"), spend(1n));
  clock.now += 24 * HOUR - 2;
  await assert.rejects(book.reserve(token, spend(1n)), overCap);
  clock.now += 1;
  await book.reserve(token, spend(1n));
  await assert.rejects(book.reserve(token, spend(1n)), overCap);
});

test("a payment that ends when it is counted no more ends as any other", async () => {
  const { book, clock } = inMemory();
  const token = tokenOf(undefined, 100n);
  const [settled, released] = [await book.reserve(token, spend(40n)), await book.reserve(token, spend(50n))];
  clock.now += 24 * HOUR;
  await book.reserve(token, spend(100n));
  await settled.settle(["late"]);
  await released.release();
  assert.deepEqual(book.spentBy("t"), { hour: 100n, day: 100n });
  assert.equal(book.hasCounted("t", ["late"]), false);
});
