import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../../anulo.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "anulo-bundle-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file whose modification time is `changedAt` seconds after 1970. */
function place(path: string, text: string, changedAt: number): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, changedAt, changedAt);
}

cpSync(launcher, join(folder, "bin/anulo.js"));
place("bin/package.json", '{ "type": "module" }', 1);
place("bin/dist/src/main.js", 'process.stdout.write("modules")', 1);
place("bin/dist/.tsbuildinfo", "", 10);
place("packages/one/dist/.tsbuildinfo", "", 20);

function run(env: Record<string, string> = {}): string {
  const { NODE_V8_COVERAGE, ...ours } = process.env;
  return spawnSync(process.execPath, [join(folder, "bin/anulo.js")], {
    env: { ...ours, ...env },
  }).stdout.toString();
}

test("without a bundle the modules run", () => assert.equal(run(), "modules"));

test("a bundle that is newer than every compilation runs", () => {
  place("bin/dist/bundle/main.js", 'process.stdout.write("bundle")', 30);
  assert.equal(run(), "bundle");
});

test("where a package was compiled since, its modules run and not the bundle of before", () => {
  place("packages/one/dist/.tsbuildinfo", "", 40);
  assert.equal(run(), "modules");
  place("packages/one/dist/.tsbuildinfo", "", 20);
});

test("where coverage is measured, the modules run, which it is measured of", () => {
  assert.equal(run({ NODE_V8_COVERAGE: join(folder, "coverage") }), "modules");
});
