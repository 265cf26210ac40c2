/** Ranges are read page by page, up to their limit, while others get their turns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMemoryEngine,
  type KeyRange,
  openStoreForReading,
  openWalletStore,
  rangeOf,
} from "../src/index.ts";
import { collect, temporaryFolder, walletId } from "./harness.ts";

const wallet = walletId(1);
const PAGE_ROWS = 256;

function keyOf(number: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(number);
  return key;
}

/** An engine with so many rows, and the limits with which pages were asked of it. */
async function start(rows: number) {
  const engine = createMemoryEngine();
  const { epoch } = await engine.fence(wallet);
  const puts = Array.from({ length: rows }, (_, i) => ({
    table: 1,
    key: keyOf(i),
    value: new Uint8Array(1),
  }));
  await engine.apply(wallet, { epoch, puts, deletes: [] });
  const limits: (number | undefined)[] = [];
  const counting: typeof engine = {
    ...engine,
    page: async (of, table, range) => {
      limits.push(range.limit);
      return await engine.page(of, table, range);
    },
  };
  const numbers = async (range: KeyRange) =>
    (await collect(rangeOf(counting, wallet, { table: 1, ...range }))).map(({ key }) =>
      Buffer.from(key).readUInt32BE(),
    );
  return { limits, numbers };
}

const upTo = (count: number) => [...Array(count).keys()];

test("a range has as many rows as its limit says, of one page or of several", async () => {
  const { limits, numbers } = await start(600);
  assert.deepEqual(await numbers({}), upTo(600));
  assert.deepEqual(limits.splice(0), [undefined, undefined, undefined]);
  assert.deepEqual(await numbers({ limit: 0 }), []);
  assert.deepEqual(limits.splice(0), []);
  assert.deepEqual(await numbers({ limit: 3 }), upTo(3));
  assert.deepEqual(limits.splice(0), [3]);
  assert.deepEqual(await numbers({ limit: 300 }), upTo(300));
  assert.deepEqual(limits.splice(0), [300, 300 - PAGE_ROWS]);
  assert.deepEqual(await numbers({ limit: 601 }), upTo(600));
});

test("a page ends with its first mebibyte", async () => {
  const pagesOf = async (valueBytes: number) => {
    const engine = createMemoryEngine();
    const { epoch } = await engine.fence(wallet);
    const puts = [0, 1, 2, 3].map((i) => ({ table: 1, key: keyOf(i), value: new Uint8Array(valueBytes) }));
    await engine.apply(wallet, { epoch, puts, deletes: [] });
    const { rows, isLast } = await engine.page(wallet, 1, {});
    return [rows.length, isLast];
  };
  const half = 512 * 1024 - 4;
  assert.deepEqual(await pagesOf(half), [2, false]);
  assert.deepEqual(await pagesOf(half - 1), [3, false]);
  assert.deepEqual(await pagesOf(2 * half + 100), [1, false]);
  assert.deepEqual(await pagesOf(1000), [4, true]);
});

test("backwards, a range goes on below its last row, and within its bounds", async () => {
  const { numbers } = await start(600);
  assert.deepEqual(await numbers({ reverse: true }), upTo(600).reverse());
  assert.deepEqual(await numbers({ reverse: true, limit: 300 }), upTo(600).reverse().slice(0, 300));
  const inside = { from: keyOf(5), to: keyOf(400) };
  assert.deepEqual(await numbers(inside), upTo(400).slice(5));
  assert.deepEqual(await numbers({ ...inside, reverse: true }), upTo(400).slice(5).reverse());
});

test("other code has a turn between two pages", async () => {
  const { numbers } = await start(600);
  let turns = 0;
  const count = (): void => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await numbers({});
  clearImmediate(timer);
  assert.ok(turns >= 2, `${turns}`);
});

test("a store is of a wallet, whose id has 16 bytes, for its owner and for readers", async () => {
  const { folder, remove } = temporaryFolder();
  const engine = createMemoryEngine();
  for (const length of [15, 17]) {
    const options = {
      engine,
      wallet: new Uint8Array(length),
      tables: [{ number: 1 }],
      wrappingKey: new Uint8Array(32),
      folder,
    };
    await assert.rejects(openWalletStore(options), RangeError);
    await assert.rejects(openStoreForReading(options, new Error("for reading")), RangeError);
  }
  remove();
});
