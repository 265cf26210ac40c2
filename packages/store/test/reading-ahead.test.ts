/** An engine for opening a wallet answers from rows read at once, which are never older than what the fence allows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { createMemoryEngine, type Engine, type NewRow, rangeOf, readingAhead } from "../src/index.ts";
import { bytes, collect, text, walletId } from "./harness.ts";

const put = (key: string, value = key, table = 1) => ({ table, key: bytes(key), value: bytes(value) });

/** An engine in memory that reads ahead, and counts what it is asked. */
function start(mayRead = () => true) {
  const { readNow: _, ...memory } = createMemoryEngine();
  const counts = { ahead: 0, single: 0 };
  const engine: Engine = {
    ...memory,
    async readAhead(wallet) {
      counts.ahead += 1;
      const snapshot = await memory.snapshot(wallet);
      const rows: NewRow[] = [];
      for (const page of await collect(snapshot?.pages ?? toAsync())) rows.push(...page);
      return { mark: snapshot?.mark, rows: mayRead() ? rows : undefined };
    },
    read: (...args) => {
      counts.single += 1;
      return memory.read(...args);
    },
    page: (...args) => {
      counts.single += 1;
      return memory.page(...args);
    },
  };
  return { engine, counts };
}

async function* toAsync(): AsyncGenerator<readonly NewRow[]> {}

const wallet = walletId(1);

test("an opening reads once, and finds what single reads find", async () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 3 });
  const row = fc.record({
    table: fc.integer({ min: 0, max: 3 }),
    key,
    value: fc.uint8Array({ maxLength: 4 }),
  });
  const bound = fc.option(key, { nil: undefined });
  const ranges = fc.array(
    fc.record({
      table: fc.integer({ min: 0, max: 4 }),
      from: bound,
      to: bound,
      reverse: fc.boolean(),
      limit: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    }),
    { minLength: 1 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(row), ranges, async (puts, asked) => {
      const { engine, counts } = start();
      const { epoch } = await engine.fence(wallet);
      await engine.apply(wallet, { epoch, puts, deletes: [] });
      const ahead = readingAhead(engine, wallet);
      await ahead.fence(wallet);
      const inRange = ({ table, from, to, reverse, limit }: (typeof asked)[number], on: Engine) =>
        collect(
          rangeOf(on, wallet, {
            table,
            reverse,
            ...(from && { from }),
            ...(to && { to }),
            ...(limit !== undefined && { limit }),
          }),
        );
      const found = await Promise.all(asked.map((range) => inRange(range, ahead)));
      const values = await Promise.all(puts.map((each) => ahead.read(wallet, each)));
      assert.deepEqual(counts, { ahead: 1, single: 0 });
      assert.deepEqual(found, await Promise.all(asked.map((range) => inRange(range, engine))));
      assert.deepEqual(values, await Promise.all(puts.map((each) => engine.read(wallet, each))));
    }),
    { numRuns: 100 },
  );
});

test("rows that changed before the wallet was fenced are read once more", async () => {
  const { engine, counts } = start();
  const former = await engine.fence(wallet);
  await engine.apply(wallet, { ...former, puts: [put("a", "old")], deletes: [] });
  const ahead = readingAhead(engine, wallet);
  assert.equal(text(await ahead.read(wallet, put("a"))), "old");
  await engine.apply(wallet, { ...former, puts: [put("a", "new")], deletes: [] });
  const mark = await ahead.fence(wallet);
  assert.deepEqual(mark, { epoch: former.epoch + 1, sequence: 2 });
  assert.equal(text(await ahead.read(wallet, put("a"))), "new");
  assert.deepEqual(await ahead.markOf(wallet), mark);
  assert.deepEqual(counts, { ahead: 2, single: 0 });
});

test("after a change, and once the opening has ended, reads are of the present", async () => {
  for (const isChanged of [true, false]) {
    const { engine, counts } = start();
    const ahead = readingAhead(engine, wallet);
    assert.equal(await ahead.markOf(wallet), undefined);
    const { epoch } = await ahead.fence(wallet);
    assert.equal(await ahead.read(wallet, put("a")), undefined);
    const on = isChanged ? ahead : engine;
    await on.apply(wallet, { epoch, puts: [put("a")], deletes: [] });
    if (!isChanged) ahead.forget?.();
    assert.equal(text(await ahead.read(wallet, put("a"))), "a");
    assert.deepEqual(counts, { ahead: 1, single: 1 });
  }
});

test("a wallet with too many rows is read row by row, and another wallet as ever", async () => {
  const { engine, counts } = start(() => false);
  const ahead = readingAhead(engine, wallet);
  const { epoch } = await ahead.fence(wallet);
  await engine.apply(wallet, { epoch, puts: [put("a")], deletes: [] });
  assert.equal(text(await ahead.read(wallet, put("a"))), "a");
  assert.equal(await ahead.read(walletId(2), put("a")), undefined);
  assert.deepEqual(counts, { ahead: 1, single: 2 });
});

test("a failure is not remembered", async () => {
  const { engine } = start();
  let isAway = true;
  const ahead = readingAhead(
    {
      ...engine,
      readAhead: async (asked) => {
        if (isAway) throw new Error("away");
        return await engine.readAhead!(asked);
      },
    },
    wallet,
  );
  await assert.rejects(ahead.markOf(wallet), /away/);
  isAway = false;
  assert.equal(await ahead.markOf(wallet), undefined);
  assert.equal((await ahead.fence(wallet)).epoch, 1);
});

test("the rows are let go once the opening has ended or the wallet is changed", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (const end of ["forget", "apply"] as const) {
    const { engine } = start();
    const { epoch } = await engine.fence(wallet);
    let read: WeakRef<object> | undefined;
    const ahead = readingAhead(
      {
        ...engine,
        readAhead: async () => {
          const rows = [put("a")];
          read = new WeakRef(rows[0]!.value);
          return { mark: { epoch, sequence: 0 }, rows };
        },
      },
      wallet,
    );
    assert.equal(text(await ahead.read(wallet, put("a"))), "a");
    if (end === "forget") ahead.forget?.();
    else await ahead.apply(wallet, { epoch, puts: [], deletes: [] });
    for (let i = 0; i < 20 && read!.deref() !== undefined; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    assert.equal(read!.deref(), undefined, end);
    assert.equal(await ahead.read(wallet, put("a")), undefined);
  }
});

test("a wallet's id has 16 bytes, and a key at least one", async () => {
  const { engine } = start();
  for (const length of [15, 17])
    assert.throws(() => readingAhead(engine, new Uint8Array(length)), RangeError);
  await assert.rejects(readingAhead(engine, wallet).read(wallet, put("")), RangeError);
});
