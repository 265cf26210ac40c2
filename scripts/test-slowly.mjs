// Runs test files as on a machine that is busy with something else: their processes are stopped most of the time, a few
// files side by side. What a test assumes of time shows, and other programs keep their processors.
// `node scripts/test-slowly.mjs [--run-ms 80] [--stop-ms 400] [--jobs 8] PART-OF-A-PATH..`
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { root } from "./sources.mjs";
import { allTests, compiledTest } from "./test-plan.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "run-ms": { type: "string", default: "80" },
    "stop-ms": { type: "string", default: "400" },
    jobs: { type: "string", default: "8" },
  },
});
const [runMs, stopMs, jobs] = ["run-ms", "stop-ms", "jobs"].map((name) => Number(values[name]));
/** A file whose processes do not end is ended. */
const FILE_TIMEOUT_MS = 30 * 60_000;

/** Sends a signal to a test and all that it has started in its group; false once there are none. */
function signal(child, name) {
  try {
    return process.kill(-child.pid, name);
  } catch {
    return false;
  }
}

const running = new Set();
for (const name of ["SIGINT", "SIGTERM"])
  process.on(name, () => {
    for (const child of running) signal(child, "SIGKILL");
    process.exit(130);
  });

/** Resolves to what the file printed if it failed, to undefined if it passed. */
async function runSlowly(file) {
  const child = spawn(process.execPath, ["--test-reporter=tap", compiledTest(file)], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ANULO_TESTS: "quick" },
  });
  running.add(child);
  let printed = "";
  child.stdout.on("data", (bytes) => {
    printed += bytes;
  });
  let code;
  const ended = new Promise((resolve) => {
    child.on("close", (status) => {
      code = status ?? 1;
      resolve();
    });
  });
  const end = performance.now() + FILE_TIMEOUT_MS;
  while (code === undefined && performance.now() < end) {
    await Promise.race([ended, delay(runMs)]);
    if (code !== undefined || !signal(child, "SIGSTOP")) break;
    await delay(stopMs);
    signal(child, "SIGCONT");
  }
  if (performance.now() >= end) signal(child, "SIGKILL");
  await ended;
  running.delete(child);
  return code === 0 ? undefined : printed;
}

const waiting = allTests().filter((file) => positionals.some((part) => file.includes(part)));
if (waiting.length === 0) {
  console.error("test-slowly: no test file matches; name parts of paths");
  process.exit(1);
}
let failures = 0;
async function work() {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const begin = performance.now();
    const printed = await runSlowly(file);
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    if (printed !== undefined) failures++;
    console.log(
      `${printed === undefined ? "ok" : "FAILED"} ${file} (${seconds} s)${printed === undefined ? "" : `\n${printed}`}`,
    );
  }
}
await Promise.all(Array.from({ length: jobs }, work));
console.log(`test-slowly: ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
