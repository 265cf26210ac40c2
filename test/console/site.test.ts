import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, extname, join, normalize, relative } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { daemonMethods, loadNodeReference, loadWalletReference, walletMethods } from "@anulo/rpc";
import type { Browser, Page } from "playwright-core";
import { accessibilityFaults, startBrowser, watch, withoutBrowser } from "./browser.ts";
import { picture } from "./pictures.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "anulo-site-"));
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

function filesBelow(from: string): string[] {
  return readdirSync(from, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(from, entry.name)) : [join(from, entry.name)],
  );
}

/** Serves the files of the site and nothing else. */
function serve(): Promise<Server> {
  const files = new Map(filesBelow(folder).map((file) => [`/${relative(folder, file)}`, file]));
  const server = createServer(({ url = "" }, response) => {
    const file = files.get(new URL(url, "http://site").pathname);
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "Content-Type": types[extname(file)]! }).end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const attributes = (html: string, name: string) =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) =>
    value!.replaceAll("&amp;", "&"),
  );

describe("the documentation site", () => {
  let pages: readonly (readonly [string, string])[] = [];

  before(() => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/make-site.mjs"), folder], {
      cwd: root,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    pages = filesBelow(folder)
      .filter((file) => file.endsWith(".html"))
      .map((file) => [relative(folder, file), readFileSync(file, "utf8")] as const);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("has every call of both services, with all its names", () => {
    const text = pages.map(([, html]) => html).join("\n");
    for (const call of [...Object.values(daemonMethods), ...Object.values(walletMethods)]) {
      assert.ok(text.includes(`<code>${call.name}</code></h2>`), call.name);
      for (const alias of call.aliases) assert.ok(text.includes(`<code>${alias}</code>`), alias);
    }
  });

  it("shows the recorded example of each call that has one", async () => {
    const references = await Promise.all([loadNodeReference(), loadWalletReference()]);
    const count = references.reduce((sum, { examples }) => sum + examples.size, 0);
    const text = pages.map(([, html]) => html).join("\n");
    assert.equal(text.split("<h4>Example</h4>").length - 1, count);
    assert.ok(count > 150);
    assert.ok(
      text.includes(
        "SigV2NLSsnWgKoWb3yb8Cd2u6QjaNbRywgwYWACKvZbbZWZhmYomzRTNbERLKvtBwj6rZPVS8c6qiceMmJRWeimXWXoWx",
      ),
      "what sign answered",
    );
  });

  it("has links that lead somewhere, and loads nothing from elsewhere", () => {
    const ids = new Map(pages.map(([address, html]) => [address, new Set(attributes(html, "id"))]));
    let count = 0;
    for (const [address, html] of pages) {
      assert.equal(
        new Set(attributes(html, "id")).size,
        attributes(html, "id").length,
        `${address} repeats an id`,
      );
      assert.match(html, /default-src 'none'/);
      assert.doesNotMatch(html, / (style|on[a-z]+)="|<style|<script(?! src="[^":]*" defer)/);
      for (const href of attributes(html, "href")) {
        if (/^[a-z]+:/.test(href)) continue;
        const [path = "", hash] = href.split("#");
        const target = path === "" ? address : normalize(join(dirname(address), path));
        assert.ok(existsSync(join(folder, target)), `${address} links to ${href}`);
        if (hash !== undefined && target.endsWith(".html"))
          assert.ok(ids.get(target)!.has(decodeURIComponent(hash)), `${address} links to ${href}`);
        count++;
      }
    }
    assert.ok(count > 1000);
  });

  describe("in a browser", { skip: withoutBrowser }, () => {
    let server: Server;
    let browser: Browser;
    let origin = "";

    before(async () => {
      server = await serve();
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      browser = await startBrowser();
    });
    after(async () => {
      await browser?.close();
      server?.close();
    });

    async function open(address: string, colorScheme: "light" | "dark"): Promise<[Page, string[]]> {
      const page = await browser.newPage({ viewport: { width: 1180, height: 820 }, colorScheme });
      const { faults } = watch(page, origin);
      await page.goto(`${origin}/${address}`);
      return [page, faults];
    }

    // The colours are all that differs.
    const rulesOf = { light: undefined, dark: ["color-contrast", "link-in-text-block"] } as const;
    for (const colours of ["light", "dark"] as const) {
      it(`has no page with a fault of axe, of the policy or of its own in ${colours} colours`, async () => {
        // Each kind of page, and every page of calls: what is written by hand is in these.
        const chosen = pages
          .map(([address]) => address)
          .filter((address) => !/^(packages|api)\//.test(address) || /(rpc|client)\.html$/.test(address));
        const [page, faults] = await open("index.html", colours);
        await picture(page, `site-start-${colours}`);
        for (const address of chosen) {
          await page.goto(`${origin}/${address}`);
          assert.deepEqual(await accessibilityFaults(page, rulesOf[colours]), [], address);
        }
        await page.goto(`${origin}/reference/wallet-transfers.html`);
        await picture(page, `site-calls-${colours}`);
        assert.deepEqual(faults, []);
        await page.close();
      });
    }

    it("finds a call by its name, by keyboard alone", async () => {
      const [page, faults] = await open("index.html", "light");
      await page.keyboard.press("/");
      await page.keyboard.type("get_bulk");
      await page.locator("#found a").first().waitFor();
      assert.deepEqual(await accessibilityFaults(page), []);
      await page.keyboard.press("Enter");
      await page.waitForURL(/reference\/wallet-history\.html#get_bulk_payments$/);
      assert.deepEqual(faults, []);
      await page.close();
    });
  });
});
