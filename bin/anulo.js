#!/usr/bin/env node
// Runs the bundle, which is all there is where the package was installed. In the repository it runs the modules the
// bundle is made of, where there is no bundle, they were compiled again since, or coverage is measured, which is of
// modules.
import { existsSync, readdirSync, statSync } from "node:fs";

const changedAt = (path) => statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function isBundleCurrent() {
  if (!existsSync(new URL("./dist/src/main.js", import.meta.url))) return true;
  if (process.env.NODE_V8_COVERAGE !== undefined) return false;
  const bundled = changedAt("./dist/bundle/main.js");
  if (bundled === 0) return false;
  const packages = readdirSync(new URL("../packages", import.meta.url)).map((name) => `../packages/${name}`);
  return [".", ...packages].every((folder) => changedAt(`${folder}/dist/.tsbuildinfo`) <= bundled);
}

await import(isBundleCurrent() ? "./dist/bundle/main.js" : "./dist/src/main.js");
