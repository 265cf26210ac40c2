import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Tables } from "../src/environment.ts";
import { openStore } from "../src/open-store.ts";
import type { OutputName } from "../src/output-batch.ts";
import { createPrefetcher } from "../src/prefetch.ts";
import { ReadThreads } from "../src/read-threads.ts";
import { sampleBlock } from "./sample-blocks.ts";

const ringCt = (count: number): OutputName[] =>
  Array.from({ length: count }, (_, index) => ({ amount: 0n, index: BigInt(index) }));

/** Tables that keep what they are asked to prefetch, and answer when told to. */
function heldTables() {
  const asked: { readonly table: string; readonly keys: readonly unknown[] }[] = [];
  const answers: (() => void)[] = [];
  const table = (name: string) => ({
    prefetch(keys: readonly unknown[]) {
      if (keys.length === 0) return Promise.resolve();
      asked.push({ table: name, keys });
      return new Promise<void>((resolve) => answers.push(resolve));
    },
  });
  const names = [
    ...["ringCtOutputs", "outputs", "keyImages", "blockInfo"],
    ...["transactionIds", "transactionInfo", "prunedTransactions", "prunableParts", "outputIndices"],
  ];
  const tables = Object.fromEntries(names.map((name) => [name, table(name)])) as unknown as Tables;
  return {
    tables,
    asked,
    async answerAll() {
      for (const answer of answers.splice(0)) answer();
      await setImmediate();
    },
  };
}

const longFile = { fileSize: () => 1000, memoryBytes: 1000 };

test("rows of a file that is longer than half of the memory are prefetched, and of no other", async () => {
  for (const [memoryBytes, isLong] of [
    [2001, false],
    [2000, false],
    [1999, true],
  ] as const) {
    const { tables } = heldTables();
    const { prefetch } = createPrefetcher({ tables, fileSize: () => 1000, memoryBytes });
    let areNamed = false;
    const running = prefetch(() => {
      areNamed = true;
      return {};
    });
    assert.deepEqual([running !== undefined, areNamed], [isLong, isLong]);
    await running;
  }
});

test("a file that grows while it is open is noticed", () => {
  const { tables } = heldTables();
  let bytes = 100;
  const { prefetch } = createPrefetcher({ tables, fileSize: () => bytes, memoryBytes: 1000 });
  assert.equal(
    prefetch(() => ({})),
    undefined,
  );
  bytes = 600;
  const results = Array.from({ length: 2000 }, () => prefetch(() => ({})));
  assert.ok(results.at(-1) !== undefined);
});

test("every row is prefetched once, by four threads at most and not too many in one", async () => {
  const { tables, asked, answerAll } = heldTables();
  const { prefetch } = createPrefetcher({ tables, ...longFile });
  const outputs = [...ringCt(600), { amount: 5n, index: 7n }, { amount: 0n, index: 2n ** 64n - 1n }];
  const keyImages = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  let isDone = false;
  const running = prefetch(() => ({ outputs, keyImages }))!.then(() => {
    isDone = true;
  });
  while (!isDone) {
    const before = asked.length;
    await answerAll();
    assert.ok(asked.length - before <= 4);
  }
  await running;
  const keysOf = (name: string) => asked.filter(({ table }) => table === name).flatMap(({ keys }) => keys);
  assert.deepEqual(
    keysOf("ringCtOutputs"),
    Array.from({ length: 600 }, (_, index) => index),
  );
  assert.deepEqual(keysOf("outputs"), [{ amount: 5n, index: 7 }]);
  assert.deepEqual(keysOf("keyImages"), keyImages);
  assert.ok(asked.every(({ keys }) => keys.length <= 64));
});

test("rows of transactions that are there are prefetched once their numbers are known, and their blocks", async () => {
  const { tables, asked, answerAll } = heldTables();
  const idOf = ([first]: Uint8Array) => (first === 9 ? undefined : first! * 10);
  const of = { ...(tables as object) } as Record<string, object>;
  of.transactionIds = { ...of.transactionIds, get: idOf };
  of.transactionInfo = { ...of.transactionInfo, get: (id: number) => ({ height: id + 1 }) };
  const { prefetch } = createPrefetcher({ tables: of as unknown as Tables, ...longFile });
  const transactions = [1, 9, 2].map((first) => new Uint8Array(32).fill(first));
  let isDone = false;
  const running = prefetch(() => ({ transactions }))!.then(() => {
    isDone = true;
  });
  assert.ok(asked.every(({ table }) => table === "transactionIds"));
  while (!isDone) await answerAll();
  await running;
  const keysOf = (name: string) => asked.filter(({ table }) => table === name).flatMap(({ keys }) => keys);
  assert.deepEqual(keysOf("transactionIds"), transactions);
  for (const name of ["transactionInfo", "prunedTransactions", "prunableParts", "outputIndices"])
    assert.deepEqual(keysOf(name), [10, 20]);
  assert.deepEqual(keysOf("blockInfo"), [11, 21]);
});

test("of many transactions some are looked up in one turn", async () => {
  const { tables, asked, answerAll } = heldTables();
  let lookups = 0;
  const of = { ...(tables as object) } as Record<string, object>;
  of.transactionIds = { ...of.transactionIds, get: () => void lookups++ };
  const { prefetch } = createPrefetcher({ tables: of as unknown as Tables, ...longFile });
  const transactions = Array.from({ length: 1000 }, () => new Uint8Array(32));
  let isDone = false;
  const running = prefetch(() => ({ transactions }))!.then(() => {
    isDone = true;
  });
  while (!isDone) {
    const before = lookups;
    await answerAll();
    assert.ok(lookups - before <= 64);
  }
  await running;
  assert.equal(lookups, 1000);
  assert.equal(asked.flatMap(({ keys }) => keys).length, 1000);
});

test("the rows of one ring are divided among the threads", async () => {
  const { tables, asked, answerAll } = heldTables();
  const { prefetch } = createPrefetcher({ tables, ...longFile });
  const running = prefetch(() => ({ outputs: ringCt(16) }));
  assert.deepEqual(
    asked.map(({ keys }) => keys.length),
    [4, 4, 4, 4],
  );
  await answerAll();
  await running;
});

test("nothing more is prefetched for a caller who has left", async () => {
  const { tables, asked, answerAll } = heldTables();
  const { prefetch } = createPrefetcher({ tables, ...longFile });
  const caller = new AbortController();
  const running = prefetch(() => ({ outputs: ringCt(5000) }), { signal: caller.signal })!;
  const before = asked.length;
  caller.abort(new Error("the caller has left"));
  const refused = assert.rejects(running, /the caller has left/);
  await answerAll();
  await refused;
  assert.equal(asked.length, before);
});

test("however many ask, four threads read at most, half of them for strangers, who wait behind the others", async () => {
  const { tables, asked, answerAll } = heldTables();
  const { prefetch } = createPrefetcher({ tables, ...longFile });
  const strangers = Array.from({ length: 50 }, () =>
    prefetch(() => ({ outputs: ringCt(16) }), { isStranger: true }),
  );
  assert.equal(asked.length, 2);
  const done: string[] = [];
  const owner = prefetch(() => ({ keyImages: [new Uint8Array(32), new Uint8Array(32)] }))!.then(() =>
    done.push("owner"),
  );
  const all = Promise.all(strangers).then(() => done.push("strangers"));
  assert.deepEqual(
    asked.map(({ table }) => table),
    ["ringCtOutputs", "ringCtOutputs", "keyImages", "keyImages"],
  );
  await answerAll();
  assert.deepEqual(done, ["owner"]);
  while (done.length < 2) {
    const before = asked.length;
    await answerAll();
    assert.ok(asked.length - before <= 2);
  }
  await Promise.all([owner, all]);
  assert.equal(asked.filter(({ table }) => table === "ringCtOutputs").length, 200);
});

/** Runs reads of strangers (s) and others (o): the order in which they begin, and what ends each of those. */
function runAll(threads: ReadThreads, names: readonly string[]) {
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) =>
    threads.run(
      () => {
        order.push(name);
        return new Promise((end) => ends.push(end));
      },
      { isStranger: name.startsWith("s") },
    );
  return { order, ends, all: names.map(run) };
}

test("a thread that is free again goes to the owner, however long strangers have waited", async () => {
  const { order, ends, all } = runAll(new ReadThreads(), ["s1", "s2", "s3", "o1", "o2", "o3"]);
  assert.deepEqual(order, ["s1", "s2", "o1", "o2"]);
  ends[0]!();
  await setImmediate();
  assert.deepEqual(order.slice(4), ["o3"]);
  ends[1]!();
  await setImmediate();
  assert.deepEqual(order.slice(5), ["s3"]);
  for (const end of ends) end();
  await Promise.all(all);
});

test("with a smaller share fewer threads read at once, for strangers as for all", async () => {
  const share = { forAll: 2, forStrangers: 1 };
  const { order, ends, all } = runAll(new ReadThreads(share), ["s1", "s2", "o1", "o2"]);
  assert.deepEqual(order, ["s1", "o1"]);
  ends[1]!();
  await setImmediate();
  assert.deepEqual(order.slice(2), ["o2"]);
  ends[0]!();
  await setImmediate();
  assert.deepEqual(order.slice(3), ["s2"]);
  for (const end of ends) end();
  await Promise.all(all);
});

test("of a stranger who leaves while waiting nothing is read", async () => {
  const { tables, asked, answerAll } = heldTables();
  const { prefetch } = createPrefetcher({ tables, ...longFile });
  const first = prefetch(() => ({ outputs: ringCt(16) }), { isStranger: true })!;
  const caller = new AbortController();
  const leaving = prefetch(() => ({ keyImages: [new Uint8Array(32)] }), {
    isStranger: true,
    signal: caller.signal,
  })!;
  caller.abort(new Error("the caller has left"));
  const refused = assert.rejects(leaving, /the caller has left/);
  while (asked.length < 4) await answerAll();
  await answerAll();
  await Promise.all([first, refused]);
  assert.ok(asked.every(({ table }) => table === "ringCtOutputs"));
});

test("a file is closed once no thread reads it any more", async () => {
  const { tables, asked, answerAll } = heldTables();
  const { prefetch, end } = createPrefetcher({ tables, ...longFile });
  const running = prefetch(() => ({ outputs: ringCt(5000) }))!;
  const refused = assert.rejects(running, /closed/);
  const before = asked.length;
  let isClosed = false;
  const closing = end().then(() => {
    isClosed = true;
  });
  await setImmediate();
  assert.equal(isClosed, false);
  await answerAll();
  await Promise.all([refused, closing]);
  assert.equal(asked.length, before);
  await assert.rejects(prefetch(() => ({ outputs: ringCt(1) }))!, /closed/);
});

test("a store prefetches rows that are there and others, and is closed meanwhile", async () => {
  const store = await openStore({ network: "regtest", memoryBytes: 0 });
  store.write((writer) => {
    for (let height = 0; height < 30; height++) writer.appendBlock(sampleBlock(height));
  });
  const { read } = store;
  const outputs = [...read.outputCounts()].flatMap(({ amount, count }) =>
    Array.from({ length: count + 5 }, (_, index) => ({ amount, index: BigInt(index) })),
  );
  const before = outputs.map(({ amount, index }) => read.output(amount, Number(index)));
  const transactions = Array.from({ length: 30 }, (_, height) => read.transactionHash(3 * height)!);
  transactions.push(new Uint8Array(32));
  const unspent = Array.from({ length: 300 }, (_, i) => new Uint8Array(32).fill(i));
  await Promise.all(
    Array.from({ length: 20 }, () => store.prefetch(() => ({ outputs, keyImages: unspent, transactions }))),
  );
  assert.deepEqual(
    outputs.map(({ amount, index }) => read.output(amount, Number(index))),
    before,
  );
  assert.ok(before.some((output) => output !== undefined));
  const late = store.prefetch(() => ({ outputs: outputs.concat(ringCt(5000)) }))!;
  const refused = assert.rejects(late, /closed/);
  await store.close();
  await refused;
});
