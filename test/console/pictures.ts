import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const folder = fileURLToPath(new URL("../../../docs/screenshots", import.meta.url));

/**
 * Writes a picture of a page into docs/screenshots, where ANULO_SCREENSHOTS asks for it. Nothing compares them: heights,
 * hashes and times differ each time, and letters do from one system to another.
 */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.ANULO_SCREENSHOTS === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
}
