/** Mining in the background, from one look at the machine to the next. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { silent } from "@anulo/rpc";
import { createBackgroundMode, type PowerSource } from "../src/mining/background-mode.ts";

test("it begins once it may, pauses when the machine goes on its battery, and tells each change", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let source: PowerSource = "battery";
  let changes = 0;
  // Any machine is idle enough.
  const settings = { idleThreshold: 0, minIdleSeconds: 10, target: 40 };
  const mode = createBackgroundMode({
    settings,
    ignoreBattery: false,
    powerSource: () => source,
    log: silent.in("test"),
    onChange: () => void changes++,
  });
  const pauses = () => mode.effort().isPaused;
  assert.deepEqual(mode.effort(), { isPaused: true, restMs: 400 });
  t.mock.timers.tick(10_000);
  assert.deepEqual([pauses(), changes], [true, 0]);
  source = "mains";
  t.mock.timers.tick(10_000);
  assert.deepEqual([pauses(), changes], [false, 1]);
  source = "unknown";
  t.mock.timers.tick(10_000);
  assert.deepEqual([pauses(), changes], [true, 2]);
  mode.stop();
  source = "mains";
  t.mock.timers.tick(60_000);
  assert.deepEqual([pauses(), changes], [true, 2], "nothing is looked at after the end");
});

test("where the battery is of no matter nobody asks for the source of power", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const mode = createBackgroundMode({
    settings: { idleThreshold: 0, minIdleSeconds: 10, target: 40 },
    ignoreBattery: true,
    powerSource: () => assert.fail("asked"),
    log: silent.in("test"),
    onChange: () => undefined,
  });
  t.mock.timers.tick(10_000);
  assert.equal(mode.effort().isPaused, false);
  mode.stop();
});
