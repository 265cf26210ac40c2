import assert from "node:assert/strict";
import { test } from "node:test";
import { allForkRules, firstFork, forkRules } from "../src/fork-rules.ts";
import { networks } from "../src/networks.ts";

test("each fork of every network has its line, in order", () => {
  assert.deepEqual(
    allForkRules.map(({ fork }) => fork),
    Array.from({ length: 16 }, (_, i) => i + 1),
  );
  for (const { hardForks } of Object.values(networks))
    for (const { version } of hardForks) assert.equal(forkRules(version).fork, version);
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
