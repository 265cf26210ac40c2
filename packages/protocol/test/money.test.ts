import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  BadAmount,
  BadBytes,
  baseReward,
  blockId,
  blockReward,
  digitsOfAmount,
  dynamicBaseFee,
  dynamicFees2021,
  estimateTransactionSize,
  estimateTransactionWeight,
  feeOfWeight,
  formatAmount,
  fromHex,
  genesisBlock,
  hardForkAt,
  heightOfHardFork,
  isFeeEnough,
  MAX_AMOUNT,
  neededFee,
  networks,
  parseAmount,
  prunedTransactionWeight,
  readBlock,
  readTransaction,
  roundAmountUp,
  toHex,
  transactionHash,
  transactionWeight,
  writePrunedTransaction,
} from "../src/index.ts";
import { weightWithProofs } from "../src/weight.ts";
import { eraVectors, recordedChain, recordedTransactions } from "./fixtures.ts";

function feeOf(hex: string): bigint {
  const { ringct } = readTransaction(fromHex(hex));
  return ringct !== undefined && ringct.type !== 0 ? ringct.fee : 0n;
}

test("the genesis blocks of the four networks have their ids", () => {
  const ids = {
    mainnet: "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3",
    regtest: "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3",
    testnet: "48ca7cd3c8de5b6a4d53d2861fbdaedca141553559f9be9520068053cda8430b",
    stagenet: "76ee3cc98646292206cd3e86f74d88b4dcc1d937088645e9b0cbca84b7ce74eb",
  };
  for (const network of Object.values(networks)) {
    assert.equal(toHex(blockId(genesisBlock(network))), ids[network.name]);
  }
});

test("a height is under the last fork that began at or below it", () => {
  const { mainnet, regtest } = networks;
  const expected = [
    [0, 1],
    [1009826, 1],
    [1009827, 2],
    [2688887, 14],
    [2688888, 15],
    [2689608, 16],
    [9999999, 16],
  ] as const;
  for (const [height, version] of expected) assert.equal(hardForkAt(mainnet, height), version);
  assert.deepEqual(
    [0, 1, 2].map((height) => hardForkAt(regtest, height)),
    [1, 16, 16],
  );
  assert.equal(heightOfHardFork(mainnet, 15), 2688888);
  assert.equal(heightOfHardFork(regtest, 15), undefined);
});

test("every recorded miner got the base reward and the fees", () => {
  let alreadyGenerated = MAX_AMOUNT >> 20n;
  for (const { block, transactions } of recordedChain.blocks) {
    const paid = readBlock(fromHex(block)).minerTransaction.prefix.outputs.reduce(
      (sum, o) => sum + o.amount,
      0n,
    );
    const fees = transactions.reduce((sum, hex) => sum + feeOf(hex), 0n);
    assert.equal(paid - fees, baseReward({ alreadyGenerated, version: 16 }));
    alreadyGenerated += paid - fees;
  }
});

test("the reward falls with the square of the excess weight and never below the tail", () => {
  const at = (weight: number) => blockReward({ medianWeight: 0, weight, alreadyGenerated: 0n, version: 16 });
  const full = MAX_AMOUNT >> 19n;
  assert.equal(at(300_000), full);
  assert.equal(at(300_001), (full * 299_999n * 300_001n) / 300_000n / 300_000n);
  assert.equal(at(450_000), (full * 3n) / 4n);
  assert.equal(at(600_000), 0n);
  assert.equal(at(600_001), undefined);
  assert.equal(baseReward({ alreadyGenerated: MAX_AMOUNT, version: 16 }), 600_000_000_000n);
  assert.equal(baseReward({ alreadyGenerated: MAX_AMOUNT, version: 1 }), 300_000_000_000n);
  assert.equal(baseReward({ alreadyGenerated: 0n, version: 1 }), 17_592_186_044_415n);
});

test("fees are those the real program told at height 108 of the recorded chain", () => {
  const reward = 35_177_158_618_638n;
  const fees = dynamicFees2021({ reward, shortTermMedian: 300_000, longTermMedian: 300_000 });
  assert.deepEqual(fees, [1_200_000n, 4_700_000n, 19_000_000n, 240_000_000n]);
});

test("recorded fees are enough, and what the estimated weight asks for", () => {
  const baseFee = dynamicBaseFee({ reward: MAX_AMOUNT >> 19n, medianWeight: 300_000, version: 16 });
  for (const hex of recordedTransactions) {
    const tx = readTransaction(fromHex(hex));
    const weight = transactionWeight(tx);
    assert.ok(isFeeEnough(feeOf(hex), neededFee({ weight, baseFee, version: 16 })));
    assert.equal(feeOf(hex) % 10_000n, 0n);
  }
});

test("the estimate of a weight is near the weight", () => {
  for (const hex of recordedTransactions) {
    const { prefix, ...proofs } = readTransaction(fromHex(hex));
    const [inputs, outputs] = [prefix.inputs.length, prefix.outputs.length];
    const estimate = estimateTransactionWeight({
      inputs,
      outputs,
      ringSize: 16,
      extraSize: prefix.extra.length,
    });
    const weight = transactionWeight({ prefix, ...proofs });
    assert.ok(Math.abs(estimate - weight) < 25 * inputs + 8 * outputs, `${estimate} for ${weight}`);
  }
});

test("a payment with change is expected to have 1536 bytes, and each part adds its own", () => {
  const payment = { inputs: 1, outputs: 2, ringSize: 16, extraSize: 44 };
  const more = (change: Partial<typeof payment>) =>
    estimateTransactionSize({ ...payment, ...change }) - estimateTransactionSize(payment);
  // Source: wallet2.cpp `estimate_rct_tx_size`, with Bulletproofs+, CLSAG and view tags.
  assert.equal(estimateTransactionSize(payment), 1536);
  assert.equal(more({ inputs: 2 }), 679);
  assert.equal(more({ ringSize: 17 }), 34);
  assert.equal(more({ extraSize: 45 }), 1);
  assert.equal(more({ outputs: 3 }), 79 + 64, "a range proof for four, an L and an R longer");
  assert.equal(more({ outputs: 4 }), 2 * 79 + 64);
  assert.equal(estimateTransactionWeight(payment), 1536);
});

test("one proof for many outputs weighs what it saves, less a fifth, by either kind of proof", () => {
  const tx = readTransaction(fromHex(recordedTransactions[0]!));
  const weigh = (type: 3 | 6, outputs: number, rounds: number) => {
    const prefix = { ...tx.prefix, outputs: Array.from({ length: outputs }, () => tx.prefix.outputs[0]!) };
    const L = Array.from({ length: rounds }, () => new Uint8Array(32));
    const ringct = { ...tx.ringct, type } as typeof tx.ringct;
    return weightWithProofs({ ...tx, prefix, ringct }, 1000, [{ L, R: L }]) - 1000;
  };
  // Source: cryptonote_format_utils.cpp `get_transaction_weight_clawback`.
  assert.equal(weigh(3, 2, 7), 0);
  assert.equal(weigh(3, 4, 8), 537);
  assert.equal(weigh(3, 16, 10), 3968);
  assert.equal(weigh(6, 2, 7), 0);
  assert.equal(weigh(6, 4, 8), 460);
  assert.equal(weigh(6, 16, 10), 3430);
});

test("a pruned transaction tells the weight of the whole", () => {
  for (const hex of recordedTransactions) {
    const tx = readTransaction(fromHex(hex));
    const pruned = readTransaction(writePrunedTransaction(tx), { pruned: true });
    assert.equal(prunedTransactionWeight(pruned), transactionWeight(tx));
    assert.throws(() => transactionWeight(pruned), RangeError);
  }
});

test("weights of every era are as known", (t) => {
  const vectors = eraVectors();
  if (vectors === undefined) return t.skip("no shared/vectors beside the project");
  for (const { kind, hex, expect } of vectors) {
    if (kind === "tx") assert.equal(transactionWeight(readTransaction(fromHex(hex))), expect.weight);
  }
});

test("sixteen outputs weigh more than their bytes", () => {
  const wide = recordedTransactions.find((hex) => readTransaction(fromHex(hex)).prefix.outputs.length > 8)!;
  const clawback = transactionWeight(readTransaction(fromHex(wide))) - wide.length / 2;
  const [notional, size] = [(32 * (6 + 14) * 16) / 2, 32 * (6 + 20)];
  assert.equal(clawback, Math.floor(((notional - size) * 4) / 5));
});

test("older fees: fixed, per kB, per byte", () => {
  const reward = 5_000_000_000_000n;
  assert.equal(dynamicBaseFee({ reward, medianWeight: 60_000, version: 3 }), 2_000_000_000n);
  assert.equal(dynamicBaseFee({ reward, medianWeight: 60_000, version: 4 }), 1_000_000_000n);
  assert.equal(dynamicBaseFee({ reward, medianWeight: 120_000, version: 4 }), 500_000_000n);
  const first = { reward: 17_592_186_044_415n, medianWeight: 300_000 };
  assert.equal(dynamicBaseFee({ ...first, version: 4 }), 703_690_000n);
  assert.equal(dynamicBaseFee({ ...first, version: 5 }), 703_690_000n);
  assert.equal(dynamicBaseFee({ reward, medianWeight: 300_000, version: 5 }), 200_000_000n);
  assert.equal(dynamicBaseFee({ reward, medianWeight: 300_000, version: 8 }), 33_333n);
  assert.equal(dynamicBaseFee({ reward, medianWeight: 300_000, version: 15 }), 158_333n);
  assert.equal(neededFee({ weight: 1025, baseFee: 7n, version: 7 }), 14n);
  assert.equal(neededFee({ weight: 1025, baseFee: 7n, version: 8 }), 10_000n);
  assert.ok(isFeeEnough(98n, 100n));
  assert.ok(!isFeeEnough(97n, 100n));
  assert.equal(feeOfWeight(3, 5000n), 20_000n);
});

test("from hard fork 15 on a byte costs something, however large blocks have become", () => {
  const fee = (medianWeight: number) =>
    dynamicBaseFee({ reward: 600_000_000_000n, medianWeight, version: 16 });
  assert.equal(fee(30_000_000), 2n);
  assert.equal(fee(42_000_000), 1n);
  assert.equal(fee(42_500_000), 1n);
  assert.equal(fee(2_000_000_000), 1n);
});

test("amounts are written with twelve decimals and read back", () => {
  assert.equal(formatAmount(0n), "0.000000000000");
  assert.equal(formatAmount(1_500_000_000_000n), "1.500000000000");
  assert.equal(formatAmount(MAX_AMOUNT), "18446744.073709551615");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MAX_AMOUNT }), (amount) => {
      assert.equal(parseAmount(formatAmount(amount)), amount);
    }),
  );
  assert.equal(parseAmount(" .5 "), 500_000_000_000n);
  assert.equal(parseAmount("2."), 2_000_000_000_000n);
  assert.equal(parseAmount("1.0000000000000"), 1_000_000_000_000n);
  for (const bad of [
    "",
    ".",
    "-1",
    "1e3",
    "1.0000000000001",
    "18446744.073709551616",
    "1 000",
    "0x1",
    "1.2.3",
  ]) {
    assert.throws(() => parseAmount(bad), BadAmount, bad);
  }
});

test("an amount is the sum of its digits, each with its zeros, the smallest first", () => {
  assert.deepEqual(digitsOfAmount(0n), []);
  assert.deepEqual(digitsOfAmount(7n), [7n]);
  assert.deepEqual(digitsOfAmount(10_203n), [3n, 200n, 10_000n]);
  assert.deepEqual(digitsOfAmount(MAX_AMOUNT).at(-1), 10_000_000_000_000_000_000n);
});

test("rounding up keeps so many digits", () => {
  const cases = [
    [0n, 0n],
    [99n, 99n],
    [100n, 100n],
    [101n, 110n],
    [991n, 1000n],
    [1_172_571n, 1_200_000n],
  ] as const;
  for (const [amount, rounded] of cases) assert.equal(roundAmountUp(amount, 2), rounded);
});

test("a proof that cannot hold the outputs has no weight", () => {
  const tx = readTransaction(fromHex(recordedTransactions.find((hex) => hex.length > 6000)!));
  const outputs = Array.from({ length: 17 }, () => tx.prefix.outputs[0]!);
  assert.throws(() => transactionWeight({ ...tx, prefix: { ...tx.prefix, outputs } }, 1), BadBytes);
  assert.equal(transactionHash(tx).length, 32);
});
