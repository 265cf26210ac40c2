import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readConsole } from "@anulo/console";
import { call, type Devnet, startDevnet } from "@anulo/devnet";
import { createWalletService, type WalletService } from "@anulo/wallet";
import type { Browser, Page } from "playwright-core";
import { accessibilityFaults, startBrowser, type Watched, watch, withoutBrowser } from "./browser.ts";
import { picture } from "./pictures.ts";
import { readQrCode } from "./read-qr-code.ts";

const LOGIN = { user: "shop", password: "secret" };
const PASSWORD = "a password";

/** Makes a token, which works, and ends it, after which it does not. */
async function walkTokens(page: Page, url: string): Promise<void> {
  page.on("dialog", (dialog) => dialog.accept());
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByText("There are no tokens").waitFor();
  await page.getByLabel("Name of a new token").fill("till");
  await page.getByLabel("Cap a day").fill("much");
  await page.getByRole("button", { name: "Create the token" }).click();
  await page.getByText("A cap is an amount").waitFor();
  await page.getByLabel("Cap a day").fill("2.5");
  await page.getByLabel("spend").check();
  await page.getByRole("button", { name: "Create the token" }).click();
  await page.getByRole("heading", { name: "The new token" }).waitFor();
  const token = await page.locator(".box code").textContent();
  const headers = { Authorization: `Bearer ${token}` };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "get_version" });
  const statusOf = async () => (await fetch(`${url}/json_rpc`, { method: "POST", headers, body })).status;
  assert.equal(await statusOf(), 200);
  await page.getByRole("cell", { name: "read, spend" }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole("button", { name: "I have kept it" }).click();
  assert.equal(await page.getByText(token!).count(), 0);
  await picture(page, "wallet-tokens-light");
  await page.getByRole("button", { name: "Revoke till" }).click();
  await page.getByRole("cell", { name: "revoked", exact: true }).waitFor();
  assert.equal(await statusOf(), 401);
}

describe("the console of a wallet service", { skip: withoutBrowser }, () => {
  let devnet: Devnet;
  let service: WalletService;
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), "anulo-console-"));

  before(async () => {
    devnet = await startDevnet();
    await devnet.mine(80);
    const options = {
      listen: [{ host: "127.0.0.1", port: 0 }],
      walletDirectory: folder,
      daemon: { url: devnet.nodeUrl },
      trustedDaemon: true,
      refreshPeriod: 1,
    };
    const first = await createWalletService(options);
    const restored = { seed: devnet.wallets.alice.mnemonic, restore_height: 0 };
    await call(first.url, "restore_deterministic_wallet", {
      filename: "shop",
      password: PASSWORD,
      ...restored,
    });
    await call(first.url, "close_wallet");
    await first.stop();
    const eventLog = { folder: join(folder, "events") };
    service = await createWalletService({ ...options, eventLog, pages: readConsole() });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    await devnet?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(path: string, colorScheme: "light" | "dark" = "light"): Promise<Watched> {
    const page = await browser.newPage({ viewport: { width: 1180, height: 820 }, colorScheme });
    page.setDefaultTimeout(60_000);
    const watched = watch(page, new URL(service.url).origin);
    await page.goto(`${service.url}/console${path}`);
    await page.locator("h1").waitFor();
    return watched;
  }

  it("opens a wallet by its password, and pays once, while a block and events come", async () => {
    const { page, faults } = await open("#/");
    await page.getByRole("link", { name: "shop" }).click();
    await page.getByLabel("Password").fill("another");
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator(".failure", { hasText: /password/i }).waitFor();
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Open" }).click();
    // Scanned by then, so that it can pay.
    await page.locator(".figure", { hasText: "Scanned blocks" }).getByText("81").waitFor();
    await page.getByRole("link", { name: "Pay", exact: true }).click();
    await page.getByLabel("Address").fill("not an address");
    await page.getByLabel("Amount").fill("1,5");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByText("This is no amount").waitFor();
    await page.getByLabel("Amount").fill("1.000000000001");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByText("no address of the wallet's network").waitFor();
    await page.getByLabel("Address").fill(devnet.wallets.bob.address);
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("heading", { name: "Pay this?" }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Pay this?");
    assert.deepEqual(await accessibilityFaults(page), []);
    await picture(page, "wallet-pay-light");
    // The answer is lost on its way: the same call again pays nothing twice.
    let lost = 0;
    await page.route("**/wallets/shop/json_rpc", async (route) => {
      if (lost > 0 || !route.request().postData()?.includes('"transfer"')) return await route.continue();
      const text = await (await route.fetch()).text();
      assert.match(text, /"tx_hash"/);
      lost += 1;
      await route.abort();
    });
    await page.getByRole("button", { name: "Pay", exact: true }).click();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    // Its key is kept while another view is open, and when the page is loaded anew.
    const key = await page.getByText("console-").textContent();
    await page.getByRole("link", { name: "Events" }).click();
    await page.getByRole("link", { name: "Wallets" }).click();
    await page.getByRole("link", { name: "shop" }).click();
    await page.getByRole("link", { name: "Pay", exact: true }).click();
    await page.reload();
    await page.getByText("not answered. Trying again pays once").waitFor();
    assert.equal(await page.getByText("console-").textContent(), key);
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("What became of it").click();
    assert.equal(lost, 1);
    await page.getByText("console-").waitFor();
    assert.equal(await page.getByText("console-").count(), 1);
    await devnet.mine(10);
    assert.equal((await devnet.wallets.bob.balance()).balance, 1_000_000_000_001n);
    await page.getByRole("cell", { name: "mined", exact: true }).waitFor();
    await page.getByRole("link", { name: "Events" }).click();
    await page.getByText("transfer mined").first().waitFor();
    await page
      .getByRole("cell", { name: /^20\d\d-\d\d-\d\d / })
      .first()
      .waitFor();
    assert.deepEqual(
      faults.filter((fault) => !fault.includes("ERR_FAILED")),
      [],
    );
    await page.close();
  });

  for (const colours of ["light", "dark"] as const) {
    it(`shows every view in ${colours} colours without a fault of axe, of the policy or of the page`, async () => {
      const views = [
        ["wallets", "#/", "shop"],
        ["transfers", "#/wallet/shop", "received"],
        ["addresses", "#/wallet/shop/addresses", "Primary account"],
        ["pay-form", "#/wallet/shop/pay", "Amount in coins"],
        ["payments", "#/wallet/shop/payments", "console-"],
        ["webhooks", "#/webhooks", "There are no webhooks"],
        ["proofs", "#/proofs", "Signature of a text"],
        ["events", "#/events", "transfer"],
      ] as const;
      for (const [name, path, shows] of views) {
        const { page, faults } = await open(path, colours);
        await page.getByText(shows).first().waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], name);
        await picture(page, `wallet-${name}-${colours}`);
        assert.deepEqual(faults, [], name);
        await page.close();
      }
    });
  }

  it("shows an address as a QR code that says it", async () => {
    const { page, faults } = await open("#/wallet/shop/addresses");
    await page.getByRole("button", { name: "Show the QR code of address 0" }).click();
    const code = page.getByRole("img", { name: devnet.wallets.alice.address });
    await code.waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await picture(page, "wallet-qr-code-light");
    assert.equal(
      readQrCode(await code.locator("path").getAttribute("d")),
      `monero:${devnet.wallets.alice.address}`,
    );
    await page.getByRole("button", { name: "Hide" }).click();
    assert.equal(await code.count(), 0);
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("adds a webhook, shows its secret once, and removes it", async () => {
    const { page, faults } = await open("#/webhooks");
    page.on("dialog", (dialog) => dialog.accept());
    await page.getByLabel(/Address that is sent/).fill("http://127.0.0.1:9/hook");
    await page.getByRole("button", { name: "Add the webhook" }).click();
    await page.getByRole("heading", { name: "The secret of the new webhook" }).waitFor();
    const secret = await page.locator(".box code").textContent();
    assert.ok(secret !== null && secret.length > 20);
    await page.getByRole("cell", { name: "http://127.0.0.1:9/hook", exact: true }).first().waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.reload();
    await page.getByRole("cell", { name: "http://127.0.0.1:9/hook", exact: true }).first().waitFor();
    assert.equal(await page.getByText(secret).count(), 0);
    await page.getByRole("button", { name: /^Remove/ }).click();
    await page.getByText("There are no webhooks").waitFor();
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("makes an address with a label that is shown as text", async () => {
    const { page, faults } = await open("#/wallet/shop/addresses");
    const label = "<img src=x onerror=alert(1)>";
    await page.getByLabel("Label of a new address").fill(label);
    await page.getByRole("button", { name: "Make an address" }).click();
    await page.getByRole("cell", { name: label }).waitFor();
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("asks for the login of the service, and no view is without it", async () => {
    const guarded = await createWalletService({
      listen: [{ host: "127.0.0.1", port: 0 }],
      walletDirectory: folder,
      daemon: { url: devnet.nodeUrl },
      login: LOGIN,
      access: { folder: join(folder, "tokens") },
      pages: readConsole(),
    });
    try {
      const { user: username, password } = LOGIN;
      const page = await browser.newPage({ httpCredentials: { username, password } });
      const { faults } = watch(page, new URL(guarded.url).origin, [401]);
      await page.goto(`${guarded.url}/console`);
      await page.getByRole("link", { name: "shop" }).waitFor();
      await walkTokens(page, guarded.url);
      assert.deepEqual(
        faults.filter((fault) => !fault.includes("401")),
        [],
      );
      await page.close();
      const stranger = await browser.newPage({ httpCredentials: { username, password: "another" } });
      assert.equal((await stranger.goto(`${guarded.url}/console`))?.status(), 401);
      await stranger.close();
    } finally {
      await guarded.stop();
    }
  });
});
