import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const found = process.env.ANULO_CHROMIUM ?? places.find((place) => existsSync(place));

/** Why tests in a browser are skipped here, or false; where real programs are required they fail instead. */
export const withoutBrowser =
  found === undefined && process.env.ANULO_REAL_PROGRAMS !== "required" ? "no Chromium is installed" : false;

/** Chromium without a window. Its sandbox does not work for root, and all it loads here is ours. */
export function startBrowser(): Promise<Browser> {
  assert.ok(found, "no Chromium is installed");
  return chromium.launch({ executablePath: found, args: ["--no-sandbox", "--disable-gpu"] });
}

/** What went wrong in a page since it was opened, and where it went. */
export type Watched = { readonly page: Page; readonly faults: string[] };

/** Notes errors, breaches of the policy, failed requests but those of expected statuses, and any request to another origin. */
export function watch(page: Page, origin: string, expected: readonly number[] = []): Watched {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`another origin: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400 && !expected.includes(response.status()))
      faults.push(`HTTP ${response.status()}: ${response.url()}`);
  });
  return { page, faults };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong in a page as it is, one line a rule; only by these rules, if they are named. */
export async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe);
  const options = rules === undefined ? "" : `, { runOnly: ${JSON.stringify(rules)} }`;
  const run = `axe.run(document${options}).then(({ violations }) => violations.map((it) => it.id + ' ' + it.nodes.map((node) => node.target).join(' ')))`;
  return (await page.evaluate(run)) as string[];
}

/** Milliseconds from the request to the first paint. */
export async function firstPaintMs(page: Page): Promise<number> {
  await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0");
  return Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
}
