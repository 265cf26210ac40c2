// Makes a bare clone ready to run: installs the locked dependencies and builds, each only when needed.
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, newestChange, root } from "./sources.mjs";

const needed = [20, 19];
/** `npm start` needs less than tests do; developers run `npm run build` or `check`, which build all. */
const kind = process.env.npm_lifecycle_event === "prestart" ? "start" : "test";
const buildStamp = (name) => join(root, `dist/.built-to-${name}`);

function refuse(reason) {
  process.stderr.write(`anulo: ${reason}\n`);
  process.exit(1);
}

function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return;
  refuse(
    `Node ${needed.join(".")} or newer is needed, this is ${process.versions.node} (https://nodejs.org)`,
  );
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function run(what, command, args) {
  process.stderr.write(`anulo: ${what}\n`);
  // On Windows npm is a command file, which only a shell can start.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (error) refuse(`${what} failed: ${error.message}`);
  if (status !== 0) refuse(`${what} failed (exit code ${status})`);
}

function installIfNeeded() {
  const installed = changedAt(join(root, "node_modules/.package-lock.json"));
  if (installed > 0 && installed >= changedAt(join(root, "package-lock.json"))) return;
  run("installing dependencies", "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
}

function buildInputs() {
  const isSource = (name) => /\.(tsx?|mjs|js|json|css|html|svg)$/.test(name);
  const below = ["packages", "bin", "test"].flatMap((folder) => filesBelow(folder, isSource));
  return [
    ...below,
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.base.json",
    "scripts/build.mjs",
    "scripts/build-bar.mjs",
    "scripts/bundle.mjs",
  ];
}

function buildIfNeeded() {
  const built = [kind, "test"].map((name) => changedAt(buildStamp(name)));
  if (Math.max(...built) > newestChange(buildInputs())) return;
  run("building", process.execPath, [join(root, "scripts/build.mjs"), `--to-${kind}`]);
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(buildStamp(kind), "");
}

checkNodeVersion();
installIfNeeded();
buildIfNeeded();
