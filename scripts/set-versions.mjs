// Gives the version that `changeset version` gave the packages to what it does not know: the workspace itself, the
// exact versions by which our packages need one another, what `anulo --version` prints, and the lock file.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");
const { version } = JSON.parse(read("bin/package.json"));

/** Replaces what the pattern finds, which must be there. */
function replace(file, pattern, text) {
  const before = read(file);
  if (!pattern.test(before)) throw new Error(`${file} has no ${pattern}`);
  writeFileSync(join(root, file), before.replace(pattern, text));
}

replace("package.json", /"version": "[^"]+"/, `"version": "${version}"`);
replace("bin/src/service-flags.ts", /(versionText = "anulo )[^,]+/, `$1${version}`);
for (const folder of [...readdirSync(join(root, "packages")).map((name) => `packages/${name}`), "bin"]) {
  const text = read(`${folder}/package.json`);
  writeFileSync(
    join(root, folder, "package.json"),
    text.replace(/("@anulo\/[a-z0-9]+": )"\d[^"]*"/g, `$1"${version}"`),
  );
}
const { status } = spawnSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], {
  cwd: root,
  stdio: "inherit",
});
console.log(`versions: ${version} everywhere`);
process.exit(status ?? 1);
