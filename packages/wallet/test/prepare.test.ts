/** What a payment needs at least, before outputs are chosen for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { estimateTransactionSize } from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { knownExtraSize } from "../src/transfer/destinations.ts";
import { type PrepareParts, preparePayment } from "../src/transfer/prepare.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";
import { destinationOf } from "./transfer-fixture.ts";

const amount = 10n ** 12n;
const destinations = [destinationOf(createKeys(bytes), amount)];
const feeRate = { feePerByte: 20_000n, quantizationMask: 10_000n };
/** Of the smallest payment: one input, and change beside what is paid. */
const leastFee =
  feeRate.feePerByte *
  BigInt(
    estimateTransactionSize({
      inputs: 1,
      outputs: 2,
      ringSize: 16,
      extraSize: knownExtraSize(destinations),
    }),
  );

/** What becomes of the payment with so much in address 0: a kind of refusal, or the number of transactions. */
async function outcome(
  funds: { readonly balance: bigint; readonly unlocked: bigint },
  { paysFee = false, minors = [] as readonly number[], addresses = 1 } = {},
): Promise<string | number> {
  const { state } = ledgerOf({ count: 0, amount: () => 0n, addresses: 1 });
  const { height } = state;
  const spendableNow = { height, seconds: 0, needsKeyImage: true, isUnlocked: () => false };
  const parts = {
    feeRate,
    wallet: { state, preferences: DEFAULT_PREFERENCES, spendableNow },
    balanceOf: () => ({ addresses: Array.from({ length: addresses }, (_, minor) => ({ minor, ...funds })) }),
  } as unknown as PrepareParts;
  const paid = destinations.map((destination) => ({ ...destination, paysFee }));
  try {
    return (await preparePayment(parts, { account: 0, minors, destinations: paid })).length;
  } catch (error) {
    if (error instanceof WalletRefusal) return error.kind;
    throw error;
  }
}

test("a payment needs its amount and the fee of the smallest transaction", async () => {
  const least = amount + leastFee;
  assert.equal(await outcome({ balance: least - 1n, unlocked: 0n }), "NOT_ENOUGH_MONEY");
  assert.equal(await outcome({ balance: least, unlocked: least - 1n }), "NOT_ENOUGH_UNLOCKED_MONEY");
  assert.equal(await outcome({ balance: least, unlocked: least }), 0, "no output is worth spending");
});

test("where the receiver pays the fee, the amount alone is needed", async () => {
  const paysFee = true;
  assert.equal(await outcome({ balance: amount - 1n, unlocked: 0n }, { paysFee }), "NOT_ENOUGH_MONEY");
  const locked = { balance: amount, unlocked: amount - 1n };
  assert.equal(await outcome(locked, { paysFee }), "NOT_ENOUGH_UNLOCKED_MONEY");
  assert.equal(await outcome({ balance: amount, unlocked: amount }, { paysFee }), 0);
});

test("only what the named addresses have counts", async () => {
  const enough = { balance: 2n * amount, unlocked: 2n * amount };
  assert.equal(await outcome(enough, { minors: [0] }), 0);
  assert.equal(await outcome(enough, { minors: [1] }), "NOT_ENOUGH_MONEY");
});

test("many addresses that are named are looked through a few times, not once for each that has money", async (t) => {
  const count = 2000;
  let reads = 0;
  const minors = new Proxy(
    Array.from({ length: count }, (_, minor) => minor),
    {
      get(target, name, receiver) {
        reads += typeof name === "string" && /^\d+$/.test(name) ? 1 : 0;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  await outcome({ balance: amount, unlocked: amount }, { minors, addresses: count });
  assert.ok(reads < 20 * count, `${reads} reads`);
  const freeOfAddress = t.mock.method(OutputBook.prototype, "freeOfAddress");
  assert.equal(await outcome({ balance: amount, unlocked: amount }, { minors, addresses: count }), 0);
  assert.equal(freeOfAddress.mock.callCount(), 0, "an address that has received nothing is not looked at");
});
