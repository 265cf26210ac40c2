import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BadSource } from "../src/sources/chain-source.ts";
import { openSource } from "../src/sources/source-bytes.ts";

test("a place beyond the end of a file is refused, however far beyond", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-source-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");
  writeFileSync(path, "12345678");
  const source = openSource(path);
  t.after(() => source.close());
  assert.equal(source.read(4, 4).toString(), "5678");
  for (const offset of [5, 2 ** 40, 2 ** 53, 2 ** 74]) assert.throws(() => source.read(offset, 4), BadSource);
});
