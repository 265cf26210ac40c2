import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { toHex } from "@anulo/protocol";
import { Payments } from "../src/packed/payments.ts";
import { PlaceIndex } from "../src/packed/place-index.ts";
import { type ReceiptFilter, Receipts } from "../src/packed/receipts.ts";
import { RecordReader, RecordWriter } from "../src/packed/record-bytes.ts";
import { Records } from "../src/packed/records.ts";
import type { IncomingPayment, OutgoingPayment, OutgoingState } from "../src/state.ts";
import { ended } from "./ended.ts";
import { Dice } from "./random-changes.ts";

const NOTHING = new Uint8Array(32);
const anything: ReceiptFilter = {
  account: undefined,
  minors: new Set<number>(),
  minHeight: -1,
  maxHeight: Number.MAX_SAFE_INTEGER,
};

/** A payment id that is all zero, short, or long. */
function paymentIdOf(dice: Dice): Uint8Array {
  const paymentId = new Uint8Array(32);
  const length = dice.pick([0, 8, 32])!;
  paymentId.set(new Uint8Array(32).fill(1 + dice.below(3)).subarray(0, length));
  return paymentId;
}

function receipt(dice: Dice, known: readonly IncomingPayment[]): IncomingPayment {
  const amount = dice.pick([0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n, BigInt(dice.below(1e9))])!;
  const isOne = dice.below(2) === 0;
  return {
    txHash: dice.below(3) === 0 ? (dice.pick(known)?.txHash ?? dice.bytes()) : dice.bytes(),
    paymentId: paymentIdOf(dice),
    amount,
    amounts: isOne ? [amount] : Array.from({ length: dice.below(3) }, () => BigInt(dice.below(9))),
    fee: BigInt(dice.below(1e6)),
    height: 1 + dice.below(60),
    timestamp: dice.pick([0, 1_700_000_000, 2 ** 40])!,
    unlockTime: dice.pick([0n, 60n, 500_000_001n, 2n ** 64n - 1n])!,
    coinbase: dice.below(5) === 0,
    subaddress: { major: dice.below(3), minor: dice.below(5) },
  };
}

const isEqual = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/** Compares every question with a walk over a plain list. */
function compareReceipts(dice: Dice, receipts: Receipts, list: readonly IncomingPayment[]): void {
  assert.deepEqual([...receipts], list);
  const places = (isWanted: (payment: IncomingPayment) => boolean) =>
    list.flatMap((payment, place) => (isWanted(payment) ? [place] : []));
  const wanted = dice.pick(list) ?? receipt(dice, []);
  const isOf = ({ txHash }: IncomingPayment) => isEqual(txHash, wanted.txHash);
  assert.deepEqual(receipts.placesOf(wanted.txHash), places(isOf));
  assert.equal(receipts.has(wanted.txHash), list.some(isOf));
  assert.equal(receipts.has(dice.bytes()), false);
  const paymentId = new Uint8Array(32).fill(2);
  assert.deepEqual(
    receipts.placesWithId(paymentId),
    places((it) => isEqual(it.paymentId, paymentId)).reverse(),
  );
  const from = dice.below(70);
  assert.deepEqual(
    receipts.placesFrom(from),
    places(({ height }) => height >= from),
  );
  const filter = {
    account: dice.pick([undefined, 0, 2, 7]),
    minors: new Set(dice.pick([[], [1], [4, 0, 4, 9]])!),
    minHeight: dice.pick([-1, 20])!,
    maxHeight: dice.pick([30, 1000])!,
  };
  const matching = places(({ height, subaddress: { major, minor } }) => {
    if (height <= filter.minHeight || height > filter.maxHeight) return false;
    if (filter.account !== undefined && filter.account !== major) return false;
    return filter.minors.size === 0 || filter.minors.has(minor);
  });
  assert.deepEqual([...ended(receipts.matching(filter))], matching.reverse());
  const isSettled = (it: IncomingPayment) => it.height + 10 <= 50 && it.unlockTime <= 50n;
  const unsettled = new Set(receipts.unsettled(10, 50));
  for (const [place, payment] of list.entries()) assert.ok(unsettled.has(place) || isSettled(payment));
  const latest = Math.max(0, ...list.map(({ unlockTime }) => Number(unlockTime)));
  assert.equal(receipts.latestUnlock, latest);
}

for (const seed of ["a", "b", "c"]) {
  test(`receipts answer as a walk over all of them would (${seed})`, () => {
    const dice = new Dice(seed);
    const receipts = new Receipts();
    let list: IncomingPayment[] = [];
    for (let step = 0; step < 150; step++) {
      for (let i = dice.below(20); i > 0; i--) {
        const payment = receipt(dice, list);
        assert.equal(receipts.push(payment), list.length);
        list.push(payment);
      }
      if (dice.below(4) === 0) {
        const height = 20 + dice.below(50);
        const first = list.findIndex((payment) => payment.height >= height);
        assert.equal(receipts.removeAbove(height), first === -1 ? undefined : first);
        list = list.filter((payment) => payment.height < height);
      }
      if (dice.below(4) === 0) {
        const places = list.flatMap((_, place) => (dice.below(10) === 0 ? [place] : []));
        receipts.removeAt(places);
        list = list.filter((_, place) => !places.includes(place));
      }
      if (dice.below(50) === 0) {
        receipts.removeAbove(0);
        list = [];
      }
      compareReceipts(dice, receipts, list);
    }
  });
}

test("what was selected stays as it was, whatever is removed and added later", () => {
  const dice = new Dice("selected");
  const receipts = new Receipts();
  for (let i = 0; i < 2000; i++) receipts.push({ ...receipt(dice, []), height: 1 + (i >> 4) });
  const before = [...receipts];
  const selected = receipts.selected(before.map((_, place) => place));
  receipts.removeAbove(50);
  for (let i = 0; i < 2000; i++) receipts.push({ ...receipt(dice, []), height: 200 });
  assert.deepEqual([...selected], before);
  assert.deepEqual(
    [...selected.receivers()],
    before.map(({ subaddress }) => subaddress),
  );
});

test("a walk in turns finds what is added meanwhile, and begins again once something is removed", () => {
  const dice = new Dice("turns");
  const receipts = new Receipts();
  for (let i = 0; i < 1000; i++) receipts.push({ ...receipt(dice, []), height: 1 + (i >> 4) });
  for (const account of [undefined, 0]) {
    const steps = receipts.matching({ ...anything, account });
    for (let i = 0; i < 100; i++) steps.next();
    receipts.push({ ...receipt(dice, []), height: 900, subaddress: { major: 0, minor: 0 } });
    for (let i = 0; i < 100; i++) steps.next();
    receipts.removeAbove(40);
    for (let i = 0; i < 100; i++) steps.next();
    receipts.push({ ...receipt(dice, []), height: 30, subaddress: { major: 0, minor: 0 } });
    assert.deepEqual(ended(steps), ended(receipts.matching({ ...anything, account })));
    const added = receipts.matching({ ...anything, account });
    for (let i = 0; i < 100; i++) added.next();
    receipts.push({ ...receipt(dice, []), height: 30, subaddress: { major: 0, minor: 0 } });
    assert.deepEqual(ended(added), ended(receipts.matching({ ...anything, account })));
  }
});

const states: readonly OutgoingState[] = ["signed", "pending", "missing", "failed", "confirmed", "forgotten"];

function payment(dice: Dice, known: readonly OutgoingPayment[]): OutgoingPayment {
  const txHash = (dice.below(2) === 0 ? dice.pick(known)?.txHash : undefined) ?? dice.bytes();
  const state = dice.pick([...states, "confirmed", "confirmed"] as const)!;
  return {
    txHash,
    state,
    blob: dice.below(3) === 0 ? Uint8Array.of(1, 2) : undefined,
    amountIn: 2n ** 64n - 1n,
    amountOut: BigInt(dice.below(1e9)),
    change: 7n,
    destinations: Array.from({ length: dice.below(3) }, (_, i) => ({ address: `Ünï ${i}`, amount: 5n })),
    paymentId: paymentIdOf(dice),
    account: dice.below(3),
    subaddressIndices: [dice.below(3), 4],
    keyImages: [new Uint8Array(32).fill(dice.below(9)), dice.bytes()],
    unlockTime: dice.pick([0n, 0n, 70n, 500_000_001n])!,
    createdAt: dice.below(1e9),
    timestamp: 2 ** 33,
    height: state === "confirmed" ? 1 + dice.below(60) : 0,
    ...(dice.below(4) === 0 && { isSeen: true }),
  };
}

/** Compares every question with a walk over a plain map. */
function comparePayments(dice: Dice, payments: Payments, map: ReadonlyMap<string, OutgoingPayment>): void {
  assert.deepEqual([...payments], [...map]);
  assert.deepEqual([[...payments.keys()], payments.size], [[...map.keys()], map.size]);
  const id = dice.pick([...map.keys()]) ?? toHex(dice.bytes());
  assert.deepEqual([payments.get(id), payments.has(id)], [map.get(id), map.has(id)]);
  assert.equal(payments.has(toHex(dice.bytes())), false);
  const all = [...map.values()];
  const confirmed = all.filter(({ state }) => state === "confirmed");
  assert.deepEqual(
    payments.unconfirmed(),
    all.filter(({ state }) => state !== "confirmed"),
  );
  assert.deepEqual(
    payments.withBlobUpTo(30),
    confirmed.filter(({ blob, height }) => blob !== undefined && height <= 30),
  );
  assert.deepEqual(
    payments.confirmedFrom(40),
    confirmed.filter(({ height }) => height >= 40),
  );
  assert.deepEqual(
    payments.unsettled(10, 50),
    confirmed.filter(({ height, unlockTime }) => height + 10 > 50 || unlockTime > 50n),
  );
  const image = toHex(new Uint8Array(32).fill(dice.below(9)));
  const spends = [...map].filter(
    ([, it]) => it.state !== "confirmed" && it.state !== "failed" && it.keyImages.map(toHex).includes(image),
  );
  assert.equal(payments.spenderOf(Buffer.from(image, "hex")), spends[0]?.[0]);
  assert.equal(payments.spenderOf(Buffer.from(image, "hex"), spends[0]?.[0]), spends[1]?.[0]);
  const filter = { ...anything, account: dice.pick([undefined, 1])!, minors: new Set(dice.pick([[], [1]])!) };
  const matching = [...confirmed]
    .reverse()
    .filter(({ account, height }) => height > 20 && (filter.account ?? account) === account)
    .filter((it) => filter.minors.size === 0 || it.subaddressIndices.includes(1))
    .sort((a, b) => b.height - a.height);
  assert.deepEqual([...ended(payments.matching({ ...filter, minHeight: 20 }))], matching);
}

for (const seed of ["a", "b"]) {
  test(`payments answer as a walk over all of them would (${seed})`, () => {
    const dice = new Dice(seed);
    const payments = new Payments();
    const map = new Map<string, OutgoingPayment>();
    for (let step = 0; step < 300; step++) {
      for (let i = dice.below(12); i > 0; i--) {
        const each = payment(dice, [...map.values()]);
        map.set(toHex(each.txHash), each);
        payments.set(toHex(each.txHash), each);
      }
      if (dice.below(4) === 0)
        for (const id of [...map.keys()]) {
          if (dice.below(3) > 0) continue;
          map.delete(id);
          assert.equal(payments.delete(id), true);
          assert.equal(payments.delete(id), false);
        }
      if (step % 5 === 0) comparePayments(dice, payments, map);
    }
    assert.throws(() => payments.set("00", payment(dice, [])), TypeError);
  });
}

test("payments come in the order in which they were first made, however often they change", () => {
  const [dice, payments] = [new Dice("order"), new Payments()];
  const made = Array.from({ length: 5 }, () => ({
    ...payment(dice, []),
    unlockTime: 0n,
    blob: Uint8Array.of(1),
  }));
  const image = made[0]!.keyImages[1]!;
  const setAll = (state: OutgoingState, height: number) => {
    for (const each of [3, 1, 4, 0, 2].map((i) => made[i]!))
      payments.set(toHex(each.txHash), { ...each, state, height, keyImages: [image] });
  };
  const placeOf = ({ txHash }: OutgoingPayment) => made.findIndex((each) => isEqual(each.txHash, txHash));
  for (const each of made) payments.set(toHex(each.txHash), { ...each, state: "signed", height: 0 });
  setAll("pending", 0);
  assert.deepEqual(payments.unconfirmed().map(placeOf), [0, 1, 2, 3, 4]);
  assert.equal(payments.spenderOf(image), toHex(made[0]!.txHash));
  setAll("confirmed", 7);
  for (const found of [payments.withBlobUpTo(7), payments.confirmedFrom(7), payments.unsettled(10, 10)])
    assert.deepEqual(found.map(placeOf), [0, 1, 2, 3, 4]);
});

test("a payment that was removed is let go", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const [dice, payments] = [new Dice("let go"), new Payments()];
  const add = (state: OutgoingState) => {
    const each = {
      ...payment(dice, []),
      state,
      height: state === "confirmed" ? 7 : 0,
      blob: new Uint8Array(9),
    };
    payments.set(toHex(each.txHash), each);
    return { id: toHex(each.txHash), held: new WeakRef(each) };
  };
  const states = ["confirmed", "pending", "failed"] as const;
  const all = states.map(add);
  for (const { id } of all) assert.equal(payments.delete(id), true);
  for (let i = 0; i < 20 && all.some(({ held }) => held.deref() !== undefined); i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  for (const [i, { held }] of all.entries()) assert.equal(held.deref(), undefined, states[i]);
});

test("an index finds the newest of a key and those before it, through growth and removal", () => {
  const dice = new Dice("index");
  const keys: number[] = [];
  const hashOf = (key: number) => Math.imul(key, 0x9e3779b1) >>> 0;
  const index = new PlaceIndex({
    hashOf: (place) => hashOf(keys[place]!),
    isSame: (place, other) => keys[place] === keys[other],
  });
  const chainOf = (key: number) => {
    const places: number[] = [];
    const newest = index.newest(hashOf(key), (place) => keys[place] === key);
    for (let place = newest; place >= 0; place = index.before(place)) places.push(place);
    return places;
  };
  const check = () => {
    for (let i = 0; i < 50; i++) {
      const key = dice.below(keys.length + 10);
      assert.deepEqual(
        chainOf(key),
        keys.flatMap((other, place) => (other === key ? [place] : [])).reverse(),
      );
    }
  };
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 12_000; i++) {
      keys.push(dice.below(3) === 0 ? dice.below(50) : keys.length);
      index.add(keys.length - 1);
    }
    check();
    for (let i = 0; i < 8000; i++) {
      index.remove(keys.length - 1);
      keys.pop();
    }
    check();
  }
});

test("an index reads the keys of items only where hashes are the same, whose pages may not be in memory", () => {
  const hashOf = (key: number) => Math.imul(key, 0x9e3779b1) >>> 0;
  let [hashed, compared] = [0, 0];
  const index = new PlaceIndex({
    hashOf: (place) => {
      hashed += 1;
      return hashOf(place % 20_000);
    },
    isSame: (place, other) => {
      compared += 1;
      return place % 20_000 === other % 20_000;
    },
  });
  for (let place = 0; place < 20_000; place++) index.add(place);
  assert.deepEqual([hashed, compared], [20_000, 0], "each is hashed once, whatever grows");
  for (let place = 20_000; place < 20_100; place++) index.add(place);
  assert.deepEqual([hashed, compared], [20_100, 100]);
  const isWanted = () => assert.fail("there is none with this hash");
  assert.equal(index.newest(hashOf(20_000), isWanted), -1);
  index.remove(20_099);
  assert.equal(
    index.newest(hashOf(99), (place) => place % 20_000 === 99),
    99,
  );
});

test("records are read back at their addresses, long ones too", () => {
  const records = new Records();
  const written: { address: number; bytes: Uint8Array }[] = [];
  const add = (length: number) => {
    const bytes = new Uint8Array(length).fill(1 + (written.length % 200));
    written.push({ address: records.add(bytes), bytes });
  };
  for (let i = 0; i < 3000; i++) add(1 + (i % 97));
  add(200_000);
  add(5);
  const view = records.view();
  const check = (source: Pick<Records, "chunkOf">) => {
    for (const { address, bytes } of written) {
      const at = address % 65_536;
      assert.ok(isEqual(source.chunkOf(address).subarray(at, at + bytes.length), bytes));
    }
  };
  check(records);
  const all = written.length;
  for (let i = 0; i < 2000; i++) add(60);
  check(records);
  written.length = all;
  check(view);
});

test("numbers, amounts and text are read back, and what no chain contains is refused", () => {
  const writer = new RecordWriter().begin();
  const numbers = [0, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER];
  const amounts = [0n, 127n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 53n, 2n ** 64n - 1n, 2n ** 90n];
  for (const each of numbers) writer.number(each);
  for (const each of amounts) writer.amount(each);
  writer.text("Ü".repeat(500));
  writer.block(NOTHING);
  const reader = new RecordReader(writer.record.slice(), 0);
  assert.deepEqual(
    numbers.map(() => reader.number()),
    numbers,
  );
  assert.deepEqual(
    amounts.map(() => reader.amount()),
    amounts,
  );
  assert.equal(reader.text(), "Ü".repeat(500));
  assert.deepEqual(reader.block(), NOTHING);
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53]) assert.throws(() => writer.number(wrong), RangeError);
  assert.throws(() => writer.amount(-1n), RangeError);
});
