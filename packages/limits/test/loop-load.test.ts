import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopLoad } from "../src/index.ts";

test("work counts more while the event loop has no time left, up to four times, and less again later", () => {
  const time = { idle: 0, active: 0 };
  const loopLoad = new LoopLoad(() => ({ ...time }));
  const after = (active: number, idle: number) => {
    time.active += active;
    time.idle += idle;
    return loopLoad.factor;
  };
  assert.equal(after(10, 0), 1);
  // A window is over: busy for all of it.
  assert.equal(after(40, 0), 1.5);
  for (let i = 0; i < 10; i++) after(50, 0);
  assert.equal(after(0, 0), 4);
  // In between: as it was.
  assert.equal(after(80, 20), 4);
  assert.ok(after(50, 50) < 4);
  for (let i = 0; i < 10; i++) after(10, 90);
  assert.equal(after(0, 0), 1);
});
