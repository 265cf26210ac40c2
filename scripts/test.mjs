// Runs the compiled tests: those whose path contains one of the arguments, or without arguments the short run, which
// says at its end what it left to CI. All of them run with --all or CI=true.
// --required: tests that need the real programs fail, instead of being skipped, where those are missing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "./sources.mjs";
import { allTests, compiledTest, describeLeft, shortRun } from "./test-plan.mjs";

/** A file whose process does not end, as when a failed test left a program running, fails instead of holding up the rest. */
const FILE_TIMEOUT_MS = 30 * 60_000;

const args = process.argv.slice(2);
const isCi = process.env.CI === "true";
const required = args.includes("--required") || isCi;
const patterns = args.filter((argument) => !argument.startsWith("--"));
const isShort = patterns.length === 0 && !isCi && !args.includes("--all");

const unknown = args.find(
  (argument) => argument.startsWith("--") && !["--required", "--all"].includes(argument),
);
if (unknown !== undefined) stop(`${unknown} is no flag of this script: --all, --required`);

function stop(reason) {
  console.error(`test: ${reason}`);
  process.exit(1);
}

const all = allTests();
const { run, rest } = shortRun(all);
const sources = isShort
  ? run
  : all.filter((file) => patterns.length === 0 || patterns.some((part) => file.includes(part)));
if (sources.length === 0) stop(`no test file matches ${patterns.join(", ") || "*.test.ts"}`);
const unbuilt = sources.filter((file) => !existsSync(join(root, compiledTest(file))));
if (unbuilt.length > 0) stop(`not built, run npm run build: ${unbuilt.join(", ")}`);

/** Files that run at once. They wait for programs and clocks for a third of their time: two more keep two processors busy. */
const concurrency = availableParallelism() + 2;

console.log(
  `test: ${sources.length} of ${all.length} files, ${concurrency} at a time; each is named when it has ended`,
);
const { status } = spawnSync(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${FILE_TIMEOUT_MS}`,
    `--test-reporter=${join(root, "scripts/test-progress.mjs")}`,
    "--test-reporter-destination=stdout",
    ...(isCi ? ["--test-reporter=spec", "--test-reporter-destination=stdout"] : []),
    ...sources.map(compiledTest),
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      ANULO_TEST_FILES: `${sources.length}`,
      ...(isShort && process.env.ANULO_TESTS === undefined && { ANULO_TESTS: "quick" }),
      ...(required && { ANULO_REAL_PROGRAMS: "required" }),
    },
  },
);
if (isShort)
  console.log(`${describeLeft(rest)}\nin part left to it: rounds of slow hashes (ANULO_TESTS=quick)`);
process.exit(status ?? 1);
