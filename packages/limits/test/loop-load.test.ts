import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopLoad } from "../src/index.ts";

test("work counts more while the event loop has no time left, up to four times, and less again later", () => {
  // A loop that has been idle for long before it is looked at.
  const time = { idle: 5000, active: 700 };
  const loopLoad = new LoopLoad(() => ({ ...time }));
  const after = (active: number, idle: number) => {
    time.active += active;
    time.idle += idle;
    return loopLoad.factor;
  };
  assert.equal(after(10, 0), 1);
  // A window is over: busy for all of it.
  assert.equal(after(40, 0), 1.5);
  for (const active of [90, 75]) assert.equal(after(active, 100 - active), 1.5);
  for (let i = 0; i < 10; i++) after(50, 0);
  assert.equal(after(0, 0), 4);
  // In between: as it was.
  for (const active of [90, 80, 75]) assert.equal(after(active, 100 - active), 4);
  assert.ok(after(50, 50) < 4);
  for (let i = 0; i < 10; i++) after(10, 90);
  assert.equal(after(0, 0), 1);
});
