import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const pinnedClock = new URL("../src/programs/pinned-clock.js", import.meta.url);

// Closes the class of recorded answers that differ where a machine is busy while they are replayed.
test("the clock of a program under replay stands still, and timers go on", async () => {
  const script = `
    const before = Date.now();
    const start = performance.now();
    const look = () => performance.now() - start < 50 ? setTimeout(look, 10) : console.log(Date.now() - before);
    look();`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--import",
    pinnedClock.href,
    "-e",
    script,
  ]);
  assert.equal(stdout, "0\n");
});
