import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { readPortable, writePortable } from "@anulo/protocol";
import {
  createRpcServer,
  daemon,
  implementFor,
  type Logger,
  RpcError,
  type RpcServerOptions,
  wallet,
} from "../src/index.ts";
import { connectionsOf, divideLimits, limitsOf } from "../src/server/limits.ts";

type Context = { restricted: boolean; open: boolean };
const implement = implementFor<Context>();
const { blocks, network, pool } = daemon;

const calls = [
  ...implement(
    { getHeight: blocks.getHeight, popBlocks: blocks.popBlocks, getBlockCount: blocks.getBlockCount },
    {
      getHeight: (_params, { restricted }) => ({ hash: "", height: restricted ? 1 : 2 }),
      popBlocks: () => {
        throw new RpcError(-5, "cannot pop");
      },
      getBlockCount: () => {
        throw new TypeError("secret detail");
      },
    },
  ),
  ...implement({ getLimit: network.getLimit, getBans: network.getBans }, {}, ["getLimit", "getBans"]),
  ...implement({ flushTxpool: pool.flushTxpool }, { flushTxpool: () => ({}) }),
  ...implement(
    { store: wallet.transfers.store, getAttribute: wallet.keys.getAttribute },
    { store: () => ({}), getAttribute: ({ key }) => ({ value: key }) },
  ),
];

async function start(
  t: TestContext,
  options: Partial<RpcServerOptions<Context>> = {},
): Promise<readonly string[]> {
  const server = await createRpcServer({
    calls,
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
    context: ({ restricted }) => ({ restricted, open: true }),
    ...options,
  });
  t.after(() => server.stop());
  return server.urls;
}

async function post(url: string, body: unknown): Promise<{ status: number; json: Record<string, unknown> }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method: "POST", body: text });
  const answer = await response.text();
  return { status: response.status, json: answer === "" ? {} : JSON.parse(answer) };
}

const ask = async (url: string, method: string, params: unknown = {}) =>
  (await post(`${url}/json_rpc`, { id: "1", method, params })).json;

/** Sends bytes and gives all that came back once it holds `count` answers. */
function pipeline(url: string, bytes: string, count: number): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (part) => {
      received += part.toString("latin1");
      if (received.split("HTTP/1.1 ").length <= count || !received.endsWith("}")) return;
      socket.destroy();
      resolve(received);
    });
    socket.write(bytes);
  });
}

describe("server", () => {
  it("answers on several ports and hides what changes things on a restricted one", async (t) => {
    const [full, restricted] = await start(t);
    assert.equal((await post(`${full}/get_height`, {})).json.height, 2);
    assert.equal((await post(`${restricted}/getheight`, {})).json.height, 1);
    assert.equal((await post(`${restricted}/pop_blocks`, {})).status, 404);
    assert.deepEqual((await ask(full!, "flush_txpool")).result, { status: "OK", untrusted: false });
    assert.deepEqual((await ask(restricted!, "flush_txpool")).error, {
      code: -32601,
      message: "Method not found",
    });
  });

  it("answers a declared call without handler with an error that says so", async (t) => {
    const [full] = await start(t);
    const { error } = await ask(full!, "get_bans");
    assert.deepEqual(error, { code: -32000, message: "Method not implemented yet" });
    const path = await post(`${full}/get_limit`, {});
    assert.deepEqual(path.json, { status: "Method not implemented yet", untrusted: false });
  });

  it("answers a call that has both forms in the form of its request", async (t) => {
    const id = new Uint8Array(32).fill(0x61);
    const { getTransactionPoolHashesBin } = pool;
    const [url] = await start(t, {
      calls: implement(
        { getTransactionPoolHashesBin },
        { getTransactionPoolHashesBin: () => ({ tx_hashes: [id] }) },
      ),
    });
    const ask = async (body: Uint8Array | string) =>
      Buffer.from(
        await (
          await fetch(`${url}${getTransactionPoolHashesBin.name}`, { method: "POST", body })
        ).arrayBuffer(),
      );
    const { value } = readPortable(await ask(writePortable(new Map()))).get("tx_hashes") as {
      value: unknown;
    };
    assert.deepEqual(new Uint8Array(value as Uint8Array), id);
    assert.equal(JSON.parse((await ask("{}")).toString()).status, "OK");
  });

  it("turns a refusal on a plain path into a status", async (t) => {
    const [full] = await start(t);
    const { status, json } = await post(`${full}/pop_blocks`, {});
    assert.equal(status, 200);
    assert.deepEqual(json, { height: 0, status: "cannot pop", untrusted: false });
  });

  it("logs an unexpected exception and tells the caller nothing of it", async (t) => {
    const events: unknown[] = [];
    const log: Logger = {
      error: (event, fields) => events.push([event, fields]),
      warn: () => {},
      info: () => {},
      debug: () => {},
      in: () => log,
    };
    const [full] = await start(t, { log });
    assert.deepEqual((await ask(full!, "get_block_count")).error, {
      code: -32603,
      message: "Internal error",
    });
    assert.equal(events.length, 1);
    assert.equal((await post(`${full}/get_height`, {})).status, 200);
  });

  it("refuses before the handler runs while a need is not met", async (t) => {
    const [full] = await start(t, { isMet: (need) => need !== "openWallet" });
    assert.deepEqual((await ask(full!, "store")).error, { code: -13, message: "No wallet file" });
    const [other] = await start(t, { isMet: (need) => need !== "unrestrictedService" });
    const { error } = await ask(other!, "store");
    assert.deepEqual(error, { code: -7, message: "Command unavailable in restricted mode." });
    const wrong = await ask(other!, "get_attribute", { key: 5 });
    assert.deepEqual(wrong.error, { code: -32602, message: "Invalid params" });
  });

  it("answers batches in the contract dialect, within bounds", async (t) => {
    const [full] = await start(t);
    const batch = [
      { id: 1, method: "flush_txpool" },
      { id: 2, method: "nothing" },
    ];
    const { json } = await post(`${full}/json_rpc`, batch);
    assert.deepEqual(
      (json as unknown as { id: number }[]).map(({ id }) => id),
      [1, 2],
    );
    const { json: many } = await post(`${full}/json_rpc`, Array(101).fill(batch[0]));
    assert.deepEqual(many.error, { code: -32600, message: "Invalid Request" });
    const { json: none } = await post(`${full}/json_rpc`, []);
    assert.deepEqual(none.error, { code: -32700, message: "Parse error" });
    const { json: each } = await post(`${full}/json_rpc`, [1, 2]);
    const codes = (each as unknown as { error: { code: number } }[]).map(({ error }) => error.code);
    assert.deepEqual(codes, [-32600, -32600]);
    // What is no request has no id: a caller who matches responses by id must not find one of its own.
    assert.deepEqual(
      (each as unknown as { id: unknown }[]).map(({ id }) => id),
      [null, null],
    );
  });

  it("takes params that are no object for none", async (t) => {
    const [full] = await start(t);
    for (const params of [[1], "x", []]) {
      assert.deepEqual((await ask(full!, "get_attribute", params)).result, { value: "" });
    }
  });

  it("answers 413 to a body above the limit", async (t) => {
    const [full] = await start(t, { limits: { requestBytes: 100 } });
    assert.equal((await post(`${full}/get_height`, `{"x":"${"x".repeat(200)}"}`)).status, 413);
    assert.equal((await post(`${full}/get_height`, {})).status, 200);
  });

  it("cuts off a caller who is slow to send", async (t) => {
    const [full] = await start(t, { limits: { slowMs: 100 } });
    const { port } = new URL(full!);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("POST /get_height HTTP/1.1\r\nContent-Length: 10\r\n\r\n{");
    await new Promise((resolve) => socket.on("close", resolve));
  });

  it("answers 500 in place of an answer above the limit", async (t) => {
    const [full] = await start(t, { limits: { answerBytes: 20 } });
    assert.equal((await post(`${full}/get_height`, {})).status, 500);
  });

  it("answers requests sent at once one after another, in their order", async (t) => {
    const [full] = await start(t);
    const asked = Array.from({ length: 40 }, (_, i) => `{"id":${i},"method":"flush_txpool"}`);
    const bytes = asked.map(
      (body) => `POST /json_rpc HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const answers = await pipeline(full!, bytes.join(""), 40);
    const ids = [...answers.matchAll(/"id": (\d+)/g)].map(([, id]) => Number(id));
    assert.deepEqual(ids, [...asked.keys()]);
  });

  it("lets web pages of the origins it was told of read answers, and no others", async (t) => {
    const allowed = async (origins: readonly string[], origin: string, method = "POST") => {
      const [full] = await start(t, { origins });
      const { headers } = await fetch(`${full}/get_height`, { method, headers: { origin } });
      return [headers.get("access-control-allow-origin"), headers.get("access-control-allow-headers")];
    };
    assert.deepEqual(await allowed(["http://a.b"], "http://a.b"), ["http://a.b", null]);
    assert.deepEqual(await allowed(["*"], "http://c.d"), ["http://c.d", null]);
    assert.deepEqual(await allowed(["http://a.b"], "http://c.d"), [null, null]);
    assert.deepEqual(await allowed([], "http://a.b"), [null, null]);
    const asked = await allowed(["http://a.b"], "http://a.b", "OPTIONS");
    const headers = "Content-Type, Authorization, X-Requested-With, Idempotency-Key, Last-Event-ID";
    assert.deepEqual(asked, ["http://a.b", headers]);
  });

  it("counts the connections of all its ports, from none on", async () => {
    const server = await createRpcServer({
      calls,
      listen: [
        { host: "127.0.0.1", port: 0 },
        { host: "127.0.0.1", port: 0, restricted: true },
      ],
      context: ({ restricted }) => ({ restricted, open: true }),
    });
    assert.equal(server.connectionCount(), 0);
    const sockets = server.urls.map((url) => connect(Number(new URL(url).port), "127.0.0.1"));
    const ask = "POST /get_height HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    await Promise.all(
      sockets.map((socket) =>
        once(
          socket
            .on("error", () => {})
            .end(ask)
            .resume(),
          "close",
        ),
      ),
    );
    const open = server.urls.map((url) => connect(Number(new URL(url).port), "127.0.0.1"));
    for (const socket of open) {
      socket.on("error", () => {}).write(ask);
      await once(socket, "data");
    }
    assert.equal(server.connectionCount(), 2);
    await server.stop(0);
  });

  it("takes so many connections of one address and no more", async (t) => {
    const [full] = await start(t, { limits: { connectionsPerPrivateAddress: 2 } });
    const port = Number(new URL(full!).port);
    const [one, two, three] = [1, 2, 3].map(() => connect(port, "127.0.0.1"));
    await new Promise((resolve) => three!.once("close", resolve));
    assert.equal(one!.destroyed || two!.destroyed, false);
    one!.destroy();
    two!.destroy();
  });

  it("leaves half of all connections to others, whatever one private address opens", async (t) => {
    for (const limits of [{ connections: 4 }, { connections: 3 }]) {
      const [full, restricted] = await start(t, { limits });
      for (const url of [full!, restricted!]) {
        const port = Number(new URL(url).port);
        const ends = ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"].map((localAddress) =>
          connect({ port, host: "127.0.0.1", localAddress }),
        );
        await once(ends[2]!, "close");
        ends[3]!.write("GET /get_height HTTP/1.1\r\nHost: a\r\n\r\n");
        const [answer] = await once(ends[3]!, "data");
        assert.match(String(answer), /^HTTP\/1\.1 200/);
        assert.equal(ends[0]!.destroyed || ends[1]!.destroyed, false);
        for (const end of ends) end.destroy();
      }
    }
  });

  it("gives one public address a tenth of the connections, on the owner's port too", () => {
    const { owner, strangers } = divideLimits(limitsOf());
    for (const limits of [owner, strangers, limitsOf()]) {
      assert.equal(connectionsOf(limits, "203.0.113.7"), 100);
      assert.equal(connectionsOf(limits, "10.1.2.3"), 500);
    }
    assert.equal(connectionsOf(limitsOf({ connectionsPerPublicAddress: 7 }), "203.0.113.7"), 7);
    assert.equal(connectionsOf(limitsOf({ connectionsPerPrivateAddress: 7 }), "127.0.0.1"), 7);
  });

  it("closes connections from addresses that are shut out", async (t) => {
    let shut = false;
    const [full, restricted] = await start(t, { isShutOut: () => shut });
    for (const url of [full, restricted]) assert.equal((await post(`${url}/get_height`, {})).status, 200);
    shut = true;
    await assert.rejects(post(`${restricted}/get_height`, {}));
    // Closes: a stranger behind the owner's own proxy, who had the owner shut out of his node for a day.
    assert.equal((await post(`${full}/get_height`, {})).status, 200);
  });

  /** A service whose `store` is at work until it is let go. */
  async function startSlow() {
    let release = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = (): void => {};
    const running = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const slow = implement(
      { store: wallet.transfers.store },
      {
        store: async () => {
          entered();
          await waiting;
          return {};
        },
      },
    );
    const server = await createRpcServer({
      calls: slow,
      listen: [{ host: "127.0.0.1", port: 0 }],
      context: () => ({ restricted: false, open: true }),
    });
    return { server, running, release, url: server.urls[0]! };
  }

  it("lets a running request end before it stops", async () => {
    const { server, running, release, url } = await startSlow();
    const answer = ask(url, "store");
    await running;
    const stopped = server.stop(2 ** 31 - 1);
    release();
    assert.deepEqual((await answer).result, {});
    // A kept connection that it waited for would never let it end.
    await stopped;
  });

  it("tells who waits longer than a stop does that no answer will come", async () => {
    const { server, running, release, url } = await startSlow();
    const answer = fetch(`${url}/json_rpc`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: "0", method: "store" }),
    });
    await running;
    await server.stop(20);
    assert.equal((await answer).status, 503);
    release();
  });
});

describe("many requests at once", () => {
  /** Handlers that take two milliseconds each; counts how many ran, at most, in one turn of the event loop. */
  async function mostInOneTurn(t: TestContext, send: (url: string) => Promise<unknown>): Promise<number> {
    let handled = 0;
    const work = () => {
      const start = performance.now();
      while (performance.now() - start < 2);
      return ++handled;
    };
    const busy = implementFor<Context>()(
      { getHeight: blocks.getHeight, getBlockCount: blocks.getBlockCount },
      { getHeight: () => ({ hash: "", height: work() }), getBlockCount: () => ({ count: work() }) },
    );
    const [url] = await start(t, { calls: busy });
    let most = 0;
    let before = 0;
    const look = () => {
      most = Math.max(most, handled - before);
      before = handled;
      if (handled < 100) setImmediate(look);
    };
    look();
    await send(url!);
    assert.equal(handled, 100);
    return most;
  }

  it("in a batch let others go first", async (t) => {
    const batch = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "get_block_count" }));
    const most = await mostInOneTurn(t, async (url) => {
      const { json } = await post(`${url}/json_rpc`, batch);
      assert.equal(json.length, 100);
    });
    assert.ok(most < 20, `${most} in one turn`);
  });

  it("one after the other on a connection let others go first", async (t) => {
    const request = "GET /get_height HTTP/1.1\r\n\r\n";
    const most = await mostInOneTurn(t, (url) => {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port) });
      socket.write(request.repeat(100));
      let answered = "";
      return new Promise<void>((resolve) => {
        socket.on("data", (bytes: Buffer) => {
          answered += bytes.toString("latin1");
          if (answered.split("HTTP/1.1 200").length > 100) resolve();
        });
      }).finally(() => socket.destroy());
    });
    assert.ok(most < 20, `${most} in one turn`);
  });
});

describe("what a service tells of its calls", () => {
  it("ends a call with its outcome, and names its request in the log", async (t) => {
    const ends: string[] = [];
    const ids: unknown[] = [];
    const note = (_: string, fields?: Readonly<Record<string, unknown>>) => void ids.push(fields?.request);
    const log: Logger = { error: note, warn: note, info: note, debug: note, in: () => log };
    const onCall: RpcServerOptions<Context>["onCall"] = ({ call, seconds, error }) =>
      ends.push(`${call} ${seconds >= 0} ${error instanceof Error ? error.name : error}`);
    const [url = ""] = await start(t, { log, onCall });
    const send = (path: string, body = "") =>
      fetch(`${url}${path}`, { method: "POST", body, headers: { "x-request-id": "order-7" } });
    await send("/get_height");
    await send("/json_rpc", '{"id":1,"method":"get_block_count"}');
    await send("/pop_blocks", '{"nblocks":1}');
    assert.deepEqual(ends, [
      "/get_height true undefined",
      "get_block_count true TypeError",
      "/pop_blocks true RpcError",
    ]);
    assert.deepEqual(new Set(ids), new Set(["order-7"]));
    assert.equal(ids.length, 5, "a call each, a refusal and a failure");
  });

  it("counts before they run the calls that only read", async (t) => {
    let reads = 0;
    const [url = ""] = await start(t, { onRead: () => reads++ });
    const send = (path: string, body = "") => fetch(`${url}${path}`, { method: "POST", body });
    await send("/get_height");
    await send("/json_rpc", '{"id":1,"method":"get_block_count"}');
    assert.equal(reads, 2);
    await send("/pop_blocks", '{"nblocks":1}');
    assert.equal(reads, 2);
  });
});
