import assert from "node:assert/strict";
import { test } from "node:test";
import { allForkRules, type ForkRules, firstFork, forkRules } from "../src/fork-rules.ts";
import { networks } from "../src/networks.ts";

test("each fork of every network has its line, in order", () => {
  assert.deepEqual(
    allForkRules.map(({ fork }) => fork),
    Array.from({ length: 16 }, (_, i) => i + 1),
  );
  for (const { hardForks } of Object.values(networks))
    for (const { version } of hardForks) assert.equal(forkRules(version).fork, version);
});

const first: ForkRules = {
  fork: 1,
  transactionVersions: { least: 1, most: 1 },
  ringSize: { least: 0, most: Number.POSITIVE_INFINITY, also: 0 },
  ringCtTypes: [1, 2],
  outputTypes: "plain",
  fewestOutputs: 0,
  amounts: "any",
  hasDistinctMembers: false,
  hasSortedInputs: false,
  hasEqualRings: false,
  ringMemberAge: 0,
  fee: "fixed, per kB",
  secondsPerBlock: 60,
  powVariant: 0,
  freeWeight: 20_000,
  weight: "short",
  penalty: "short",
  heaviestTransaction: 1_000_000,
  unlockTime: "clock",
  minerVersion: 1,
  claim: "all",
};
const ringsOf = (least: number, most = least, also = 0) => ({ ringSize: { least, most, also } });
const ringsFrom = (least: number) => ringsOf(least, Number.POSITIVE_INFINITY);

/**
 * What each hard fork changed; all else stayed. Source: the release notes of 0.9 to 0.18, cryptonote_config.h
 * `HF_VERSION_*`, blockchain.cpp `check_tx_outputs`, `check_tx_inputs`, `validate_miner_transaction`.
 */
const changes: Record<number, Partial<ForkRules>> = {
  2: {
    ...{ ...ringsFrom(3), amounts: "digits" as const },
    ...{ secondsPerBlock: 120, freeWeight: 60_000, claim: "less" as const },
  },
  3: { amounts: "hidden", claim: "less, digits" },
  4: { transactionVersions: { least: 1, most: 2 }, fee: "dynamic, per kB", claim: "less" },
  5: { freeWeight: 300_000 },
  6: { transactionVersions: { least: 2, most: 2 }, ...ringsFrom(5), hasDistinctMembers: true },
  7: { ...ringsFrom(7), hasSortedInputs: true, powVariant: 1 },
  8: {
    ...{ ...ringsOf(11), ringCtTypes: [1, 2, 3], fee: "dynamic, per byte" as const },
    ...{ powVariant: 2 as const, heaviestTransaction: 149_400 },
  },
  9: { ringCtTypes: [3] },
  10: { ringCtTypes: [3, 4], powVariant: 4, weight: "long" },
  11: { ringCtTypes: [4] },
  12: {
    ...{ fewestOutputs: 2, hasEqualRings: true, ringMemberAge: 10 },
    ...{ powVariant: "randomx" as const, penalty: "effective" as const, minerVersion: 2 },
  },
  13: { ringCtTypes: [4, 5], unlockTime: "chain", claim: "all" },
  14: { ringCtTypes: [5] },
  15: {
    ...{ ...ringsOf(16, 16, 11), ringCtTypes: [5, 6], outputTypes: "either" as const },
    ...{ fee: "2021, per byte" as const, weight: "2021" as const },
  },
  16: { ...ringsOf(16), ringCtTypes: [6], outputTypes: "tagged" },
};

test("each hard fork changed what its release said, and nothing else", () => {
  let rules = first;
  assert.deepEqual(forkRules(1), rules);
  for (const [fork, change] of Object.entries(changes)) {
    rules = { ...rules, ...change, fork: Number(fork) };
    assert.deepEqual(forkRules(rules.fork), rules);
  }
  assert.equal(rules.fork, allForkRules.length);
});

test("a fork that is not in the table has the rules of the nearest", () => {
  assert.equal(forkRules(17), forkRules(16));
  assert.equal(forkRules(0), forkRules(1));
});

test("the first fork with a rule is found, and none where no fork has it", () => {
  assert.equal(
    firstFork(({ ringSize }) => ringSize.least === 11),
    8,
  );
  assert.equal(
    firstFork(({ ringSize }) => ringSize.least > 16),
    Number.POSITIVE_INFINITY,
  );
});

test("no rule but the grace of hard fork 15 is ever loosened", () => {
  for (const [i, rules] of allForkRules.entries()) {
    const before = allForkRules[i - 1] ?? rules;
    assert.ok(rules.ringSize.least >= before.ringSize.least && rules.ringSize.least <= rules.ringSize.most);
    assert.ok(rules.transactionVersions.least >= before.transactionVersions.least);
    assert.ok(rules.fewestOutputs >= before.fewestOutputs && rules.ringMemberAge >= before.ringMemberAge);
    assert.ok(rules.minerVersion >= before.minerVersion);
    assert.ok(rules.heaviestTransaction <= before.heaviestTransaction);
    assert.equal(rules.ringSize.also > 0, rules.fork === 15);
  }
});
