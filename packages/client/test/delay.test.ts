import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionFailed, HttpError } from "../src/index.ts";
import { delayBefore, isUnanswered } from "../src/repeat.ts";

const context = { call: "get_info" };
const failure = new ConnectionFailed("nobody answers", context);
const busy = (retryAfter?: number) => new HttpError(503, { ...context, retryAfter });

test("each delay is at most twice the one before and 30 s, and at least half of that", (t) => {
  for (const [attempt, longest] of [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000].entries()) {
    t.mock.method(Math, "random", () => 0);
    assert.equal(delayBefore(attempt, failure), longest / 2);
    t.mock.method(Math, "random", () => 1);
    assert.equal(delayBefore(attempt, failure), longest);
  }
  assert.equal(delayBefore(100, failure), 30_000);
});

test("a service may choose the delay, 30 s at most", () => {
  assert.equal(delayBefore(0, busy(0)), 0);
  assert.equal(delayBefore(5, busy(7)), 7000);
  assert.equal(delayBefore(0, busy(30)), 30_000);
  assert.equal(delayBefore(0, busy(31)), 30_000);
  assert.equal(delayBefore(0, busy(-1)), 0);
});

test("what passes is tried again: no connection, and the statuses of a service that is not ready", () => {
  assert.ok(isUnanswered(failure));
  for (const status of [429, 502, 503, 504])
    assert.ok(isUnanswered(new HttpError(status, context)), `${status}`);
  for (const status of [400, 401, 403, 404, 500, 501])
    assert.ok(!isUnanswered(new HttpError(status, context)), `${status}`);
  assert.ok(!isUnanswered(new Error("another one")));
});
