import assert from "node:assert/strict";
import { test } from "node:test";
import { Touched } from "../src/ledger/touched.ts";

function markAll(touched: Touched): void {
  touched.item("pool", 3);
  touched.item("pool", 5);
  touched.item("addressBook", 1);
  touched.from("intents", 7);
  touched.from("intents", 9);
  touched.account(2);
  touched.addresses(4, 10, 12);
  touched.recent(100);
  touched.recent(90);
  touched.recent(95);
}

function marksOf({ items, tails, accounts, labels, recentFrom }: Touched) {
  return {
    items: ["pool", "addressBook", "intents"].map((list) => [...(items.get(list as "pool") ?? [])]),
    tail: tails.get("intents"),
    accounts: [...accounts],
    labels: [...labels],
    recentFrom,
  };
}

const nothing = {
  items: [[], [], []],
  tail: undefined,
  accounts: [],
  labels: [],
  recentFrom: Number.POSITIVE_INFINITY,
};

test("marks everything that changes, from the beginning on", () => {
  const touched = new Touched();
  markAll(touched);
  assert.deepEqual(marksOf(touched), nothing, "nothing is marked before the beginning");
  touched.begin();
  markAll(touched);
  assert.deepEqual(marksOf(touched), {
    items: [[3, 5], [1], []],
    tail: 7,
    accounts: [2, 4],
    labels: [{ major: 4, from: 10, to: 12 }],
    recentFrom: 90,
  });
});

test("an empty range of addresses marks nothing", () => {
  const touched = new Touched();
  touched.begin();
  touched.addresses(4, 10, 10);
  assert.deepEqual(marksOf(touched), nothing);
});

test("marks again after what was marked has been written", () => {
  const touched = new Touched();
  touched.begin();
  markAll(touched);
  touched.clear();
  assert.deepEqual(marksOf(touched), nothing);
  touched.item("pool", 8);
  assert.deepEqual(marksOf(touched), { ...nothing, items: [[8], [], []] });
});
