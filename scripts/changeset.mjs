// Runs Changesets with these arguments, on Node 22.11 or newer. It is installed in a folder of its own, so that those who
// build and test need neither it nor its newer Node.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./sources.mjs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 11)) {
  console.error(`changeset: Node 22.11 or newer is needed, this is ${process.versions.node}`);
  process.exit(1);
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const folder = join(root, "release");
run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
run(join(folder, "node_modules/.bin/changeset"), process.argv.slice(2), root);
