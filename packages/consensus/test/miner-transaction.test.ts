import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transaction } from "@anulo/protocol";
import { checkClaim, checkForkVersion, checkMinerTransaction } from "../src/index.ts";
import { tagged } from "./forge.ts";
import { assertRefused } from "./refusals.ts";

const key = new Uint8Array(32);
const untagged = { amount: 5n, target: { type: "key", key } } as const;
const miner = (
  prefix: Partial<Transaction["prefix"]> = {},
  rest: Partial<Transaction> = {},
): Transaction => ({
  prefix: {
    version: 2,
    unlockTime: 160n,
    inputs: [{ type: "generation", height: 100 }],
    outputs: [tagged(key, 5n)],
    extra: key,
    ...prefix,
  },
  signatures: [],
  ringct: { type: 0 },
  ...rest,
});
const at = (hardForkVersion: number, transaction: Transaction) => () =>
  checkMinerTransaction(transaction, { height: 100, hardForkVersion });

test("a miner transaction has one generation input of its block's height", () => {
  at(16, miner())();
  const generation = { type: "generation", height: 100 } as const;
  assertRefused(at(16, miner({ inputs: [] })), "MINER_INPUT");
  assertRefused(at(16, miner({ inputs: [generation, generation] })), "MINER_INPUT");
  const spending = { type: "key", amount: 0n, keyOffsets: [1n], keyImage: key } as const;
  assertRefused(at(16, miner({ inputs: [{ ...spending, keyOffsets: [1n] }] })), "MINER_INPUT");
  assertRefused(at(16, miner({ inputs: [{ ...generation, height: 99 }] })), "MINER_HEIGHT");
});

test("it is locked for exactly 60 blocks", () => {
  assertRefused(at(16, miner({ unlockTime: 159n })), "MINER_UNLOCK_TIME");
  assertRefused(at(16, miner({ unlockTime: 161n })), "MINER_UNLOCK_TIME");
});

test("it is of version 2 without ringct from hard fork 12", () => {
  const old = miner({ version: 1, outputs: [untagged] }, { ringct: undefined });
  at(11, old)();
  assertRefused(at(12, old), "MINER_VERSION");
  const hiding = { type: 5 } as unknown as Transaction["ringct"];
  const odd = miner({ outputs: [untagged] }, { ringct: hiding });
  at(11, odd)();
  assertRefused(at(12, odd), "MINER_RINGCT");
});

test("before hard fork 12 its ringct may be anything that can be weighed", () => {
  const hiding = (type: number, count: number) => {
    const outputs = Array.from({ length: count }, () => untagged);
    return miner({ outputs }, { ringct: { type } as unknown as Transaction["ringct"] });
  };
  for (const type of [1, 2, 3, 6]) at(11, hiding(type, 16))();
  for (const type of [1, 2]) at(11, hiding(type, 17))();
  for (const type of [3, 6]) assertRefused(at(11, hiding(type, 17)), "MINER_RINGCT");
});

test("its outputs are tagged from hard fork 16, either but alike in 15, plain before", () => {
  const plain = miner({ outputs: [untagged, untagged] });
  const mixed = miner({ outputs: [tagged(key, 5n), untagged] });
  at(14, plain)();
  at(15, plain)();
  at(15, miner())();
  assertRefused(at(14, miner()), "MINER_OUTPUT_TYPE");
  assertRefused(at(15, mixed), "MINER_OUTPUT_TYPE");
  assertRefused(at(16, plain), "MINER_OUTPUT_TYPE");
});

test("its amounts sum to 64 bits at most", () => {
  const amounts = (...list: bigint[]) => miner({ outputs: list.map((amount) => tagged(key, amount)) });
  at(16, amounts(2n ** 64n - 2n, 1n))();
  assertRefused(at(16, amounts(2n ** 64n - 2n, 2n)), "MINER_AMOUNT_OVERFLOW");
});

test("the miner claims reward and fees to the last unit, or less between hard forks 2 and 12", () => {
  const claim = (hardForkVersion: number, amount: bigint) =>
    checkClaim(miner({ outputs: [tagged(key, amount)] }), { reward: 100n, fees: 10n, hardForkVersion });
  for (const version of [1, 2, 12, 13, 16]) assert.equal(claim(version, 110n), 100n);
  for (const version of [1, 2, 12, 13, 16])
    assertRefused(() => claim(version, 111n), "MINER_REWARD_TOO_HIGH");
  for (const version of [1, 13, 16]) assertRefused(() => claim(version, 109n), "MINER_REWARD_NOT_EXACT");
  for (const version of [2, 4, 12]) assert.equal(claim(version, 50n), 40n);
  assert.equal(claim(12, 10n), 0n);
  assertRefused(() => claim(12, 9n), "MINER_REWARD_NOT_EXACT");
});

test("in hard fork 3 each output of the miner is one digit and zeros", () => {
  const claim = (...amounts: bigint[]) =>
    checkClaim(miner({ outputs: amounts.map((amount) => tagged(key, amount)) }), {
      reward: 100n,
      fees: 10n,
      hardForkVersion: 3,
    });
  assert.equal(claim(100n, 10n), 100n);
  assertRefused(() => claim(110n), "MINER_OUTPUT_NOT_DECOMPOSED");
});

test("a miner transaction of version 1 has no output of nothing", () => {
  const outputs = [tagged(key, 110n), tagged(key, 0n)];
  const entitlement = { reward: 100n, fees: 10n, hardForkVersion: 4 };
  assert.equal(checkClaim(miner({ outputs }), entitlement), 100n);
  assertRefused(() => checkClaim(miner({ version: 1, outputs }), entitlement), "MINER_OUTPUT_OF_NOTHING");
});

test("a block's major version is the fork's and its vote not older", () => {
  const header = { timestamp: 0, previousId: key, nonce: 0 };
  const check = (majorVersion: number, minorVersion: number, required: number) => () =>
    checkForkVersion({ ...header, majorVersion, minorVersion }, required);
  check(16, 16, 16)();
  check(16, 255, 16)();
  check(1, 0, 1)();
  for (const [major, minor] of [
    [15, 16],
    [17, 17],
    [16, 15],
    [16, 0],
  ] as const) {
    assertRefused(check(major, minor, 16), "BLOCK_VERSION");
  }
});
