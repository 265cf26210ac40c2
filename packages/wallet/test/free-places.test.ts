/** What payments take from a wallet's book, beside what they take from plain lists of its outputs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runSliced } from "@anulo/limits";
import { isDecomposedAmount } from "@anulo/protocol";
import { accountBalance } from "../src/history/balance.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { placesIn } from "../src/outputs/free-places.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { PlaceOrder } from "../src/outputs/place-order.ts";
import { Payments } from "../src/packed/payments.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { poolsFor } from "../src/transfer/candidates.ts";
import { poolOf, poolOfParts } from "../src/transfer/output-pool.ts";
import { estimatedWeight, fractionalThreshold, outputCount, type PlanContext } from "../src/transfer/plan.ts";
import { type OutputGroups, type PaymentRequest, planPayment } from "../src/transfer/plan-payment.ts";
import { Preferable } from "../src/transfer/preferable.ts";
import { preferredInputs, relatednessOf } from "../src/transfer/select.ts";
import { isUnlocked, type Now } from "../src/unlock.ts";
import { Dice } from "./random-changes.ts";
import { destinationOf, seededRandom } from "./transfer-fixture.ts";

const TIME = 1_600_000_000;
const COIN = 10n ** 12n;
const receiver = createKeys(seededRandom("free places"));

/** What the outputs of a wallet are like. */
type World = { readonly base: bigint; readonly minors: number; readonly perBlock: number };

function outputIn(dice: Dice, { base, minors }: World, height: number): OwnedOutput {
  const amounts = [base, base + BigInt(dice.below(3)), 10n ** BigInt(dice.below(13)), base / 1000n];
  const unlockTimes = [0n, 0n, 0n, BigInt(height + dice.below(80)), BigInt(TIME + dice.below(3000))];
  return {
    ...{ txHash: dice.below(4) === 0 ? Buffer.alloc(32, height) : dice.bytes(), outputIndex: 0 },
    ...{ globalIndex: 1n, amount: amounts[dice.below(4)]!, mask: dice.bytes(), rct: dice.below(5) > 0 },
    ...{ oneTimeKey: dice.bytes(), txPublicKey: dice.bytes() },
    keyImage: dice.below(9) === 0 ? undefined : dice.bytes(),
    subaddress: { major: dice.below(2), minor: dice.below(minors) },
    ...{ height, timestamp: TIME, unlockTime: unlockTimes[dice.below(5)]!, coinbase: false, txSize: 1 },
    ...{ frozen: dice.below(20) === 0, spentHeight: undefined, pendingSpend: undefined, replaces: undefined },
  };
}

function change(dice: Dice, book: OutputBook, { world, height }: { world: World; height: number }): void {
  const place = dice.below(book.count);
  const changes = [
    () => book.spend(place, dice.below(3) === 0 ? undefined : height),
    () => book.reserve(place, dice.below(3) > 0 ? undefined : "aa"),
    () => book.freeze(place, dice.below(3) === 0),
    () => book.learnKeyImage(place, dice.bytes()),
    () => book.replace(place, outputIn(dice, world, height)),
  ];
  changes[dice.below(changes.length)]!();
}

type Asked = {
  readonly now: Now;
  readonly needsKeyImage: boolean;
  readonly minors: readonly number[];
  readonly preferences: typeof DEFAULT_PREFERENCES;
  readonly feePerByte: bigint;
};

/** From lists of all outputs what a payment of account 0 may take. */
function listed(
  book: OutputBook,
  asked: Asked,
): Omit<PaymentRequest, "destinations" | "random" | "preferences"> {
  const { now, needsKeyImage, minors, preferences } = asked;
  const { leastAmount, greatestAmount, ignoresFractional } = preferences;
  const fractional = ignoresFractional
    ? fractionalThreshold({ feePerByte: asked.feePerByte, quantizationMask: 1n })
    : 0n;
  const free = [...book].filter(
    (output) =>
      output.subaddress.major === 0 &&
      output.spentHeight === undefined &&
      output.pendingSpend === undefined &&
      !output.frozen &&
      (output.keyImage !== undefined || !needsKeyImage) &&
      isUnlocked(output, now) &&
      (minors.length === 0 || minors.includes(output.subaddress.minor)) &&
      output.amount >= leastAmount &&
      output.amount <= greatestAmount,
  );
  const isRare = ({ rct, amount }: OwnedOutput) => !rct && !isDecomposedAmount(amount);
  const state = { outputs: book, outgoing: new Payments(), pool: [] };
  const { addresses } = accountBalance(state, { account: 0, strict: false, now, indexOf: () => undefined });
  const money = (minor: number) => addresses.find((each) => each.minor === minor)?.unlocked ?? 0n;
  const groupsOf = (outputs: readonly OwnedOutput[]): OutputGroups => {
    const order = [...book.sumsOf(0).keys()].sort((a, b) => Number(money(b) - money(a)));
    const groups = order.map((minor) => ({
      minor,
      find: () => poolOf(outputs.filter(({ subaddress }) => subaddress.minor === minor)),
    }));
    return Object.assign(groups, { of: (minor: number) => groups.find((group) => group.minor === minor) });
  };
  const usable = free.filter(({ amount }) => amount >= fractional);
  return {
    groups: groupsOf(usable.filter((output) => !isRare(output))),
    dustGroups: groupsOf(usable.filter(isRare)),
    preferable: Preferable.of(free.filter(({ rct }) => rct)),
  };
}

async function planned(
  request: Omit<PaymentRequest, "destinations" | "random">,
  { amounts, feePerByte, seed }: { amounts: readonly bigint[]; feePerByte: bigint; seed: string },
) {
  const context: PlanContext = {
    fee: { feePerByte, quantizationMask: 1n },
    extraSize: 0,
    weigh: async ({ inputs, destinations: to }) =>
      estimatedWeight(inputs.length, outputCount(to, inputs), 44),
  };
  const destinations = amounts.map((amount) => destinationOf(receiver, amount));
  const plan = await planPayment({ ...request, destinations, random: seededRandom(seed) }, context).catch(
    (error: Error) => error.message,
  );
  if (typeof plan === "string") return plan;
  return plan.map(({ inputs, fee, change: rest }) => [
    inputs.map(({ oneTimeKey }) => Buffer.from(oneTimeKey).toString("hex")),
    [fee, rest],
  ]);
}

/** Compares a random payment; returns whether one was possible. */
async function comparePayment(
  dice: Dice,
  book: OutputBook,
  { world, height, seed }: { world: World; height: number; seed: string },
): Promise<boolean> {
  const pick = <T>(list: readonly T[]): T => list[dice.below(list.length)]!;
  const { base } = world;
  const askedHeight = height - pick([0, 0, 7]);
  const now: Now = { network: "regtest", height: askedHeight, seconds: TIME + dice.below(4000) };
  const asked: Asked = {
    now,
    needsKeyImage: dice.below(4) > 0,
    minors: pick([[], [], [dice.below(world.minors)], [0, 1, dice.below(world.minors)]]),
    preferences: {
      ...DEFAULT_PREFERENCES,
      ignoresFractional: dice.below(2) === 0,
      keptValue: pick([0n, base]),
      keptCount: BigInt(dice.below(5)),
      ...(dice.below(5) === 0 && { leastAmount: base / 2n, greatestAmount: base + 1n }),
    },
    feePerByte: pick([1n, 1000n, 1001n, base / 5000n + 1n]),
  };
  const question = {
    ...{ height: askedHeight, seconds: now.seconds, needsKeyImage: asked.needsKeyImage },
    isUnlocked: (lock: Pick<OwnedOutput, "height" | "unlockTime">) => isUnlocked(lock, now),
  };
  const state = { outputs: book, outgoing: new Payments(), pool: [] };
  const balance = accountBalance(state, { account: 0, strict: false, now, indexOf: () => undefined });
  const { feePerByte, preferences, minors } = asked;
  const wallet = { preferences, state, spendableNow: question };
  const parts = { wallet, feeRate: { feePerByte, quantizationMask: 1n } };
  const pools = await runSliced(poolsFor(parts, { account: 0, minors }, balance));
  const lists = listed(book, asked);
  if (pools === undefined) {
    for (const groups of [lists.groups, lists.dustGroups])
      for (const group of groups) assert.equal(group.find().size, 0);
    return false;
  }
  const amount = pick([base / 3n + 1n, base + base / 2n, 2n * base - 3n, 5n * base, base + 1n]);
  const payment = { amounts: pick([[amount], [amount, base]]), feePerByte, seed };
  const [plan, expected] = [
    await planned({ ...pools, preferences }, payment),
    await planned({ ...lists, preferences }, payment),
  ];
  assert.deepEqual(plan, expected, seed);
  return typeof plan !== "string";
}

test("payments take from the book what they take from lists of its outputs, after any changes", async () => {
  let paid = 0;
  for (let seed = 0; seed < 24; seed++) {
    const dice = new Dice(`free ${seed}`);
    const world: World = {
      base: [1000n, COIN, 2n ** 62n][seed % 3]!,
      minors: [1, 4, 200, 2 ** 18][dice.below(4)]!,
      perBlock: [1, 40][dice.below(2)]!,
    };
    const book = new OutputBook();
    let height = 100;
    for (let step = 0; step < 4; step++) {
      if (dice.below(3) === 0) {
        height = Math.max(50, height - 20);
        book.truncate(Math.max(0, book.count - dice.below(100)));
      }
      for (let i = [20, 200, 900][dice.below(3)]!; i > 0; i--) {
        if (dice.below(world.perBlock) === 0) height += 1;
        book.push(outputIn(dice, world, height));
      }
      height += dice.below(30);
      book.pass(height);
      for (let i = dice.below(60); i > 0; i--) change(dice, book, { world, height });
      for (let payment = 0; payment < 3; payment++)
        if (await comparePayment(dice, book, { world, height, seed: `${seed} ${step} ${payment}` }))
          paid += 1;
    }
  }
  assert.ok(paid > 60, `${paid} payments`);
});

test("the preferred pair is the least related one, and of equal ones the first", async () => {
  const dice = new Dice("pairs");
  for (let round = 0; round < 60; round++) {
    const world: World = { base: 1000n, minors: [1, 3, 60][round % 3]!, perBlock: 1 };
    const outputs = Array.from({ length: 5 + dice.below(60) }, (_, i) => ({
      ...outputIn(dice, world, 100 + Math.floor(i / 4)),
      amount: BigInt(1 + dice.below(1000)),
    }));
    const greatest = outputs
      .map(({ amount }) => amount)
      .sort((a, b) => Number(a - b))
      .at(-1)!;
    const needed = greatest + BigInt(1 + dice.below(900));
    let [best, pair]: [number, OwnedOutput[]] = [1, []];
    for (const [i, a] of outputs.entries())
      for (const b of outputs.slice(i + 1)) {
        if (a.subaddress.minor !== b.subaddress.minor || a.amount + b.amount < needed) continue;
        if (relatednessOf(a, b) < best) [best, pair] = [relatednessOf(a, b), [a, b]];
      }
    assert.deepEqual(await runSliced(preferredInputs(Preferable.of(outputs), needed)), pair);
  }
});

test("places stay in order whatever is added and removed, and parts in use elsewhere do not change", () => {
  const dice = new Dice("order");
  const keys = Array.from({ length: 3000 }, () => dice.below(3));
  const compare = (a: number, b: number) => keys[a]! - keys[b]! || a - b;
  const places = new Set(Array.from({ length: 1200 }, () => dice.below(keys.length)));
  const order = new PlaceOrder(
    (place) => (other) => compare(other, place),
    Uint32Array.from([...places].sort(compare)),
  );
  const inUse: [Uint32Array, string][] = [];
  for (let step = 0; step < 6000; step++) {
    const place = dice.below(keys.length);
    if (places.has(place)) order.delete(place);
    else order.add(place);
    if (!places.delete(place)) places.add(place);
    if (step % 500 > 0) continue;
    const parts = order.range(
      (each) => keys[each]! < 1,
      (each) => keys[each]! > 1,
    );
    const found = parts.map(({ chunk, from, to }) => {
      chunk.isShared = true;
      return chunk.places.subarray(from, to);
    });
    inUse.push(...found.map((part): [Uint32Array, string] => [part, part.join()]));
    const ofKey = [...places].filter((each) => keys[each] === 1).sort(compare);
    assert.equal(found.map((part) => part.join()).join(), ofKey.join());
  }
  for (const [part, text] of inUse) assert.equal(part.join(), text);
  assert.throws(() => order.delete([...keys.keys()].find((each) => !places.has(each))!));
});

test("what is known of many outputs is believed only as long as it is true", () => {
  const dice = new Dice("summaries");
  const world: World = { base: 1000n, minors: 2, perBlock: 40 };
  const book = OutputBook.of(Array.from({ length: 2400 }, (_, i) => outputIn(dice, world, 100 + (i >> 6))));
  let [height, seconds, most, matches] = [120, TIME - 200, 2n ** 64n, 0];
  for (let step = 0; step < 300; step++) {
    // Each step changes a few things at most, so that what was known before is asked for again.
    const steps = [
      () => (height += 1 - 2 * dice.below(2)),
      () => (seconds += dice.below(5) - 2),
      () => (seconds += dice.below(61)),
      () => (most = most === 2000n ? 2n ** 64n : 2000n),
      () => change(dice, book, { world, height: 140 }),
      () => book.push(outputIn(dice, world, 140)),
      () => book.truncate(book.count - 1),
    ];
    steps[dice.below(2 * steps.length)]?.();
    if (dice.below(2) === 0) change(dice, book, { world, height: 140 });
    const now: Now = { network: "regtest", height, seconds };
    const needsKeyImage = dice.below(8) > 0;
    const isOpen = (lock: Pick<OwnedOutput, "height" | "unlockTime">) => isUnlocked(lock, now);
    const leastAmount = [0n, 0n, 1000n, 1001n, BigInt(dice.below(1200))][dice.below(5)]!;
    const kind = (["hidden", "clear", "dust"] as const)[dice.below(3)]!;
    const isOfKind = ({ rct, amount }: OwnedOutput) => {
      const isRare = !rct && !isDecomposedAmount(amount);
      return kind === "hidden" ? rct : isRare === (kind === "dust");
    };
    const free = [...book].map((output, place) => ({ output, place }));
    const expected = free.filter(
      ({ output }) =>
        output.subaddress.major === 0 &&
        (output.spentHeight ?? output.pendingSpend) === undefined &&
        !output.frozen &&
        (output.keyImage !== undefined || !needsKeyImage) &&
        isOpen(output) &&
        isOfKind(output) &&
        output.amount >= leastAmount &&
        output.amount <= most,
    );
    const question = { height, seconds, needsKeyImage, isUnlocked: isOpen };
    const filter = { kind, question, leastAmount, greatestAmount: most };
    const placesOf = (parts: ReturnType<OutputBook["freeOfAccount"]>) =>
      parts.flatMap((part) => [...placesIn(part)]).join();
    assert.equal(placesOf(book.freeOfAccount(0, filter)), expected.map(({ place }) => place).join());
    const ofAddress = expected.filter(({ output }) => output.subaddress.minor === 1);
    const address = { major: 0, minor: 1 };
    assert.equal(placesOf(book.freeOfAddress(address, filter)), ofAddress.map(({ place }) => place).join());
    matches += expected.length;
  }
  assert.ok(matches > 10_000, `${matches} matches`);
});

test("a pool is like one of a list, also once outputs were taken", async () => {
  const dice = new Dice("pool");
  const world: World = { base: 1000n, minors: 1, perBlock: 1 };
  const outputs = Array.from({ length: 1500 }, (_, i) => ({
    ...outputIn(dice, world, 100 + i),
    ...{ rct: true, unlockTime: 0n, frozen: false, subaddress: { major: 0, minor: 0 } },
  }));
  const book = OutputBook.of(outputs);
  const question = { height: 5000, seconds: TIME, needsKeyImage: false, isUnlocked: () => true };
  const filter = { kind: "clear", question, leastAmount: 1000n, greatestAmount: 1001n } as const;
  const parts = book.freeOfAddress({ major: 0, minor: 0 }, filter);
  const [pool, list] = [
    poolOfParts(book, parts),
    poolOf([...book].filter(({ amount }) => amount === 1000n || amount === 1001n)),
  ];
  // The last one first: nothing is moved into its place.
  for (let isFirst = true; list.size > 0; isFirst = false) {
    assert.equal(pool.size, list.size);
    const index: number = isFirst ? list.size - 1 : dice.below(list.size);
    const output = list.at(index);
    assert.deepEqual(pool.at(index), output);
    const amounts = pool.runs().flatMap(({ from, to, least, greatest }) => {
      const inRun = Array.from({ length: to - from }, (_, i) => pool.amountNumberAt(from + i));
      assert.ok(inRun.every((amount) => amount >= least && amount <= greatest));
      return inRun;
    });
    assert.equal(amounts.length, list.size);
    assert.equal(pool.indexOf(output), index);
    pool.removeAt(index);
    list.removeAt(index);
    assert.equal(pool.indexOf(output), -1);
    assert.equal(pool.indexOf(output), -1);
  }
  assert.deepEqual(pool.runs(), []);
});
