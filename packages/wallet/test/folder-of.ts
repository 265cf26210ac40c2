import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A new folder, which is removed with the test. */
export function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-wallet-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
