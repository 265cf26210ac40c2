/** The event log of a fleet: services in one process on a real database, each with its own membership. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, walletMethods } from "@anulo/rpc";
import { postgresMissing, type RunningPostgres, startPostgres } from "@anulo/testkit";
import { createWalletService } from "@anulo/wallet";

type Event = { sequence: number; wallet: string; type: string; time: number; i?: number };
type Page = { events: Event[]; next: number };

/** Code of the error after which a call is to be repeated. */
const NOTHING_WAS_DONE = -503;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(20);
}

describe("the event log of a fleet", { skip: postgresMissing() }, () => {
  let postgres: RunningPostgres;

  /** A database has one log. */
  async function world(t: TestContext) {
    postgres = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "anulo-fleet-events-"));
    const wallets = mkdtempSync(join(folder, "wallets-"));
    const stops: (() => Promise<void>)[] = [];
    t.after(async () => {
      for (const stop of stops) await stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const start = async () => {
      const serviceKeyFile = join(folder, "service.key");
      const service = await createWalletService({
        listen: [{ host: "127.0.0.1", port: 0 }],
        fleet: { host: "127.0.0.1", port: 0 },
        walletDirectory: wallets,
        store: { location: postgres.address, folder: join(wallets, ".anulo-store"), serviceKeyFile },
        eventLog: {
          folder: join(wallets, ".anulo-events"),
          keyFile: serviceKeyFile,
          allowsPrivateWebhooks: true,
        },
        daemon: { url: "" },
        network: "regtest",
        refreshPeriod: 0,
      });
      let isStopped = false;
      const stop = async () => {
        if (!isStopped) await service.stop();
        isStopped = true;
      };
      stops.push(stop);
      const { serviceEvents } = service;
      assert.ok(typeof serviceEvents !== "string");
      const send = async (method: string, params: object, path: string) => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
        const response = await fetch(`${service.url}${path}/json_rpc`, { method: "POST", body });
        return (await response.json()) as {
          result?: Record<string, unknown>;
          error?: { readonly code: number };
        };
      };
      /** Repeats what a process that is cut off did not do, as on a busy machine one may be for a while. */
      const call = async (method: string, params: object = {}, path = "") => {
        for (;;) {
          const { result, error } = await send(method, params, path);
          if (result !== undefined) return result;
          assert.equal(error?.code, NOTHING_WAS_DONE, JSON.stringify(error));
          await delay(100);
        }
      };
      const read = async (query: string) => {
        const response = await fetch(`${service.url}/events?${query}`);
        assert.equal(response.status, 200);
        return (await response.json()) as Page;
      };
      /** The address of its port for the others. */
      const address = new URL(service.urls.at(-1)!).host;
      return { service, events: serviceEvents, call, read, stop, address };
    };
    return { start };
  }

  type Started = Awaited<ReturnType<Awaited<ReturnType<typeof world>>["start"]>>;
  const holderOf = (all: readonly Started[]) => all.filter(({ events }) => events.opened !== undefined);
  const expel = ({ address }: Started) =>
    postgres.query(`DELETE FROM anulo.processes WHERE address = '${address}'`);
  const allEvents = async ({ read }: Started) => {
    const found: Event[] = [];
    for (let after = 0; ; ) {
      const { events, next } = await read(`after=${after}&limit=1000`);
      if (events.length === 0) return found;
      found.push(...events);
      after = next;
    }
  };
  const sourceOf = (number: number) => Buffer.alloc(16, number + 1);

  test("is one for all processes, and read at any of them", async (t) => {
    const { start } = await world(t);
    const all = [await start(), await start(), await start()];
    for (let i = 0; i < 6; i++)
      await all[i % 3]!.call("create_wallet", { language: "English" }, `/wallets/w${i}`);
    assert.equal(holderOf(all).length, 1);
    // They are told soon after they are durable.
    await until(async () => (await allEvents(all[0]!)).length === 6);
    const [first, ...others] = await Promise.all(all.map(allEvents));
    assert.deepEqual(
      first!.map(({ sequence, wallet, type }) => [sequence, wallet, type]),
      [0, 1, 2, 3, 4, 5].map((i) => [i + 1, `w${i}`, "events_started"]),
    );
    for (const other of others) assert.deepEqual(other, first);
    // Streams go on at any process, too.
    const leaving = new AbortController();
    const far = all.find(({ events }) => events.opened === undefined)!;
    const { body } = await fetch(`${far.service.url}/events?after=6`, {
      headers: { accept: "text/event-stream" },
      signal: leaving.signal,
    });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    await all[0]!.call("create_wallet", { language: "English" }, "/wallets/w6");
    let text = "";
    while (!text.includes("data:")) text += (await reader.read()).value ?? "";
    assert.match(text, /id: ?7\n/);
    leaving.abort();
  });

  test("goes on at another process: each event once, in order, none missing, and webhooks where they were", async (t) => {
    const { start } = await world(t);
    const all = [await start(), await start(), await start()];
    const received: { id: string; sequence: number }[] = [];
    const receiver = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { sequence } = JSON.parse(Buffer.concat(parts).toString()) as Event;
      received.push({ id: String(request.headers["webhook-id"]), sequence });
      response.writeHead(204).end();
    });
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    t.after(() => {
      receiver.close();
      receiver.closeAllConnections();
    });
    const far = all.find(({ events }) => events.opened === undefined)!;
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const { webhook_id } = await far.call("add_webhook", { url, after: 0 });
    const log = await allEvents(far);
    assert.deepEqual(log, []);
    for (let i = 0; i < 3; i++)
      await all[i]!.call("create_wallet", { language: "English" }, `/wallets/v${i}`);
    let isOver = false;
    let hasEnded = false;
    t.after(() => {
      hasEnded = true;
    });
    /** A process refuses the events of a wallet that another one has. */
    const appendAnywhere = async (entry: Parameters<Started["events"]["log"]["append"]>[0]) => {
      for (const { events } of all) {
        const isTold = await events.log.append(entry).then(
          () => true,
          () => false,
        );
        if (isTold) return true;
      }
      return false;
    };
    const tell = async (number: number) => {
      let change = 1;
      for (; !hasEnded && (!isOver || change < 50); change++) {
        const events = [
          { type: "told", i: change },
          { type: "told", i: -change },
        ];
        const entry = { source: sourceOf(number), wallet: `v${number}`, change, events };
        await until(async () => hasEnded || (await appendAnywhere(entry)));
        // So few that each of them can be read and delivered in the end.
        await delay(20);
      }
      return change - 1;
    };
    const telling = [0, 1, 2].map(tell);
    for (let round = 0; round < 2; round++) {
      await delay(300);
      await until(() => holderOf(all).length > 0);
      const [holder] = holderOf(all);
      const former = holder!.events.opened!;
      expel(holder!);
      // The same process may have it again, as another member.
      await until(() => {
        const log = holderOf(all)[0]?.events.opened?.log;
        return log !== undefined && log !== former.log && log.last > former.log.last;
      });
    }
    isOver = true;
    const counts = await Promise.all(telling);
    const [events, ...others] = await Promise.all(all.map(allEvents));
    for (const other of others) assert.deepEqual(other, events);
    assert.deepEqual(
      events!.map(({ sequence }) => sequence),
      events!.map((_, i) => i + 1),
    );
    for (const [number, count] of counts.entries()) {
      const told = events!.filter(({ wallet, type }) => wallet === `v${number}` && type === "told");
      const expected = Array.from({ length: count }, (_, i) => [i + 1, -(i + 1)]).flat();
      assert.deepEqual(
        told.map(({ i }) => i),
        expected,
      );
    }
    await until(() => received.some(({ sequence }) => sequence === events!.length));
    const seen = new Map(received.map(({ id, sequence }) => [id, sequence]));
    assert.deepEqual(
      [...seen.values()],
      events!.map(({ sequence }) => sequence),
    );
    const { webhooks } = await far.call("list_webhooks");
    assert.deepEqual(
      (webhooks as { webhook_id: string }[]).map((hook) => hook.webhook_id),
      [webhook_id],
    );
  });

  test("is left to another process by one that ends", async (t) => {
    const { start } = await world(t);
    const all = [await start(), await start()];
    await all[0]!.call("create_wallet", { language: "English" }, "/wallets/w");
    await until(async () => (await allEvents(all[1]!)).length === 1);
    const [holder] = holderOf(all);
    await holder!.stop();
    const other = all.find((each) => each !== holder)!;
    await until(() => other.events.opened !== undefined);
    assert.equal((await allEvents(other)).length, 1);
  });

  test("takes a large change in parts, and refuses what is no event at once", async (t) => {
    const { start } = await world(t);
    const all = [await start(), await start()];
    const far = all.find(({ events }) => events.opened === undefined)!;
    const client = createClient(walletMethods, far.service.url);
    t.after(() => client.close());
    await client.createWallet({ filename: "large", password: "", language: "English" });
    const entry = { source: sourceOf(9), wallet: "large", change: 1 };
    const { log } = far.events;
    await assert.rejects(log.append({ ...entry, events: [{ type: "no type" }] }), RangeError);
    const events = Array.from({ length: 6000 }, (_, i) => ({ type: "told", i, text: "x".repeat(100) }));
    await log.append({ ...entry, events });
    await log.append({ ...entry, change: 2, events: [{ type: "told", i: 6000 }] });
    assert.equal(await log.cursorOf(entry.source), 2);
    assert.equal(await log.cursorOf(sourceOf(8)), undefined);
    const told = (await allEvents(far)).filter(({ type }) => type === "told");
    assert.deepEqual(
      told.map(({ i }) => i),
      Array.from({ length: 6001 }, (_, i) => i),
    );
  });
});
