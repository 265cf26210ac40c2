// Runs the compiled tests: all of them, or those whose path contains one of the arguments.
// --required: tests that need the real programs fail, instead of being skipped, where those are missing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, root } from "./sources.mjs";

/** A file whose process does not end, as when a failed test left a program running, fails instead of holding up the rest. */
const FILE_TIMEOUT_MS = 20 * 60_000;

const asked = process.argv.slice(2);
const required = asked.includes("--required") || process.env.CI === "true";
const wanted = asked.filter((argument) => !argument.startsWith("--"));

/** `packages/x/test/a.test.ts` is compiled to `packages/x/dist/test/a.test.js`, `test/a.test.ts` to `test/dist/a.test.js`. */
function compiled(source) {
  const inPackage = /^(packages\/[^/]+|bin)\/(test\/.*)\.ts$/.exec(source);
  if (inPackage) return `${inPackage[1]}/dist/${inPackage[2]}.js`;
  return source.replace(/^test\//, "test/dist/").replace(/\.ts$/, ".js");
}

function stop(reason) {
  console.error(`test: ${reason}`);
  process.exit(1);
}

const sources = ["packages", "bin", "test"]
  .flatMap((folder) => filesBelow(folder, (name) => name.endsWith(".test.ts")))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
if (sources.length === 0) stop(`no test file matches ${wanted.join(", ") || "*.test.ts"}`);
const unbuilt = sources.filter((file) => !existsSync(join(root, compiled(file))));
if (unbuilt.length > 0) stop(`not built, run npm run build: ${unbuilt.join(", ")}`);

const { status } = spawnSync(
  process.execPath,
  [
    "--test",
    "--test-concurrency=2",
    `--test-timeout=${FILE_TIMEOUT_MS}`,
    `--test-reporter=${join(root, "scripts/test-progress.mjs")}`,
    "--test-reporter-destination=stdout",
    ...(process.env.CI === "true" ? ["--test-reporter=spec", "--test-reporter-destination=stdout"] : []),
    ...sources.map(compiled),
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      ANULO_TEST_FILES: `${sources.length}`,
      ...(required && { ANULO_REAL_PROGRAMS: "required" }),
    },
  },
);
process.exit(status ?? 1);
