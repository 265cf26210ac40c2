import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What the check prints of a folder that has our configuration and these files. */
function check(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): { text: string; status: number | null } {
  const folder = mkdtempSync(join(tmpdir(), "anulo-changesets-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, ".changeset/config.json"), join(folder, "config.json"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const script = join(root, "scripts/check-changesets.mjs");
  const { stdout, status } = spawnSync(process.execPath, [script, relative(root, folder)], {
    encoding: "utf8",
  });
  return { text: stdout, status };
}

const changeset = (head: string, body = "Something is new.\n") => `---\n${head}---\n\n${body}`;

test("changesets that name published packages and say what changes are taken", (t) => {
  const files = {
    "brave-keys.md": changeset('"@anulo/rpc": minor\n"anulo": patch\n'),
    "quiet-rings.md": changeset("'@anulo/client': major\n"),
    "README.md": "no changeset",
  };
  assert.deepEqual(check(t, files), { text: "changesets: 2 files, 0 problems\n", status: 0 });
});

const refused = {
  "a package that is not ours": [changeset('"@other/rpc": minor\n'), /@other\/rpc is no package of ours/],
  "a package that is not published": [changeset('"@anulo/testkit": patch\n'), /testkit is no package/],
  "a bump that is none": [changeset('"anulo": huge\n'), /huge is none of patch, minor, major/],
  "a line that is none": [changeset("anulo is better\n"), /not "PACKAGE": BUMP/],
  "no package": [changeset(""), /names no package/],
  "no words": [changeset('"anulo": patch\n', "\n"), /does not say what changes/],
  "no front matter": ["Something is new.\n", /no front matter/],
} as const;
for (const [name, [text, reason]] of Object.entries(refused))
  test(`a changeset with ${name} is refused`, (t) => {
    const result = check(t, { "one.md": text });
    assert.match(result.text, reason);
    assert.equal(result.status, 1);
  });

test("a configuration by which packages part is refused", (t) => {
  const config = { fixed: [["anulo"]], access: "public", baseBranch: "main", privatePackages: false };
  const { text, status } = check(t, { "config.json": JSON.stringify(config) });
  assert.match(text, /fixed is not/);
  assert.match(text, /private packages do not follow/);
  assert.equal(status, 1);
});
