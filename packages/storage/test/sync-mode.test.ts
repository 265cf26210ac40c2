import assert from "node:assert/strict";
import { test } from "node:test";
import { BadSyncMode, defaultSyncMode, parseSyncMode } from "../src/sync-mode.ts";

const every = (unit: "blocks" | "bytes", count: number) => ({ unit, count });

test("a mode alone has its own habits", () => {
  assert.deepEqual(parseSyncMode("safe"), { mode: "safe", isAwaited: true, every: every("blocks", 1) });
  assert.deepEqual(parseSyncMode("fast"), {
    mode: "fast",
    isAwaited: false,
    every: every("bytes", 250_000_000),
  });
  assert.deepEqual(parseSyncMode(" fastest "), {
    mode: "fastest",
    isAwaited: false,
    every: every("blocks", 1000),
  });
  assert.deepEqual(parseSyncMode("fast"), defaultSyncMode);
});

test("whether the writer waits, and when a flush is due, may be said of all but safe", () => {
  assert.deepEqual(parseSyncMode("fast:sync"), { ...defaultSyncMode, isAwaited: true });
  assert.deepEqual(parseSyncMode("fast:async"), defaultSyncMode);
  assert.deepEqual(parseSyncMode("fastest:async:7").every, every("blocks", 7));
  assert.deepEqual(parseSyncMode("fastest:sync:7blocks"), {
    mode: "fastest",
    isAwaited: true,
    every: every("blocks", 7),
  });
  assert.deepEqual(parseSyncMode("fast:sync:12bytes").every, every("bytes", 12));
  assert.deepEqual(parseSyncMode("fast:sync:1").every, every("blocks", 1));
  assert.deepEqual(parseSyncMode("safe:async:12bytes"), parseSyncMode("safe"));
});

test("any other text is refused", () => {
  const bad = ["", "slow", "toString", "fast:", "fast:later", "fast:sync:", "fast:sync:0", "fast:sync:-1"];
  const more = ["fast:sync:1mb", "fast:sync:1:2", "fast:sync:1234567890123456", "safe:sync:1:"];
  for (const text of [...bad, ...more]) assert.throws(() => parseSyncMode(text), BadSyncMode, text);
});
