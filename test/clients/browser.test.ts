import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { type Devnet, startDevnet } from "@anulo/devnet";
import { createNode, type Node } from "@anulo/node";
import { createWalletService, type WalletService } from "@anulo/wallet";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { startBrowser, withoutBrowser } from "../console/browser.ts";

const LOGIN = { user: "shop", password: "secret" };
/** 2^60: a number of JavaScript has no room for it. */
const LARGE = 1_152_921_504_606_846_976n;

/** The client as a page loads it. */
async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve("@anulo/client"))],
    bundle: true,
    format: "iife",
    globalName: "anulo",
    platform: "browser",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

/** A page that has the client, and whose origin is no service's. */
async function servePage(script: string) {
  const server = createServer(({ url }, response) => {
    const isScript = url === "/anulo.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<!doctype html><title>a shop</title><script src="/anulo.js"></script>');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("the client in a browser, on a page of another origin", { skip: withoutBrowser }, () => {
  let devnet: Devnet;
  let node: Node;
  let service: WalletService;
  let browser: Browser;
  let page: Page;
  let pages: Awaited<ReturnType<typeof servePage>>;
  const folder = mkdtempSync(join(tmpdir(), "anulo-browser-"));

  before(async () => {
    pages = await servePage(await bundleClient());
    const origins = [pages.origin];
    const listen = [{ host: "127.0.0.1", port: 0 }];
    devnet = await startDevnet();
    await devnet.mine(80);
    node = createNode({ network: "regtest", fixedDifficulty: 1n, offline: true, verifyThreads: 0, origins });
    await node.start();
    service = await createWalletService({
      ...{ listen, origins, login: LOGIN, refreshPeriod: 1, trustedDaemon: true },
      daemon: { url: devnet.nodeUrl },
      walletDirectory: folder,
      eventLog: { folder: join(folder, "events") },
    });
    browser = await startBrowser();
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(pages.origin);
  });
  after(async () => {
    await browser?.close();
    pages?.server.close();
    await service?.stop();
    await node?.stop();
    await devnet?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The text that an async function body of the page returns. */
  const inPage = (body: string): Promise<string> =>
    page.evaluate(`(async () => { const { createNodeClient, createWalletClient } = anulo; ${body} })()`);

  it("reads a node", async () => {
    const body = `const { height } = await createNodeClient("${node.urls[0]}").getInfo(); return String(height);`;
    assert.equal(await inPage(body), "1");
  });

  it("logs in, restores a wallet and pays once by its key, exact beyond the numbers of JavaScript", async () => {
    const { alice, bob } = devnet.wallets;
    const keys = JSON.stringify({ seed: alice.mnemonic, password: "", filename: "shop", restore_height: 0 });
    const wallet = `createWalletClient("${service.url}", { login: ${JSON.stringify(LOGIN)}, wallet: "shop" })`;
    const paid = await inPage(`
      const shop = ${wallet};
      await shop.restoreDeterministicWallet(${keys});
      await shop.refresh();
      const payment = { destinations: [{ address: "${bob.address}", amount: 7n }], idempotency_key: "order-1" };
      const first = await shop.transfer(payment);
      const second = await shop.transfer(payment);
      const uri = await shop.makeUri({ address: "${bob.address}", amount: ${LARGE}n });
      const { uri: { amount } } = await shop.parseUri(uri);
      return [first.amount, first.tx_hash === second.tx_hash, amount].join(" ");`);
    assert.equal(paid, `7 true ${LARGE}`);
  });

  it("follows events as they come", async () => {
    const told = inPage(`
      const shop = createWalletClient("${service.url}", { login: ${JSON.stringify(LOGIN)} });
      const ending = new AbortController();
      const types = [];
      for await (const { type } of shop.follow({ after: 0, types: ["transfer_sent", "transfer_mined"] }, { signal: ending.signal })) {
        types.push(type);
        if (type === "transfer_mined") break;
      }
      return types.join(" ");`);
    await devnet.mine(1);
    assert.equal(await told, "transfer_sent transfer_mined");
  });

  it("is refused by a service that does not name the page's origin", async () => {
    const body = `return await createNodeClient("${devnet.nodeUrl}", { retries: 0 }).getInfo().then(() => "read", (error) => error.name);`;
    assert.equal(await inPage(body), "ConnectionFailed");
  });
});
