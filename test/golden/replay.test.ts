import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { describeResult, goldenGroups, loadRecording, replay, summary } from "@anulo/testkit";

const dialects = ["upstream", "contract"] as const;

describe("the services answer as recorded, or as demanded instead", { concurrency: 2 }, () => {
  for (const release of ["0.18.0", "0.18.5"] as const) {
    for (const dialect of dialects) {
      for (const group of goldenGroups) {
        test(`${group} of ${release} in the ${dialect} dialect`, { timeout: 1_200_000 }, async (t) => {
          const results = await replay(loadRecording(group, release), { kind: "ours", dialect });
          t.diagnostic(`${group} of ${release}, ${dialect}: ${summary(results)}`);
          const differing = results.filter(({ outcome }) => outcome === "differing");
          assert.deepEqual(differing.map(describeResult), []);
          assert.ok(results.some(({ outcome }) => outcome === "agreeing"));
        });
      }
    }
  }
});
