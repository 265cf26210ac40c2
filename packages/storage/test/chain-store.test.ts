import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { applyBlock, undoBlock } from "../src/block-changes.ts";
import { DatabaseInUse, WrongDatabase } from "../src/damage.ts";
import type { Tables } from "../src/environment.ts";
import { openEnvironment } from "../src/environment.ts";
import { openStore } from "../src/open-store.ts";
import { openReader } from "../src/thread-reader.ts";
import { bytesOf, sampleBlock, sampleFacts } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-storage-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function dump(tables: Tables): Record<string, unknown[]> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, Array.from(table.entries() as Iterable<unknown>)]),
  );
}

test("undoing n blocks leaves every table as it was before them", async () => {
  const { root, tables } = openEnvironment(join(folder, "chain.mdb"));
  for (let height = 0; height < 3; height++)
    root.transactionSync(() => applyBlock(tables, sampleBlock(height)));
  const states = [dump(tables)];
  for (let height = 3; height < 40; height++) {
    root.transactionSync(() => applyBlock(tables, sampleBlock(height)));
    states.push(dump(tables));
  }
  assert.notDeepEqual(states[0], states.at(-1));
  while (states.length > 1) {
    assert.deepEqual(dump(tables), states.pop());
    root.transactionSync(() => undoBlock(tables, sampleFacts));
  }
  assert.deepEqual(dump(tables), states[0]);
  await root.close();
});

test("undoing the first block leaves nothing behind", async () => {
  const { root, tables } = openEnvironment(join(folder, "chain.mdb"));
  const empty = dump(tables);
  root.transactionSync(() => applyBlock(tables, sampleBlock(0)));
  const removed = root.transactionSync(() => undoBlock(tables, sampleFacts));
  assert.deepEqual(removed?.blob, sampleBlock(0).blob);
  assert.deepEqual(dump(tables), empty);
  assert.equal(
    root.transactionSync(() => undoBlock(tables, sampleFacts)),
    undefined,
  );
  await root.close();
});

test("what a block wrote can be read back by height, hash, index and image", async () => {
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  for (let height = 0; height < 5; height++) store.write((writer) => writer.appendBlock(sampleBlock(height)));
  const { read } = store;
  const block = sampleBlock(3);
  const payment = block.transactions[1]!;
  assert.equal(read.height(), 5);
  assert.equal(read.heightOf(block.hash), 3);
  assert.deepEqual(read.blockBlob(3), block.blob);
  assert.equal(read.blockInfo(3)?.cumulativeDifficulty, block.cumulativeDifficulty);
  assert.equal(read.blockInfo(3)?.cumulativeRctOutputs, 12);
  const { firstTransactionId, transactionCount, weight } = read.blockInfo(3)!;
  assert.deepEqual(read.blockExtent(3), { firstTransactionId, transactionCount, weight });
  assert.equal(read.blockExtent(5), undefined);
  assert.deepEqual(
    read.blockInfos(1, 9).map((info) => info.timestamp),
    [1, 2, 3, 4].map((height) => 1_500_000_000 + height),
  );
  const stored = read.transaction(payment.hash);
  assert.equal(stored?.height, 3);
  assert.deepEqual(Buffer.from(read.prunedTransaction(stored!.id)!), payment.pruned);
  assert.deepEqual(read.prunablePart(stored!.id), payment.prunable);
  assert.deepEqual(read.outputIndices(stored!.id), [10, 11]);
  assert.deepEqual(read.output(0n, 11)?.key, payment.outputs[1]!.key);
  assert.equal(read.outputCount(7n), 5);
  assert.equal(read.output(7n, 5), undefined);
  assert.deepEqual([...read.outputCounts()].slice(0, 2), [
    { amount: 0n, count: 15 },
    { amount: 7n, count: 5 },
  ]);
  for (const [amount, index, height] of [
    [0n, 11, 3],
    [0n, 12, 4],
    [0n, 15, undefined],
    [7n, 4, 4],
    [7n, 5, undefined],
    [13n, 0, 3],
  ] as const) {
    assert.equal(read.outputHeight(amount, index), height);
    assert.equal(read.output(amount, index)?.height, height);
  }
  assert.deepEqual(read.transactionHash(stored!.id), payment.hash);
  assert.equal(read.transactionHash(15), undefined);
  assert.equal(read.transactionById(15), undefined);
  assert.equal(read.blockField(3, "timestamp"), 1_500_000_003);
  assert.deepEqual(read.blockField(3, "hash"), block.hash);
  assert.equal(read.blockField(5, "timestamp"), undefined);
  assert.ok(read.isKeyImageSpent(payment.keyImages[0]!));
  assert.ok(!read.isKeyImageSpent(bytesOf("never spent")));
  await store.close();
});

test("rows that are read are counted, also those that are missing, and those of snapshots", async () => {
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  for (let height = 0; height < 5; height++) store.write((writer) => writer.appendBlock(sampleBlock(height)));
  const snapshot = store.snapshot();
  for (const read of [store.read, snapshot]) {
    for (const [rows, ask] of [
      [1, () => read.blockInfo(3)],
      [1, () => read.blockInfo(99)],
      [1, () => read.blockField(2, "cumulativeDifficulty")],
      [3, () => read.blockInfos(1, 4)],
      [4, () => [...read.blockInfoColumn("timestamp", 1, 5)]],
    ] as const) {
      const before = store.rowsRead();
      ask();
      assert.equal(store.rowsRead() - before, rows);
    }
  }
  snapshot.close();
  await store.close();
});

test("a failing write changes nothing, and a failing inner write nothing but itself", async () => {
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  const fail = () => {
    throw new Error("on purpose");
  };
  assert.throws(() =>
    store.write((writer) => {
      writer.appendBlock(sampleBlock(0));
      fail();
    }),
  );
  assert.equal(store.read.height(), 0);
  store.write((writer) => {
    writer.appendBlock(sampleBlock(0));
    assert.throws(() =>
      store.write((inner) => {
        inner.appendBlock(sampleBlock(1));
        fail();
      }),
    );
    assert.equal(store.read.height(), 1);
    store.write((inner) => inner.appendBlock(sampleBlock(1)));
  });
  assert.equal(store.read.height(), 2);
  await store.close();
});

test("an error of the caller, with whatever code, is no fault of the disk", async () => {
  const faults: Error[] = [];
  const onFault = (fault: Error) => void faults.push(fault);
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest", onFault });
  class Refused extends Error {
    readonly code = 28;
    override readonly name = "Refused";
  }
  assert.throws(
    () =>
      store.write(() => {
        throw new Refused("on purpose");
      }),
    Refused,
  );
  assert.deepEqual(faults, []);
  await store.close();
});

test("a snapshot does not see what is written after it", async () => {
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  store.write((writer) => writer.appendBlock(sampleBlock(0)));
  const snapshot = store.snapshot();
  store.write((writer) => writer.appendBlock(sampleBlock(1)));
  assert.equal(snapshot.height(), 1);
  assert.equal(snapshot.blockInfos(0, 9).length, 1);
  assert.equal(store.read.height(), 2);
  snapshot.close();
  await store.close();
});

test("a worker thread reads the same file", async () => {
  const path = join(folder, "chain.mdb");
  const store = await openStore({ path, network: "regtest" });
  store.write((writer) => writer.appendBlock(sampleBlock(0)));
  const worker = new Worker(new URL("./reader-worker.js", import.meta.url), { workerData: path });
  const [height] = await once(worker, "message");
  assert.equal(height, 1);
  await store.close();
});

test("a file of another network or another schema is refused", async () => {
  const path = join(folder, "chain.mdb");
  await (await openStore({ path, network: "regtest" })).close();
  await assert.rejects(openStore({ path, network: "mainnet" }), WrongDatabase);
  const { root, tables } = openEnvironment(path);
  tables.properties.put("schema", Buffer.from("999"));
  await root.close();
  await assert.rejects(openStore({ path, network: "regtest" }), /schema 999/);
});

test("a killed process loses nothing it acknowledged", async () => {
  const path = join(folder, "chain.mdb");
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, [
      fileURLToPath(new URL("./append-forever.js", import.meta.url)),
      path,
    ]);
    let acknowledged = -1;
    child.stdout.setEncoding("utf8");
    for await (const chunk of child.stdout) {
      acknowledged = Number((chunk as string).trim().split("\n").at(-1));
      if (acknowledged >= 20 * (round + 1)) child.kill("SIGKILL");
    }
    const store = await openStore({ path, network: "regtest" });
    const height = store.read.height();
    assert.ok(
      acknowledged >= 20 && height > acknowledged,
      `${height} kept, ${acknowledged + 1} acknowledged`,
    );
    assert.deepEqual(store.read.blockBlob(height - 1), sampleBlock(height - 1).blob);
    await store.close();
  }
});

test("a database that another process has open is refused, and free once that is killed", async () => {
  const path = join(folder, "chain.mdb");
  const child = spawn(process.execPath, [
    fileURLToPath(new URL("./append-forever.js", import.meta.url)),
    path,
  ]);
  await once(child.stdout, "data");
  await assert.rejects(openStore({ path, network: "regtest" }), (error) => {
    return error instanceof DatabaseInUse && error.message.includes(String(child.pid));
  });
  child.kill("SIGKILL");
  await once(child, "exit");
  const store = await openStore({ path, network: "regtest" });
  assert.ok(store.read.height() > 0);
  await store.close();
});

// Closes: who had the same number, as the first process of each container has, waited ten seconds for an obscure error.
test("a database is refused too where the process that has it open has our number in a container of its own", async (t) => {
  const path = join(folder, "chain.mdb");
  const inContainer = (program: string) => {
    const file = fileURLToPath(new URL(program, import.meta.url));
    return spawn("unshare", ["-Urpf", "--mount-proc", "--kill-child", process.execPath, file, path]);
  };
  const first = inContainer("./hold-open.js");
  t.after(() => first.kill("SIGKILL"));
  const started = await Promise.race([once(first.stdout, "data"), once(first, "exit"), once(first, "error")]);
  if (!Buffer.isBuffer(started[0])) return t.skip("needs namespaces of Linux");
  const second = inContainer("./append-forever.js");
  let said = "";
  second.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await once(second, "close");
  assert.match(said, /DatabaseInUse.* in use by process 1, perhaps in another container/);
  first.kill("SIGKILL");
  await once(first, "close");
  const store = await openStore({ path, network: "regtest" });
  await store.close();
});

test("ranges of fields are those of the blocks there are, long-term weights too", async () => {
  const store = await openStore({ network: "regtest" });
  store.write((writer) => {
    for (let height = 0; height < 250; height++)
      writer.appendBlock({ ...sampleBlock(height), longTermWeight: 1000 + height });
  });
  const heights = Array.from({ length: 250 }, (_, height) => height);
  const check = (count: number) => {
    for (const [from, to] of [
      [0, 250],
      [50, 150],
      [100, 200],
      [99, 101],
      [0, 100],
      [199, 400],
      [-5, 3],
      [0, 0],
      [-5, 0],
      [5, 5],
      [7, 3],
      [240, 900],
    ] as const) {
      const expected = heights.slice(Math.max(0, from), to).filter((height) => height < count);
      const { read } = store;
      const weights = [...read.blockInfoColumn("longTermWeight", from, to)];
      assert.deepEqual(
        weights,
        expected.map((height) => 1000 + height),
        `weights ${from} to ${to}`,
      );
      assert.deepEqual(
        [...read.blockInfoColumn("timestamp", from, to)],
        expected.map((height) => 1_500_000_000 + height),
      );
      assert.deepEqual(
        read.blockInfos(from, to).map(({ longTermWeight }) => longTermWeight),
        weights,
      );
    }
  };
  check(250);
  // Down across the end of a row of weights.
  store.write((writer) => {
    for (let height = 250; height > 199; height--) writer.popBlock(sampleFacts);
  });
  check(199);
  const hashes = [...store.read.blockInfoColumn("hash", 0, 3)];
  assert.deepEqual(
    hashes,
    [0, 1, 2].map((height) => sampleBlock(height).hash),
  );
  await store.close();
});

test("what is counted often is counted anew after each change, also after one that failed", async () => {
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  const counts = () => [store.read.height(), store.read.outputCount(0n), store.read.outputCount(7n)];
  assert.deepEqual(counts(), [0, 0, 0]);
  store.write((writer) => {
    writer.appendBlock(sampleBlock(0));
    assert.deepEqual(counts(), [1, 3, 1]);
    writer.appendBlock(sampleBlock(1));
    assert.deepEqual(counts(), [2, 6, 2]);
  });
  assert.throws(() =>
    store.write((writer) => {
      writer.popBlock(sampleFacts);
      assert.deepEqual(counts(), [1, 3, 1]);
      throw new Error("on purpose");
    }),
  );
  assert.deepEqual(counts(), [2, 6, 2]);
  const snapshot = store.snapshot();
  store.write((writer) => writer.popBlock(sampleFacts));
  assert.deepEqual([snapshot.height(), snapshot.outputCount(0n), snapshot.outputCount(7n)], [2, 6, 2]);
  assert.deepEqual(counts(), [1, 3, 1]);
  const before = store.rowsRead();
  counts();
  assert.equal(store.rowsRead() - before, 1, "of amounts that are visible alone");
  snapshot.close();
  await store.close();
});

test("work whose rows do not count leaves the count as it was, also where it fails", async () => {
  const store = await openStore({ network: "regtest" });
  store.write((writer) => writer.appendBlock(sampleBlock(0)));
  const before = store.rowsRead();
  assert.equal(
    store.withoutCounting(() => store.read.blockInfo(0)?.timestamp),
    1_500_000_000,
  );
  assert.throws(() =>
    store.withoutCounting(() => {
      store.read.blockInfo(0);
      throw new Error("on purpose");
    }),
  );
  assert.equal(store.rowsRead(), before);
  await store.close();
});

test("waiting transactions and blocks beside the chain are kept by their hash until they are removed", async () => {
  const store = await openStore({ network: "regtest" });
  const [one, two] = [bytesOf("one"), bytesOf("two")];
  const block = {
    height: 3,
    cumulativeDifficulty: 1n << 70n,
    alreadyGenerated: 5n,
    weight: 0,
    blob: bytesOf("blob"),
  };
  const all = () => [
    store.read.alternativeBlocks().map(({ hash }) => Buffer.from(hash)),
    store.read.poolTransactions().map(({ hash }) => Buffer.from(hash)),
  ];
  const ascending = [one, two].map((hash) => Buffer.from(hash)).sort(Buffer.compare);
  store.write((writer) => {
    for (const hash of [one, two]) {
      writer.putAlternativeBlock(hash, block);
      writer.putPoolTransaction(hash, waitingTransaction(100));
    }
  });
  assert.deepEqual(all(), [ascending, ascending]);
  assert.deepEqual(store.read.alternativeBlock(one), block);
  assert.deepEqual(store.read.poolTransactions()[0], {
    ...waitingTransaction(100),
    hash: new Uint8Array(ascending[0]!),
  });
  store.write((writer) => {
    writer.removeAlternativeBlock(one);
    writer.removePoolTransaction(one);
  });
  assert.deepEqual(all(), [[Buffer.from(two)], [Buffer.from(two)]]);
  assert.equal(store.read.alternativeBlock(one), undefined);
  await store.close();
});

test("a temporary store has a folder of its own, which goes with it, and needs no flush", async () => {
  const store = await openStore({ network: "regtest" });
  assert.equal(existsSync(store.path), true);
  await Promise.all([store.settled(), store.flush()]);
  assert.equal(store.recovery, undefined);
  await store.close();
  assert.equal(existsSync(dirname(store.path)), false);
});

test("the sizes of file and disk are those that the system tells", async () => {
  const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  store.write((writer) => writer.appendBlock(sampleBlock(0)));
  assert.equal(store.fileSize(), statSync(store.path).size);
  const { bavail, bsize } = statfsSync(folder);
  const [free, expected] = [Number(store.freeSpace()), bavail * bsize];
  // Others write to the disk, too.
  assert.ok(free > expected / 2 && free < expected * 2, `${free} where ${expected} are free`);
  const reader = openReader(store.path);
  assert.equal(reader.read.height(), 1);
  await reader.close();
  await store.close();
});
