import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, startDaemon } from "@anulo/testkit";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Folders that no clone has. */
const made = new Set(["node_modules", "dist", "coverage"]);

/** Copies what the repository's packages and scripts hold, without anything that was built. */
function copySources(to: string): void {
  const files = readdirSync(root).filter((name) => /^(package|tsconfig).*\.json$/.test(name));
  for (const name of ["packages", "bin", "scripts", ...files]) {
    cpSync(join(root, name), join(to, name), {
      recursive: true,
      filter: (path) => !made.has(basename(path)),
    });
  }
}

/** Installs the dependencies as links; those to packages of the repository lead to the copies, as in a clone. */
function linkDependencies(to: string, folder = "node_modules"): void {
  mkdirSync(join(to, folder));
  for (const name of readdirSync(join(root, folder))) {
    const path = join(folder, name);
    const source = join(root, path);
    if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), join(to, path));
    else if (name === "@anulo") linkDependencies(to, path);
    else if (name === ".package-lock.json") cpSync(source, join(to, path));
    else symlinkSync(source, join(to, path));
  }
}

test("a clone in which nothing was built starts with what the first start builds", async () => {
  const copy = mkdtempSync(join(tmpdir(), "anulo-clone-"));
  try {
    copySources(copy);
    linkDependencies(copy);
    const now = new Date();
    utimesSync(join(copy, "node_modules/.package-lock.json"), now, now);
    const env = { ...process.env, npm_lifecycle_event: "prestart", NODE_V8_COVERAGE: undefined };
    const script = join(copy, "scripts/bootstrap.mjs");
    const build = spawnSync(process.execPath, [script], { env, encoding: "utf8" });
    assert.equal(build.status, 0, build.stderr + build.stdout);
    const entry = join(copy, "bin/anulo.js");
    const node = await startDaemon({ kind: "ours", entry }, { extra: ["--console"] });
    try {
      assert.equal((await call(node.url, "get_info", {})).status, "OK");
      const page = await fetch(`${node.url}/console/`);
      assert.match(await page.text(), /<script/);
    } finally {
      await node.stop();
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
});
