// Everything that must hold before a change lands, in under a minute: prints a line per step with its time.
// --without-tests: for those who run the tests by themselves.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./sources.mjs";

const lanes = 2;
const script = (file, ...args) => [join(root, "scripts", file), ...args];
const tool = (file, ...args) => [join(root, "node_modules", file), ...args];

/** In order of start; a step waits for those named in `after`. */
const steps = [
  { name: "types", args: script("build.mjs") },
  { name: "lint", args: tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", ".") },
  { name: "imports", args: script("check-imports.mjs") },
  { name: "structure", args: script("check-structure.mjs") },
  { name: "unused", args: tool("knip/bin/knip.js", "--no-config-hints"), after: ["types"] },
  { name: "promises", args: script("check-promises.mjs"), after: ["types"] },
  { name: "words", args: script("check-words.mjs") },
  { name: "changesets", args: script("check-changesets.mjs") },
  { name: "rules", args: script("check-consensus-rules.mjs"), after: ["types"] },
  { name: "rpc coverage", args: script("check-rpc-coverage.mjs"), after: ["types"] },
  { name: "descriptions", args: script("check-rpc-descriptions.mjs"), after: ["types"] },
  { name: "dashboards", args: script("check-dashboards.mjs"), after: ["types"] },
  // Writes it: whoever changed a call finds the new table in their working tree.
  { name: "table of calls", args: script("make-rpc-docs.mjs"), after: ["types"] },
  { name: "limits", args: script("make-limits-docs.mjs"), after: ["types"] },
  { name: "api reports", args: script("make-api-reports.mjs"), after: ["types"] },
  { name: "packages", args: script("check-packages.mjs"), after: ["types"] },
  { name: "unit tests", args: script("test.mjs", "packages/", "bin/"), after: ["types"] },
].filter(({ name }) => name !== "unit tests" || !process.argv.includes("--without-tests"));

const began = Date.now();
const seconds = (from) => `${((Date.now() - from) / 1000).toFixed(1)} s`;

function run(step) {
  const from = Date.now();
  return new Promise((resolve) => {
    const env = { ...process.env, ANULO_TESTS: "quick" };
    const child = spawn(process.execPath, step.args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    child.stdout.on("data", (bytes) => output.push(bytes));
    child.stderr.on("data", (bytes) => output.push(bytes));
    child.on("close", (code) => {
      console.log(`${code === 0 ? "ok    " : "FAILED"} ${step.name.padEnd(14)} ${seconds(from)}`);
      const text = Buffer.concat(output).toString().trimEnd();
      const closing = text
        .split("\n")
        .filter((line) =>
          /^# |^structure: |^rules: |^imports: |^words: |^promises: |^rpc coverage: |^rpc descriptions: |^packages: |^changesets: /.test(
            line,
          ),
        );
      if (code !== 0) console.log(text);
      else if (closing.length > 0) console.log(closing.map((line) => `         ${line}`).join("\n"));
      resolve(code === 0);
    });
  });
}

/** Starts what is ready while a lane is free; a step after a failed one is not run. */
async function runAll() {
  const waiting = [...steps];
  const done = new Map();
  const running = new Set();
  while (waiting.length > 0 || running.size > 0) {
    const ready = waiting.find((step) => (step.after ?? []).every((name) => done.has(name)));
    if (ready && running.size < lanes) {
      waiting.splice(waiting.indexOf(ready), 1);
      if ((ready.after ?? []).some((name) => !done.get(name))) {
        console.log(`skipped ${ready.name}`);
        done.set(ready.name, false);
        continue;
      }
      const task = run(ready).then((passed) => {
        done.set(ready.name, passed);
        running.delete(task);
      });
      running.add(task);
    } else await Promise.race(running);
  }
  return [...done.values()].every(Boolean);
}

const passed = await runAll();
console.log(`${passed ? "all passed" : "not passed"} in ${seconds(began)}`);
process.exit(passed ? 0 : 1);
