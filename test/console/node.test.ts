import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readConsole } from "@anulo/console";
import { call, type Devnet, post, startDevnet } from "@anulo/devnet";
import type { Browser, Locator, Page } from "playwright-core";
import {
  accessibilityFaults,
  firstPaintMs,
  startBrowser,
  type Watched,
  watch,
  withoutBrowser,
} from "./browser.ts";
import { picture } from "./pictures.ts";

const COIN = 10n ** 12n;

describe("the console of a node", { skip: withoutBrowser }, () => {
  let devnet: Devnet;
  let browser: Browser;
  let paid: string;

  before(async () => {
    devnet = await startDevnet({ pages: readConsole() });
    browser = await startBrowser();
    await devnet.mine(80);
    const { alice, bob } = devnet.wallets;
    await alice.pay(bob.address, COIN);
    await devnet.mine(1);
    paid = await alice.pay(bob.address, 2n * COIN);
  });
  after(async () => {
    await browser?.close();
    await devnet?.stop();
  });

  async function open(path: string, colorScheme: "light" | "dark" = "light"): Promise<Watched> {
    const page = await browser.newPage({ viewport: { width: 1180, height: 820 }, colorScheme });
    const watched = watch(page, new URL(devnet.nodeUrl).origin);
    await page.goto(`${devnet.nodeUrl}/console${path}`);
    await page.locator("h1").waitFor();
    return watched;
  }

  const figure = (page: Page, name: string) =>
    page.locator(".figure", { has: page.locator(`dt:text-is("${name}")`) }).locator(".value");

  const views = () =>
    [
      { name: "overview", path: "#/", shows: "Blocks" },
      { name: "pool", path: "#/pool", shows: paid.slice(0, 8) },
      { name: "side-chains", path: "#/chains", shows: "Newest height|no block outside" },
      { name: "peers", path: "#/peers", shows: "No peers are connected" },
      { name: "proofs", path: "#/proofs", shows: "Proof of a payment" },
      { name: "block", path: "#/block/81", shows: "the miner's" },
      { name: "transaction", path: `#/tx/${paid}`, shows: "One-time key" },
      { name: "none", path: "#/nothing", shows: "no such view" },
    ] as const;

  for (const colours of ["light", "dark"] as const) {
    it(`shows every view in ${colours} colours without a fault of axe, of the policy or of the page`, async (t) => {
      for (const { name, path, shows } of views()) {
        const { page, faults } = await open(path, colours);
        await page.getByText(new RegExp(shows)).first().waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], name);
        t.diagnostic(`${name}: first paint after ${Math.round(await firstPaintMs(page))} ms`);
        if (name !== "none") await picture(page, `node-${name}-${colours}`);
        assert.deepEqual(faults, [], name);
        await page.close();
      }
    });
  }

  it("follows payments, blocks and a reorganisation while it is looked at", async () => {
    const { page, faults } = await open("#/");
    const height = Number(await figure(page, "Height").textContent());
    await page.locator("nav").getByText("Pool").click();
    await page.getByText(paid.slice(0, 8)).waitFor();
    const { alice, bob } = devnet.wallets;
    const next = await alice.pay(bob.address, COIN);
    await page.getByText(next.slice(0, 8)).waitFor();
    await devnet.mine(1);
    await page.getByText("Nothing waits.").waitFor();
    await page.locator("nav").getByText("Overview").click();
    await figure(page, "Height")
      .getByText(String(height + 1), { exact: true })
      .waitFor();
    const before = await call(devnet.nodeUrl, "get_block_header_by_height", { height });
    const gone = (before.block_header as { hash: string }).hash;
    await page.locator(`a[title="${gone}"]`).first().waitFor();
    // The newest block is undone, and two others take its place.
    await post(`${devnet.nodeUrl}/pop_blocks`, { nblocks: 1 });
    await devnet.mine(2, bob.address);
    await figure(page, "Height")
      .getByText(String(height + 2), { exact: true })
      .waitFor();
    await page.locator(`a[title="${gone}"]`).waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("is walked by keyboard alone, and says what opened", async () => {
    const { page, faults } = await open("#/");
    await figure(page, "Height").waitFor();
    const focused = () => page.evaluate("document.activeElement.textContent");
    await page.keyboard.press("Tab");
    assert.match(String(await focused()), /Skip to content/);
    await page.keyboard.press("Enter");
    assert.match(String(await focused()), /Overview/);
    await page.keyboard.press("Tab");
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: "Block 1" }).waitFor();
    assert.equal(await focused(), "Block 1");
    assert.match(await page.title(), /^Block 1 /);
    for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+Tab");
    assert.match(String(await focused()), /Peers/);
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    assert.equal(outline, "solid");
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: "Peers" }).waitFor();
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("keeps amounts exact, and says what the node refuses", async () => {
    const { page } = await open(`#/tx/${"00".repeat(32)}`);
    await page.getByRole("alert").getByText("knows no such transaction").waitFor();
    await page.goto(`${devnet.nodeUrl}/console#/block/1`);
    const { block_header: header } = await call(devnet.nodeUrl, "get_block_header_by_height", { height: 1 });
    const units = String((header as { reward: number | bigint }).reward);
    const coins = `${units.slice(0, -12)}.${units.slice(-12)}`.replace(/0+$/, "");
    await page.locator(".coins", { hasText: coins }).waitFor();
    await page.close();
  });

  /** Fills fields of a form and returns the verdict. */
  async function verdictOn(form: Locator, values: Readonly<Record<string, string>>): Promise<string> {
    for (const [label, value] of Object.entries(values))
      await form.getByLabel(label, { exact: true }).fill(value);
    await form.getByRole("button", { name: "Check" }).click();
    const status = form.getByRole("status");
    await status.getByText(/\w/).first().waitFor();
    return String(await status.textContent());
  }

  const bound = "Text it is bound to, if any";
  /** The proof with its last letter changed. */
  const altered = (proof: string) => `${proof.slice(0, -1)}${proof.endsWith("2") ? "3" : "2"}`;

  it("checks signatures and payment proofs in the page, and asks for a transaction at most", async () => {
    const { page, faults } = await open("#/proofs");
    const { alice, bob } = devnet.wallets;
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const [payment, text] = [page.locator("form").first(), page.locator("form").last()];
    const { signature } = await alice.call("sign", { data: "pay to bob" });
    const signed = { Address: alice.address, Text: "pay to bob", Signature: String(signature) };
    assert.match(await verdictOn(text, signed), /^Good: signed with the spend key/);
    assert.match(await verdictOn(text, { Text: "pay to eve" }), /^Bad/);
    assert.match(await verdictOn(text, { Text: "pay to bob", Address: bob.address }), /^Bad/);
    assert.deepEqual(
      asked.filter((path) => !/^\/console\/assets\/[\w-]+\.(?:js|wasm)$/.test(path)),
      [],
    );
    assert.ok(asked.some((path) => path.endsWith(".wasm")));
    const about = { txid: paid, address: bob.address, message: "order 17" };
    const { signature: proof } = await alice.call("get_tx_proof", about);
    const claim = {
      Transaction: paid,
      Address: bob.address,
      [bound]: "order 17",
      Proof: String(proof),
    };
    assert.match(await verdictOn(payment, claim), /^Good: the address received 2\.00\./);
    assert.match(await verdictOn(payment, { [bound]: "order 18" }), /^Bad/);
    assert.match(await verdictOn(payment, { ...claim, Address: alice.address }), /^Bad/);
    assert.doesNotMatch(await verdictOn(payment, { ...claim, Proof: altered(String(proof)) }), /^Good/);
    // A node that gives another transaction is not believed.
    const first = await call(devnet.nodeUrl, "get_block", { height: 81 });
    const [earlier] = (first as { tx_hashes: string[] }).tx_hashes;
    await page.route("**/get_transactions", (route) =>
      route.continue({ postData: JSON.stringify({ txs_hashes: [earlier] }) }),
    );
    assert.match(await verdictOn(payment, claim), /another transaction/);
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("checks proofs of spending in the page, where a node that lies makes none good", async () => {
    const { page, faults } = await open("#/proofs");
    const { alice, bob } = devnet.wallets;
    const form = page.locator("form").nth(1);
    const { signature } = await alice.call("get_spend_proof", { txid: paid, message: "mine" });
    const claim = { Transaction: paid, [bound]: "mine", Proof: String(signature) };
    assert.match(
      await verdictOn(form, claim),
      /^Good: who proves this has made the transaction\. It (?:has|waits)/,
    );
    assert.match(await verdictOn(form, { [bound]: "theirs" }), /^Bad/);
    assert.doesNotMatch(await verdictOn(form, { ...claim, Proof: altered(String(signature)) }), /^Good/);
    assert.match(
      await verdictOn(form, { ...claim, Proof: String(signature).slice(0, -88) }),
      /its length is wrong/,
    );
    const { signature: payment } = await alice.call("get_tx_proof", { txid: paid, address: bob.address });
    assert.match(await verdictOn(form, { Proof: String(payment) }), /no proof of spending/);
    const block = await call(devnet.nodeUrl, "get_block", { height: 1 });
    const { miner_tx_hash: mined } = block as { miner_tx_hash: string };
    assert.match(await verdictOn(form, { ...claim, Transaction: mined }), /spends nothing/);
    // A node that gives other keys of the rings.
    await page.route("**/get_outs", async (route) => {
      const { outputs } = JSON.parse(route.request().postData()!) as { outputs: object[] };
      const postData = JSON.stringify({ outputs: outputs.toReversed() });
      await route.continue({ postData });
    });
    assert.match(await verdictOn(form, claim), /^Bad/);
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("checks proofs of funds in the page, and says what is spent by now", async () => {
    const { page, faults } = await open("#/proofs");
    const { alice, bob } = devnet.wallets;
    const form = page.locator("form").nth(2);
    const { signature } = await bob.call("get_reserve_proof", { all: true, message: "for the rent" });
    const claim = { Address: bob.address, [bound]: "for the rent", Proof: String(signature) };
    const verdict = await verdictOn(form, claim);
    const { total, spent } = await alice.call("check_reserve_proof", {
      address: bob.address,
      message: "for the rent",
      signature: String(signature),
    });
    assert.equal(BigInt(spent as bigint), 0n);
    const digits = String(total).padStart(13, "0");
    const decimals = digits.slice(-12).replace(/0+$/, "").padEnd(2, "0");
    const coins = `${digits.slice(0, -12)}.${decimals}`;
    assert.ok(verdict.startsWith(`Good: the address has had ${coins}, of which 0.00 are spent`), verdict);
    assert.match(await verdictOn(form, { [bound]: "for the car" }), /^Bad/);
    assert.match(await verdictOn(form, { ...claim, Address: alice.address }), /of another address/);
    assert.doesNotMatch(await verdictOn(form, { ...claim, Proof: altered(String(signature)) }), /^Good/);
    await page.route("**/is_key_image_spent", async (route) => {
      const { key_images } = JSON.parse(route.request().postData()!) as { key_images: string[] };
      const answer = { spent_status: key_images.map(() => 1), status: "OK", untrusted: false };
      await route.fulfill({ json: answer });
    });
    assert.match(await verdictOn(form, claim), /^Spent/);
    const block = await call(devnet.nodeUrl, "get_block", { height: 1 });
    const { miner_tx_hash: mined } = block as { miner_tx_hash: string };
    await page.route("**/get_transactions", async (route) => {
      const { txs_hashes } = JSON.parse(route.request().postData()!) as { txs_hashes: string[] };
      const postData = JSON.stringify({ txs_hashes: txs_hashes.map(() => mined) });
      await route.continue({ postData });
    });
    assert.doesNotMatch(await verdictOn(form, claim), /^Good|^Spent/);
    assert.deepEqual(faults, []);
    await page.close();
  });

  it("is of no use to a page of another origin, which may neither read, nor call, nor frame it", async () => {
    const other = await startDevnet({ pages: readConsole() });
    try {
      const page = await browser.newPage({ bypassCSP: true });
      await page.goto(`${other.nodeUrl}/console`);
      const tries = await page.evaluate(
        `Promise.all([
          fetch("${devnet.nodeUrl}/console").then(() => "read", () => "refused"),
          fetch("${devnet.nodeUrl}/json_rpc", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then(() => "called", () => "refused"),
          import("${devnet.nodeUrl}/console").then(() => "imported", () => "refused"),
        ])`,
      );
      assert.deepEqual(tries, ["refused", "refused", "refused"]);
      const framed = page.waitForResponse((response) => response.url() === `${devnet.nodeUrl}/console`);
      await page.evaluate(
        `{ const frame = document.createElement("iframe"); frame.setAttribute("src", "${devnet.nodeUrl}/console"); document.body.append(frame); }`,
      );
      assert.equal((await framed).status(), 403);
      await page.close();
    } finally {
      await other.stop();
    }
  });
});
