import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PROBE_FILE, probeDisk } from "../src/disk-probe.ts";

test("a disk that takes no more bytes is noticed, and so is that it does again", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /dev/full");
  const folder = mkdtempSync(join(tmpdir(), "anulo-probe-"));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(await probeDisk(folder), undefined);
  // Writes to this file fail as on a full disk.
  symlinkSync("/dev/full", join(folder, PROBE_FILE));
  assert.equal(await probeDisk(folder), "writing failed: ENOSPC");
  assert.equal(await probeDisk(folder), undefined);
  assert.deepEqual(readdirSync(folder), []);
});

test("a folder that is gone is noticed", async () => {
  await assert.rejects(probeDisk(join(tmpdir(), "anulo-no-such-folder")), { code: "ENOENT" });
});
