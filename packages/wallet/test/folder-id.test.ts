import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { folderId } from "../src/file/folder-id.ts";

let parent = "";
let folder = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "anulo-folder-"));
  folder = join(parent, "a", "b");
});
afterEach(() => rmSync(parent, { recursive: true }));

test("a folder gets an id once, for its owner alone, and keeps nothing else", async () => {
  const id = await folderId(folder);
  assert.equal(id.length, 16);
  assert.deepEqual(await folderId(folder), id);
  assert.deepEqual(readdirSync(folder), ["folder"]);
  assert.deepEqual(readFileSync(join(folder, "folder")), Buffer.from(id));
  assert.equal(statSync(join(folder, "folder")).mode & 0o777, 0o600);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.notDeepEqual(await folderId(join(parent, "other")), id);
});

test("those who ask at the same time get the same id", async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => folderId(folder)));
  for (const id of ids) assert.deepEqual(Buffer.from(id), Buffer.from(ids[0]!));
  assert.deepEqual(readdirSync(folder), ["folder"]);
});

test("an id of another length is an error, as is a folder that cannot be one", async () => {
  await folderId(folder);
  writeFileSync(join(folder, "folder"), Buffer.alloc(15));
  await assert.rejects(folderId(folder), /has 15 bytes, not 16/);
  writeFileSync(join(parent, "file"), "");
  await assert.rejects(folderId(join(parent, "file")), { code: "EEXIST" });
});
