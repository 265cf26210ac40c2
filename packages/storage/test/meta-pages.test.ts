import assert from "node:assert/strict";
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { DamagedDatabase, WrongDatabase } from "../src/damage.ts";
import { currentBootId, isSameBoot, readFlushMark, writeFlushMark } from "../src/flush-mark.ts";
import {
  checkNotTruncated,
  checkOpens,
  META_BYTES,
  newestMeta,
  parseMetaPage,
  readMetaPages,
  readPageSize,
  restoreMeta,
  sizeOfState,
} from "../src/meta-pages.ts";

const PAGE = 4096;

let folder = "";
let file = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-meta-"));
  file = openSync(join(folder, "file"), "w+");
});
afterEach(() => {
  closeSync(file);
  rmSync(folder, { recursive: true });
});

interface Meta {
  readonly commit?: number;
  readonly pageSize?: number;
  readonly lastPage?: number;
  readonly root?: bigint;
}

/** The bytes of a meta page. */
function imageOf({ commit = 4, pageSize = PAGE, lastPage = 9, root = 2n ** 64n - 1n }: Meta = {}): Buffer {
  const image = Buffer.alloc(META_BYTES);
  image.writeUInt16LE(8, 18);
  image.writeUInt32LE(0xbeefc0de, 24);
  image.writeUInt32LE(2, 28);
  image.writeUInt32LE(pageSize, 48);
  for (const tree of [48, 96]) {
    image.writeUInt16LE(tree === 48 ? 0 : 3, tree + 4 + (tree === 48 ? 2 : 0));
    for (const [i, value] of [11, 12, 13, 14].entries())
      image.writeBigUInt64LE(BigInt(tree + value), tree + 8 + 8 * i);
    image.writeBigUInt64LE(root, tree + 40);
  }
  image.writeBigUInt64LE(BigInt(lastPage), 144);
  image.writeBigUInt64LE(BigInt(commit), 152);
  return image;
}

function writePages(even: Buffer, odd: Buffer): void {
  writeSync(file, even, 0, even.length, 0);
  writeSync(file, odd, 0, odd.length, PAGE);
}

test("a meta page tells of its state and of its two trees", () => {
  const { commit, pageSize, lastPage, free, main } = parseMetaPage(imageOf());
  assert.deepEqual({ commit, pageSize, lastPage }, { commit: 4, pageSize: PAGE, lastPage: 9 });
  const counts = (tree: number) => ({
    branchPages: tree + 11,
    leafPages: tree + 12,
    longPages: tree + 13,
    entries: tree + 14,
    root: undefined,
  });
  assert.deepEqual(free, { flags: 0, depth: 0, ...counts(48) });
  assert.deepEqual(main, { flags: 3, depth: 0, ...counts(96) });
  assert.equal(parseMetaPage(imageOf({ root: 5n })).main.root, 5);
  assert.equal(parseMetaPage(imageOf({ root: 0n })).main.root, 0);
});

test("pages have 1 to 64 KiB, by powers of two", () => {
  for (const pageSize of [1024, 2048, 65_536])
    assert.equal(parseMetaPage(imageOf({ pageSize })).pageSize, pageSize);
  for (const pageSize of [0, 512, 1023, 1025, 3072, 65_535, 131_072])
    assert.throws(() => parseMetaPage(imageOf({ pageSize })), DamagedDatabase, String(pageSize));
});

test("what is no meta page, and no file of this format, is refused", () => {
  for (const at of [18, 24]) {
    const image = imageOf();
    image[at]! ^= 1;
    assert.throws(() => parseMetaPage(image), DamagedDatabase);
  }
  writePages(imageOf(), imageOf());
  assert.equal(readPageSize(file), PAGE);
  const other = imageOf();
  other.writeUInt32LE(0x00010001, 28);
  writeSync(file, other, 0, META_BYTES, 0);
  assert.throws(() => readPageSize(file), /LMDB format 1, expected 2/);
  other.writeUInt32LE(1, 24);
  writeSync(file, other, 0, META_BYTES, 0);
  assert.throws(() => readPageSize(file), WrongDatabase);
  ftruncateSync(file, META_BYTES - 1);
  assert.throws(() => readPageSize(file), /ends inside its first pages/);
});

test("of two meta pages the one of the later commit counts, and they follow one another", () => {
  const read = (even: Meta, odd: Meta) => {
    writePages(imageOf(even), imageOf(odd));
    return newestMeta(readMetaPages(file, PAGE));
  };
  for (const [even, odd, newest] of [
    [4, 5, 5],
    [6, 5, 6],
    [4, 4, 4],
    [5, 5, 5],
    [0, 0, 0],
  ] as const)
    assert.equal(read({ commit: even, lastPage: even }, { commit: odd, lastPage: odd }).commit, newest);
  assert.equal(read({ lastPage: 1 }, { lastPage: 2 }).lastPage, 1, "the first of two of the same commit");
  for (const [even, odd] of [
    [4, 6],
    [7, 5],
    [5, 4],
    [5, 6],
  ] as const)
    assert.throws(() => read({ commit: even }, { commit: odd }), DamagedDatabase, `${even} and ${odd}`);
  assert.throws(() => read({}, { pageSize: 8192 }), DamagedDatabase);
});

test("a restored state is the only one of the file, on the page of its own parity", () => {
  for (const commit of [4, 5, 1, 0]) {
    writePages(imageOf({ commit: 90 }), imageOf({ commit: 91 }));
    restoreMeta(file, parseMetaPage(imageOf({ commit, lastPage: 7 })));
    const pages = readMetaPages(file, PAGE);
    assert.equal(newestMeta(pages).commit, commit);
    assert.equal(pages[commit % 2]!.commit, commit);
    assert.equal(pages[1 - (commit % 2)]!.commit, Math.max(0, commit - 1));
    assert.deepEqual(
      pages.map(({ image, lastPage }) => [Number(image.readBigUInt64LE(0)), lastPage]),
      [
        [0, 7],
        [1, 7],
      ],
    );
  }
});

test("a file has all pages of its state, up to the last", () => {
  const meta = parseMetaPage(imageOf({ lastPage: 9 }));
  assert.equal(sizeOfState(meta), 10 * PAGE);
  ftruncateSync(file, 10 * PAGE);
  checkNotTruncated(file, meta);
  ftruncateSync(file, 10 * PAGE - 1);
  assert.throws(() => checkNotTruncated(file, meta), DamagedDatabase);
});

test("a file that another process is writing opens with whichever of its states is whole", () => {
  writePages(imageOf({ commit: 4, lastPage: 9 }), imageOf({ commit: 5, lastPage: 19 }));
  ftruncateSync(file, 20 * PAGE);
  checkOpens(file);
  ftruncateSync(file, 10 * PAGE);
  assert.throws(() => checkOpens(file), DamagedDatabase);
  writePages(imageOf({ commit: 4, lastPage: 9 }), Buffer.alloc(META_BYTES));
  checkOpens(file);
  // Pages that do not follow one another may be those of two commits.
  writePages(imageOf({ commit: 4, lastPage: 19 }), imageOf({ commit: 7, lastPage: 9 }));
  checkOpens(file);
});

test("the newest intact mark counts, each in the free half of its own page", () => {
  assert.equal(readFlushMark(file, PAGE), undefined);
  const bootId = Buffer.alloc(16, 7);
  const mark = (sequence: number) =>
    writeFlushMark(file, { sequence, bootId, meta: parseMetaPage(imageOf({ commit: sequence })) });
  for (const sequence of [1, 2, 3, 4]) {
    mark(sequence);
    const found = readFlushMark(file, PAGE)!;
    assert.deepEqual([found.sequence, found.meta.commit], [sequence, sequence]);
    assert.deepEqual(found.bootId, bootId);
    assert.equal(isSameBoot(found, bootId), true);
  }
  const placeOf = (sequence: number) => (sequence % 2) * PAGE + PAGE / 2;
  for (const offset of [0, 8, 16, 32, 32 + META_BYTES]) {
    mark(4);
    const at = placeOf(4) + offset;
    writeSync(file, Buffer.of(0xee), 0, 1, at);
    assert.equal(readFlushMark(file, PAGE)?.sequence, 3, `damaged at ${offset}`);
  }
});

test("only a boot that is known can be the same", () => {
  const meta = parseMetaPage(imageOf());
  const marked = (bootId: Buffer) => ({ sequence: 1, bootId, meta });
  const id = Buffer.alloc(16);
  id[15] = 1;
  assert.equal(isSameBoot(marked(id), Buffer.from(id)), true);
  assert.equal(isSameBoot(marked(id), Buffer.alloc(16, 2)), false);
  assert.equal(isSameBoot(marked(Buffer.alloc(16)), Buffer.alloc(16)), false);
  assert.equal(isSameBoot(marked(Buffer.alloc(15, 1)), Buffer.alloc(15, 1)), false);
  assert.equal(currentBootId().length, 16);
  if (process.platform === "linux") assert.ok(currentBootId().some((byte) => byte !== 0));
});
