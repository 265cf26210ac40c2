import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, {
  chmodSync,
  closeSync,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ChainStore } from "../src/chain-store.ts";
import { DamagedDatabase, DatabaseInUse, isSystemFault, WrongDatabase, writeFailed } from "../src/damage.ts";
import { openEnvironment } from "../src/environment.ts";
import { readFlushMark, writeFlushMark } from "../src/flush-mark.ts";
import { openStore, type StoreOptions } from "../src/open-store.ts";
import { bytesOf, sampleBlock, sampleFacts } from "./sample-blocks.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-recovery-"));
  path = join(folder, "chain.mdb");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PAGE = 4096;
const open = (syncMode: "safe" | "fastest" = "fastest", options: Partial<StoreOptions> = {}) =>
  openStore({
    path,
    network: "regtest",
    syncMode: { mode: syncMode, isAwaited: false, every: { unit: "blocks", count: 1e9 } },
    ...options,
  });

function append(store: ChainStore, from: number, to: number): void {
  for (let height = from; height < to; height++) {
    store.write((writer) => writer.appendBlock(sampleBlock(height)));
  }
}

/** Everything a caller can ask of the sample chain. */
function answers(store: ChainStore): unknown {
  const { read } = store;
  return Array.from({ length: read.height() + 1 }, (_, height) => {
    const block = sampleBlock(height);
    return {
      info: read.blockInfo(height),
      blob: read.blockBlob(height),
      at: read.heightOf(block.hash),
      transactions: block.transactions.map(({ hash, keyImages, outputs }) => {
        const stored = read.transaction(hash);
        const id = stored?.id ?? -1;
        return [
          stored,
          id < 0 ? undefined : [read.prunedTransaction(id), read.prunablePart(id), read.outputIndices(id)],
          keyImages.map((image) => read.isKeyImageSpent(image)),
          outputs.map(({ amount }, i) => [read.outputCount(amount), read.output(amount, i)]),
        ];
      }),
    };
  });
}

/** Numbers below 1 that depend on the seed alone. */
function randomFrom(seed: number): () => number {
  let counter = 0;
  return () => Buffer.from(bytesOf(`${seed} ${counter++}`)).readUInt32LE() / 2 ** 32;
}

/** Makes the marks those of another run of the operating system. */
function pretendReboot(): void {
  const file = openSync(path, "r+");
  const mark = readFlushMark(file, PAGE)!;
  const bootId = Buffer.from(bytesOf("another boot")).subarray(0, 16);
  for (const sequence of [mark.sequence - 1, mark.sequence]) {
    writeFlushMark(file, { ...mark, bootId, sequence });
  }
  closeSync(file);
}

test("whichever pages reach the disk before power is lost, the flushed state is whole", async () => {
  const store = await open();
  append(store, 0, 30);
  await store.flush();
  const flushed = readFileSync(path);
  const expected = answers(store);
  append(store, 30, 60);
  const written = readFileSync(path);
  await store.close();
  const random = randomFrom(1);
  for (let round = 0; round < 12; round++) {
    const mixture = Buffer.alloc(written.length);
    for (let at = 0; at < written.length; at += PAGE) {
      const source = random() < 0.5 ? written : flushed;
      mixture.set(source.subarray(at, at + PAGE), at);
    }
    writeFileSync(path, mixture);
    pretendReboot();
    const reopened = await open();
    assert.equal(reopened.recovery?.isNew, false);
    assert.ok((await reopened.checkStructure())?.isComplete);
    assert.equal(reopened.read.height(), 30);
    assert.deepEqual(answers(reopened), expected);
    append(reopened, 30, 35);
    assert.equal(reopened.read.height(), 35);
    await reopened.close();
  }
});

test("after a clean end and a reboot nothing is rolled back", async () => {
  const store = await open();
  append(store, 0, 10);
  await store.close();
  const sameBoot = await open();
  assert.deepEqual([sameBoot.recovery?.rolledBack, sameBoot.recovery?.isNew], [false, false]);
  await sameBoot.close();
  pretendReboot();
  const reopened = await open();
  assert.deepEqual([reopened.recovery?.rolledBack, reopened.recovery?.isNew], [false, false]);
  assert.equal(reopened.read.height(), 10);
  await reopened.close();
});

test("a file cut short at any place is refused", async () => {
  const store = await open();
  append(store, 0, 40);
  await store.close();
  const copy = join(folder, "copy");
  copyFileSync(path, copy);
  const { size } = statSync(path);
  for (const cut of [1, 100, PAGE - 1, PAGE, 2 * PAGE, 2 * PAGE + 1, size / 2, size - PAGE, size - 1]) {
    copyFileSync(copy, path);
    truncateSync(path, Math.floor(cut));
    await assert.rejects(
      open(),
      (error) => error instanceof DamagedDatabase || error instanceof WrongDatabase,
      `cut at ${cut}`,
    );
  }
});

test("a flipped bit anywhere is noticed or changes no answer", async () => {
  const store = await open();
  store.write(() => append(store, 0, 55));
  await store.flush();
  append(store, 55, 60);
  await store.close();
  const whole = readFileSync(path);
  const reopened = await open();
  const expected = answers(reopened);
  await reopened.close();
  const random = randomFrom(2);
  let noticed = 0;
  const rounds = 150;
  for (let round = 0; round < rounds; round++) {
    const bytes = Buffer.from(whole);
    const at = Math.floor(random() * bytes.length);
    bytes[at]! ^= 1 << Math.floor(random() * 8);
    writeFileSync(path, bytes);
    try {
      const damaged = await open("fastest", { checkAll: true });
      try {
        assert.deepEqual(answers(damaged), expected, `bit at ${at}`);
        append(damaged, 60, 64);
        damaged.write((writer) => {
          for (let i = 0; i < 4; i++) writer.popBlock(sampleFacts);
        });
        assert.deepEqual(answers(damaged), expected, `bit at ${at}, after writes`);
      } finally {
        await damaged.close();
      }
    } catch (error) {
      if (!(error instanceof DamagedDatabase || error instanceof WrongDatabase)) throw error;
      noticed++;
    }
  }
  assert.ok(noticed > rounds / 10, `${noticed} of ${rounds} noticed`);
});

/** Writes over a leaf of the newest state, which its own checksums then contradict. */
function damageRow(): void {
  const image = sampleBlock(3).transactions[1]!.keyImages[0]!;
  const bytes = readFileSync(path);
  const file = openSync(path, "r+");
  for (let at = bytes.indexOf(image); at >= 0; at = bytes.indexOf(image, at + 1)) {
    writeSync(file, Buffer.from(image).reverse(), 0, image.length, at);
  }
  closeSync(file);
}

test("the structure of a file in use is checked whole while it is written", async () => {
  const faults: Error[] = [];
  const store = await open("fastest", { onFault: (fault) => faults.push(fault) });
  append(store, 0, 40);
  const checking = store.checkStructure();
  for (let height = 40; height < 80; height++) {
    append(store, height, height + 1);
    await store.flush();
    if (height % 2 === 0) store.write((writer) => void writer.popBlock(sampleFacts));
    if (height % 2 === 0) append(store, height, height + 1);
  }
  const looked = await checking;
  assert.deepEqual([looked?.isComplete, faults], [true, []]);
  assert.ok((looked?.pages ?? 0) > 10);
  await store.close();
});

test("damage that is found while a file is in use is reported as an opening reports it", async () => {
  const first = await open();
  append(first, 0, 40);
  await first.close();
  const faults: Error[] = [];
  const store = await open("fastest", { onFault: (fault) => faults.push(fault) });
  damageRow();
  assert.equal(await store.checkStructure(), undefined);
  await store.close();
  const [fault] = faults;
  assert.ok(fault instanceof DamagedDatabase);
  await assert.rejects(open("fastest", { checkAll: true }), { name: fault.name, message: fault.message });
});

test("an opening checks as much of a file as its time allows, and all of it where that is asked for", async (t) => {
  const first = await open();
  append(first, 0, 40);
  await first.close();
  damageRow();
  let now = 0;
  // With the first look its time is over.
  t.mock.method(performance, "now", () => (now += 1000));
  await (await open()).close();
  await assert.rejects(open("fastest", { checkAll: true }), DamagedDatabase);
});

test("a store that is closed ends the check of its structure without a fault", async () => {
  const faults: Error[] = [];
  const store = await open("fastest", { onFault: (fault) => faults.push(fault) });
  append(store, 0, 40);
  const checking = store.checkStructure();
  await store.close();
  assert.deepEqual([await checking, faults], [undefined, []]);
});

test("a key image whose stored key is damaged does not count as unspent", async () => {
  const store = await open();
  store.write(() => append(store, 0, 300));
  await store.close();
  const whole = readFileSync(path);
  const random = randomFrom(3);
  for (let round = 0; round < 25; round++) {
    const image = sampleBlock(Math.floor(random() * 300)).transactions[1]!.keyImages[0]!;
    const bytes = Buffer.from(whole);
    for (let at = bytes.indexOf(image); at >= 0; at = bytes.indexOf(image, at + 1)) {
      bytes[at + Math.floor(random() * 32)]! ^= 1 << Math.floor(random() * 8);
    }
    writeFileSync(path, bytes);
    // Without the look at the structure that would find it at once, as in a file too long for it.
    const { root, tables } = openEnvironment(path);
    assert.throws(() => tables.keyImages.has(image), DamagedDatabase);
    await root.close();
  }
});

test("a file that is something else is refused", async () => {
  writeFileSync(path, Buffer.alloc(100_000, "not a database "));
  await assert.rejects(open(), WrongDatabase);
  writeFileSync(path, Buffer.alloc(100_000));
  await assert.rejects(open(), WrongDatabase);
});

test("a database that is open is refused to others, and free again once closed", async () => {
  const store = await open();
  await assert.rejects(open(), DatabaseInUse);
  await store.close();
  await (await open()).close();
});

test("in safe mode a block counts once the disk has it", async () => {
  const store = await open("safe");
  store.write((writer) => writer.appendBlock(sampleBlock(0)));
  await store.settled();
  const flushed = readFileSync(path);
  await store.close();
  writeFileSync(path, flushed);
  pretendReboot();
  const reopened = await open();
  assert.equal(reopened.read.height(), 1);
  await reopened.close();
});

test("a disk that takes no more is a clear error, and nothing that counted is lost", async (t) => {
  if (process.platform !== "linux") return t.skip("needs a limit on the size of files");
  const program = fileURLToPath(new URL("./append-forever.js", import.meta.url));
  const limited = `ulimit -f 1500; exec "$0" "$1" "$2"`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", limited, process.execPath, program, path]);
  assert.equal(status, 0, String(stderr));
  assert.match(
    String(stderr),
    /^WriteFailed: the database could not be (written|flushed): .*(grow|wrong|error)/,
  );
  const counted = String(stdout).trim().split("\n").map(Number);
  assert.ok(counted.length > 5);
  const store = await open();
  assert.ok(store.read.height() > counted.at(-1)!);
  append(store, store.read.height(), store.read.height() + 3);
  await store.close();
});

/** Any user that is not the system's: that one may write whatever it likes. */
const NOBODY = 65_534;

test("a file that may not be written is a clear error", async () => {
  await (await open()).close();
  chmodSync(folder, 0o555);
  chmodSync(path, 0o444);
  const isSystem = process.geteuid?.() === 0;
  if (isSystem) process.seteuid?.(NOBODY);
  try {
    await assert.rejects(open(), /EACCES/);
  } finally {
    if (isSystem) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
});

// Closes a class of losses: a database whose name, or whose first pages, had not reached the disk with what it holds.
test("a new database gets its name once it is whole, and what is left of a creation that was cut short goes", async () => {
  writeFileSync(`${path}.new`, Buffer.alloc(10_000, 7));
  const calls: string[] = [];
  const { renameSync, fsyncSync } = fs;
  const named = (file: number) => (fs.fstatSync(file).isDirectory() ? "folder" : "file");
  Object.assign(fs, {
    renameSync: (from: string, to: string) => {
      calls.push("rename");
      // It opens as it is, with nothing that only the system's memory has.
      copyFileSync(from, join(folder, "as-renamed"));
      renameSync(from, to);
    },
    fsyncSync: (file: number) => {
      calls.push(`sync ${named(file)}`);
      fsyncSync(file);
    },
  });
  syncBuiltinESMExports();
  try {
    await (await open()).close();
  } finally {
    Object.assign(fs, { renameSync, fsyncSync });
    syncBuiltinESMExports();
  }
  assert.deepEqual(calls, ["rename", "sync folder"]);
  assert.deepEqual(fs.readdirSync(folder).sort(), ["as-renamed", "chain.mdb", "chain.mdb-lock"]);
  path = join(folder, "as-renamed");
  pretendReboot();
  const created = await open();
  assert.equal(created.recovery?.isNew, false);
  assert.equal(created.read.height(), 0);
  await created.close();
});

test("the names of new folders above a database are synced with it", async () => {
  const synced: number[] = [];
  const { fsyncSync } = fs;
  Object.assign(fs, {
    fsyncSync: (file: number) => {
      synced.push(fs.fstatSync(file).ino);
      fsyncSync(file);
    },
  });
  syncBuiltinESMExports();
  try {
    path = join(folder, "a", "b", "chain.mdb");
    await (await open()).close();
  } finally {
    Object.assign(fs, { fsyncSync });
    syncBuiltinESMExports();
  }
  const expected = [join(folder, "a"), folder, join(folder, "a", "b")];
  assert.deepEqual(
    synced,
    expected.map((each) => statSync(each).ino),
  );
});

test("a root page older than the last mark is refused", async () => {
  const roots = () => [0, 1].map((page) => readFileSync(path).subarray(page * PAGE, page * PAGE + PAGE / 2));
  const store = await open();
  append(store, 0, 5);
  await store.flush();
  const older = roots();
  append(store, 5, 10);
  await store.close();
  const file = openSync(path, "r+");
  for (const [page, bytes] of older.entries()) writeSync(file, bytes, 0, bytes.length, page * PAGE);
  closeSync(file);
  await assert.rejects(open(), /its root page is not what was written/);
});

test("a file that was never flushed is refused where it was cut short", async () => {
  const store = await open();
  await store.close();
  const bytes = readFileSync(path);
  for (const page of [0, 1]) bytes.fill(0, page * PAGE + PAGE / 2, (page + 1) * PAGE);
  writeFileSync(path, bytes.subarray(0, bytes.length - PAGE));
  await assert.rejects(open(), /bytes where \d+ belong/);
});

test("blocks in a file whose marks are gone are refused, and a file that was never flushed is opened", async () => {
  const store = await open();
  await store.close();
  const empty = readFileSync(path);
  const filled = await open();
  append(filled, 0, 5);
  await filled.close();
  for (const [bytes, isRefused] of [
    [empty, false],
    [readFileSync(path), true],
  ] as const) {
    for (const page of [0, 1]) bytes.fill(0, page * PAGE + PAGE / 2, (page + 1) * PAGE);
    writeFileSync(path, bytes);
    const opening = open();
    if (isRefused) await assert.rejects(opening, /the marks of its last flush are gone/);
    else {
      const opened = await opening;
      assert.equal(opened.recovery?.isNew, true);
      await opened.close();
    }
  }
});

test("what the system says of a disk is told in plain words", () => {
  const words: [number, string][] = [
    [5, "the disk reports an input or output error"],
    [13, "the file may not be written"],
    [27, "the file may not grow any further"],
    [28, "the disk is full"],
    [30, "the disk is read-only"],
    [122, "the disk quota is used up"],
  ];
  for (const [errno, text] of words) {
    const error = Object.assign(new Error("some code"), { errno: -errno });
    assert.equal(isSystemFault(error), true);
    assert.equal(writeFailed("stored", error).message, `stored: ${text}`);
  }
  assert.equal(writeFailed("stored", Object.assign(new Error("odd"), { errno: -99 })).message, "stored: odd");
  // Closes: LMDB told a full disk as a broken one.
  const broken = Object.assign(new Error("short write"), { code: 5 });
  assert.equal(writeFailed("stored", broken, () => 1_048_575n).message, "stored: the disk is full");
  assert.equal(
    writeFailed("stored", broken, () => 1_048_576n).message,
    "stored: the disk reports an input or output error",
  );
  const forbidden = Object.assign(new Error("denied"), { code: 13 });
  assert.equal(writeFailed("stored", forbidden, () => 0n).message, "stored: the file may not be written");
  for (const [code, isFault] of [
    [-30_801, false],
    [-30_800, true],
    [-30_700, true],
    [-30_699, false],
  ] as const)
    assert.equal(isSystemFault(Object.assign(new Error("of LMDB"), { code })), isFault, String(code));
  assert.equal(isSystemFault(new DamagedDatabase("a row")), false);
});

test("opening, checking and closing leaves no file open", async () => {
  if (process.platform !== "linux") return;
  const openAndCheck = async () => {
    const store = await open();
    await store.checkStructure();
    await store.close();
  };
  await openAndCheck();
  const before = fs.readdirSync("/proc/self/fd").length;
  for (let i = 0; i < 5; i++) await openAndCheck();
  assert.equal(fs.readdirSync("/proc/self/fd").length, before);
});

test("a file of which the system does not tell whether it is there is not replaced by a new one", async () => {
  symlinkSync(path, path);
  await assert.rejects(open(), { code: "ELOOP" });
  assert.equal(lstatSync(path).isSymbolicLink(), true);
  assert.deepEqual(readdirSync(folder), ["chain.mdb"]);
});
