/** Many wallets of one service, each by its name. */
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createWalletService } from "../src/create-service.ts";
import type { WalletService } from "../src/service.ts";
import type { WalletServiceOptions } from "../src/service-options.ts";
import { CLOSING_MS } from "./service.ts";
import { withSharedThreads } from "./shared-threads.ts";

type Told = { readonly [key: string]: unknown };

class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Asks a service; without a name by the path that has none. */
async function ask(
  url: string,
  name: string | undefined,
  method: string,
  params: object = {},
): Promise<Told> {
  const path = name === undefined ? "" : `/wallets/${encodeURIComponent(name)}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method, params });
  const response = await fetch(`${url}${path}/json_rpc`, { method: "POST", body });
  const { result, error } = (await response.json()) as {
    result: Told;
    error?: { code: number; message: string };
  };
  if (error !== undefined) throw new Refused(error.code, error.message);
  return result;
}

type Asker = (name: string | undefined, method: string, params?: object) => Promise<Told>;

async function start(
  t: TestContext,
  options: Partial<WalletServiceOptions> = {},
): Promise<{ readonly service: WalletService; readonly ask: Asker; readonly folder: string }> {
  const folder = options.walletDirectory ?? mkdtempSync(join(tmpdir(), "anulo-named-"));
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: "" },
    network: "regtest",
    refreshPeriod: 0,
    dialect: "upstream",
    closingMs: CLOSING_MS,
    runtime: withSharedThreads(),
    ...options,
  });
  t.after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { service, folder, ask: (name, method, params) => ask(service.url, name, method, params) };
}

const english = { language: "English" };
const addressOf = async (asker: Asker, name?: string) => (await asker(name, "get_address")).address;
const openNames = async (asker: Asker) => {
  const { wallets } = await asker(undefined, "list_wallets");
  return (wallets as { name: string; open: boolean }[]).filter(({ open }) => open).map(({ name }) => name);
};

test("each name is a wallet of its own; one without a password is opened by the first call", async (t) => {
  const { ask, service, folder } = await start(t);
  await ask("a", "create_wallet", { ...english });
  await ask("b", "create_wallet", { ...english, filename: "b", password: "p" });
  const [a, b] = [await addressOf(ask, "a"), await addressOf(ask, "b")];
  assert.notEqual(a, b);
  await assert.rejects(addressOf(ask), { code: -13, message: "No wallet file" });
  assert.equal(service.opened, undefined);
  assert.deepEqual(await openNames(ask), ["a", "b"]);
  for (const name of ["a", "b"]) await ask(name, "close_wallet");
  assert.deepEqual(await openNames(ask), []);
  assert.ok(!existsSync(join(folder, "a.anulo.lock")));
  assert.equal(await addressOf(ask, "a"), a);
  const locked = { code: -13, message: /has a password/ };
  await assert.rejects(addressOf(ask, "b"), locked);
  await assert.rejects(addressOf(ask, "b"), locked);
  await assert.rejects(ask("b", "open_wallet", { password: "x" }), { code: -1, message: /Invalid password/ });
  await ask("b", "open_wallet", { password: "p" });
  assert.equal(await addressOf(ask, "b"), b);
});

test("names that are none are refused as filenames are, and leave nothing behind", async (t) => {
  const { ask, folder, service } = await start(t);
  await assert.rejects(addressOf(ask, "absent"), {
    code: -1,
    message: `Failed to open wallet : file not found "${folder}/absent.keys"`,
  });
  const outside = mkdtempSync(join(tmpdir(), "anulo-outside-"));
  t.after(() => rmSync(outside, { recursive: true, force: true }));
  await ask("w", "create_wallet", english);
  copyFileSync(join(folder, "w.keys"), join(outside, "w.keys"));
  const hostile = [
    ...[`../${outside.split("/").at(-1)}/w`, `${outside}/w`, "a/b", "a\0b", "x".repeat(300)],
    ...["w.anulo", "w.anulo.lock", "€".repeat(100)],
  ];
  for (const name of hostile)
    for (const method of ["get_address", "create_wallet", "get_version", "close_wallet"])
      await assert.rejects(ask(name, method, english), { code: -1, message: "Invalid filename" }, name);
  await assert.rejects(addressOf(ask, "w%2e"), { code: -1 }, "decoded once");
  await assert.rejects(ask("w", "open_wallet", { filename: "v" }), {
    code: -1,
    message: /^Invalid filename/,
  });
  await assert.rejects(ask("v", "create_wallet", { ...english, filename: "w" }), { code: -1 });
  await assert.rejects(ask("w", "create_wallet", english), { code: -21 });
  assert.deepEqual(await openNames(ask), ["w"]);
  assert.equal((await fetch(`${service.url}/wallets/w/json_rpc/`, { method: "POST" })).status, 404);
});

test("a wallet that is open by both paths is the same one, and is closed once both have closed it", async (t) => {
  const { ask, service, folder } = await start(t);
  const isLocked = () => existsSync(join(folder, "w.anulo.lock"));
  await ask(undefined, "create_wallet", { ...english, filename: "w", password: "p" });
  // Open by the unnamed path, it answers by its name; closed there, it is closed.
  const address = await addressOf(ask);
  assert.equal(await addressOf(ask, "w"), address);
  await ask(undefined, "close_wallet");
  assert.ok(!isLocked());
  await assert.rejects(addressOf(ask, "w"), { code: -13 });
  // Opened by both, one closing leaves it to the other.
  for (const closesFirst of [undefined, "w"]) {
    await ask("w", "open_wallet", { password: "p" });
    await assert.rejects(ask(undefined, "open_wallet", { filename: "w", password: "x" }), { code: -1 });
    await ask(undefined, "open_wallet", { filename: "w", password: "p" });
    await ask("w", "create_account", { label: "shared" });
    const { subaddress_accounts: accounts } = await ask(undefined, "get_accounts");
    await ask(closesFirst, "close_wallet");
    assert.ok(isLocked());
    const other = closesFirst === undefined ? "w" : undefined;
    assert.deepEqual((await ask(other, "get_accounts")).subaddress_accounts, accounts);
    await ask(other, "close_wallet");
    assert.ok(!isLocked());
  }
  // The unnamed path moves on to another wallet: a named caller keeps his.
  await ask("w", "open_wallet", { password: "p" });
  await ask(undefined, "open_wallet", { filename: "w", password: "p" });
  await ask(undefined, "create_wallet", { ...english, filename: "v" });
  assert.equal(await addressOf(ask, "w"), address);
  assert.notEqual(await addressOf(ask), address);
  // What changes the keys changes them for both.
  await ask(undefined, "open_wallet", { filename: "w", password: "p" });
  await ask("w", "change_wallet_password", { old_password: "p", new_password: "" });
  const { wallet } = service.opened!;
  await ask(undefined, "setup_background_sync", {
    background_sync_type: "custom-background-password",
    wallet_password: "",
    background_cache_password: "q",
  });
  await ask("w", "start_background_sync");
  assert.notEqual(service.opened!.wallet, wallet);
  await assert.rejects(ask(undefined, "create_account"), { code: -52 });
  await ask(undefined, "stop_background_sync", { wallet_password: "" });
  await ask("w", "create_account");
});

test("many calls at once open a wallet once", async (t) => {
  const { ask } = await start(t);
  await ask("w", "create_wallet", english);
  await ask("w", "close_wallet");
  const paths = [undefined, "w", "w", undefined, "w", "w"];
  const answers = await Promise.allSettled(
    paths.map((name) =>
      name === undefined ? ask(name, "open_wallet", { filename: "w" }) : ask(name, "get_address"),
    ),
  );
  for (const answer of answers) assert.equal(answer.status, "fulfilled");
  assert.equal(await addressOf(ask, "w"), await addressOf(ask));
});

test("what a call opened is closed when idle; what a caller opened, or set something of, is not", async (t) => {
  let now = 0;
  const { ask, service } = await start(t, { clock: () => now, idleSeconds: 60, refreshPeriod: 0 });
  const names = ["demand", "asked", "daemon", "unnamed"];
  for (const name of names) {
    await ask(name, "create_wallet", english);
    await ask(name, "close_wallet");
  }
  for (const name of ["demand", "daemon", "unnamed"]) await ask(name, "get_balance");
  await ask("asked", "open_wallet");
  await ask("daemon", "set_daemon", { address: "127.0.0.1:1" });
  await ask(undefined, "open_wallet", { filename: "unnamed" });
  assert.deepEqual(await openNames(ask), [...names].sort());
  now = 59_000;
  service.closeIdle();
  assert.deepEqual(await openNames(ask), [...names].sort());
  now = 61_000;
  await service.closeIdle();
  assert.deepEqual(await openNames(ask), ["asked", "daemon", "unnamed"]);
  await ask("demand", "get_balance");
  assert.deepEqual(await openNames(ask), [...names].sort());
});

test("a wallet is idle from the end of its last call on, and whoever was idle longest makes room first", async (t) => {
  let now = 0;
  const options = { clock: () => now, idleSeconds: 60, refreshPeriod: 0, maxOpen: 3 };
  const { ask, service } = await start(t, options);
  for (const name of ["a", "b", "c", "d"]) {
    await ask(name, "create_wallet", english);
    await ask(name, "close_wallet");
  }
  const useAt = async (at: number, name: string) => {
    now = at;
    await ask(name, "get_balance");
  };
  await useAt(10_000, "a");
  await useAt(20_000, "b");
  await useAt(30_000, "c");
  await useAt(40_000, "a");
  await useAt(50_000, "d");
  assert.deepEqual(await openNames(ask), ["a", "c", "d"], "b was used before a was again");
  now = 89_999;
  await service.closeIdle();
  assert.deepEqual(await openNames(ask), ["a", "c", "d"]);
  now = 90_000;
  await service.closeIdle();
  assert.deepEqual(await openNames(ask), ["a", "d"]);
  now = 100_000;
  await service.closeIdle();
  assert.deepEqual(await openNames(ask), ["d"]);
});

test("with as many open as may be, one that is idle makes room; with none idle there is none", async (t) => {
  const { ask } = await start(t, { maxOpen: 2 });
  for (const name of ["a", "b", "c"]) {
    await ask(name, "create_wallet", english);
    await ask(name, "close_wallet");
  }
  for (const name of ["a", "b", "a", "c"]) await ask(name, "get_balance");
  assert.deepEqual(await openNames(ask), ["a", "c"]);
  await ask("a", "open_wallet");
  await ask("c", "open_wallet");
  await assert.rejects(ask("b", "get_balance"), { code: -1, message: /2 wallets are open/ });
  await ask(undefined, "open_wallet", { filename: "b" });
  await ask("b", "get_balance");
});

test("list_wallets gives the names in order, page by page", async (t) => {
  const { ask, folder } = await start(t);
  const names = Array.from({ length: 250 }, (_, i) => `w${i}`);
  for (const name of names) writeFileSync(join(folder, `${name}.keys`), "");
  for (const other of ["w1", "w1.anulo", "w1.anulo.keys", "notes.txt", ".keys"])
    writeFileSync(join(folder, other), "");
  const listed: string[] = [];
  for (let more = true, after = ""; more; after = listed.at(-1)!) {
    const page = await ask(undefined, "list_wallets", { after, limit: 99 });
    const wallets = page.wallets as { name: string; open: boolean }[];
    listed.push(...wallets.map(({ name }) => name));
    more = page.more === true;
  }
  assert.deepEqual(listed, names.sort());
  assert.deepEqual(await ask(undefined, "list_wallets", { after: "z" }), { more: false, wallets: [] });
  for (const limit of [0, 1001])
    await assert.rejects(ask(undefined, "list_wallets", { limit }), { code: -1, message: /limit must be/ });
});

test("a restricted service denies the same by a name, and opens none for what it denies", async (t) => {
  const first = await start(t);
  await first.ask("w", "create_wallet", english);
  await first.service.stop();
  const { ask } = await start(t, { restricted: true, walletDirectory: first.folder });
  const denied = { code: -7, message: "Command unavailable in restricted mode." };
  for (const method of ["create_address", "open_wallet", "list_wallets", "close_wallet", "query_key"])
    await assert.rejects(ask("w", method, { key_type: "mnemonic", filename: "w" }), denied, method);
  assert.ok(!existsSync(join(first.folder, "w.anulo.lock")));
  assert.equal((await ask("w", "get_balance")).balance, 0);
});

test("stop_wallet is for the path of the service; without a folder there are no names", async (t) => {
  const { ask } = await start(t);
  await ask("w", "create_wallet", english);
  await assert.rejects(ask("w", "stop_wallet"), { code: -7, message: /close_wallet/ });
  assert.deepEqual(await openNames(ask), ["w"]);
  const service = await createWalletService({
    ...{ listen: [{ host: "127.0.0.1", port: 0 }], daemon: { url: "" }, dialect: "upstream" },
  });
  t.after(() => service.stop());
  await assert.rejects(
    fetch(`${service.url}/wallets/w/json_rpc`, {
      method: "POST",
      body: JSON.stringify({ method: "get_version" }),
    }).then(async (response) => {
      throw new Error(await response.text());
    }),
    /-23/,
  );
});

test("the service stops with many wallets open and others being opened; all open again", async (t) => {
  const first = await start(t);
  const names = Array.from({ length: 24 }, (_, i) => `w${i}`);
  await Promise.all(names.map((name) => first.ask(name, "create_wallet", english)));
  const addresses = await Promise.all(names.map((name) => addressOf(first.ask, name)));
  for (const name of names.slice(12)) await first.ask(name, "close_wallet");
  const opening = Promise.allSettled(names.slice(12).map((name) => first.ask(name, "get_address")));
  await first.service.stop();
  await opening;
  for (const name of names) assert.ok(!existsSync(join(first.folder, `${name}.anulo.lock`)), name);
  const second = await start(t, { walletDirectory: first.folder });
  assert.deepEqual(await Promise.all(names.map((name) => addressOf(second.ask, name))), addresses);
});
