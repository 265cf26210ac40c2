/** Events as callers of the service read them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClient, walletMethods } from "@anulo/rpc";
import { createWalletService } from "../src/create-service.ts";

type Event = { sequence: number; wallet: string; type: string };
type Answer = { events: Event[]; next: number; oldest: number };

/** A folder of wallets, and services on it, which have stopped before it goes. */
function folderOf(t: TestContext) {
  const path = mkdtempSync(join(tmpdir(), "anulo-events-"));
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const stop of stops) await stop();
    rmSync(path, { recursive: true, force: true });
  });
  return { path, stops };
}

async function start({ path: walletDirectory, stops }: ReturnType<typeof folderOf>, keepsEvents = true) {
  const folder = join(walletDirectory, ".anulo-events");
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory,
    daemon: { url: "" },
    network: "regtest",
    refreshPeriod: 0,
    ...(keepsEvents && { eventLog: { folder } }),
  });
  const client = createClient(walletMethods, service.url);
  const stop = async () => {
    client.close();
    await service.stop();
  };
  stops.push(stop);
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.url}${path}`, { headers });
    return { status: response.status, body: (await response.json()) as Answer };
  };
  return { url: service.url, client, get, stop };
}

const created = { password: "", language: "English" };

test("events are read by number, wallet and type, and are there after a restart", async (t) => {
  const folder = folderOf(t);
  const first = await start(folder);
  for (const filename of ["a", "b"]) await first.client.createWallet({ ...created, filename });
  await first.client.closeWallet({});
  const { status, body } = await first.get("/events");
  assert.equal(status, 200);
  assert.deepEqual(
    body.events.map(({ sequence, wallet, type }) => [sequence, wallet, type]),
    [
      [1, "a", "events_started"],
      [2, "b", "events_started"],
    ],
  );
  await first.stop();
  const again = await start(folder);
  assert.deepEqual((await again.get("/events?after=0&limit=1000")).body, body);
  const ofB = [{ ...body.events[1]! }];
  for (const path of [
    "/events?after=1",
    "/events?wallet=b",
    "/wallets/b/events",
    "/events?types=events_started&after=1",
  ])
    assert.deepEqual((await again.get(path)).body.events, ofB, path);
  assert.deepEqual((await again.get("/events?types=payment_in_block")).body.events, []);
  assert.equal(statSync(join(folder.path, ".anulo-events", "key")).mode & 0o777, 0o600);
});

test("what is no question about events is refused, naming what is wrong", async (t) => {
  const { get, url } = await start(folderOf(t));
  for (const query of [
    "after=-1",
    "after=x",
    "limit=0",
    "limit=1001",
    "types=A",
    "other=1",
    "after=1&after=2",
  ]) {
    const { status, body } = await get(`/events?${query}`);
    assert.equal(status, 400, query);
    assert.match(JSON.stringify(body), /"error"/, query);
  }
  assert.equal((await get("/wallets/a/events?wallet=b")).status, 400);
  assert.equal((await fetch(`${url}/events`, { method: "POST", body: "{}" })).status, 405);
});

test("a stream goes on behind the last event that its reader has seen", async (t) => {
  const { client, url } = await start(folderOf(t));
  await client.createWallet({ ...created, filename: "a" });
  const leaving = new AbortController();
  const headers = { accept: "text/event-stream", "last-event-id": "1" };
  const { body } = await fetch(`${url}/events`, { headers, signal: leaving.signal });
  await client.createWallet({ ...created, filename: "b" });
  let seen = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes("\n\n") && seen.includes("data:")) break;
  }
  leaving.abort();
  assert.match(seen, /^id: ?2$/m);
  assert.match(seen, /^event: ?events_started$/m);
  assert.match(seen, /"wallet":"b"/);
});

test("webhooks are added, listed without their secrets, and removed", async (t) => {
  const { client } = await start(folderOf(t));
  const { webhook_id, secret } = await client.addWebhook({
    url: "https://example.invalid/hook",
    wallets: ["a*"],
  });
  assert.match(secret, /^whsec_/);
  const { webhooks } = await client.listWebhooks({});
  assert.deepEqual(
    webhooks.map(({ webhook_id: id, url, wallets }) => [id, url, wallets]),
    [[webhook_id, "https://example.invalid/hook", ["a*"]]],
  );
  assert.ok(!JSON.stringify(webhooks, (_, value) => String(value)).includes(secret));
  assert.deepEqual((await client.listDeadLetters({ webhook_id })).dead_letters, []);
  await client.removeWebhook({ webhook_id });
  assert.deepEqual((await client.listWebhooks({})).webhooks, []);
  await assert.rejects(client.removeWebhook({ webhook_id }), /no such webhook/);
  await assert.rejects(client.addWebhook({ url: "ftp://example.invalid" }), /address/);
});

test("a service without a log says so", async (t) => {
  const { client, get } = await start(folderOf(t), false);
  assert.equal((await get("/events")).status, 503);
  await assert.rejects(client.listWebhooks({}), /--events/);
});
