import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ChainStore } from "../src/chain-store.ts";
import { DamagedDatabase, DatabaseInUse, WrongDatabase } from "../src/damage.ts";
import { openEnvironment } from "../src/environment.ts";
import { readFlushMark, writeFlushMark } from "../src/flush-mark.ts";
import { openStore } from "../src/open-store.ts";
import { bytesOf, sampleBlock, sampleFacts } from "./sample-blocks.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-recovery-"));
  path = join(folder, "chain.mdb");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PAGE = 4096;
const open = (syncMode: "safe" | "fastest" = "fastest") =>
  openStore({
    path,
    network: "regtest",
    syncMode: { mode: syncMode, isAwaited: false, every: { unit: "blocks", count: 1e9 } },
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
    assert.ok(reopened.recovery?.pages.isComplete);
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
  pretendReboot();
  const reopened = await open();
  assert.equal(reopened.recovery?.rolledBack, false);
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
      const damaged = await open();
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
