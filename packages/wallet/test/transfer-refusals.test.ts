/** What is refused before anything is signed: odd requests, and answers of a node that cannot be true. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, type NetworkName, sumAmounts } from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createRuntime } from "../src/runtime.ts";
import { knownExtraSize, parseDestinations, withFeePayers } from "../src/transfer/destinations.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { blankExtra, outputsOf } from "../src/transfer/outputs.ts";
import { isFull, type PlanContext, settleFee, withFee } from "../src/transfer/plan.ts";
import { planSweep } from "../src/transfer/plan-sweep.ts";
import { createRings, type OutputSource, type RingMemory } from "../src/transfer/rings.ts";
import { turnsDuring } from "./event-loop-turns.ts";
import { createChain, destinationOf, receive, receiverOf, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("refusals");
const keys = createKeys(random);
const receivers = Array.from({ length: 3 }, () => createKeys(random));
const { threads } = createRuntime();

/** In block 200 of chains with 20 outputs a block. */
const owned = receive(keys, { amount: 5n, globalIndex: 4000, height: 200 }, random);
const visible = { ...owned, rct: false, mask: Uint8Array.of(1, ...new Uint8Array(31)) };
const noMemory: RingMemory = { ringOf: () => undefined, remember: async () => undefined };

const ringsFrom = (source: OutputSource, output = owned, memory = noMemory) =>
  createRings({ inputs: [output], source, memory, random, threads });

const refusal = (message: RegExp | string) => ({ name: "WalletRefusal", message });

test("a node with fewer outputs than the wallet has seen is not believed", async () => {
  const chain = (blocks: number) => createChain(blocks, 20, [owned]);
  await assert.rejects(ringsFrom(chain(10)), refusal("Not enough rct outputs"));
  await assert.rejects(ringsFrom(chain(11)), refusal(/suspicious number of rct outputs/));
  await assert.rejects(ringsFrom(chain(200)), refusal(/suspicious number of rct outputs/));
  const source = chain(1000);
  for (const blocks of [1, -1]) {
    const { startHeight, cumulative } = await source.hiddenCounts();
    const moved = { startHeight: startHeight + blocks, cumulative };
    await assert.rejects(
      ringsFrom({ ...source, hiddenCounts: async () => moved }),
      refusal(/rct outputs other than those scanned/),
    );
  }
  assert.equal((await ringsFrom(source)).length, 1);
});

test("a node cannot have more recent outputs of an amount than outputs", async () => {
  const chain = createChain(1000, 20, [visible]);
  const withCounts = (recent: number): OutputSource => ({
    ...chain,
    visibleCounts: async () => new Map([[5n, { unlocked: 5000, recent }]]),
  });
  await assert.rejects(ringsFrom(withCounts(5001), visible), refusal(/more recent outs than outs for 5/));
  assert.equal((await ringsFrom(withCounts(5000), visible)).length, 1);
});

test("an earlier ring that a node would find odd is not shown again", async () => {
  const old = Array.from({ length: 15 }, (_, i) => 3 * i);
  const shown: (readonly number[])[] = [];
  const memory: RingMemory = {
    ringOf: () => [...old, 4000],
    remember: async (rings) => void shown.push(...[...rings].map(([, indices]) => indices)),
  };
  const [ring] = await ringsFrom(createChain(1000, 20, [owned]), owned, memory);
  const indices = ring!.members.map(({ globalIndex }) => globalIndex);
  assert.deepEqual(shown, [indices]);
  assert.ok((indices[7]! + indices[8]!) / 2 >= 12_000, `${indices}`);
});

const network = "regtest";
const addressOf = (at: number, paymentId?: Uint8Array) => {
  const { spendPublic, viewPublic } = receivers[at]!;
  const parts = { spendPublic, viewPublic };
  return formatAddress(
    paymentId === undefined ? { kind: "standard", ...parts } : { kind: "integrated", ...parts, paymentId },
    network,
  );
};
const paymentId = new Uint8Array(8).fill(7);

test("destinations are addresses of the network, with one payment id at most", async () => {
  const [plain, integrated] = [addressOf(0), addressOf(1, paymentId)];
  const parsed = await parseDestinations(
    [
      { address: plain, amount: 1n },
      { address: integrated, amount: 2n },
    ],
    network,
  );
  assert.deepEqual(
    parsed.map((each) => [each.address, each.amount, each.isSubaddress, each.paymentId]),
    [
      [plain, 1n, false, undefined],
      [integrated, 2n, false, paymentId],
    ],
  );
  assert.deepEqual([knownExtraSize(parsed), knownExtraSize([parsed[0]!])], [11, 0]);
  const two = [1, 2].map((at) => ({ address: addressOf(at, paymentId), amount: 1n }));
  // At once, or, where the turn of the event loop is over, in the next one.
  const refused = (
    texts: Parameters<typeof parseDestinations>[0],
    why: RegExp | string,
    on: NetworkName = network,
  ) => assert.rejects(async () => await parseDestinations(texts, on), refusal(why));
  await refused(two, "A single payment id is allowed per transaction");
  await refused([], "Transaction has no destination");
  await refused([{ address: "4x", amount: 1n }], /WRONG_ADDRESS: 4x$/);
  await refused([{ address: plain, amount: 1n }], /WRONG_ADDRESS/, "stagenet");
});

test("many destinations are parsed, and those that pay the fee found, in turns of the event loop", async () => {
  const plain = addressOf(0);
  const texts = Array.from({ length: 20_000 }, (_, i) => ({ address: plain, amount: BigInt(i) }));
  assert.ok((await turnsDuring(() => parseDestinations(texts, network))) > 1);
  const destinations = await parseDestinations(texts, network);
  assert.deepEqual(
    destinations.map(({ amount }) => amount),
    texts.map(({ amount }) => amount),
  );
  const all = texts.map((_, place) => place);
  const payers = await withFeePayers(destinations, all);
  assert.ok(payers.every(({ place, paysFee }, i) => place === i && paysFee));
});

test("who pays the fee is one of the destinations", async () => {
  const destinations = [0, 1].map((at) => destinationOf(receivers[at]!, 1n));
  assert.deepEqual(
    (await withFeePayers(destinations, [1])).map(({ place, paysFee }) => [place, paysFee]),
    [
      [0, false],
      [1, true],
    ],
  );
  const none = await withFeePayers(destinations, []);
  assert.ok(none.every((each) => each.paysFee === false && !("place" in each)));
  assert.throws(() => withFeePayers(destinations, [0, 2]), refusal(/^subtractfeefrom: bad index: 2 /));
});

const change = receiverOf(keys);
const dummy = receiverOf(receivers[2]!);
const planOf = (destinations: ReturnType<typeof destinationOf>[], rest = 0n) => ({
  ...{ inputs: [owned], destinations, fee: 1n, change: rest },
});

test("a transaction has two outputs at least, and what is not paid out is change", () => {
  const [a, b] = [destinationOf(receivers[0]!, 3n), destinationOf(receivers[1]!, 4n)];
  const amounts = (...of: Parameters<typeof planOf>) =>
    outputsOf(planOf(...of), { change, dummy }).map((each) => [each.amount, each.isChange, each.spendPublic]);
  assert.deepEqual(amounts([a]), [
    [3n, false, a.spendPublic],
    [0n, true, dummy.spendPublic],
  ]);
  assert.deepEqual(amounts([a, b]), [
    [3n, false, a.spendPublic],
    [4n, false, b.spendPublic],
  ]);
  assert.deepEqual(amounts([a], 1n), [
    [3n, false, a.spendPublic],
    [1n, true, change.spendPublic],
  ]);
});

test("room in extra: a key, more of them beside a subaddress, and a payment id that one receiver can read", () => {
  const subaddress = destinationOf(receivers[0]!, 3n, { major: 0, minor: 1 });
  const [a, b] = [destinationOf(receivers[0]!, 3n), destinationOf(receivers[1]!, 4n)];
  const size = (...of: Parameters<typeof planOf>) => {
    const planned = planOf(...of);
    return blankExtra(planned, outputsOf(planned, { change, dummy }), change).length;
  };
  const [key, id] = [33, 11];
  assert.equal(size([a], 1n), key + id);
  assert.equal(size([subaddress], 1n), key + id);
  assert.equal(size([a, b], 1n), key);
  assert.equal(size([subaddress, b], 1n), key + 2 + 3 * 32);
  const withId = destinationOf(receivers[0]!, 3n, undefined, paymentId);
  assert.equal(size([withId], 1n), key + id);
  assert.throws(() => size([withId, b], 1n), refusal("transaction was not constructed"));
});

const contextOf = (weigh: PlanContext["weigh"]): PlanContext => ({
  fee: { feePerByte: 1n, quantizationMask: 1n },
  extraSize: 0,
  weigh,
});

test("a fee that is never enough for itself is given up, and so is one above what there is", async () => {
  const planWith = (fee: bigint) => withFee([{ ...owned, amount: 10_000n }], [], fee);
  let attempts = 0;
  const growing = contextOf(async ({ fee }) => {
    attempts += 1;
    return Number(fee) + 1;
  });
  await assert.rejects(settleFee(planWith, 100n, growing), refusal(/^Too many attempts to raise/));
  assert.equal(attempts, 10);
  const settled = await settleFee(
    planWith,
    100n,
    contextOf(async () => 9999),
  );
  assert.deepEqual([settled.fee, settled.change], [9999n, 1n]);
  assert.equal(
    (
      await settleFee(
        planWith,
        100n,
        contextOf(async () => 10_000),
      )
    ).change,
    0n,
  );
  await assert.rejects(
    settleFee(
      planWith,
      100n,
      contextOf(async () => 10_001),
    ),
    refusal("not enough unlocked money"),
  );
});

test("a sweep leaves every output something", async () => {
  const destination = destinationOf(receivers[0]!, 0n);
  const context = { ...contextOf(async () => 5000), isVisible: true };
  const sweep = (amount: bigint, outputs: number) => {
    const pools = { inputs: poolOf([{ ...owned, amount }]), dust: poolOf([]) };
    return planSweep({ destination, outputs, ...pools, random }, context);
  };
  await assert.rejects(sweep(5000n, 1), refusal("Transaction cannot pay for itself"));
  await assert.rejects(sweep(5002n, 3), refusal("destination amount is zero"));
  const [three] = await sweep(5005n, 3);
  assert.deepEqual([three!.destinations.map(({ amount }) => amount), three!.change], [[2n, 2n, 1n], 0n]);
  assert.equal(sumAmounts(three!.destinations), 5n);
});

test("a transaction of visible amounts is full at its own size", () => {
  const visibleContext = { extraSize: 6, isVisible: true };
  // 80 bytes an input; two thirds of the largest weight are 99600 bytes.
  assert.equal(isFull(1244, 73, visibleContext), false);
  assert.equal(isFull(1244, 74, visibleContext), true);
  assert.equal(isFull(1245, 0, { extraSize: 0, isVisible: true }), true);
  assert.equal(isFull(1244, 74, { extraSize: 6 }), true);
  assert.equal(isFull(1, 2, visibleContext), false);
});
