/** What is swept of very many outputs is chosen by their places: none is created before it is taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress } from "@anulo/protocol";
import { OutputBook } from "../src/outputs/output-book.ts";
import type { SpendableQuestion } from "../src/outputs/output-page.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { poolOf, poolOfPlaces } from "../src/transfer/output-pool.ts";
import { type PrepareParts, prepareSweep } from "../src/transfer/prepare.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";
import { Dice } from "./random-changes.ts";

const COUNT = 3000;
const ADDRESS =
  "42ey1afDFnn4886T7196doS9GPMzexD9gXpsZJDwVjeRVdFCSoHnv7KPbBeGpzJBzHRCAs9UxqeoyFQMYbqSWYTfJJQAWDm";

/** Counts the outputs that are created. */
class CountingBook extends OutputBook {
  created = 0;

  override at(place: number) {
    this.created += 1;
    return super.at(place);
  }
}

function bookOf(): CountingBook {
  const { state } = ledgerOf({ count: COUNT, amount: (i) => 10n ** 9n + BigInt(i), addresses: 2 });
  const book = new CountingBook();
  for (const [i, output] of [...state.outputs].entries())
    book.push(i % 10 === 3 ? { ...output, rct: false } : output);
  book.pass(state.height);
  book.created = 0;
  return book;
}

test("a pool of places is one of their outputs", () => {
  const book = bookOf();
  const dice = new Dice("a pool of places");
  const places = Uint32Array.from({ length: 200 }, (_, i) => 7 * i);
  const byPlace = poolOfPlaces(book, places);
  const byOutput = poolOf(Array.from(places, (place) => book.at(place)!));
  const gone = book.at(0)!;
  for (; byOutput.size > 0; ) {
    assert.equal(byPlace.size, byOutput.size);
    assert.deepEqual(byPlace.runs(), byOutput.runs());
    const index = dice.below(byOutput.size);
    assert.deepEqual(byPlace.at(index), byOutput.at(index));
    for (const name of ["txHashAt", "heightAt", "amountAt", "amountNumberAt", "isHiddenAt"] as const)
      assert.deepEqual(byPlace[name](index), byOutput[name](index));
    const output = byPlace.at(index);
    assert.equal(byPlace.indexOf(output), index);
    for (const pool of [byPlace, byOutput]) pool.removeAt(index);
    assert.equal(byPlace.indexOf(output), -1);
  }
  assert.deepEqual(
    [byPlace.runs(), byPlace.indexOf(gone), byPlace.indexOf({ ...gone, oneTimeKey: bytes(32) })],
    [[], -1, -1],
  );
  assert.deepEqual(Array.from(places.subarray(0, 3)), [0, 7, 14], "the list is not changed");
});

test("what was last in a pool of places is not found in it once it is removed", () => {
  const pool = poolOfPlaces(bookOf(), Uint32Array.of(1, 2, 5));
  const [second, last] = [pool.at(1), pool.at(2)];
  pool.removeAt(2);
  assert.deepEqual([pool.indexOf(second), pool.indexOf(last), pool.size], [1, -1, 2]);
});

test("a pool of places refuses once a reorganisation has moved outputs", () => {
  const book = bookOf();
  const pool = poolOfPlaces(book, Uint32Array.of(1, 2));
  book.truncate(COUNT - 1);
  const refused = { name: "WalletRefusal", message: /have changed/ };
  assert.throws(() => pool.at(0), refused);
  assert.throws(() => pool.heightAt(1), refused);
});

for (const [amount, what] of [
  [10n ** 9n, "are of amounts that are usual"],
  [10n ** 9n + 1n, "include some of odd amounts"],
] as const)
  test(`a sweep of outputs that ${what} creates those of one transaction before it is weighed`, async () => {
    const book = new CountingBook();
    const { state } = ledgerOf({ count: COUNT, amount: () => amount, addresses: 2 });
    for (const [i, output] of [...state.outputs].entries())
      book.push(i % 2 === 0 ? output : { ...output, rct: false });
    book.pass(state.height);
    book.created = 0;
    const question: SpendableQuestion = {
      ...{ height: state.height, seconds: 0, needsKeyImage: true },
      isUnlocked: () => true,
    };
    const wallet = { state: { outputs: book }, preferences: DEFAULT_PREFERENCES, spendableNow: question };
    let created = 0;
    const source = new Proxy(
      {},
      {
        get: () => async () => {
          created ||= book.created;
          throw new Error("no node");
        },
      },
    );
    const parts = {
      ...{
        wallet,
        source,
        random: bytes,
        threads: {},
        memory: { ringOf: () => undefined, remember: async () => {} },
      },
      feeRate: { feePerByte: 1n, quantizationMask: 1n },
    } as unknown as PrepareParts;
    const { spendPublic, viewPublic } = parseAddress(ADDRESS);
    const destination = { spendPublic, viewPublic, isSubaddress: false, amount: 0n } as never;
    const sweep = { destination, outputs: 1, below: 0n, account: 0, minors: [0, 1] };
    await assert.rejects(prepareSweep(parts, sweep), /no node/);
    assert.ok(created > 100 && created < 1000, `${created} of ${COUNT} outputs`);
  });
