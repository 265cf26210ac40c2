import assert from "node:assert/strict";
import { test } from "node:test";
import { RpcError } from "../src/errors.ts";
import { createCallTally } from "../src/server/call-tally.ts";

test("calls are counted by name and outcome, and their durations passed on", () => {
  const tally = createCallTally();
  const heard: [string, number][] = [];
  tally.listen((call, seconds) => heard.push([call, seconds]));
  tally.onCall({ call: "a", seconds: 1, error: undefined });
  tally.onCall({ call: "a", seconds: 2, error: new RpcError(-1, "no") });
  tally.onCall({ call: "a", seconds: 3, error: new TypeError("bug") });
  assert.deepEqual(heard, [
    ["a", 1],
    ["a", 2],
    ["a", 3],
  ]);
  assert.deepEqual(
    [...tally.counts()],
    [
      { call: "a", outcome: "ok", count: 1 },
      { call: "a", outcome: "refused", count: 1 },
      { call: "a", outcome: "failed", count: 1 },
    ],
  );
});
