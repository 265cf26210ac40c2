/**
 * Makes the chain of eras with the real programs and writes what they say of it to test/eras/recorded.
 * By hand, when the plan changes: `node test/dist/eras/recorder/record.js` (monerod 0.18.0.0 on the path).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { saveEras } from "../fixture.ts";
import { recordEras } from "./record-eras.ts";

const dataDir = mkdtempSync(join(tmpdir(), "anulo-eras-"));
try {
  saveEras(await recordEras(dataDir));
} finally {
  rmSync(dataDir, { recursive: true });
}
