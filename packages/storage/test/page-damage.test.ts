import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DamagedDatabase } from "../src/damage.ts";
import { type MetaPage, newestMeta, readMetaPages, readPageSize } from "../src/meta-pages.ts";
import { openStore } from "../src/open-store.ts";
import { checkPages } from "../src/page-walk.ts";
import { bytesOf, sampleBlock } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

// Closes a class of crashes: a page that LMDB would follow out of itself, each kind of damage by itself.

let folder = "";
let file = 0;
let meta: MetaPage;
let whole: Buffer;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "anulo-page-damage-"));
  const path = join(folder, "chain.mdb");
  const store = await openStore({ path, network: "regtest" });
  store.write((writer) => {
    for (let height = 0; height < 80; height++) writer.appendBlock(sampleBlock(height));
  });
  store.write((writer) => {
    for (const name of ["one", "two", "three"])
      writer.putPoolTransaction(bytesOf(name), waitingTransaction(20_000));
  });
  store.write((writer) => writer.removePoolTransaction(bytesOf("two")));
  await store.close();
  file = openSync(path, "r+");
  meta = newestMeta(readMetaPages(file, readPageSize(file)));
  whole = readFileSync(path);
});
after(() => {
  closeSync(file);
  rmSync(folder, { recursive: true });
});

const HEADER = 24;
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;

/** Bytes of a page, in memory of its own. */
const pageAt = (page: number) =>
  Buffer.from(whole.subarray(page * meta.pageSize, (page + 1) * meta.pageSize));

const pagesOf = (kind: number) =>
  Array.from({ length: meta.lastPage - 1 }, (_, i) => i + 2).filter((page) => {
    const bytes = pageAt(page);
    return (bytes.readUInt16LE(18) & 0x2f) === kind && Number(bytes.readBigUInt64LE(0)) === page;
  });

const countOf = (bytes: Buffer) => bytes.readUInt16LE(20) / 2;
const startOf = (bytes: Buffer, index: number) => HEADER + bytes.readUInt16LE(HEADER + 2 * index);
const endOfKey = (bytes: Buffer, start: number) => start + 8 + bytes.readUInt16LE(start + 6);

/** What a check says of the file with one page changed; undefined where it is sound. */
function complaint(page: number, change: (bytes: Buffer) => void): string | undefined {
  const bytes = pageAt(page);
  change(bytes);
  writeSync(file, bytes, 0, bytes.length, page * meta.pageSize);
  try {
    const steps = checkPages(file, meta, { isDepthFirst: false });
    while (steps.next().done !== true);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof DamagedDatabase, String(error));
    return error.message;
  } finally {
    writeSync(file, whole, page * meta.pageSize, meta.pageSize, page * meta.pageSize);
  }
}

/** Some pages of the file belong to no tree, and some have not what is changed: of the others one is enough. */
function refused(kind: number, change: (bytes: Buffer) => void, what: RegExp): void {
  const found = pagesOf(kind).map((page) => complaint(page, change));
  assert.ok(
    found.some((text) => text !== undefined && what.test(text)),
    `${what} is not among ${[...new Set(found)].join("; ")}`,
  );
}

test("a sound file has nothing to complain of", () => {
  assert.equal(
    complaint(2, () => {}),
    undefined,
  );
  assert.ok([BRANCH, LEAF, OVERFLOW].every((kind) => pagesOf(kind).length > 0));
});

test("a page that is another, of another kind, or newer than its state, is refused", () => {
  for (const kind of [BRANCH, LEAF]) {
    refused(kind, (bytes) => bytes.writeBigUInt64LE(1n, 0), /is no page of it/);
    refused(kind, (bytes) => bytes.writeBigUInt64LE(BigInt(meta.commit + 1), 8), /is no page of it/);
    refused(kind, (bytes) => bytes.writeUInt16LE(kind === LEAF ? BRANCH : LEAF, 18), /is no page of it/);
    refused(kind, (bytes) => bytes.writeUInt16LE(bytes.readUInt16LE(20) + 1, 20), /is no page of it/);
    refused(kind, (bytes) => bytes.writeUInt16LE(meta.pageSize - HEADER + 2, 20), /is no page of it/);
  }
});

test("nodes and keys that lie beyond their page are refused, at the last byte", () => {
  refused(
    LEAF,
    (bytes) => bytes.writeUInt16LE(meta.pageSize - HEADER - 7, HEADER),
    /has a node outside of it/,
  );
  refused(
    LEAF,
    (bytes) => {
      const start = startOf(bytes, 0);
      bytes.writeUInt16LE(meta.pageSize - start - 8 + 1, start + 6);
    },
    /has a key outside of it/,
  );
});

test("keys that do not ascend, or belong to another page, are refused", () => {
  const swap = (bytes: Buffer, a: number, b: number) => {
    if (countOf(bytes) <= Math.max(a, b)) return;
    const [first, second] = [a, b].map((index) => bytes.readUInt16LE(HEADER + 2 * index));
    bytes.writeUInt16LE(second!, HEADER + 2 * a);
    bytes.writeUInt16LE(first!, HEADER + 2 * b);
  };
  refused(LEAF, (bytes) => swap(bytes, 0, 1), /has keys out of order/);
  refused(BRANCH, (bytes) => swap(bytes, 1, 2), /has keys out of order/);
  refused(
    LEAF,
    (bytes) => bytes.fill(0, startOf(bytes, 0) + 8, startOf(bytes, 0) + 12),
    /has keys of another page/,
  );
  const last = (bytes: Buffer) => startOf(bytes, countOf(bytes) - 1) + 8;
  refused(LEAF, (bytes) => bytes.fill(0xff, last(bytes), last(bytes) + 8), /has keys of another page/);
});

test("a page whose last key is the first one of the next is refused", () => {
  refused(
    BRANCH,
    (bytes) => {
      const [left, next] = [startOf(bytes, 0), startOf(bytes, 1)];
      const child = pageAt(bytes.readUInt32LE(left));
      if ((child.readUInt16LE(18) & 0x2f) !== LEAF) return;
      const last = startOf(child, countOf(child) - 1);
      const key = child.subarray(last + 8, endOfKey(child, last));
      if (key.length === endOfKey(bytes, next) - next - 8) bytes.set(key, next + 8);
    },
    /has keys of another page/,
  );
});

test("nodes that overlap, leave gaps or reach into the free space are refused", () => {
  refused(
    LEAF,
    (bytes) => bytes.writeUInt16LE(bytes.readUInt16LE(22) + 2, 22),
    /has a node in its free space/,
  );
  refused(LEAF, (bytes) => bytes.writeUInt16LE(bytes.readUInt16LE(22) - 2, 22), /has nodes that overlap/);
  refused(
    LEAF,
    (bytes) => bytes.writeUInt16LE(bytes.readUInt16LE(startOf(bytes, 0)) + 2, startOf(bytes, 0)),
    /has nodes that overlap/,
  );
});

test("a value that is not what was written, or ends beyond its page, is refused", () => {
  refused(
    LEAF,
    (bytes) => {
      const start = startOf(bytes, 0);
      bytes[endOfKey(bytes, start)]! ^= 1;
    },
    /has a row that is not what was written/,
  );
  refused(
    LEAF,
    (bytes) => {
      const starts = Array.from({ length: countOf(bytes) }, (_, i) => startOf(bytes, i)).sort(
        (a, b) => b - a,
      );
      const [highest, other] = starts;
      if (highest === undefined || other === undefined || bytes.readUInt16LE(other) < 2) return;
      bytes.writeUInt16LE(bytes.readUInt16LE(highest) + 2, highest);
      bytes.writeUInt16LE(bytes.readUInt16LE(other) - 2, other);
    },
    /has a value outside of it/,
  );
});

test("rows of a kind that their tree has not are refused", () => {
  for (const flags of [2, 4, 6]) {
    const change = (bytes: Buffer) => bytes.writeUInt16LE(flags, startOf(bytes, 0) + 4);
    refused(LEAF, change, /has a row of an unknown kind/);
  }
  const main = meta.main.root!;
  assert.match(
    complaint(main, (bytes) => bytes.writeUInt16LE(0, startOf(bytes, 0) + 4))!,
    /row of an unknown kind/,
  );
  const record = (bytes: Buffer) => endOfKey(bytes, startOf(bytes, 1));
  assert.match(
    complaint(main, (bytes) => bytes.writeUInt16LE(4, record(bytes) + 4))!,
    /has a table without a root/,
  );
});

/** A node whose value is on pages of its own. */
function longNode(bytes: Buffer): number | undefined {
  const starts = Array.from({ length: countOf(bytes) }, (_, i) => startOf(bytes, i));
  return starts.find((start) => (bytes.readUInt16LE(start + 4) & 1) !== 0);
}

test("a value on pages of its own has as many as it needs, and they say so", () => {
  const change = (edit: (bytes: Buffer, record: number) => void) => (bytes: Buffer) => {
    const start = longNode(bytes);
    if (start !== undefined) edit(bytes, endOfKey(bytes, start));
  };
  const counted = (by: bigint) =>
    change((bytes, at) => bytes.writeBigUInt64LE(bytes.readBigUInt64LE(at + 16) + by, at + 16));
  refused(LEAF, counted(-1n), /has a value longer than its pages/);
  refused(LEAF, counted(1n), /is not one of a long value|is used twice|is outside the file/);
  refused(
    LEAF,
    change((bytes, at) => bytes.writeBigUInt64LE(BigInt(meta.lastPage + 1), at)),
    /is outside the file/,
  );
  refused(
    LEAF,
    change((bytes, at) => bytes.writeBigUInt64LE(1n, at)),
    /is outside the file/,
  );
  refused(OVERFLOW, (bytes) => bytes.writeBigUInt64LE(1n, 0), /is not one of a long value/);
  refused(OVERFLOW, (bytes) => bytes.writeUInt16LE(LEAF, 18), /is not one of a long value/);
  refused(
    OVERFLOW,
    (bytes) => bytes.writeUInt32LE(bytes.readUInt32LE(20) + 1, 20),
    /is not one of a long value/,
  );
  refused(OVERFLOW, (bytes) => (bytes[HEADER + 5]! ^= 1), /has a row that is not what was written/);
});

test("children that are twice there, or nowhere, are refused, and so is a branch without two", () => {
  const childAt = (bytes: Buffer, index: number) => startOf(bytes, index);
  refused(
    BRANCH,
    (bytes) => bytes.writeUInt32LE(bytes.readUInt32LE(childAt(bytes, 0)), childAt(bytes, 1)),
    /is used twice/,
  );
  refused(
    BRANCH,
    (bytes) => bytes.writeUInt32LE(meta.lastPage + 1, childAt(bytes, 1)),
    /is outside the file/,
  );
  refused(BRANCH, (bytes) => bytes.writeUInt16LE(1, childAt(bytes, 1) + 4), /is outside the file/);
  refused(
    BRANCH,
    (bytes) => {
      const start = childAt(bytes, 0);
      const size = endOfKey(bytes, start) - start;
      const node = Buffer.from(bytes.subarray(start, start + size));
      const at = meta.pageSize - size - (size % 2);
      node.copy(bytes, at);
      bytes.writeUInt16LE(at - HEADER, HEADER);
      bytes.writeUInt16LE(2, 20);
      bytes.writeUInt16LE(at - HEADER, 22);
    },
    /has too few children/,
  );
});

test("a list of free pages has an end, and names no page that is in use", () => {
  const root = meta.free.root!;
  const bytes = pageAt(root);
  assert.ok((bytes.readUInt16LE(18) & 0x2f) === LEAF);
  const record = endOfKey(bytes, startOf(bytes, 0));
  const length = Number(bytes.readBigInt64LE(record));
  const said = (change: (changed: Buffer) => void) => complaint(root, change) ?? "";
  const size = bytes.readUInt16LE(startOf(bytes, 0));
  assert.match(
    said((changed) => changed.writeBigInt64LE(BigInt(size / 8), record)),
    /has a list without an end/,
  );
  assert.match(
    said((changed) => changed.writeBigInt64LE(-1n, record)),
    /has a list without an end/,
  );
  const inUse = BigInt(meta.main.root!);
  assert.match(
    said((changed) => changed.writeBigInt64LE(inUse, record + 8)),
    /is used twice/,
  );
  assert.match(
    said((changed) => changed.writeBigInt64LE(BigInt(meta.lastPage + 1), record + 8)),
    /is outside the file/,
  );
  assert.match(
    said((changed) => changed.writeBigInt64LE(1n, record + 8)),
    /is outside the file/,
  );
  assert.match(
    said((changed) => changed.writeBigInt64LE(-2n, record + 8 * length)),
    /has a run without a beginning/,
  );
});
