import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createRpcServer, daemon, implementFor, type Page, type RpcServerOptions } from "../src/index.ts";
import { exchange } from "./raw-http.ts";

const page = (text: string, isLasting = false): Page => ({
  type: "text/html; charset=utf-8",
  body: Buffer.from(text),
  isLasting,
});
const pages = new Map([
  ["/console", page("<p>here")],
  ["/console/assets/a-1.js", { ...page("run()", true), type: "text/javascript; charset=utf-8" as const }],
]);

async function start(t: TestContext, options: Partial<RpcServerOptions<object>> = {}) {
  const { getHeight } = daemon.blocks;
  const server = await createRpcServer({
    calls: implementFor<object>()({ getHeight }, { getHeight: () => ({ hash: "", height: 1 }) }),
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
    context: () => ({}),
    pages,
    ...options,
  });
  t.after(() => server.stop());
  return { open: server.urls[0]!, restricted: server.urls[1]! };
}

type Sent = { method?: string; headers?: Record<string, string>; body?: string };

function ask(url: string, path: string, { method = "GET", headers = {}, body = "" }: Sent = {}) {
  const all = { Host: new URL(url).host, "Content-Length": String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  return exchange(url, bytes, { head: method === "HEAD" });
}

describe("web pages beside the calls", () => {
  it("are served with a policy that keeps out what is inline, from elsewhere, or framing", async (t) => {
    const { open } = await start(t);
    const { http, headers, body } = await ask(open, "/console");
    assert.deepEqual([http, String(body)], [200, "<p>here"]);
    assert.equal(headers.get("Content-Type"), "text/html; charset=utf-8");
    const policy = headers.get("Content-Security-Policy")!.split("; ");
    for (const rule of [
      "default-src 'none'",
      "script-src 'self' 'wasm-unsafe-eval'",
      "frame-ancestors 'none'",
    ])
      assert.ok(policy.includes(rule), rule);
    assert.doesNotMatch(policy.join(), /unsafe-inline|'unsafe-eval'|\*|https?:/);
    assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
    assert.equal(headers.get("X-Frame-Options"), "DENY");
    assert.equal(headers.get("Referrer-Policy"), "no-referrer");
    assert.equal(headers.get("Cache-Control"), "no-cache");
    const asset = await ask(open, "/console/assets/a-1.js?query");
    assert.match(asset.headers.get("Cache-Control")!, /immutable/);
  });

  it("are not on a restricted port, nor anywhere unless given", async (t) => {
    const { restricted } = await start(t);
    assert.equal((await ask(restricted, "/console")).http, 404);
    const { open } = await start(t, { pages: new Map() });
    assert.equal((await ask(open, "/console")).http, 404);
  });

  it("are those of the table alone, whatever a path says", async (t) => {
    const { open } = await start(t);
    const paths = [
      "/console/",
      "/console/assets",
      "/console/../console",
      "/console/assets/../../package.json",
      "/console/..%2f..%2fetc/passwd",
      "/console%2f",
      "//console",
      "/console/assets/a-1.js/",
      "/console/assets/a-1.js%00.html",
      "/constructor",
      "/__proto__",
    ];
    for (const path of paths) assert.equal((await ask(open, path)).http, 404, path);
  });

  it("are read by GET and HEAD, without a body", async (t) => {
    const { open } = await start(t);
    assert.equal((await ask(open, "/console", { method: "HEAD" })).http, 200);
    const post = await ask(open, "/console", { method: "POST" });
    assert.deepEqual([post.http, post.headers.get("Allow")], [405, "GET, HEAD"]);
    assert.equal((await ask(open, "/console", { body: "x" })).http, 413);
  });

  it("ask for the login of the RPC", async (t) => {
    const { open } = await start(t, { login: { user: "a", password: "b" } });
    assert.equal((await ask(open, "/console")).http, 401);
    assert.equal((await ask(open, "/console/assets/a-1.js")).http, 401);
  });

  it("are refused to a name that another site has given our address", async (t) => {
    const { open } = await start(t);
    const { port } = new URL(open);
    const stolen = { Host: `evil.example.com:${port}` };
    assert.equal((await ask(open, "/console", { headers: stolen })).http, 403);
    const asModule = {
      ...stolen,
      Origin: `http://evil.example.com:${port}`,
      "Sec-Fetch-Site": "same-origin",
    };
    assert.equal((await ask(open, "/console/assets/a-1.js", { headers: asModule })).http, 403);
  });

  it("are refused to pages of other origins, also when those send their browser there", async (t) => {
    const { open } = await start(t);
    const foreign = [
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" },
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe" },
      { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "script" },
      { Origin: "http://evil.example.com" },
      { Origin: "null" },
      { Origin: "http://127.0.0.1:1" },
      // A page of ours says so in both headers or in none.
      { Origin: open, "Sec-Fetch-Site": "cross-site" },
    ];
    for (const headers of foreign) {
      for (const path of pages.keys())
        assert.equal((await ask(open, path, { headers })).http, 403, JSON.stringify(headers));
    }
  });

  it("load their own scripts, whose requests name the origin, and call their own port", async (t) => {
    const { open } = await start(t);
    const own = { Origin: open, "Sec-Fetch-Site": "same-origin" };
    assert.equal((await ask(open, "/console/assets/a-1.js", { headers: own })).http, 200);
    assert.equal((await ask(open, "/console/assets/a-1.js", { headers: { Origin: open } })).http, 200);
    const json = { ...own, "Content-Type": "application/json" };
    assert.equal((await ask(open, "/get_height", { method: "POST", headers: json, body: "{}" })).http, 200);
    // What counts for files does not count for calls: without their type of content they are refused as before.
    const plain = { ...own, "Content-Type": "text/plain" };
    assert.equal((await ask(open, "/get_height", { method: "POST", headers: plain, body: "{}" })).http, 403);
    assert.equal((await ask(open, "/get_height", { headers: own })).http, 403);
  });
});
