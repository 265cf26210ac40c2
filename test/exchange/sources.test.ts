import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { genesisBlock, networks, writeBlock, writeBlockPackage, writeChainFileHeader } from "@anulo/protocol";
import { BadSource, type ChainSource, openChainSource, openRawFile, type SourceBlock } from "@anulo/storage";
import { type FileOptions, type MonerodBlock, monerodFile } from "./monerod-file.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const genesis = genesisBlock(networks.regtest);

/** A block that names so many transactions. */
function blockNaming(count: number, height: number): Uint8Array {
  const transactionHashes = Array.from({ length: count }, (_, i) => new Uint8Array(32).fill(height + i));
  return writeBlock({ ...genesis, header: { ...genesis.header, nonce: height }, transactionHashes });
}

/** A chain whose rows have bytes of many lengths; of a block divisible by five nothing was kept but hashes. */
function madeUpChain(length: number, isPruned = false): MonerodBlock[] {
  return Array.from({ length }, (_, height) => {
    const transactions = Array.from({ length: 1 + (height % 4) }, (_, i) => ({
      pruned: Buffer.alloc(10 + ((height * 37) % 700), height + i),
      prunable: isPruned && i > 0 && height % 5 === 0 ? undefined : Buffer.alloc((height * 991) % 9000, i),
      prunableHash: Buffer.alloc(32, height),
    }));
    return { blob: blockNaming(height % 4, height), transactions, weight: 1000 + height };
  });
}

function bytesOf(tx: SourceBlock["transactions"][number]): Buffer {
  return "blob" in tx ? Buffer.from(tx.blob) : Buffer.concat([tx.pruned, tx.prunableHash]);
}

const open = (path: string) => openChainSource(path, "regtest");

/** Reads all of a source, never more blocks than a file of its size can hold. */
function readAll(source: ChainSource): SourceBlock[] {
  try {
    const read: SourceBlock[] = [];
    for (const block of source.blocks({ height: source.first, transactionsBefore: 0 })) {
      if (block !== undefined) read.push(block);
      if (read.length > 10_000) throw new Error("a file without an end");
    }
    return read;
  } finally {
    source.close();
  }
}

function put(folder: string, blocks: readonly MonerodBlock[], options: FileOptions = {}): string {
  const path = join(folder, "data.mdb");
  writeFileSync(path, monerodFile(blocks, options));
  return path;
}

for (const pageSize of [1024, 4096, 16384, 65536]) {
  test(`a monerod's chain is read from pages of ${pageSize} bytes, pruned or not`, (t) => {
    const folder = folderOf(t);
    for (const pruningSeed of [0, 387]) {
      const chain = madeUpChain(200, pruningSeed !== 0);
      const source = open(put(folder, chain, { pageSize, width: 4, pruningSeed }));
      assert.equal(source.pruningSeed, pruningSeed);
      const read = readAll(source);
      assert.deepEqual(
        read.map(({ height, done, place }) => ({ height, done, place })),
        chain.map((_, height) => ({ height, done: (height + 1) / 200, place: `row ${height} of blocks` })),
      );
      for (const [height, { blob, transactions, weight }] of read.entries()) {
        const expected = chain[height]!;
        assert.deepEqual(Buffer.from(blob), Buffer.from(expected.blob));
        assert.equal(weight, pruningSeed === 0 ? undefined : expected.weight);
        const others = expected.transactions.slice(1);
        assert.deepEqual(
          transactions.map(bytesOf),
          others.map(({ pruned, prunable, prunableHash }) =>
            Buffer.concat([pruned, prunable ?? prunableHash!]),
          ),
        );
      }
    }
  });
}

test("a table of a monerod's file may be empty", (t) => {
  const folder = folderOf(t);
  assert.deepEqual(readAll(open(put(folder, []))), []);
  // Transactions of version 1 have no hash of a prunable part.
  const withoutHashes: MonerodBlock[] = madeUpChain(20).map((block) => ({
    ...block,
    transactions: block.transactions.map(({ pruned, prunable }) => ({ pruned, prunable })),
  }));
  assert.equal(readAll(open(put(folder, withoutHashes))).length, 20);
  const [first, second] = withoutHashes;
  const halves = second!.transactions.map(({ pruned }) => ({ pruned, prunable: undefined }));
  const source = put(folder, [first!, { ...second!, transactions: halves }]);
  assert.throws(() => readAll(open(source)), /block 1: the second part of transaction 2 is missing/);
});

test("a source goes on from any block, and a folder is left as it was", (t) => {
  const folder = folderOf(t);
  const lmdb = join(folder, "fake", "lmdb");
  mkdirSync(lmdb, { recursive: true });
  const chain = madeUpChain(50);
  const before = readFileSync(put(lmdb, chain));
  for (const path of [folder, join(folder, "fake"), lmdb, join(lmdb, "data.mdb")]) {
    const source = open(path);
    const transactionsBefore = chain.slice(0, 31).flatMap(({ transactions }) => transactions).length;
    const [block] = source.blocks({ height: 31, transactionsBefore });
    assert.deepEqual(
      block!.transactions.map(bytesOf)[0],
      Buffer.concat([chain[31]!.transactions[1]!.pruned, chain[31]!.transactions[1]!.prunable!]),
    );
    source.close();
  }
  assert.deepEqual(readdirSync(lmdb), ["data.mdb"]);
  assert.deepEqual(readFileSync(join(lmdb, "data.mdb")), before);
  symlinkSync(folder, `${folder}/link`);
  assert.equal(readAll(open(`${folder}/link`)).length, chain.length);
});

/** Reads a damaged file: it is refused, or what it says is read; nothing else happens. */
function readDamaged(path: string): "read" | "refused" {
  try {
    readAll(open(path));
    return "read";
  } catch (error) {
    if (error instanceof BadSource) return "refused";
    throw error;
  }
}

test("a monerod's file that was damaged anywhere is refused or read, and never read without an end", (t) => {
  const folder = folderOf(t);
  const path = join(folder, "data.mdb");
  const whole = monerodFile(madeUpChain(12, true), { pageSize: 1024, width: 4, pruningSeed: 387 });
  const counts = { read: 0, refused: 0 };
  let state = 1;
  const chance = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 1500; round++) {
    const bytes = Buffer.from(whole);
    // Headers and nodes of a page are at its beginning and its end.
    const page = chance(bytes.length / 1024) * 1024;
    const at = page + (round % 2 === 0 ? chance(40) : 1023 - chance(200));
    if (round % 3 === 0) bytes.writeUInt8(chance(256), at);
    else bytes.fill(round % 3 === 1 ? 0xff : 0, at, Math.min(bytes.length, at + 8));
    writeFileSync(path, bytes);
    counts[readDamaged(path)]++;
  }
  assert.ok(counts.refused > 100, `${counts.refused} refused`);
});

test("pages that point at themselves and values of absurd lengths are refused with their place", (t) => {
  const path = join(folderOf(t), "data.mdb");
  const pageSize = 1024;
  const whole = monerodFile(madeUpChain(100), { pageSize, width: 4 });
  const pagesOf = (kind: number) =>
    Array.from({ length: whole.length / pageSize }, (_, page) => page).filter(
      (page) =>
        page > 1 &&
        whole.readUInt16LE(page * pageSize + 10) === kind &&
        Number(whole.readBigUInt64LE(page * pageSize)) === page,
    );
  const damage = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(whole);
    change(bytes);
    writeFileSync(path, bytes);
    return () => readAll(open(path));
  };
  const circular = damage((bytes) => {
    for (const page of pagesOf(1)) {
      const start = page * pageSize;
      const count = (bytes.readUInt16LE(start + 12) - 16) / 2;
      for (let i = 0; i < count; i++)
        bytes.writeUInt32LE(page, start + bytes.readUInt16LE(start + 16 + 2 * i));
    }
  });
  assert.throws(circular, /offset \d+: page \d+ is not the page of [a-z ]+ it should be/);
  const beyond = damage((bytes) => {
    for (const page of pagesOf(1)) {
      const start = page * pageSize;
      const count = (bytes.readUInt16LE(start + 12) - 16) / 2;
      // The upper half of a child's page number.
      for (let i = 0; i < count; i++)
        bytes.writeUInt16LE(1, start + bytes.readUInt16LE(start + 16 + 2 * i) + 4);
    }
  });
  assert.throws(beyond, /page 429496\d+ is outside the file/);
  const absurd = damage((bytes) => {
    for (const page of pagesOf(2)) {
      const start = page * pageSize;
      const node = start + bytes.readUInt16LE(start + 16);
      if (bytes.readUInt16LE(node + 4) === 1) bytes.writeUInt32LE(0xffffffff, node);
    }
  });
  assert.throws(absurd, /has a value of 4294967295 bytes, more than 16777216/);
});

test("other files, formats and versions are refused with what they are", (t) => {
  const folder = folderOf(t);
  const chain = madeUpChain(20);
  const path = join(folder, "data.mdb");
  const whole = monerodFile(chain);
  const openFiles = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  const refused = (bytes: Uint8Array, reason: RegExp) => {
    writeFileSync(path, bytes);
    assert.throws(
      () => readAll(open(path)),
      (error: unknown) => {
        assert.ok(error instanceof BadSource, String(error));
        assert.match(error.message, reason);
        assert.ok(error.message.startsWith(path));
        return true;
      },
    );
  };
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(whole);
    change(bytes);
    return bytes;
  };
  refused(new Uint8Array(0), /the file ends|does not begin|bytes end/);
  refused(whole.subarray(0, 1000), /the file ends at/);
  refused(whole.subarray(0, whole.length - 4096), /the file ends at/);
  refused(
    changed((bytes) => bytes.writeUInt32LE(2, 20)),
    /LMDB format 2, expected 1/,
  );
  refused(
    changed((bytes) => bytes.writeUInt32LE(3000, 40)),
    /pages of 3000 bytes/,
  );
  refused(
    changed((bytes) => bytes.writeUInt32LE(2 ** 31, 40)),
    /pages of 2147483648 bytes/,
  );
  refused(
    changed((bytes) => bytes.writeUInt32LE(8192, 4096 + 40)),
    /two meta pages tell of different pages/,
  );
  for (const pageSize of [128, 131_072]) {
    refused(
      changed((bytes) => bytes.writeUInt32LE(pageSize, 40)),
      new RegExp(`pages of ${pageSize} bytes`),
    );
  }
  refused(
    changed((bytes) => bytes.writeUInt32LE(3, bytes.indexOf("version\0") - 8)),
    /its version has 3 bytes/,
  );
  refused(monerodFile(chain, { version: 3 }), /schema has version 3.*start today's monerod/);
  refused(monerodFile(chain, { version: 6 }), /schema has version 6.*newer/);
  refused(Buffer.from("not a chain at all"), /does not begin as a blockchain.raw/);
  assert.throws(() => open(join(folder, "none")), /there is none/);
  assert.throws(() => open(folderOf(t)), /no folder of a monerod/);
  assert.throws(() => open("/dev/zero"), /is no file/);
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  assert.throws(() => open(pipe), /is no file/);
  if (process.platform === "linux") assert.equal(readdirSync("/proc/self/fd").length, openFiles);
});

for (const [bytes, reason] of [
  [33, /has a value of 33 bytes, more than 32/],
  [31, /block 10: the hash of the second part of transaction \d+ has 31 bytes/],
] as const)
  test(`a hash of ${bytes} bytes is refused`, (t) => {
    const path = join(folderOf(t), "data.mdb");
    const chain = madeUpChain(12, true);
    const cutOff = chain[10]!.transactions.find(({ prunable }) => prunable === undefined)!;
    Object.assign(cutOff, { prunableHash: Buffer.alloc(bytes, 1) });
    writeFileSync(path, monerodFile(chain, { pruningSeed: 387 }));
    assert.throws(() => readAll(open(path)), reason);
  });

test("a file that is written to while it is read is told from a damaged one", (t) => {
  const path = put(folderOf(t), madeUpChain(20));
  const source = open(path);
  const blocks = source.blocks({ height: 0, transactionsBefore: 0 });
  blocks.next();
  const changed = readFileSync(path);
  changed.fill(0, 2 * 4096);
  changed.writeBigUInt64LE(9n, 144);
  writeFileSync(path, changed);
  assert.throws(() => [...blocks], /it was written to while it was read: stop monerod/);
  source.close();
});

/** A `blockchain.raw` of made-up blocks without transactions. */
function rawFile(length: number, first = 0): Buffer {
  const chunks = Array.from({ length }, (_, i) => {
    const totals = { weight: 1, cumulativeDifficulty: 1n, generated: 1n };
    const bytes = writeBlockPackage({ blob: blockNaming(0, first + i), transactions: [], ...totals });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    return Buffer.concat([size, bytes]);
  });
  return Buffer.concat([writeChainFileHeader({ first, last: first + length - 1 }), ...chunks]);
}

test("a blockchain.raw is read from any block, and refused with height and offset where it is damaged", (t) => {
  const path = join(folderOf(t), "blockchain.raw");
  const whole = rawFile(10, 5);
  writeFileSync(path, whole);
  const chunk = (whole.length - 1028) / 10;
  assert.deepEqual(
    readAll(open(path)).map(({ height, done }) => ({ height, done })),
    Array.from({ length: 10 }, (_, i) => ({ height: 5 + i, done: (1028 + (i + 1) * chunk) / whole.length })),
  );
  const at = 1028 + 3 * chunk;
  const refused = (bytes: Uint8Array, reason: RegExp) => {
    writeFileSync(path, bytes);
    assert.throws(
      () => readAll(open(path)),
      (error: unknown) => error instanceof BadSource && reason.test(error.message),
    );
  };
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(whole);
    change(bytes);
    return bytes;
  };
  refused(
    whole.subarray(0, at + 20),
    new RegExp(`block 8, offset ${at}: ${chunk - 4} bytes were written, and the file ends after 16`),
  );
  refused(whole.subarray(0, at + 2), new RegExp(`block 8, offset ${at}: the file ends inside its length`));
  refused(
    changed((bytes) => bytes.writeUInt32LE(0xffffffff, at)),
    new RegExp(`block 8, offset ${at}: it has 4294967295 bytes`),
  );
  refused(
    changed((bytes) => bytes.writeUInt32LE(0, at)),
    new RegExp(`block 8, offset ${at}: it has 0 bytes`),
  );
  refused(
    changed((bytes) => bytes.fill(0xff, at + 4, at + 30)),
    new RegExp(`block 8, offset ${at + 4}: `),
  );
  refused(
    changed((bytes) => bytes.writeUInt32LE(2 ** 30, 4)),
    /the header: a part of the header has 1073741824 bytes/,
  );
  refused(whole.subarray(0, 500), /the file ends inside its header/);
});

test("a blockchain.raw that was cut off is continued, another chain's is left alone", (t) => {
  const path = join(folderOf(t), "blockchain.raw");
  const whole = rawFile(10);
  const blockAt = (height: number) => (height < 10 ? blockNaming(0, height) : undefined);
  const begin = () => {
    const steps = openRawFile({ path, first: 0, blockAt });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  };
  for (const length of [0, 3, 600, 1028, 1100, whole.length - 1, whole.length]) {
    writeFileSync(path, whole.subarray(0, length));
    const file = begin();
    while (file.next < 10) {
      const totals = { weight: 1, cumulativeDifficulty: 1n, generated: 1n };
      file.append({ blob: blockAt(file.next)!, transactions: [], ...totals });
    }
    file.finish();
    file.close();
    assert.deepEqual(readFileSync(path), whole);
  }
  const others = [rawFile(12), Buffer.from("a letter"), rawFile(10, 3), Buffer.alloc(2000)];
  for (const other of others) {
    writeFileSync(path, other);
    assert.throws(begin, BadSource);
    assert.deepEqual(readFileSync(path), other);
  }
});
