/** Ways around what a token allows, and how they are refused. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createLog } from "@anulo/rpc";
import { createWalletService } from "../src/create-service.ts";
import { fileHandlers } from "../src/rpc/files.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import {
  askerOf,
  eventLogOf,
  everyScope,
  refusalOf,
  startWithTokens,
  wrongWallet,
} from "./access-fixture.ts";

test("a token that is revoked and forgotten during its batch makes no tokens, and is not taken for the owner", async (t) => {
  let now = 1_700_000_000;
  const runtime = createRuntime({ clock: () => now });
  const { make, url, admin } = await startWithTokens(t, {
    runtime,
    // What was revoked is then so old that it is forgotten when a token is made.
    onCall: ({ call }) => {
      if (call === "revoke_token") now += 31 * 24 * 3600;
    },
  });
  t.after(() => closeRuntime(runtime));
  const { text, id } = await make(["admin"]);
  const order = (scopes: readonly string[]) => ({ name: "more", scopes, wallets: ["*"] });
  const body = JSON.stringify([
    { id: 1, method: "revoke_token", params: { token_id: id } },
    { id: 2, method: "create_token", params: order(["admin"]) },
    { id: 3, method: "create_token", params: order(["spend", "secrets"]) },
  ]);
  const headers = { Authorization: `Bearer ${text}` };
  const response = await fetch(`${url}/json_rpc`, { method: "POST", body, headers });
  const [first, ...others] = (await response.json()) as { error?: { code: number; message: string } }[];
  assert.equal(first?.error, undefined);
  for (const { error } of others)
    assert.deepEqual(error, { code: -403, message: "Forbidden: this token has ended" });
  const { tokens } = await admin("list_tokens");
  assert.ok(!(tokens as { name: string }[]).some(({ name }) => name === "more"));
});

test("a stream ends when its token expires", async (t) => {
  const { make, url } = await startWithTokens(t, { eventLog: eventLogOf() });
  const { text } = await make(["read"], ["*"], { valid_for: 2 });
  const headers = { Authorization: `Bearer ${text}`, Accept: "text/event-stream" };
  const response = await fetch(`${url}/events`, { headers });
  assert.equal(response.status, 200);
  const reader = response.body!.getReader();
  while (!(await reader.read()).done);
});

test("a token without admin can't have blocks skipped by a refresh", async (t) => {
  const { make, admin } = await startWithTokens(t);
  const { ask } = await make(["receive", "spend", "read"], ["a"]);
  const message = "Forbidden: this token lacks the scope admin";
  const refusal = await refusalOf(ask("refresh", { start_height: 1_000_000 }, "a"));
  assert.deepEqual([refusal?.code, refusal?.message], [-403, message]);
  // These come as far as the node, which this service does not have.
  for (const [asker, start_height] of [
    [ask, 0],
    [admin, 1_000_000],
  ] as const)
    assert.notEqual((await refusalOf(asker("refresh", { start_height }, "a")))?.code, -403);
});

test("who may not read events can't have them sent elsewhere", async (t) => {
  const { make } = await startWithTokens(t, { eventLog: eventLogOf() });
  const { ask } = await make(["admin"]);
  const reader = await make(["admin", "read"]);
  const hook = { url: "https://example.invalid/" };
  const { webhook_id } = await reader.ask("add_webhook", hook);
  for (const [method, params] of [
    ["add_webhook", hook],
    ["replay_dead_letters", { webhook_id }],
  ] as const)
    assert.equal(
      (await refusalOf(ask(method, params)))?.message,
      "Forbidden: this token lacks the scope read",
      method,
    );
  assert.deepEqual(await reader.ask("replay_dead_letters", { webhook_id }), { delivered: 0, failed: 0 });
});

test("a cap refuses what would be signed and not sent", async (t) => {
  const { make } = await startWithTokens(t);
  const { ask } = await make(["spend"], ["a"], { cap_day: 1 });
  const address = "x";
  for (const [method, params] of [
    ["transfer", { destinations: [] }],
    ["transfer_split", { destinations: [] }],
    ["sweep_all", { address }],
    ["sweep_single", { address, key_image: "" }],
    ["sweep_dust", {}],
  ] as const) {
    const refusal = await refusalOf(ask(method, { ...params, do_not_relay: true }, "a"));
    assert.equal(refusal?.code, -403, `${method}: ${refusal?.message}`);
    assert.match(refusal!.message, /have anything signed that is not sent: it has a cap/, method);
    assert.notEqual((await refusalOf(ask(method, params, "a")))?.code, -403, method);
  }
});

test("a wallet that was opened while a token's call waited is neither replaced nor closed by it", async () => {
  const done: string[] = [];
  const take = async (check?: (openName: string) => void) => {
    check?.("opened meanwhile");
    done.push("replaced or closed");
    return {};
  };
  const service = {
    open: (_filename: string, _password: string, check?: (openName: string) => void) => take(check),
    close: take,
    makingInTurn: (_task: () => Promise<object>, check?: (openName: string) => void) => take(check),
  };
  const calls = [
    "create_wallet",
    "open_wallet",
    "close_wallet",
    "generate_from_keys",
    "restore_deterministic_wallet",
  ];
  for (const name of calls) {
    const { handler } = fileHandlers.find(({ call }) => call.name === name)!;
    const ask = async (token?: { readonly mayUse: (openName: string) => boolean }) =>
      await (handler as (params: object, context: object) => unknown)({}, { service, token });
    await assert.rejects(ask({ mayUse: (openName) => openName === "its own" }), wrongWallet, name);
    assert.deepEqual(done.splice(0), [], name);
    await ask({ mayUse: (openName) => openName === "opened meanwhile" });
    await ask();
    assert.equal(done.splice(0).length, 2, name);
  }
});

test("what happens to tokens is in the log by default", async (t) => {
  const told: { event: string; fields: object }[] = [];
  const { make } = await startWithTokens(t, { log: createLog({ write: (line) => told.push(line) }) });
  const { id, text } = await make(["read"], ["a"]);
  const fields = told.filter(({ event }) => event === "token created").at(-1)?.fields;
  assert.equal((fields as { token_id?: string } | undefined)?.token_id, id);
  assert.ok(!JSON.stringify(told).includes(text.split("_").slice(2).join("_")));
});

test("a wallet whose file ends in .keys twice is not the one whose file ends so once", async (t) => {
  const { make, folder, admin } = await startWithTokens(t);
  renameSync(join(folder, "b.keys"), join(folder, "a.keys.keys"));
  const { ask } = await make(everyScope, ["a"]);
  await admin("open_wallet", { filename: "a.keys.keys", password: "" });
  assert.equal((await refusalOf(ask("get_address")))?.message, wrongWallet.message);
  const names = ((await ask("list_wallets")).wallets as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names, ["a"]);
});

test("a crash before or after the first token is stored leaves a service that starts with one", async (t) => {
  const { folder, first, service } = await startWithTokens(t);
  await service.stop();
  const file = join(folder, "first");
  const access = { folder: join(folder, ".anulo-access"), firstTokenFile: file, isOnlyWay: true };
  const listen = [{ host: "127.0.0.1", port: 0 }];
  const start = async () => {
    const again = await createWalletService({ listen, daemon: { url: "" }, network: "regtest", access });
    t.after(() => again.stop());
    const token = readFileSync(file, "utf8").trim();
    assert.ok(Array.isArray((await askerOf(again.url, token)("list_tokens")).tokens));
    assert.ok(!existsSync(`${file}.new`));
    await again.stop();
    return token;
  };
  // Killed after the token was stored.
  renameSync(file, `${file}.new`);
  assert.equal(await start(), first);
  // Killed before, when the file was being written.
  rmSync(access.folder, { recursive: true });
  rmSync(file);
  writeFileSync(`${file}.new`, first);
  assert.notEqual(await start(), first);
});
