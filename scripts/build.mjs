// Builds everything: the WebAssembly kernels, then TypeScript, then the console, then the bundle; each skipped when nothing changed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../packages/console/build.mjs";
import { bundle } from "./bundle.mjs";
import { areReportsCurrent, writeReports } from "./make-api-reports.mjs";
import { isClientCurrent, makeClient, noteClientMade } from "./make-client.mjs";
import { removeStale } from "./remove-stale.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

function run(file, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, file), ...args], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

if (existsSync(join(root, "packages/crypto/assembly/build.mjs"))) run("packages/crypto/assembly/build.mjs");
const compile = () => run("node_modules/typescript/bin/tsc", "-b");

compile();
// What the client knows of the calls follows from their declarations.
if (!isClientCurrent()) {
  if (await makeClient()) compile();
  noteClientMade();
}
removeStale();
if (!areReportsCurrent()) writeReports();
await buildConsole();
await bundle();
