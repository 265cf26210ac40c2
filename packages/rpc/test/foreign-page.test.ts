import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createRpcServer, daemon, implementFor, type RpcServerOptions, wallet } from "../src/index.ts";
import { exchange } from "./raw-http.ts";

const { admin, network, pool, blocks } = daemon;

/** A node's and a wallet's calls, some of which act, with what was done. */
async function start(t: TestContext, options: Partial<RpcServerOptions<object>> = {}) {
  const done: string[] = [];
  const note = <T>(what: string, result: T): T => {
    done.push(what);
    return result;
  };
  const implement = implementFor<object>();
  const calls = [
    ...implement(
      { stopDaemon: admin.stopDaemon, saveBc: admin.saveBc, getVersion: admin.getVersion },
      {
        stopDaemon: () => note("stop", {}),
        saveBc: () => note("save", {}),
        getVersion: () => ({ hard_forks: [], release: true, version: 1 }),
      },
    ),
    ...implement(
      { inPeers: network.inPeers, outPeers: network.outPeers, getLimit: network.getLimit },
      {
        inPeers: () => note("in", { in_peers: 0 }),
        outPeers: () => note("out", { out_peers: 0 }),
        getLimit: () => ({ limit_down: 1, limit_up: 1 }),
      },
    ),
    ...implement({ flushTxpool: pool.flushTxpool }, { flushTxpool: () => note("flush", {}) }),
    ...implement({ getHeight: blocks.getHeight }, { getHeight: () => ({ hash: "", height: 1 }) }),
    ...implement({ store: wallet.transfers.store }, { store: () => note("store", {}) }),
  ];
  const server = await createRpcServer({
    calls,
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
    context: () => ({}),
    ...options,
  });
  t.after(() => server.stop());
  return { urls: server.urls, open: server.urls[0]!, restricted: server.urls[1]!, done };
}

type Sent = { method?: string; path: string; headers?: Record<string, string>; body?: string };

/** The status of what a browser or program sends. */
async function statusOf(
  url: string,
  { method = "GET", path, headers = {}, body = "" }: Sent,
): Promise<number> {
  const all = { Host: new URL(url).host, "Content-Length": String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  return (await exchange(url, bytes, { head: method === "HEAD" })).http;
}

const acting = ["/stop_daemon", "/save_bc", "/in_peers", "/out_peers"];
const rpc = (method: string) => JSON.stringify({ id: 1, method });

describe("web pages", () => {
  it("have nothing done by a plain GET, as an image sends it", async (t) => {
    // Closes: calls that act are triggered by a page the user merely looks at.
    const { open, done } = await start(t);
    for (const path of acting) {
      for (const method of ["GET", "HEAD", "PUT", "DELETE"])
        assert.equal(await statusOf(open, { method, path }), 405, `${method} ${path}`);
    }
    for (const method of ["store", "flush_txpool"]) {
      assert.equal(await statusOf(open, { path: "/json_rpc", body: rpc(method) }), 405);
      const batch = `[${rpc("get_version")},${rpc(method)}]`;
      assert.equal(await statusOf(open, { method: "PUT", path: "/json_rpc", body: batch }), 405);
    }
    assert.deepEqual(done, []);
    for (const path of acting) assert.equal(await statusOf(open, { method: "POST", path }), 200);
    assert.equal(await statusOf(open, { method: "POST", path: "/json_rpc", body: rpc("store") }), 200);
    assert.deepEqual(done, ["stop", "save", "in", "out", "store"]);
    for (const path of ["/get_limit", "/get_height"]) assert.equal(await statusOf(open, { path }), 200);
    assert.equal(await statusOf(open, { path: "/json_rpc", body: rpc("get_version") }), 200);
  });

  it("have nothing done or read where their browser says that they are foreign, by any method", async (t) => {
    const { urls, done } = await start(t);
    for (const url of urls) {
      for (const site of ["cross-site", "same-site", "Cross-Site", "anything"]) {
        const headers = { "Sec-Fetch-Site": site, "Content-Type": "application/json" };
        for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE"])
          for (const path of ["/get_height", "/stop_daemon", "/json_rpc", "/nothing"])
            assert.equal(await statusOf(url, { method, path, headers }), 403, `${method} ${path} ${site}`);
      }
      for (const site of ["none", "same-origin"])
        assert.equal(await statusOf(url, { path: "/get_height", headers: { "Sec-Fetch-Site": site } }), 200);
    }
    assert.deepEqual(done, []);
    const { open: sharing } = await start(t, { origins: ["http://a.b"] });
    const headers = { "Sec-Fetch-Site": "cross-site", Origin: "http://a.b" };
    assert.equal(await statusOf(sharing, { path: "/get_height", headers }), 200);
    assert.equal(
      await statusOf(sharing, { path: "/get_height", headers: { ...headers, Origin: "http://c.d" } }),
      403,
    );
    const { open: shared } = await start(t, { origins: ["*"] });
    assert.equal(
      await statusOf(shared, { path: "/get_height", headers: { "Sec-Fetch-Site": "cross-site" } }),
      200,
    );
  });

  it("that gave their own name our address are refused by any method", async (t) => {
    // Closes: DNS rebinding. To its browser such a page is of our origin, so that GET has no `Origin`.
    const { open, restricted } = await start(t);
    const { open: withLogin } = await start(t, { login: { user: "a", password: "b" } });
    const { open: named } = await start(t, { origins: ["http://node.example.org:18081"] });
    for (const Host of [
      "evil.org",
      "evil.org:18081",
      "EVIL.ORG:1",
      "a.b.evil.org",
      "evil.org.",
      "1.2.3.4.evil.org",
    ]) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"])
        assert.equal(await statusOf(open, { method, path: "/get_height", headers: { Host } }), 403, Host);
      assert.equal(await statusOf(withLogin, { path: "/get_height", headers: { Host } }), 401);
      assert.equal(await statusOf(named, { path: "/get_height", headers: { Host } }), 403);
      // Anybody may ask a restricted port, by whatever name it is known.
      assert.equal(await statusOf(restricted, { path: "/get_height", headers: { Host } }), 200);
    }
    assert.equal(
      await statusOf(named, { path: "/get_height", headers: { Host: "Node.example.org:18081" } }),
      200,
    );
    assert.equal(await statusOf(named, { path: "/get_height", headers: { Host: "node.example.org" } }), 403);
    for (const Host of [
      ...[
        "127.0.0.1:1",
        "10.1.2.3",
        "203.0.113.7:18081",
        "[::1]:1",
        "[2001:db8::1]",
        "localhost:1",
        "LOCALHOST",
      ],
      ...[
        "a.localhost",
        "monerod:18081",
        "node.local",
        "node.lan:1",
        "host.docker.internal",
        "abc.onion",
        "",
      ],
    ]) {
      assert.equal(await statusOf(open, { path: "/get_height", headers: { Host } }), 200, Host);
    }
  });

  it("that have a name by the DNS of their network are refused, programs by the same name are not", async (t) => {
    // Closes: DNS rebinding by a network whose DNS answers for names such as `node.lan`.
    const { open, restricted, done } = await start(t);
    const { open: withLogin } = await start(t, { login: { user: "a", password: "b" } });
    const { open: named } = await start(t, { origins: ["http://node.lan:1"] });
    const browser = { "Accept-Language": "en" };
    for (const Host of [
      "node.lan:1",
      "printer.local",
      "a.internal",
      "a.home.arpa",
      "a.i2p",
      "monerod:18081",
    ]) {
      const sent = { method: "POST", path: "/in_peers", headers: { Host, ...browser } };
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"])
        assert.equal(await statusOf(open, { ...sent, method }), 403, `${method} ${Host}`);
      for (const header of [
        { "accept-language": "" },
        { "Sec-Fetch-Site": "same-origin" },
        { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors" },
        { Origin: "http://node.lan:1" },
      ]) {
        const headers = { Host, ...header, "Content-Type": "application/json" };
        assert.equal(await statusOf(open, { path: "/get_height", headers }), 403, JSON.stringify(headers));
      }
      assert.equal(await statusOf(withLogin, { ...sent, method: "GET" }), 401);
      assert.equal(await statusOf(restricted, { path: "/get_height", headers: sent.headers }), 200);
    }
    assert.deepEqual(done, []);
    const ofNode = { Host: "monerod:18081", "Accept-Language": "*", "Sec-Fetch-Mode": "cors" };
    assert.equal(await statusOf(open, { path: "/get_height", headers: ofNode }), 200);
    const allowed = { path: "/get_height", headers: { Host: "node.lan:1", ...browser } };
    assert.equal(await statusOf(named, allowed), 200);
    for (const Host of ["127.0.0.1:1", "[::1]:1", "localhost:1", "a.localhost", "abc.onion"])
      assert.equal(await statusOf(open, { path: "/get_height", headers: { Host, ...browser } }), 200, Host);
  });

  it("have nothing done that their browser sends without having asked", async (t) => {
    const { open, done } = await start(t);
    const { open: withLogin } = await start(t, { login: { user: "a", password: "b" } });
    const { open: sharing } = await start(t, { origins: ["http://a.b"] });
    const body = rpc("get_version");
    for (const type of [
      "text/plain",
      "Text/Plain;charset=UTF-8",
      "multipart/form-data; boundary=x",
      undefined,
    ]) {
      const page = { Origin: "http://a.b", ...(type !== undefined && { "Content-Type": type }) };
      const sent = { method: "POST", path: "/json_rpc", body };
      for (const url of [open, withLogin])
        assert.equal(await statusOf(url, { ...sent, headers: page }), 403, type);
      assert.equal(await statusOf(open, { ...sent, headers: { ...page, Origin: "null" } }), 403, type);
      assert.equal(await statusOf(sharing, { ...sent, headers: page }), 200, type);
      const { Origin, ...noPage } = page;
      assert.equal(await statusOf(open, { ...sent, headers: noPage }), 200, `${Origin} left out`);
    }
    assert.deepEqual(done, []);
  });

  it("are not told apart by a second Host: a request with two is none", async (t) => {
    const { open } = await start(t);
    const bytes = Buffer.from("GET /get_height HTTP/1.1\r\nHost: evil.org\r\nHost: localhost\r\n\r\n");
    assert.equal((await exchange(open, bytes)).http, 0);
  });
});
