// Builds everything: the WebAssembly kernels, then TypeScript, then the console, then the bundle; each skipped when nothing changed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../packages/console/build.mjs";
import { bundle } from "./bundle.mjs";
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
run("node_modules/typescript/bin/tsc", "-b");
removeStale();
await buildConsole();
await bundle();
