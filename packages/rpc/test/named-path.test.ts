import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { createRpcServer, implementFor, RpcError, type RpcServerOptions, wallet } from "../src/index.ts";

type Context = { readonly name: string | undefined };
const implement = implementFor<Context>();
const calls = implement(
  { getAttribute: wallet.keys.getAttribute, store: wallet.transfers.store },
  {
    getAttribute: (_, { name }) => ({ value: name ?? "the service" }),
    store: async (_, { name }) => {
      if (name === "broken") throw new RpcError(-1, "broken");
      return {};
    },
  },
);

async function start(t: TestContext, options: Partial<RpcServerOptions<Context>> = {}): Promise<string> {
  const server = await createRpcServer<Context>({
    calls,
    listen: [{ host: "127.0.0.1", port: 0 }],
    prefix: "/things",
    context: ({ name }) => ({ name }),
    ...options,
  });
  t.after(() => server.stop());
  return server.urls[0]!;
}

type Answer = { readonly result?: { readonly value: string }; readonly error?: { readonly code: number } };

async function ask(url: string, method = "get_attribute", headers: Record<string, string> = {}) {
  const body = JSON.stringify({ id: "1", method, params: { key: "" } });
  const response = await fetch(url, { method: "POST", body, headers });
  const text = await response.text();
  return { status: response.status, ...(text.startsWith("{") && (JSON.parse(text) as Answer)) };
}

it("a named path answers for what it names, decoded once; all others are as they were", async (t) => {
  const url = await start(t);
  assert.equal((await ask(`${url}/json_rpc`)).result?.value, "the service");
  const names = [
    ["alice", "alice"],
    ["a%20b", "a b"],
    ["%E2%82%AC", "€"],
    ["a%252Fb", "a%2Fb"],
    ["..%2F..%2Fetc", "../../etc"],
    ["json_rpc", "json_rpc"],
  ];
  for (const [written, name] of names)
    assert.equal((await ask(`${url}/things/${written}/json_rpc`)).result?.value, name);
  for (const path of [
    ...[
      "/things",
      "/things/",
      "/things/a",
      "/things//json_rpc",
      "/things/%/json_rpc",
      "/things/%ff/json_rpc",
    ],
    ...["/things/a/", "/things/a/b/json_rpc", "/things/a/things/b/json_rpc", "/thingsa/json_rpc"],
  ])
    assert.equal((await ask(url + path)).status, 404, path);
  const discovered = await (
    await fetch(`${url}/things/a/json_rpc`, {
      method: "POST",
      body: JSON.stringify({ method: "rpc.discover" }),
    })
  ).json();
  assert.equal(
    (discovered as { result: Record<string, unknown> }).result["x-named-path"],
    "/things/{name}/json_rpc",
  );
});

it("without a prefix there are no named paths", async (t) => {
  const server = await createRpcServer<Context>({
    calls,
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: ({ name }) => ({ name }),
  });
  t.after(() => server.stop());
  assert.equal((await ask(`${server.urls[0]}/things/a/json_rpc`)).status, 404);
});

it("named paths are kept from foreign pages, and ask for the login, as all others", async (t) => {
  const open = await start(t);
  const closed = await start(t, { login: { user: "u", password: "p" } });
  for (const path of ["/json_rpc", "/things/a/json_rpc"]) {
    const page = { origin: "http://evil.example.com", "content-type": "text/plain" };
    assert.equal((await ask(open + path, "get_attribute", page)).status, 403);
    assert.equal((await ask(open + path, "get_attribute", { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal((await ask(closed + path)).status, 401);
    assert.equal((await fetch(open + path, { method: "GET" })).status, 200);
  }
});

it("a need may take its time, and a context hears when its call has ended, however it did", async (t) => {
  const released: (string | undefined)[] = [];
  const url = await start(t, {
    context: ({ name }) => {
      if (name === "none") throw new RpcError(-1, "no such thing");
      return { name };
    },
    isMet: async (need, { name }) => {
      if (name === "late") throw new RpcError(-2, `cannot have ${need}`);
      return name !== "closed";
    },
    release: ({ name }) => released.push(name),
  });
  const code = async (name: string) => (await ask(`${url}/things/${name}/json_rpc`, "store")).error?.code;
  assert.equal(await code("none"), -1);
  assert.equal(await code("late"), -2);
  assert.equal(await code("closed"), -7);
  assert.equal(await code("broken"), -1);
  assert.equal(await code("fine"), undefined);
  assert.deepEqual(released, ["late", "closed", "broken", "fine"]);
});
