/** Events as callers of the service read them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createClient, walletMethods } from "@anulo/rpc";
import { createWalletService } from "../src/create-service.ts";
import { CLOSING_MS } from "./service.ts";
import { withSharedThreads } from "./shared-threads.ts";

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
    closingMs: CLOSING_MS,
    runtime: withSharedThreads(),
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

/** Collects what nobody holds, and lets run what waits for that. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // What was registered for an object that is gone runs in a later turn.
  for (let i = 0; i < 10; i++) {
    collect();
    await nextTurn();
  }
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

/** Opens a stream behind an event; the result reads it until it has an event with this number, and leaves. */
async function openStream(url: string, lastEventId: string): Promise<(id: string) => Promise<string>> {
  const leaving = new AbortController();
  const headers = { accept: "text/event-stream", "last-event-id": lastEventId };
  const { body } = await fetch(`${url}/events`, { headers, signal: leaving.signal });
  // Read from now on: fetch ends a body that nobody reads once its response is collected as garbage.
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  return async (id) => {
    let seen = "";
    while (!(seen.includes(`id: ${id}\n`) && seen.endsWith("\n\n"))) {
      const { done, value } = await reader.read();
      assert.ok(!done, `the stream has ended behind ${JSON.stringify(seen)}`);
      seen += value;
    }
    leaving.abort();
    return seen;
  };
}

test("a stream goes on behind the last event that its reader has seen", async (t) => {
  const { client, url } = await start(folderOf(t));
  await client.createWallet({ ...created, filename: "a" });
  const first = await openStream(url, "");
  assert.match(await first("1"), /"wallet":"a"/);
  const second = await openStream(url, "1");
  await client.createWallet({ ...created, filename: "b" });
  await collectGarbage();
  const seen = await second("2");
  assert.match(seen, /^id: ?2$/m);
  assert.match(seen, /^event: ?events_started$/m);
  assert.match(seen, /"wallet":"b"/);
  assert.doesNotMatch(seen, /"wallet":"a"/);
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
