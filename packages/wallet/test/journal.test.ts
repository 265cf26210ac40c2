import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DamagedJournal, Journal } from "../src/file/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-journal-"));
after(() => rmSync(folder, { recursive: true }));
const secret = new Uint8Array(32).fill(7);
const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (records: readonly Uint8Array[]) => records.map((record) => new TextDecoder().decode(record));

/** A journal whose last records came by `append`, closed, or as a process leaves it that is killed. */
async function journalOf(
  name: string,
  records: readonly string[],
  end: "closed" | "killed" = "closed",
): Promise<string> {
  const path = join(folder, name);
  const journal = await Journal.create(path, secret, records.slice(0, 1).map(bytes));
  await Promise.all(records.slice(1).map((record) => journal.append(bytes(record))));
  const asKilled = readFileSync(path);
  await journal.close();
  if (end === "killed") writeFileSync(path, asKilled);
  return path;
}

/** Of the header: name and version (8), salt (32), mark. */
const MARK_AT = 40;
const MARK_BYTES = 12;
const RECORD_HEAD_BYTES = 8;
const TAG_BYTES = 16;

async function read(path: string, key = secret): Promise<string[]> {
  const { journal, records } = await Journal.open(path, key);
  await journal.close();
  return texts(records);
}

test("what was appended is there in order, also after more is appended later", async () => {
  const path = await journalOf("order", ["a", "b", "c"]);
  assert.deepEqual(await read(path), ["a", "b", "c"]);
  const { journal } = await Journal.open(path, secret);
  await journal.append(bytes("d"));
  await journal.close();
  assert.deepEqual(await read(path), ["a", "b", "c", "d"]);
});

// Closes a class of leaks: two records under one key and nonce are each other's key.
test("a copy put back and written on shares no key stream with what was written on before", async () => {
  const path = await journalOf("copy", ["first"]);
  const copy = readFileSync(path);
  const [zeros, ones] = [new Uint8Array(500), new Uint8Array(500).fill(255)];
  const written: Buffer[] = [];
  for (const text of [zeros, ones]) {
    writeFileSync(path, copy);
    const { journal } = await Journal.open(path, secret);
    await journal.append(text);
    await journal.append(text);
    await journal.close();
    written.push(readFileSync(path).subarray(copy.length));
    const { journal: again, records } = await Journal.open(path, secret);
    assert.deepEqual(records.slice(1), [text, text]);
    await again.append(bytes("later"));
    await again.close();
    assert.deepEqual((await read(path)).at(-1), "later");
  }
  const [one, other] = written as [Buffer, Buffer];
  assert.equal(one.length, other.length);
  const complements = one.filter((byte, i) => (byte ^ other[i]!) === 255).length;
  assert.ok(complements < one.length / 10, `${complements} of ${one.length} bytes`);
});

// Closes a class of losses: a nonce used twice, or a record under the wrong number, once records shared a write.
test("records that come together, alone and together again are all read back, and no two share a nonce", async () => {
  const path = join(folder, "batches");
  const journal = await Journal.create(path, secret, [bytes("0")]);
  let number = 1;
  for (const together of [1, 3, 1, 2, 5, 1, 1]) {
    const batch = Array.from({ length: together }, () => String(number++));
    await Promise.all(batch.map((text) => journal.append(bytes(text))));
    assert.equal(journal.size, readFileSync(path).length);
  }
  await journal.close();
  assert.deepEqual(
    await read(path),
    Array.from({ length: number }, (_, i) => String(i)),
  );
});

test("a record cut short at any byte is dropped, those before it stay, and the file can be written on", async () => {
  const path = await journalOf("cut", ["first", "second"], "killed");
  const whole = readFileSync(path);
  const start = (await journalSize(["first"])) as number;
  for (let size = start; size < whole.length; size++) {
    writeFileSync(path, whole.subarray(0, size));
    const { journal, records } = await Journal.open(path, secret);
    assert.deepEqual(texts(records), ["first"], `cut at ${size}`);
    await journal.append(bytes("again"));
    await journal.close();
    assert.deepEqual(await read(path), ["first", "again"]);
  }
});

async function journalSize(records: readonly string[]): Promise<number> {
  return readFileSync(await journalOf("size", records)).length;
}

/** The same journal as programs before marks wrote it. */
function withoutMark(image: Buffer): Buffer {
  const older = Buffer.concat([image.subarray(0, MARK_AT), image.subarray(MARK_AT + MARK_BYTES)]);
  older[7] = 2;
  return older;
}

test("a closed journal that is cut anywhere is an error, at the end of a record too", async () => {
  const path = await journalOf("closed", ["first", "second", "third"]);
  const whole = readFileSync(path);
  for (let size = 0; size < whole.length; size++) {
    writeFileSync(path, whole.subarray(0, size));
    await assert.rejects(read(path), DamagedJournal, `cut at ${size}`);
    assert.equal(readFileSync(path).length, size, "it was changed");
  }
  // So is one that was never closed since it was made.
  const made = await Journal.create(path, secret, ["a", "b", "c"].map(bytes));
  const picture = readFileSync(path);
  await made.close();
  writeFileSync(path, picture.subarray(0, picture.length - 25));
  await assert.rejects(read(path), /was cut off/);
});

test("a mark that was torn, and a journal of the version before marks, cost nothing but the check", async () => {
  const path = await journalOf("torn", ["first", "second"]);
  const whole = readFileSync(path);
  for (let at = MARK_AT; at < MARK_AT + MARK_BYTES; at++) {
    const torn = Buffer.from(whole);
    torn[at]! ^= 1;
    writeFileSync(path, torn);
    assert.deepEqual(await read(path), ["first", "second"]);
  }
  const older = withoutMark(whole);
  writeFileSync(path, older);
  const { journal } = await Journal.open(path, secret);
  await journal.append(bytes("third"));
  await journal.close();
  assert.deepEqual(await read(path), ["first", "second", "third"]);
  assert.deepEqual(readFileSync(path).subarray(0, older.length), older, "the header stays as it was");
});

test("a changed byte in a record that is not the last is an error, not a loss", async () => {
  const path = await journalOf("changed", ["first", "second", "third"]);
  const whole = readFileSync(path);
  const at = (await journalSize(["first"])) + 6;
  whole[at]! ^= 1;
  writeFileSync(path, whole);
  await assert.rejects(read(path), DamagedJournal);
});

test("where there is no mark, too, a changed bit is an error, never a shorter journal", async () => {
  const path = await journalOf("unmarked", ["first", "second"]);
  const { journal } = await Journal.open(path, secret);
  await journal.append(bytes("third"));
  await journal.close();
  const older = withoutMark(readFileSync(path));
  for (let at = 8; at < older.length; at++) {
    const changed = Buffer.from(older);
    changed[at]! ^= 1;
    writeFileSync(path, changed);
    await assert.rejects(read(path), DamagedJournal, `byte ${at}`);
  }
});

test("where there is no mark, a last record of which only zeros are on disk is dropped", async () => {
  const path = await journalOf("unmarked zeros", ["first", "second"]);
  const older = withoutMark(readFileSync(path));
  const first = older.length - RECORD_HEAD_BYTES - "second".length - TAG_BYTES;
  // All of it, all but a part of its head or the whole, and its tag alone.
  const begins = [first, first + 3, first + RECORD_HEAD_BYTES, older.length - TAG_BYTES];
  for (const zeroFrom of begins) {
    writeFileSync(path, Buffer.from(older).fill(0, zeroFrom));
    assert.deepEqual(await read(path), ["first"]);
    assert.equal(readFileSync(path).length, first);
  }
  for (let size = MARK_AT; size < first; size++) {
    writeFileSync(path, older.subarray(0, size));
    await assert.rejects(read(path), /holds nothing this key can read/, `cut at ${size}`);
  }
});

test("records can't be left out or swapped", async () => {
  const path = await journalOf("swapped", ["aaaa", "bbbb", "cccc"]);
  const whole = readFileSync(path);
  const first = await journalSize(["aaaa"]);
  const size = (whole.length - first) / 2;
  const [second, third] = [whole.subarray(first, first + size), whole.subarray(first + size)];
  writeFileSync(path, Buffer.concat([whole.subarray(0, first), third, second]));
  await assert.rejects(read(path), DamagedJournal);
});

test("another key reads nothing, and other files are refused", async () => {
  const path = await journalOf("key", ["a"]);
  await assert.rejects(read(path, new Uint8Array(32)), DamagedJournal);
  writeFileSync(path, "something else entirely, long enough to hold a header");
  await assert.rejects(read(path), DamagedJournal);
});

test("a killed process loses nothing it had been told is kept", async () => {
  for (let round = 0; round < 5; round++) {
    const path = join(folder, `killed-${round}`);
    const acknowledged = await runAndKill(path, 20 + 30 * round);
    const found = await read(path);
    assert.ok(acknowledged > 0, "the child got nowhere");
    assert.deepEqual(
      found.slice(0, acknowledged + 1),
      Array.from({ length: acknowledged + 1 }, (_, i) => String(i)),
    );
  }
});

/** Lets a child append numbers until it has printed `count` of them, then kills it; returns how many it printed. */
function runAndKill(path: string, count: number): Promise<number> {
  const child = spawn(process.execPath, [new URL("./append-forever.js", import.meta.url).pathname, path]);
  let told = 0;
  child.stdout.on("data", (data: Buffer) => {
    told += data.filter((byte) => byte === 0x0a).length;
    if (told >= count) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.on("close", () => resolve(told)));
}

test("a changed bit anywhere is an error, never a shorter journal", async () => {
  const path = await journalOf("bits", ["first", "second", "the last one"]);
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at++) {
    if (at >= MARK_AT && at < MARK_AT + MARK_BYTES) continue;
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << (at % 8);
    writeFileSync(path, changed);
    await assert.rejects(read(path), DamagedJournal, `byte ${at}`);
    assert.deepEqual(readFileSync(path), changed);
  }
});

test("a record the disk had made room for, and no more, is dropped", async () => {
  const path = await journalOf("room", ["first", "second"], "killed");
  const whole = readFileSync(path);
  const start = await journalSize(["first"]);
  for (const kept of [0, 3, 8, 10]) {
    const grown = Buffer.from(whole).fill(0, start + kept);
    writeFileSync(path, grown);
    assert.deepEqual(await read(path), ["first"], `${kept} bytes of it were written`);
  }
});

/** A random half of the sectors of what a write brought reached the disk. */
function tornCopies(before: Buffer, after: Buffer, rounds: number): Buffer[] {
  const sector = 64;
  return Array.from({ length: rounds }, (_, round) => {
    const image = Buffer.from(after);
    image.fill(0, before.length);
    before.copy(image);
    for (let at = 0; at < after.length; at += sector) {
      const isThere = createHash("sha256").update(`${round} ${at}`).digest()[0]! < 128;
      if (isThere) after.copy(image, at, at, at + sector);
    }
    return image;
  });
}

// Closes a class of losses: a wallet that does not open because power was lost in the middle of a write.
test("whatever part of the last write reached the disk, all before it is there, and no more than it brought", async () => {
  const path = join(folder, "parts");
  const journal = await Journal.create(path, secret, [bytes("0")]);
  await Promise.all(["1", "2"].map((text) => journal.append(bytes(text))));
  await journal.append(bytes("3"));
  const before = readFileSync(path);
  const last = Array.from({ length: 5 }, (_, i) => `${i + 4}`.padEnd(100, "."));
  await Promise.all(last.map((text) => journal.append(bytes(text))));
  const after = readFileSync(path);
  await journal.close();
  const all = ["0", "1", "2", "3", ...last];
  const found = new Set<number>();
  for (const image of tornCopies(before, after, 200)) {
    writeFileSync(path, image);
    const records = await read(path);
    assert.deepEqual(records, all.slice(0, Math.max(4, records.length)));
    found.add(records.length);
  }
  assert.ok(found.size > 2, "no part of it was ever there");
});

test("what is surely on disk is not dropped for a changed bit, though the file was never closed", async () => {
  const path = join(folder, "surely");
  const journal = await Journal.create(path, secret, [bytes("0")]);
  for (const text of ["1", "2", "3"]) await journal.append(bytes(text));
  const asKilled = readFileSync(path);
  await journal.close();
  const record = 8 + 1 + 16;
  const lastBegins = asKilled.length - record;
  for (let at = MARK_AT + MARK_BYTES; at < lastBegins; at++) {
    const changed = Buffer.from(asKilled);
    changed[at]! ^= 1;
    writeFileSync(path, changed);
    await assert.rejects(read(path), DamagedJournal, `byte ${at}`);
  }
  for (let at = lastBegins; at < asKilled.length; at++) {
    const changed = Buffer.from(asKilled);
    changed[at]! ^= 1;
    writeFileSync(path, changed);
    assert.deepEqual(await read(path), ["0", "1", "2"]);
  }
});

test("a journal that can't take its place leaves nothing of itself", async () => {
  const path = join(folder, "taken");
  mkdirSync(path);
  await assert.rejects(Journal.create(path, secret, [bytes("a")]));
  assert.deepEqual([existsSync(path), existsSync(`${path}.new`)], [true, false]);
});
