// Builds everything: the WebAssembly kernels beside TypeScript, then the console, then the bundle; each skipped when
// nothing changed, and how far it is shown meanwhile. `--to-start`: only what the programs need, `--to-test`: only what
// tests need besides; both without what is written into the repository (API reports, the client's calls).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole, compiledPackages } from "../packages/console/build.mjs";
import { createBuildBar } from "./build-bar.mjs";
import { bundle } from "./bundle.mjs";
import { areReportsCurrent, writeReports } from "./make-api-reports.mjs";
import { isClientCurrent, makeClient, noteClientMade } from "./make-client.mjs";
import { removeStale } from "./remove-stale.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [kind] = process.argv.slice(2);

/** Runs a script in a process of its own; a failure ends the build once others have ended. */
async function run(file, ...args) {
  const child = spawn(process.execPath, [join(root, file), ...args], { cwd: root, stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new BuildFailed(`${file} ended with ${code}`);
}

class BuildFailed extends Error {}

/** What the programs run is compiled first: the rest is tests, tools and the types of the console's page. */
const targets =
  kind === "--to-start"
    ? ["bin", "packages/console", ...compiledPackages.map((name) => `packages/${name}`)]
    : [];
const compile = () => run("node_modules/typescript-7/bin/tsc", "-b", ...targets);

async function compileKernels() {
  const script = "packages/crypto/assembly/build.mjs";
  if (existsSync(join(root, script))) await run(script);
}

/** What follows from the declarations, and is kept in the repository. */
async function writeGenerated() {
  // The client's data about the calls follows from their declarations.
  if (!isClientCurrent()) {
    if (await makeClient()) await compile();
    noteClientMade();
  }
}

/** The parts of a build in order, with the share of the time each takes in a first one. */
const parts = [
  { name: "kernels and modules", share: 70, work: () => settle([compileKernels(), compile()]) },
  ...(kind === undefined ? [{ name: "calls of the client", share: 2, work: writeGenerated }] : []),
  { name: "modules whose sources are gone", share: 1, work: removeStale },
  ...(kind === undefined
    ? [{ name: "API reports", share: 15, work: () => areReportsCurrent() || writeReports() }]
    : []),
  { name: "the console", share: 8, work: buildConsole },
  { name: "the programs", share: 5, work: bundle },
];

/** Waits for all, so that no process outlives the build; then throws what failed first. */
async function settle(works) {
  const failed = (await Promise.allSettled(works)).find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

const bar = createBuildBar(parts.reduce((sum, { share }) => sum + share, 0));
try {
  for (const { name, share, work } of parts) {
    bar.begin(name, share);
    await work();
  }
} catch (error) {
  if (!(error instanceof BuildFailed)) throw error;
  process.exitCode = 1;
} finally {
  bar.end();
}
