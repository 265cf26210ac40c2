import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ProgressMeter } from "../src/scan/progress.ts";

describe("progress of a scan", () => {
  it("tells speed and time left from what was scanned so far", () => {
    let now = 5000;
    const meter = new ProgressMeter(() => now);
    assert.equal(meter.progress, undefined);
    meter.advance(1000, 1100, 3000);
    assert.equal(meter.progress, undefined, "the first blocks took no time that is known");
    now += 1000;
    meter.advance(1100, 1600, 3000);
    const told = { height: 1600, targetHeight: 3000, blocksPerSecond: 600, secondsLeft: 3 };
    assert.deepEqual(meter.progress, told);
    now += 60_000;
    assert.deepEqual(meter.progress, told, "asking changes nothing");
  });

  it("starts anew with each scan, and knows of none between two", () => {
    let now = 0;
    const meter = new ProgressMeter(() => now);
    meter.advance(0, 10, 20);
    now += 1000;
    meter.advance(10, 20, 15);
    assert.deepEqual(meter.progress, { height: 20, targetHeight: 20, blocksPerSecond: 20, secondsLeft: 0 });
    meter.end();
    assert.equal(meter.progress, undefined);
    meter.advance(20, 30, 40);
    now += 100;
    meter.advance(30, 40, 40);
    assert.equal(meter.progress, undefined);
  });

  it("tells nothing of a chain that is taken back", () => {
    let now = 0;
    const meter = new ProgressMeter(() => now);
    meter.advance(100, 110, 200);
    now += 1000;
    meter.advance(90, 95, 200);
    assert.equal(meter.progress, undefined);
  });
});
