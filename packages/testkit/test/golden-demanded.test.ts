import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { recordedReleases } from "../src/fixtures.ts";
import type { Context } from "../src/golden/context.ts";
import { appliesTo, demandedAnswer, recordedAnswer, rules } from "../src/golden/demanded.ts";
import { calledBy, goldenGroups, loadRecording } from "../src/golden/recording.ts";

/** No recorded answer holds a value that these change; of S10, some lists were never recorded empty. */
const unrecorded = ["S8", "S10", "sweep_dust: nothing to sweep, no set to sign"];

const contexts = recordedReleases.flatMap((release) =>
  goldenGroups.flatMap((group) =>
    loadRecording(group, release).steps.map(
      (step): Context => ({ step, method: calledBy(step), group, release, dialect: "contract" }),
    ),
  ),
);

describe("the demanded answers", () => {
  for (const rule of rules.filter(({ why }) => !unrecorded.includes(why))) {
    test(`${rule.id}: ${rule.why}`, () => {
      const changes = contexts.some((context) => {
        if (!appliesTo(rule, context)) return false;
        const answer = recordedAnswer(context.step);
        return rule.holds !== undefined || !isDeepStrictEqual(rule.change(answer, context), answer);
      });
      assert.ok(changes, "no recorded answer is changed by this rule");
    });
  }

  test("of the original programs are the recorded ones", () => {
    for (const context of contexts.filter(({ step }) => step.answer.text === undefined)) {
      assert.equal(demandedAnswer({ ...context, dialect: undefined }).answer, context.step.answer);
    }
  });

  test("in the upstream dialect keep every member that the original programs return", () => {
    const switchedRules = rules.filter(({ why }) => /^S\d/.test(why));
    assert.ok(switchedRules.length > 0);
    assert.ok(switchedRules.every(({ dialect }) => dialect === "contract"));
  });
});
