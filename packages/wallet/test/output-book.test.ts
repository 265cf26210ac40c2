import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { concatBytes } from "@anulo/protocol";
import { accountBalance, later } from "../src/history/balance.ts";
import { KeyIndex } from "../src/outputs/key-index.ts";
import { KeyHashes, KeySet } from "../src/outputs/key-set.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { Payments } from "../src/packed/payments.ts";
import { isUnlocked, isUnspent, type Now, timeToUnlock } from "../src/unlock.ts";
import { checkBook } from "./check-book.ts";
import { ledgerOf } from "./many-outputs.ts";
import { Dice } from "./random-changes.ts";

const TIME = 1_600_000_000;

function outputAt(dice: Dice, height: number): OwnedOutput {
  const unlockTimes = [0n, 0n, BigInt(height + dice.below(80)), BigInt(TIME + dice.below(1000))];
  return {
    txHash: dice.bytes(),
    outputIndex: dice.below(16),
    globalIndex: BigInt(dice.below(1e9)),
    amount: 2n ** 63n + BigInt(dice.below(1e12)),
    mask: dice.bytes(),
    rct: dice.below(2) === 0,
    oneTimeKey: dice.bytes(),
    txPublicKey: dice.bytes(),
    keyImage: dice.below(5) === 0 ? undefined : dice.bytes(),
    subaddress: { major: dice.below(3), minor: dice.below(20) },
    height,
    timestamp: TIME + height,
    unlockTime: unlockTimes[dice.below(4)]!,
    coinbase: dice.below(2) === 0,
    txSize: dice.below(100_000),
    frozen: dice.below(9) === 0,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces: undefined,
  };
}

/** The same as `accountBalance` says of confirmed outputs, by a walk over all of them. */
function balanceFound(outputs: readonly OwnedOutput[], account: number, strict: boolean, now: Now) {
  const found = outputs.filter(
    (output) =>
      output.subaddress.major === account &&
      !output.frozen &&
      output.spentHeight === undefined &&
      (strict || output.pendingSpend === undefined),
  );
  const sum = (some: readonly OwnedOutput[]) => some.reduce((total, { amount }) => total + amount, 0n);
  const waits = found.map((output) => timeToUnlock(output, now));
  return {
    balance: sum(found),
    unlocked: sum(found.filter((output) => isUnlocked(output, now))),
    blocksToUnlock: waits.reduce((most, { blocks }) => Math.max(most, blocks), 0),
    secondsToUnlock: waits.reduce((most, { seconds }) => later(most, seconds), 0n),
    minors: [...new Set(found.map(({ subaddress }) => subaddress.minor))].sort((a, b) => a - b),
  };
}

function checkBalances(outputs: OutputBook, now: Now): void {
  const all = [...outputs];
  const state = { outputs, outgoing: new Payments(), pool: [] };
  for (const account of [0, 1, 2, 3])
    for (const strict of [false, true]) {
      const told = accountBalance(state, { account, strict, now, indexOf: () => undefined });
      const { addresses, unspentOutputs: _, ...sums } = told;
      const minors = addresses.map(({ minor }) => minor);
      assert.deepEqual({ ...sums, minors }, balanceFound(all, account, strict, now));
    }
}

function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What may be spent, of an account and at each place, is what a walk over all outputs finds. */
function checkSpendable(outputs: OutputBook, now: Now): void {
  const all = [...outputs];
  for (const needsKeyImage of [true, false]) {
    const question = {
      height: now.height,
      seconds: now.seconds,
      needsKeyImage,
      isUnlocked: (lock: Pick<OwnedOutput, "height" | "unlockTime">) => isUnlocked(lock, now),
    };
    const expected = all.map(
      (output) =>
        !output.frozen &&
        isUnspent(output) &&
        (output.keyImage !== undefined || !needsKeyImage) &&
        isUnlocked(output, now),
    );
    assert.deepEqual(
      all.map((_, place) => outputs.isSpendable(place, question)),
      expected,
    );
    for (const account of [0, 1, 2, 3]) {
      const isWanted = (place: number) => expected[place] && all[place]!.subaddress.major === account;
      const places = [...all.keys()].filter(isWanted);
      assert.deepEqual([...resultOf(outputs.spendable(account, question))], places);
    }
  }
}

test("sums, tables and balances follow every change, also when the chain gets shorter", () => {
  const dice = new Dice("book");
  const book = new OutputBook();
  let height = 100;
  for (let step = 0; step < 60; step++) {
    height = dice.below(8) === 0 ? Math.max(1, height - 50) : height + 1 + dice.below(5);
    book.pass(height);
    if (dice.below(10) === 0) book.truncate(dice.below(book.count + 1));
    for (let i = dice.below(60); i > 0; i--) book.push(outputAt(dice, Math.max(0, height - dice.below(40))));
    for (let i = 0; i < 12 && book.count > 0; i++) {
      const place = dice.below(book.count);
      const changes = [
        () => book.spend(place, dice.below(3) === 0 ? undefined : height),
        () => book.reserve(place, dice.below(2) === 0 ? undefined : "aa"),
        () => book.freeze(place, dice.below(2) === 0),
        () => book.learnKeyImage(place, dice.bytes()),
        () => book.replace(place, outputAt(dice, height)),
      ];
      changes[dice.below(changes.length)]!();
    }
    checkBook(book);
    const seconds = TIME + dice.below(1000);
    checkBalances(book, { network: "mainnet", height, seconds });
    checkBalances(book, { network: "mainnet", height: Math.max(1, height - 30), seconds: TIME - 5000 });
    checkSpendable(book, { network: "mainnet", height, seconds });
    checkSpendable(book, { network: "mainnet", height: Math.max(1, height - 30), seconds: TIME - 5000 });
  }
  assert.ok(book.count > 100);
});

test("each change of an output is one of its row, which is written again", () => {
  const dice = new Dice("rows");
  const book = new OutputBook();
  for (let i = 0; i < 3000; i++) book.push({ ...outputAt(dice, 100), keyImage: undefined });
  const rows = book.takeChangedRows();
  assert.deepEqual(
    [...rows],
    [...rows.keys()].map((_, row) => row),
  );
  assert.deepEqual([...book.takeChangedRows()], []);
  const changes: readonly ((place: number) => void)[] = [
    (place) => book.spend(place, 120),
    (place) => book.spend(place, undefined),
    (place) => book.reserve(place, "aa"),
    (place) => book.freeze(place, true),
    (place) => book.learnKeyImage(place, dice.bytes()),
    (place) => book.learnKeyImage(place, dice.bytes()),
    (place) => book.replace(place, outputAt(dice, 100)),
  ];
  for (const change of changes)
    for (const place of [0, 2999]) {
      change(place);
      assert.deepEqual([...book.takeChangedRows()], [place === 0 ? 0 : rows.size - 1]);
    }
});

test("an output is read as it was written, on any page", () => {
  const dice = new Dice("pages");
  const outputs = Array.from({ length: 2500 }, (_, i): OwnedOutput => {
    const output = outputAt(dice, 2 ** 31 + i);
    const spentHeight = i % 3 === 0 ? i : undefined;
    const pendingSpend = i % 5 === 0 ? "" : undefined;
    return { ...output, spentHeight, pendingSpend, replaces: i % 700 === 1 ? output : undefined };
  });
  const book = OutputBook.of(outputs);
  assert.deepEqual([...book], outputs);
  assert.deepEqual(book.slice(1020, 1030), outputs.slice(1020, 1030));
  assert.deepEqual([book.at(-1), book.at(2500), book.at(Number.NaN)], [undefined, undefined, undefined]);
  assert.equal(book.placesFrom(2 ** 31 + 1500)[0], 1500);
  assert.deepEqual([...book.spentFrom(2490)], [2490, 2493, 2496, 2499]);
  const copy = book.at(7)!;
  copy.mask.fill(0);
  assert.deepEqual(book.at(7), outputs[7]);
});

test("what does not fit is refused instead of cut off", () => {
  const output = outputAt(new Dice("odd"), 5);
  const refused = (part: Partial<OwnedOutput>) =>
    assert.throws(() => OutputBook.of([{ ...output, ...part }]), RangeError);
  refused({ mask: new Uint8Array(31) });
  refused({ keyImage: new Uint8Array(33) });
  refused({ height: -1 });
  refused({ txSize: 2 ** 32 });
  refused({ spentHeight: 2 ** 32 });
});

test("keys are found whatever was added and removed, in any order", () => {
  const dice = new Dice("keys");
  const keys = Array.from({ length: 3000 }, () => dice.bytes());
  // Only the first half of a key is hashed: these collide.
  for (const key of keys.slice(1, 60)) key.set(keys[0]!.subarray(0, 16));
  const index = new KeyIndex((place) => ({ bytes: keys[place]!, at: 0 }), randomFillSync);
  const held = new Set<number>();
  for (let step = 0; step < 6000; step++) {
    const place = dice.below(150);
    if (held.has(place)) index.remove(place);
    else index.add(place);
    if (!held.delete(place)) held.add(place);
    if (step % 40 > 0) continue;
    for (let each = 0; each < 150; each++)
      assert.equal(index.find(keys[each]!), held.has(each) ? each : undefined);
  }
  for (const place of held) index.remove(place);
  for (let place = 0; place < keys.length; place += 7) index.add(place);
  assert.equal(index.find(keys[2996]!), 2996);
  assert.equal(index.find(keys[2997]!), undefined);
});

test("of two outputs with one key the last is found, and the first again once that is gone", () => {
  const dice = new Dice("twice");
  const [first, other] = [outputAt(dice, 5), outputAt(dice, 6)];
  const book = OutputBook.of([first, other, { ...first, height: 7 }]);
  assert.equal(book.placeOfKey(first.oneTimeKey), 2);
  book.truncate(2);
  assert.equal(book.placeOfKey(first.oneTimeKey), 0);
});

test("a set of keys has those that were added, and no others", () => {
  const dice = new Dice("set");
  const set = new KeySet(new KeyHashes(randomFillSync));
  const keys = Array.from({ length: 3000 }, () => dice.bytes());
  assert.ok(!set.has(keys[0]!));
  for (const key of keys.slice(0, 1000)) set.add(key);
  set.add(concatBytes(...keys.slice(500, 2000)));
  for (const [i, key] of keys.entries()) assert.equal(set.has(key), i < 2000, `${i}`);
  assert.ok(set.has(concatBytes(keys[2999]!, keys[7]!), 32));
});

test("an output takes at most 250 bytes of memory, its tables included", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = () => {
    // Memory of arrays is given back at the collection after the one that found nobody uses them.
    for (let i = 0; i < 3; i++) collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  };
  // The code that the first run compiles is not an output's.
  ledgerOf({ count: 10_000, amount: () => 5n, addresses: 100 });
  const before = used();
  const ledger = ledgerOf({ count: 100_000, amount: () => 5n, addresses: 100 });
  const each = (used() - before) / 100_000;
  assert.equal(ledger.state.outputs.count, 100_000);
  assert.ok(each < 250, `${each} bytes`);
});
