/** The file with the rows of a wallet: what is read of it is what was written, or nothing. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { NewRow, WalletSnapshot } from "@anulo/store";
import { readCopyFile, writeCopyFile } from "../src/file/wallet-copy-file.ts";
import { fileOperations } from "./file-operations.ts";
import { folderOf } from "./folder-of.ts";

const wallet = new Uint8Array(16).fill(7);
const mark = { epoch: 2 ** 33 + 3, sequence: 2 ** 34 + 5 };
const rowOf = (table: number, keyLength: number, valueLength: number): NewRow => ({
  table,
  key: new Uint8Array(keyLength).fill(table + 1),
  value: new Uint8Array(valueLength).fill(table + 2),
});

function pathIn(t: TestContext): string {
  const folder = folderOf(t);
  return join(folder, "w.rows");
}

function snapshotOf(...pages: readonly (readonly NewRow[])[]): WalletSnapshot {
  const each = async function* () {
    yield* pages;
  };
  return { mark, pages: each(), close: async () => undefined };
}

/** All rows of a copy, and how many came at once. */
async function rowsIn(path: string): Promise<{ rows: NewRow[]; sizes: number[] }> {
  const copy = await readCopyFile(path);
  const [rows, sizes]: [NewRow[], number[]] = [[], []];
  for await (const some of copy.read()) {
    sizes.push(some.length);
    for (const { table, key, value } of some)
      rows.push({ table, key: Uint8Array.from(key), value: Uint8Array.from(value) });
  }
  return { rows, sizes };
}

/** The same file with other bytes at a place, under a hash that fits them. */
function forge(path: string, at: number, bytes: Uint8Array): void {
  const image = readFileSync(path);
  image.set(bytes, at < 0 ? image.length + at : at);
  const content = image.subarray(0, -32);
  writeFileSync(path, Buffer.concat([content, createHash("sha256").update(content).digest()]));
}

const END_BYTES = 41;
const HEAD_BYTES = 40;

test("a copy has each row, whose it is, and where its ledger was", async (t) => {
  const path = pathIn(t);
  const pages = [[rowOf(1, 0, 0), rowOf(254, 255, 300)], [], [rowOf(3, 4, 70_000)]];
  await writeCopyFile(path, wallet, snapshotOf(...pages));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const copy = await readCopyFile(path);
  assert.deepEqual([Uint8Array.from(copy.wallet), copy.mark], [wallet, mark]);
  assert.deepEqual((await rowsIn(path)).rows, pages.flat());
  assert.deepEqual((await rowsIn(path)).rows, pages.flat(), "it may be read again");
  await assert.rejects(writeCopyFile(path, wallet, snapshotOf()), { code: "EEXIST" });
});

test("a wallet without rows has a copy, and nothing shorter is one", async (t) => {
  const path = pathIn(t);
  await writeCopyFile(path, wallet, snapshotOf());
  assert.deepEqual(await rowsIn(path), { rows: [], sizes: [] });
  const image = readFileSync(path);
  assert.equal(image.length, HEAD_BYTES + END_BYTES);
  for (const length of [0, HEAD_BYTES, image.length - 1]) {
    writeFileSync(path, image.subarray(0, length));
    await assert.rejects(readCopyFile(path), /is no copy of a wallet/);
  }
});

test("a copy is on disk when it is written, and every file that is read is closed", async (t) => {
  const path = pathIn(t);
  const folder = join(path, "..");
  const written = await fileOperations(folder, () =>
    writeCopyFile(path, wallet, snapshotOf([rowOf(1, 2, 3)])),
  );
  assert.deepEqual(written, ["writeFile w.rows", "sync w.rows", "close w.rows"]);
  let closed = 0;
  const read = async () => {
    await rowsIn(path);
    const copy = await readCopyFile(path);
    for await (const _ of copy.read()) break;
  };
  const operations = await fileOperations(folder, read);
  closed += operations.length;
  assert.deepEqual([operations, closed], [["close w.rows"], 1]);
  const failing: WalletSnapshot = {
    ...snapshotOf(),
    pages: {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("the store is away")) }),
    },
  };
  const other = join(folder, "v.rows");
  const failed = await fileOperations(folder, async () => {
    await assert.rejects(writeCopyFile(other, wallet, failing), /the store is away/);
  });
  assert.deepEqual(failed, ["writeFile v.rows", "close v.rows"]);
});

test("a file with one byte changed anywhere is not read", async (t) => {
  const path = pathIn(t);
  await writeCopyFile(path, wallet, snapshotOf([rowOf(1, 2, 3)]));
  const image = readFileSync(path);
  for (let at = 0; at < image.length; at++) {
    const changed = Buffer.from(image);
    changed[at]! ^= 1;
    writeFileSync(path, changed);
    const why = at < 8 ? /is no copy of a wallet/ : /is not what was written/;
    await assert.rejects(readCopyFile(path), why, `byte ${at}`);
  }
  writeFileSync(path, image);
  assert.equal((await rowsIn(path)).rows.length, 1);
});

test("rows are read a MiB at a time, in whole rows", async (t) => {
  const path = pathIn(t);
  const piece = 2 ** 20;
  // Of each, 6 bytes are its head.
  const rows = [rowOf(1, 0, piece - 6), rowOf(2, 1, piece - 7 - 6), rowOf(3, 1, 20), rowOf(4, 0, 3 * piece)];
  await writeCopyFile(path, wallet, snapshotOf(rows));
  const { rows: found, sizes } = await rowsIn(path);
  assert.deepEqual(found, rows);
  assert.deepEqual(sizes, [1, 1, 1, 0, 0, 1]);
});

test("a row is as long as a value may be, and not a byte longer", async (t) => {
  const path = pathIn(t);
  const most = 4 * 2 ** 20;
  await writeCopyFile(path, wallet, snapshotOf([rowOf(1, 0, most)]));
  assert.deepEqual((await rowsIn(path)).rows, [rowOf(1, 0, most)]);
  rmSync(path);
  await writeCopyFile(path, wallet, snapshotOf([rowOf(1, 0, most + 1)]));
  await assert.rejects(rowsIn(path), /a row of the copy is too long/);
});

test("another number of rows than was written, or a part of one, is not believed", async (t) => {
  const path = pathIn(t);
  await writeCopyFile(path, wallet, snapshotOf([rowOf(1, 2, 3), rowOf(2, 2, 3)]));
  for (const count of [1, 3]) {
    forge(path, -END_BYTES + 8, Uint8Array.of(count));
    await assert.rejects(rowsIn(path), /is not what was written/);
  }
  forge(path, -END_BYTES + 8, Uint8Array.of(2));
  assert.equal((await rowsIn(path)).rows.length, 2);
  // The second row says that it has a byte more than there is; only the first one is there.
  forge(path, HEAD_BYTES + 11 + 5, Uint8Array.of(4));
  forge(path, -END_BYTES + 8, Uint8Array.of(1));
  await assert.rejects(rowsIn(path), /is not what was written/);
});
