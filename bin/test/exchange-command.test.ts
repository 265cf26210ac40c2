import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../../anulo.js", import.meta.url));

test("export and import take flags from the environment, as the node does whose chain it is", () => {
  const env = { ...process.env, ANULO_DATA_DIR: "/nowhere/a", ANULO_STAGENET: "1" };
  const said = (...args: string[]) =>
    spawnSync(process.execPath, [launcher, ...args], { env, encoding: "utf8" }).stderr;
  const database = (folder: string) => join(folder, "stagenet", "chain.mdb");
  assert.match(said("export", "--to", "/nowhere/file"), new RegExp(database("/nowhere/a")));
  const given = said("export", "--to", "/nowhere/file", "--data-dir", "/nowhere/b");
  assert.match(given, new RegExp(database("/nowhere/b")));
  assert.match(said("import", "--from", "/nowhere/file"), /\/nowhere\/file/);
});
