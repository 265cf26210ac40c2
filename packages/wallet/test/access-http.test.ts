/** What callers with tokens may do over HTTP, and what they try. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { walletMethods } from "@anulo/rpc";
import { createWalletService } from "../src/create-service.ts";
import {
  type Asker,
  askerOf,
  eventLogOf,
  everyScope,
  refusalOf,
  startWithTokens,
  wrongWallet,
} from "./access-fixture.ts";

test("every call is refused by a token without its scope, and by none for it that has it alone", async (t) => {
  const { make } = await startWithTokens(t);
  const lacking = new Map<string, Asker>();
  const alone = new Map<string, Asker>();
  for (const scope of everyScope) {
    lacking.set(scope, (await make(everyScope.filter((other) => other !== scope))).ask);
    alone.set(scope, (await make([scope])).ask);
  }
  for (const { name, aliases, scope } of Object.values(walletMethods)) {
    for (const called of [name, ...aliases]) {
      if (scope === "any") {
        for (const ask of alone.values()) assert.equal(await refusalOf(ask(called)), undefined, called);
        continue;
      }
      const refusal = await refusalOf(lacking.get(scope!)!(called));
      const message = `Forbidden: this token lacks the scope ${scope}`;
      assert.deepEqual([refusal?.code, refusal?.message], [-403, message], called);
      // The one call that would end the service.
      if (called === "stop_wallet") continue;
      const allowed = await refusalOf(alone.get(scope!)!(called));
      assert.doesNotMatch(allowed?.message ?? "", /lacks the scope/, called);
    }
  }
  assert.equal((await fetch(`${(await startWithTokens(t)).url}/events`)).status, 401);
});

test("a batch with one call too many has that one refused", async (t) => {
  const { url, make } = await startWithTokens(t);
  const { text } = await make(["read"]);
  const body = JSON.stringify([
    { id: 1, method: "list_wallets" },
    { id: 2, method: "create_wallet", params: { filename: "c", language: "English" } },
  ]);
  const response = await fetch(`${url}/json_rpc`, {
    method: "POST",
    body,
    headers: { Authorization: `Bearer ${text}` },
  });
  const [first, second] = (await response.json()) as { result?: object; error?: { code: number } }[];
  assert.ok(first?.result);
  assert.equal(second?.error?.code, -403);
});

test("a token for one wallet reaches no other, by no path, and does not learn whether there is one", async (t) => {
  const { make, folder } = await startWithTokens(t);
  const { ask } = await make(everyScope, ["a"]);
  assert.ok((await ask("get_address", {}, "a")).address);
  assert.ok((await ask("get_address", {}, "a.keys")).address, "the same wallet");
  for (const name of ["b", "none", "b.keys", "B", "a.", " a", "%61", "a.keys.keys", "a.anulo", "*"]) {
    const refusal = await refusalOf(ask("get_address", {}, name));
    assert.deepEqual(refusal, { ...wrongWallet, status: 403 }, name);
  }
  const language = "English";
  const keys = { address: "x", viewkey: "y" };
  for (const [method, params] of [
    ["open_wallet", {}],
    ["create_wallet", { language }],
    ["generate_from_keys", keys],
    ["restore_deterministic_wallet", { seed: "x" }],
  ] as const) {
    for (const filename of ["b", "none", "b.keys", "../b", "./b", ""]) {
      const refusal = await refusalOf(ask(method, { filename, ...params }));
      assert.deepEqual(
        [refusal?.code, refusal?.message],
        [-403, wrongWallet.message],
        `${method} ${filename}`,
      );
    }
    // On the path of its own wallet it can't name another.
    const refusal = await refusalOf(ask(method, { filename: "b", ...params }, "a"));
    assert.deepEqual([refusal?.code, refusal?.message], [-403, wrongWallet.message], method);
  }
  assert.ok(!existsSync(join(folder, "none.keys")));
});

test("on the path without a name a token reaches its own wallet alone, and nothing of the whole service", async (t) => {
  const { admin, make, url } = await startWithTokens(t);
  const { ask, text } = await make(everyScope, ["a"]);
  // It is as for everybody, until somebody opens another wallet there.
  assert.deepEqual((await refusalOf(ask("get_address")))?.code, -13);
  await ask("open_wallet", { filename: "a" });
  assert.ok((await ask("get_address")).address);
  await admin("open_wallet", { filename: "b" });
  for (const { name, reach, needs } of Object.values(walletMethods)) {
    if (reach !== "wallet" || !needs.includes("openWallet")) continue;
    const refusal = await refusalOf(ask(name, paramsOf(name)));
    assert.ok(
      refusal?.message === wrongWallet.message || refusal?.code === -32602,
      `${name}: ${refusal?.message}`,
    );
  }
  assert.deepEqual((await refusalOf(ask("open_wallet", { filename: "a" })))?.message, wrongWallet.message);
  assert.equal((await refusalOf(ask("auto_refresh", { enable: true })))?.message, wrongWallet.message);
  await admin("close_wallet");
  assert.match(
    (await refusalOf(ask("auto_refresh", { enable: true })))!.message,
    /takes a token of all wallets/,
  );

  assert.deepEqual((await ask("list_wallets")).wallets, [{ name: "a", open: true }]);
  for (const [method, params] of [
    ["list_webhooks", {}],
    ["add_webhook", { url: "https://example.invalid" }],
    ["stop_wallet", {}],
    ["set_log_level", { level: 0 }],
    ["list_tokens", {}],
    ["revoke_token", { token_id: "x" }],
    ["create_token", { name: "x", scopes: ["read"], wallets: ["b"] }],
  ] as const)
    assert.match(
      (await refusalOf(ask(method, params, "a")))!.message,
      /takes a token of all wallets/,
      method,
    );
  const headers = { Authorization: `Bearer ${text}` };
  for (const path of ["/wallets/b/events", "/wallets/none/events"])
    assert.equal((await fetch(url + path, { headers })).status, 403, path);
});

/** What lets a call come as far as its wallet. */
function paramsOf(method: string): object {
  return method === "make_uri" ? { address: "x" } : {};
}

test("events are told of a token's wallets alone, those of the service to who administers all", async (t) => {
  const { admin, make, url, first } = await startWithTokens(t, { eventLog: eventLogOf() });
  const { text, id } = await make(["read"], ["a"]);
  const everywhere = await make(["read"]);
  const get = async (path: string, token: string) => {
    const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
    return {
      status: response.status,
      body: (await response.json()) as { events: { wallet: string; type: string }[] },
    };
  };
  const walletsOf = ({ body }: Awaited<ReturnType<typeof get>>) => [
    ...new Set(body.events.map(({ wallet }) => wallet)),
  ];
  assert.deepEqual(walletsOf(await get("/events", text)), ["a"]);
  assert.deepEqual(walletsOf(await get("/wallets/a/events", text)), ["a"]);
  assert.equal((await get("/events?wallet=b", text)).status, 403);
  assert.equal((await get("/events", (await make(["spend"])).text)).status, 403);
  assert.deepEqual(walletsOf(await get("/events", everywhere.text)), ["a", "b"]);
  await askerOf(url, text)("open_wallet", { filename: "b" }).catch(() => undefined);
  await admin("revoke_token", { token_id: id });
  let told: { type: string; token_id?: string }[] = [];
  while (!told.some(({ type }) => type === "token_revoked"))
    told = (await get("/events?limit=1000", first)).body.events.filter(({ wallet }) => wallet === "");
  const ofToken = told.filter(({ token_id }) => token_id === id).map(({ type }) => type);
  assert.deepEqual(ofToken, ["token_created", "token_first_used", "token_refused", "token_revoked"]);
  const secret = text.split("_").slice(2).join("_");
  assert.ok(!JSON.stringify(told).includes(secret));
});

test("a stream ends with its token", async (t) => {
  const { admin, make, url } = await startWithTokens(t, { eventLog: eventLogOf() });
  const { text, id } = await make(["read"]);
  const headers = { Authorization: `Bearer ${text}`, Accept: "text/event-stream" };
  const response = await fetch(`${url}/events`, { headers });
  const reader = response.body!.getReader();
  assert.ok(!(await reader.read()).done);
  await admin("revoke_token", { token_id: id });
  while (!(await reader.read()).done);
});

test("headers that are no token are refused alike, and end no service", async (t) => {
  const { url, make, admin, first } = await startWithTokens(t);
  const revoked = await make(["read"]);
  await admin("revoke_token", { token_id: revoked.id });
  const body = JSON.stringify({ id: 0, method: "get_version" });
  const send = async (authorization: string | undefined) => {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const response = await fetch(`${url}/json_rpc`, { method: "POST", body, headers });
    return {
      status: response.status,
      asks: response.headers.get("www-authenticate"),
      text: await response.text(),
    };
  };
  const unknown = await send(`Bearer anulo_${"0".repeat(16)}_${"A".repeat(43)}`);
  assert.equal(unknown.status, 401);
  assert.equal(unknown.asks, 'Bearer realm="anulo",error="invalid_token"');
  for (const authorization of [
    `Bearer ${revoked.text}`,
    `Bearer ${first.slice(0, -1)}`,
    `Bearer ${first}, Bearer ${first}`,
    `Bearer ${first}=`,
    "Bearer x",
    `Bearer ${"A".repeat(10_000)}`,
    `Bearer ${"a ".repeat(4000)}`,
  ])
    assert.deepEqual(await send(authorization), unknown, authorization.slice(0, 60));
  for (const authorization of [undefined, "Bearer", `Basic ${first}`, first, 'Digest username="x"']) {
    const { status, asks } = await send(authorization);
    assert.deepEqual([status, asks], [401, 'Bearer realm="anulo"'], authorization);
  }
  assert.equal((await send(`bEaReR   ${first}`)).status, 200);
  const tooLong = await send(`Bearer ${"A".repeat(15_000)}`).catch(() => ({ status: 401 }));
  assert.equal(tooLong.status, 401);
});

test("a request without the right to its path is refused whatever its body is", async (t) => {
  const { url, make } = await startWithTokens(t);
  const { text } = await make(["read"], ["a"]);
  const statusOf = async (path: string, body: string) => {
    const headers = { Authorization: `Bearer ${text}` };
    const response = await fetch(url + path, { method: "POST", body, headers });
    return [response.status, await response.text()];
  };
  const [status, refusal] = await statusOf("/wallets/b/json_rpc", "{");
  assert.equal(status, 403);
  assert.match(String(refusal), /not for this wallet/);
  assert.match(String((await statusOf("/wallets/a/json_rpc", "{"))[1]), /Invalid Request|Parse error/);
});

test("a token that is revoked while the body comes in is refused", async (t) => {
  const { url, make, admin } = await startWithTokens(t);
  const { text, id } = await make(["read"]);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  const answer = Promise.race([once(socket, "data"), once(socket, "close")]);
  const body = JSON.stringify({ id: 0, method: "list_wallets" });
  const head = `POST /json_rpc HTTP/1.1\r\nAuthorization: Bearer ${text}\r\nContent-Length: ${body.length}\r\n\r\n`;
  await new Promise((sent) => socket.write(head + body.slice(0, 5), sent));
  const { tokens } = await admin("list_tokens");
  const isUsed = (token: { token_id: string; last_used: number }) =>
    token.token_id === id && token.last_used > 0;
  let told = tokens as { token_id: string; last_used: number }[];
  // Its first use is noted when the head has come in.
  while (!told.some(isUsed)) told = (await admin("list_tokens")).tokens as typeof told;
  await admin("revoke_token", { token_id: id });
  socket.write(body.slice(5));
  assert.match(String((await answer)[0]), /^HTTP\/1.1 401 /);
});

test("with a login both ways are open, and a revoked token opens neither", async (t) => {
  const login = { user: "u", password: "p" };
  const { admin, url } = await startWithTokens(t, { login });
  assert.ok((await admin("list_wallets")).wallets);
  const response = await fetch(`${url}/json_rpc`, { method: "POST", body: "{}" });
  assert.equal(response.status, 401);
  const asks = response.headers.get("www-authenticate")!;
  assert.match(asks, /Digest .*MD5-sess.*Bearer realm="anulo"/);
});

test("tokens are kept where their owner alone reads them, by one service at a time", async (t) => {
  const { folder, first, service } = await startWithTokens(t);
  for (const file of ["first", ".anulo-access/tokens", ".anulo-access/spent"])
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file);
  assert.ok(
    !readFileSync(join(folder, ".anulo-access/tokens"), "utf8").includes(first.split("_").slice(2).join("_")),
  );
  const access = { folder: join(folder, ".anulo-access") };
  const options = {
    listen: [{ host: "127.0.0.1", port: 0 }],
    daemon: { url: "" },
    network: "regtest",
  } as const;
  await assert.rejects(createWalletService({ ...options, access }), /Tokens can't be kept/);
  await service.stop();
  const again = await createWalletService({ ...options, access: { ...access, isOnlyWay: true } });
  t.after(() => again.stop());
  assert.ok(Array.isArray((await askerOf(again.url, first)("list_tokens")).tokens));
  await again.stop();
  const empty = { folder: join(folder, "other"), isOnlyWay: true };
  await assert.rejects(
    createWalletService({ ...options, access: empty }),
    /--first-token-file FILE makes one/,
  );
  const taken = { ...empty, firstTokenFile: join(folder, "first") };
  await assert.rejects(createWalletService({ ...options, access: taken }), /is there already/);
});

test("without tokens nothing is different: the header means nothing", async (t) => {
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    daemon: { url: "" },
    network: "regtest",
  });
  t.after(() => service.stop());
  const ask = askerOf(service.url, "anything");
  assert.ok((await ask("get_version")).version);
  assert.match((await refusalOf(ask("list_tokens")))!.message, /start it with --tokens/);
});
