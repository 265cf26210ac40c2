import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { genesisBlock, networks, writeBlock, writeBlockPackage, writeChainFileHeader } from "@anulo/protocol";
import { DamagedDatabase, DatabaseInUse, WriteFailed, WrongDatabase } from "../src/damage.ts";
import { BadSource, CutOff, inSource } from "../src/sources/chain-source.ts";
import { findMonerodDatabase, openChainSource } from "../src/sources/open-source.ts";
import { openRawFile, type RawFile } from "../src/sources/raw-file.ts";
import { chunks, openRawSource, readHeader } from "../src/sources/raw-source.ts";
import { openSource } from "../src/sources/source-bytes.ts";
import { BadSyncMode } from "../src/sync-mode.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-raw-"));
  path = join(folder, "blockchain.raw");
});
afterEach(() => rmSync(folder, { recursive: true }));

const genesis = genesisBlock(networks.regtest);
const blobOf = (height: number) => writeBlock({ ...genesis, header: { ...genesis.header, nonce: height } });
const packageOf = (height: number) => ({
  blob: blobOf(height),
  transactions: [],
  weight: 1,
  cumulativeDifficulty: 1n,
  generated: 1n,
});

/** A file of blocks from `first` on. */
function fileOf(count: number, first = 0): Buffer {
  const parts = [Buffer.from(writeChainFileHeader({ first, last: first + count - 1 }))];
  for (let i = 0; i < count; i++) {
    const bytes = writeBlockPackage(packageOf(first + i));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    parts.push(size, Buffer.from(bytes));
  }
  return Buffer.concat(parts);
}

/** The heights from a block on, with a 0 for each turn that is left to others. */
function heightsFrom(
  source: ReturnType<typeof openRawSource>,
  height: number,
  withTransactions = true,
): number[] {
  const start = { height, transactionsBefore: 0, withTransactions };
  return Array.from(source.blocks(start), (block) => block?.height ?? 0);
}

test("a source goes on from any block, leaving turns to others on the way, and knows where it was", () => {
  writeFileSync(path, fileOf(2500, 1));
  const source = openRawSource(path);
  assert.equal(source.first, 1);
  assert.equal(source.pruningSeed, 0);
  const last = [2499, 2500];
  assert.deepEqual(heightsFrom(source, 2499), [0, 0, ...last], "blocks 1000 and 2000 are gone over");
  assert.deepEqual(heightsFrom(source, 2499), last);
  assert.deepEqual(heightsFrom(source, 2500), [2500]);
  assert.deepEqual(heightsFrom(source, 2501), []);
  assert.deepEqual(heightsFrom(source, 2499), [0, 0, ...last], "back from the beginning");
  assert.deepEqual(heightsFrom(source, 2499, false), last);
  const [block] = source.blocks({ height: 2500, transactionsBefore: 0 });
  assert.deepEqual(Buffer.from(block!.blob), Buffer.from(blobOf(2500)));
  assert.equal(block!.done, 1);
  assert.equal(block!.weight, undefined);
  const [half] = source.blocks({ height: 1250, transactionsBefore: 0 });
  assert.ok(half === undefined || Math.abs(half.done - 0.5) < 0.01);
  source.close();
});

test("a chunk has 1 byte to 16 MiB, and one that is cut off is told from one that is absurd", () => {
  const header = Buffer.from(writeChainFileHeader({ first: 0, last: 0 }));
  const sizeOf = (size: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(size);
    writeFileSync(path, Buffer.concat([header, bytes, Buffer.alloc(10)]));
    const file = openSource(path);
    try {
      return [...chunks(file, { height: 7, offset: header.length + 4 })];
    } finally {
      file.close();
    }
  };
  assert.deepEqual(sizeOf(10), [{ height: 7, offset: header.length + 4, length: 10 }]);
  const isCutOff = (error: unknown) => error instanceof CutOff;
  assert.throws(() => sizeOf(11), isCutOff);
  assert.throws(() => sizeOf(9), isCutOff, "a byte of the next length");
  assert.throws(() => sizeOf(16 * 1024 * 1024), isCutOff);
  for (const size of [0, 16 * 1024 * 1024 + 1])
    assert.throws(
      () => sizeOf(size),
      (error) => error instanceof BadSource && !isCutOff(error),
    );
});

test("a header that is cut off, or none, is refused, and its file closed", () => {
  const whole = fileOf(1);
  const openFiles = countOpenFiles();
  for (const length of [0, 3, 20, 1027]) {
    writeFileSync(path, whole.subarray(0, length));
    assert.throws(() => openRawSource(path), BadSource);
  }
  assert.equal(countOpenFiles(), openFiles);
  writeFileSync(path, whole.subarray(0, 1028));
  const file = openSource(path);
  assert.deepEqual(readHeader(file), { version: 1, first: 0, last: 0 });
  file.close();
  assert.deepEqual(heightsFrom(openRawSource(path), 0), []);
});

/** Opens a file to write to, however many turns that takes. */
function begin(options: Partial<Parameters<typeof openRawFile>[0]> = {}): { file: RawFile; turns: number } {
  const steps = openRawFile({ path, first: 0, blockAt: blobOf, ...options });
  let turns = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { file: step.value, turns };
    turns++;
  }
}

test("a file is written block by block, and is whole once it is finished", () => {
  const { file } = begin({ first: 3 });
  assert.equal(file.next, 3);
  for (const height of [3, 4])
    assert.equal(file.append(packageOf(height)), writeBlockPackage(packageOf(height)).length);
  assert.equal(file.next, 5);
  file.finish();
  file.close();
  assert.deepEqual(readFileSync(path), fileOf(2, 3));
});

test("a file to which nothing was written has a header alone", () => {
  const { file } = begin({ first: 3 });
  file.finish();
  file.close();
  assert.deepEqual(readFileSync(path), Buffer.from(writeChainFileHeader({ first: 3, last: 3 })));
});

test("a file goes on behind its last whole block, with turns for others while it is read", () => {
  const whole = fileOf(2001);
  writeFileSync(path, whole);
  truncateSync(path, whole.length - 5);
  const { file, turns } = begin();
  assert.deepEqual([file.next, turns], [2000, 2], "blocks 0 and 1000");
  file.append(packageOf(2000));
  file.finish();
  file.close();
  assert.deepEqual(readFileSync(path), whole);
});

test("a file of another chain, version or beginning, or that is none, is left alone", () => {
  const openFiles = countOpenFiles();
  const refusedWith = (bytes: Buffer, options: Parameters<typeof begin>[0] = {}) => {
    writeFileSync(path, bytes);
    assert.throws(() => begin(options), BadSource);
    assert.deepEqual(readFileSync(path), bytes);
  };
  refusedWith(fileOf(3), { blockAt: (height) => blobOf(height + 1) });
  refusedWith(fileOf(3), { blockAt: () => undefined });
  refusedWith(fileOf(3, 1));
  refusedWith(fileOf(3), { first: 1 });
  const old = fileOf(3);
  old[8] = 0;
  refusedWith(old);
  refusedWith(Buffer.from("a letter to a friend"));
  refusedWith(Buffer.alloc(1028));
  assert.throws(() => begin({ path: "/dev/null" }), /is no file/);
  assert.equal(countOpenFiles(), openFiles);
});

/** Of this process; 0 where the system does not say. */
function countOpenFiles(): number {
  return process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
}

test("a beginning that was cut off, or lost with the power, is begun anew", () => {
  const header = Buffer.from(writeChainFileHeader({ first: 0, last: 0 }));
  for (const bytes of [Buffer.alloc(0), header.subarray(0, 5), header.subarray(0, 1027)]) {
    writeFileSync(path, bytes);
    const { file } = begin();
    file.finish();
    file.close();
    assert.deepEqual(readFileSync(path), header);
  }
});

test("a monerod's database is found in the folder of its network", () => {
  for (const [network, inside] of [
    ["mainnet", "lmdb"],
    ["testnet", "testnet/lmdb"],
    ["stagenet", "stagenet/lmdb"],
    ["regtest", "fake/lmdb"],
  ] as const) {
    assert.equal(findMonerodDatabase(folder, network), undefined);
    mkdirSync(join(folder, inside), { recursive: true });
    const file = join(folder, inside, "data.mdb");
    writeFileSync(file, "");
    assert.equal(findMonerodDatabase(folder, network), file);
  }
  writeFileSync(path, fileOf(2));
  const source = openChainSource(path, "mainnet");
  assert.deepEqual(heightsFrom(source as never, 0), [0, 1]);
  source.close();
});

test("what a source cannot mean is refused with its place, a bug is a bug", () => {
  assert.equal(
    inSource("file", "here", () => 5),
    5,
  );
  const fail = (error: Error) => () => {
    throw error;
  };
  assert.throws(() => inSource("file", "here", fail(new TypeError("a bug"))), TypeError);
});

test("errors are told apart by name", () => {
  assert.equal(new BadSource("file", "reason").name, "BadSource");
  assert.equal(new DamagedDatabase("a row").name, "DamagedDatabase");
  assert.equal(new WrongDatabase("another").name, "WrongDatabase");
  assert.equal(new DatabaseInUse("file", 5).name, "DatabaseInUse");
  assert.equal(new WriteFailed("stored", undefined).name, "WriteFailed");
  assert.equal(new BadSyncMode("slow").name, "BadSyncMode");
});
