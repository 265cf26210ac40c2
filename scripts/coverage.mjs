// Runs the unit tests of all packages and programs and fails below the thresholds of .c8rc.json, which are what these
// tests reach, rounded down: suites in test/ come on top. With arguments: those tests alone, without thresholds.
// The testkit, which is not published, is left out.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./sources.mjs";

const parts = process.argv.slice(2);
const tests = parts.length > 0 ? parts : ["packages/", "bin/"];
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/c8/bin/c8.js"),
    ...(parts.length > 0 ? [] : ["--check-coverage"]),
    process.execPath,
    join(root, "scripts/test.mjs"),
    ...tests,
  ],
  { cwd: root, stdio: "inherit", env: { ANULO_TESTS: "quick", ...process.env } },
);
process.exit(status ?? 1);
