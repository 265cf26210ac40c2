/** Rows that follow from others: believed only where they belong to the ledger that is opened. */
import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createMemoryEngine, type Engine, openWalletStore, type Table } from "@anulo/store";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { ledgerTables, receiptSegmentTable, receiptTable, segmentTable } from "../src/file/ledger-tables.ts";
import { writeRows } from "../src/file/row-log.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { KeyIndex } from "../src/outputs/key-index.ts";
import { KeySet } from "../src/outputs/key-set.ts";
import type { OutputBook } from "../src/outputs/output-book.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { HashSegment, SEGMENT_PLACES } from "../src/packed/hash-segment.ts";
import type { Receipts } from "../src/packed/receipts.ts";
import type { IncomingPayment } from "../src/state.ts";
import { ended } from "./ended.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";
import { Dice } from "./random-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-indices-"));
after(() => rmSync(folder, { recursive: true }));
const origin = { network: "regtest", settings: { seedLanguage: "English", refreshFromHeight: 0 } } as const;
const wallet = Buffer.alloc(16, 1);

async function open(engine: Engine) {
  const options = { engine, wallet, tables: ledgerTables, folder: mkdtempSync(join(folder, "store-")) };
  const opened = await openWalletStore({ ...options, wrappingKey: Buffer.alloc(32, 1) });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

async function load(engine: Engine) {
  const store = await open(engine);
  const { ledger, rows } = (await LedgerRows.load(store, origin))!;
  rows.written(store);
  return { store, ledger, rows };
}

/** Writes all of a ledger to an empty store. */
async function write(engine: Engine, ledger: Ledger): Promise<void> {
  const store = await open(engine);
  await writeRows(store, await LedgerRows.of(ledger).takeAll());
  await store.close();
}

const outputsOf = (count: number): Ledger => ledgerOf({ count, amount: (i) => BigInt(i), addresses: 3 });

function imagesForScans(book: OutputBook): KeySet {
  const images = new KeySet(book.images.hashing);
  for (const hashes of book.images.all()) images.addHashes(hashes);
  return images;
}

/** Outputs are found by their keys and key images, the last ones and some of all others, and nothing else is. */
function checkFound(book: OutputBook): void {
  for (let place = 0; place < book.count; place += place < book.count - 600 ? 13 : 1) {
    const { oneTimeKey, keyImage } = book.at(place)!;
    if (book.placeOfKey(oneTimeKey) !== place) assert.fail(`the key at ${place}`);
    if (keyImage !== undefined && book.placeOfImage(keyImage) !== place) assert.fail(`the image at ${place}`);
  }
  assert.equal(book.placeOfKey(bytes(32)), undefined);
  assert.equal(book.placeOfImage(bytes(32)), undefined);
  const images = imagesForScans(book);
  assert.equal(images.size, book.withKeyImage);
  for (let place = 0; place < book.count; place += 13) {
    const { keyImage } = book.at(place)!;
    assert.ok(keyImage === undefined || images.has(keyImage), `no hash of the image at ${place}`);
  }
}

/** The stored segments, as the engine has them. */
async function segmentsIn(engine: Engine, { number }: Table = segmentTable) {
  const segments: { readonly table: number; readonly key: Uint8Array; readonly value: Uint8Array }[] = [];
  for (let isLast = false; !isLast; ) {
    const range =
      segments.length === 0 ? {} : { from: Buffer.concat([segments.at(-1)!.key, Buffer.alloc(1)]) };
    const page = await engine.page(wallet, number, range);
    for (const row of page.rows) segments.push({ table: number, ...row });
    isLast = page.isLast;
  }
  return segments;
}

test("a segment has the places it was made of, also when it is read again", () => {
  const dice = new Dice("segment");
  const items = Array.from({ length: 5000 }, (_, i): [number, number] => [
    dice.pick([dice.below(2 ** 32), 0, 2 ** 32 - 1, 7])!,
    3 * SEGMENT_PLACES + 6 * i,
  ]);
  const made = HashSegment.of(3, items);
  const read = HashSegment.read(3, made.bytes);
  for (const [hash] of [...items, [5, 0]] as [number, number][]) {
    const places = items.flatMap(([other, place]) => (other === hash ? [place] : [])).reverse();
    for (const segment of [made, read]) {
      assert.deepEqual([...segment.places(hash)], places);
      assert.equal(segment.has(hash), places.length > 0);
    }
  }
  assert.throws(() => HashSegment.read(0, made.bytes.subarray(1)), RangeError);
  assert.throws(() => HashSegment.read(0, made.bytes.toReversed()), RangeError);
});

test("an index finds what it holds, whether in segments or not", () => {
  const keys = Array.from({ length: 2 * SEGMENT_PLACES + 100 }, () => bytes(32));
  const index = new KeyIndex((place) => ({ bytes: keys[place]!, at: 0 }), randomFillSync);
  const check = (count: number) => {
    for (const [place, key] of keys.entries())
      if (index.find(key) !== (place < count ? place : undefined)) assert.fail(`${place}`);
  };
  for (const place of keys.keys()) index.add(place);
  index.makeSegment(1);
  const first = index.makeSegment(0);
  check(keys.length);
  index.remove(5);
  assert.deepEqual([index.hasSegment(0), index.find(keys[5]!)], [false, undefined]);
  index.add(5);
  assert.deepEqual(index.makeSegment(0), first);
  index.truncate(SEGMENT_PLACES + 7);
  assert.deepEqual([...index.segments], [0]);
  check(SEGMENT_PLACES + 7);
  index.truncate(0);
  check(0);
});

test("a wallet that is opened from segments finds what one does that was indexed anew, whatever has changed", async () => {
  const engine = createMemoryEngine();
  const dice = new Dice("segments");
  await write(engine, outputsOf(SEGMENT_PLACES + 300));
  assert.equal((await segmentsIn(engine)).length, 3);
  const model = outputsOf(1).state.outputs.at(0)!;
  const randomOutput = (height: number): OwnedOutput => {
    const keyImage = dice.below(4) === 0 ? undefined : bytes(32);
    return { ...model, height, oneTimeKey: bytes(32), keyImage };
  };
  for (let step = 0; step < 10; step++) {
    const { store, ledger, rows } = await load(engine);
    const { outputs } = ledger.state;
    checkFound(outputs);
    const changes = [
      () => outputs.truncate(outputs.count - dice.below(dice.below(3) === 0 ? SEGMENT_PLACES : 500)),
      () => outputs.replace(dice.below(outputs.count), randomOutput(step)),
      () => {
        const place = dice.below(outputs.count);
        outputs.replace(place, { ...outputs.at(place)!, amount: 77n });
      },
      () => outputs.learnKeyImage(dice.below(outputs.count), dice.bytes()),
      () => {
        const count = dice.below(dice.below(3) === 0 ? SEGMENT_PLACES : 900);
        for (let i = 0; i < count; i++) outputs.push(randomOutput(step));
      },
    ];
    dice.pick(changes)!();
    dice.pick(changes)!();
    await writeRows(store, rows.take());
    await store.close();
  }
  const { store, ledger } = await load(engine);
  checkFound(ledger.state.outputs);
  await store.close();
  await engine.close();
});

test("a key image that is learnt is among those that the next opening has for scans", async () => {
  const engine = createMemoryEngine();
  const [place, image] = [5, bytes(32)];
  const unknown = outputsOf(SEGMENT_PLACES + 300);
  unknown.state.outputs.replace(place, { ...unknown.state.outputs.at(place)!, keyImage: undefined });
  await write(engine, unknown);
  const { store, ledger, rows } = await load(engine);
  ledger.state.outputs.learnKeyImage(place, image);
  await writeRows(store, rows.take());
  await store.close();
  assert.ok(imagesForScans((await load(engine)).ledger.state.outputs).has(image));
});

test("opening reads the keys of no output that a segment has", async () => {
  let reads = 0;
  const memory = createMemoryEngine();
  const engine: Engine = {
    ...memory,
    readNow: (id, row) => {
      reads += 1;
      return memory.readNow!(id, row);
    },
  };
  await write(engine, outputsOf(SEGMENT_PLACES + 300));
  const { store, ledger } = await load(engine);
  assert.equal(reads, 2, "of the outputs behind the segment");
  assert.equal([...ledger.state.outputs.images.all()].length, 1 + 2);
  assert.equal(reads, 3, "of the hashes for scans, since the others are still in memory");
  assert.equal(ledger.state.outputs.placeOfKey(bytes(32)), undefined);
  await store.close();
  await engine.close();
});

const spoilt = [
  ["older", (_: Uint8Array, older: Uint8Array) => older],
  ["damaged", (value: Uint8Array) => value.with(value.length - 20, value.at(-20)! ^ 1)],
  ["cut off", (value: Uint8Array) => value.subarray(0, 20)],
] as const;

for (const [what, spoil] of spoilt) {
  test(`segments that are ${what} are not believed`, async () => {
    const engine = createMemoryEngine();
    await write(engine, outputsOf(SEGMENT_PLACES + 300));
    const older = await segmentsIn(engine);
    const { store, ledger, rows } = await load(engine);
    const { outputs } = ledger.state;
    // All of them are others, of which each segment is made anew.
    const others = outputsOf(SEGMENT_PLACES + 100).state.outputs;
    outputs.truncate(0);
    for (const output of others) outputs.push(output);
    for (let i = 0; i < 3; i++) await writeRows(store, rows.take());
    await store.close();
    const newer = await segmentsIn(engine);
    assert.equal(newer.length, 3);
    const { epoch } = (await engine.markOf(wallet))!;
    const puts = newer.map((row, i) => ({
      ...row,
      value: spoil(new Uint8Array(row.value), older[i]!.value),
    }));
    await engine.apply(wallet, { epoch, puts, deletes: [] });
    const again = await load(engine);
    checkFound(again.ledger.state.outputs);
    for (let place = 0; place < others.count; place += 97)
      assert.deepEqual(again.ledger.state.outputs.at(place), others.at(place));
    await writeRows(again.store, again.rows.take());
    await again.store.close();
    await engine.close();
  });
}

const anything = { account: undefined, minors: new Set<number>(), minHeight: 0, maxHeight: 1e9 };

function receiptAt(dice: Dice, height: number): IncomingPayment {
  const paymentId = new Uint8Array(32);
  if (dice.below(3) === 0) paymentId.fill(1 + dice.below(3), 0, 8);
  const unlockTime = dice.below(500) === 0 ? BigInt(height + 60) : 0n;
  const subaddress = { major: dice.below(3), minor: dice.below(20) };
  const amounts = { amount: 5n, amounts: [5n], fee: 1n, unlockTime, coinbase: false };
  return Object.assign(amounts, { txHash: bytes(32), paymentId, height, timestamp: height, subaddress });
}

/** Receipts of blocks from a height on, 50 each. */
const receiptsFrom = (dice: Dice, height: number, count: number): IncomingPayment[] =>
  Array.from({ length: count }, (_, i) => receiptAt(dice, height + Math.floor(i / 50)));

/** Answers about receipts are those of a walk over a list of them. */
function checkReceipts(dice: Dice, receipts: Receipts, list: readonly IncomingPayment[]): void {
  assert.equal(receipts.length, list.length);
  const where = (isWanted: (payment: IncomingPayment) => boolean) =>
    list.flatMap((payment, place) => (isWanted(payment) ? [place] : [])).reverse();
  for (let i = 0; i < 40; i++) {
    const place = dice.below(list.length);
    assert.deepEqual(receipts.at(place), list[place]);
    assert.deepEqual(receipts.placesOf(list[place]!.txHash), [place]);
  }
  assert.equal(receipts.has(bytes(32)), false);
  const paymentId = new Uint8Array(32).fill(2, 0, 8);
  assert.deepEqual(
    receipts.placesWithId(paymentId),
    where((it) => Buffer.compare(it.paymentId, paymentId) === 0),
  );
  for (const [account, minors] of [
    [undefined, []],
    [2, []],
    [1, [3, 19]],
    [7, []],
  ] as const) {
    const minHeight = dice.pick([0, list.at(-1)!.height - 30])!;
    const isMatch = ({ subaddress, height }: IncomingPayment) =>
      height > minHeight &&
      (account === undefined || subaddress.major === account) &&
      (minors.length === 0 || minors.some((minor) => minor === subaddress.minor));
    const found = ended(receipts.matching({ ...anything, account, minors: new Set(minors), minHeight }));
    assert.deepEqual([...found], where(isMatch));
  }
  const latest = Math.max(...list.map(({ unlockTime }) => Number(unlockTime)));
  assert.equal(receipts.latestUnlock, latest);
}

/** A store of receipts with a segment, and the list of these. */
async function receiptStore(dice: Dice) {
  const engine = createMemoryEngine();
  const ledger = outputsOf(1);
  const list = receiptsFrom(dice, 1, SEGMENT_PLACES + 12_000);
  for (const payment of list) ledger.state.incoming.push(payment);
  await write(engine, ledger);
  assert.equal((await segmentsIn(engine, receiptSegmentTable)).length, 5);
  return { engine, list };
}

/** As engines that can't be read at once. */
function withoutReadNow(engine: Engine): Engine {
  const { readNow: _, ...others } = engine;
  return others;
}

for (const readsNow of [true, false]) {
  test(`receipts are found by segments as by a walk, whatever has changed${readsNow ? "" : ", all in memory"}`, async () => {
    const dice = new Dice("receipt segments");
    let { engine, list } = await receiptStore(dice);
    if (!readsNow) engine = withoutReadNow(engine);
    for (let step = 0; step < 5; step++) {
      const { store, ledger, rows } = await load(engine);
      const { incoming } = ledger.state;
      checkReceipts(dice, incoming, list);
      const selected = incoming.selected(ended(incoming.matching(anything)));
      const before = list.toReversed();
      const { height } = list.at(-1)!;
      const changes = [
        () => {
          const added = receiptsFrom(dice, height + 1, dice.below(20_000));
          for (const payment of added) incoming.push(payment);
          list = [...list, ...added];
        },
        () => {
          const from = Math.max(20, height - dice.below(dice.below(3) === 0 ? 700 : 50));
          incoming.removeAbove(from);
          list = list.filter((payment) => payment.height < from);
        },
        () => {
          const first = Math.max(0, list.length - 3000);
          const places = Array.from({ length: 5 }, (_, i) => first + 7 * i);
          incoming.removeAt(places);
          list = list.filter((_, place) => !places.includes(place));
        },
      ];
      for (let i = 0; i < 3; i++) {
        dice.pick(changes)!();
        await writeRows(store, rows.take());
        rows.written(store);
        if (dice.below(2) === 0) await rows.makeSegments();
      }
      checkReceipts(dice, incoming, list);
      for (let i = 0; i < before.length; i += 501) assert.deepEqual(selected.at(i), before[i]);
      await writeRows(store, rows.take());
      await store.close();
    }
    const { store, ledger } = await load(engine);
    checkReceipts(dice, ledger.state.incoming, list);
    await store.close();
    await engine.close();
  });
}

test("opening reads no receipts that a segment has", async () => {
  const { engine: memory, list } = await receiptStore(new Dice("unread"));
  let rowsRead = 0;
  const engine: Engine = {
    ...memory,
    page: async (id, table, range) => {
      const page = await memory.page(id, table, range);
      if (table === receiptTable.number) rowsRead += page.rows.length;
      return page;
    },
  };
  const { store, ledger } = await load(engine);
  assert.equal(rowsRead, Math.ceil(list.length / 256) - SEGMENT_PLACES / 256);
  assert.deepEqual(ledger.state.incoming.at(3), list[3]);
  await store.close();
  await memory.close();
});

for (const [what, spoil] of spoilt) {
  test(`segments of receipts that are ${what} are not believed`, async () => {
    const dice = new Dice("spoilt");
    const { engine, list: former } = await receiptStore(dice);
    const older = await segmentsIn(engine, receiptSegmentTable);
    const { store, ledger, rows } = await load(engine);
    const { incoming } = ledger.state;
    incoming.removeAbove(0);
    const list = receiptsFrom(dice, 900, former.length);
    for (const payment of list) incoming.push(payment);
    await rows.makeSegments();
    await writeRows(store, rows.take());
    await store.close();
    const newer = await segmentsIn(engine, receiptSegmentTable);
    assert.equal(newer.length, older.length);
    // One by one, since the zones are read first.
    for (const spoiltRows of [newer.slice(0, 4), newer.slice(4)]) {
      const { epoch } = (await engine.markOf(wallet))!;
      const puts = spoiltRows.map((row) => {
        const place = newer.indexOf(row);
        return { ...row, value: spoil(new Uint8Array(row.value), older[place]!.value) };
      });
      await engine.apply(wallet, { epoch, puts, deletes: [] });
      const again = await load(engine);
      checkReceipts(dice, again.ledger.state.incoming, list);
      await again.store.close();
    }
    await engine.close();
  });
}
